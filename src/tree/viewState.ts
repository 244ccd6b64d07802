import type { StoreModel } from "../stores/storeModel";
import { counted, formatCount } from "../text/labels";

/** What an empty view has to explain; the welcome texts in the manifest are chosen by it. */
export type ViewSituation = "looking" | "noFolder" | "noStore" | "nil" | "empty" | "listed";

export interface ViewInput {
  readonly folderCount: number;
  /** Whether discovery has ended at least once. */
  readonly looked: boolean;
  readonly trusted: boolean;
  readonly stores: readonly StoreModel[];
  readonly problems: readonly string[];
}

export interface ViewState {
  readonly situation: ViewSituation;
  /** The line above the tree; empty for none. */
  readonly message: string;
  readonly badge: { readonly value: number; readonly tooltip: string } | undefined;
  readonly taskCount: number;
}

/** What the view says besides its items. */
export function viewState(input: ViewInput): ViewState {
  const taskCount = input.stores.reduce((sum, store) => sum + (store.wasReady ? store.taskCount : 0), 0);
  return {
    situation: situation(input),
    message: message(input),
    badge: taskCount === 0 ? undefined : { value: taskCount, tooltip: counted(taskCount, "dead task") },
    taskCount,
  };
}

function situation({ folderCount, looked, stores, problems }: ViewInput): ViewSituation {
  if (!looked) return "looking";
  if (problems.length > 0 || stores.length > 1) return "listed";
  const [store] = stores;
  if (store === undefined) return folderCount === 0 ? "noFolder" : "noStore";
  if (store.description.target.backend === "nil") return "nil";
  return store.wasReady && isBare(store) ? "empty" : "listed";
}

/** Whether nothing at all is to be shown of the store. */
function isBare(store: StoreModel): boolean {
  const { status } = store;
  return (
    store.taskCount === 0 &&
    store.description.guess === null &&
    status.problem === null &&
    status.unreadable.length === 0 &&
    status.damage.lines === 0 &&
    status.damage.tornTailBytes === 0 &&
    status.otherVersions.length === 0
  );
}

function message({ trusted, stores }: ViewInput): string {
  if (stores.length === 0) return "";
  if (!trusted) return "Restricted Mode: dead tasks can be read. Trust this workspace to retry or delete them.";
  const readOnly = stores.filter((store) => store.status.readOnly !== null);
  const [first] = readOnly;
  if (first === undefined) return "";
  if (stores.length === 1) return `Read-only: ${first.status.readOnly ?? ""}`;
  return `${formatCount(readOnly.length)} of ${formatCount(stores.length)} stores are read-only; their tooltips say why.`;
}
