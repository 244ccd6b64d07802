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
  /** What is shown of the tasks; null for all of them. */
  readonly filter: { readonly label: string; readonly shown: number; readonly all: number } | null;
}

export interface ViewState {
  readonly situation: ViewSituation;
  /** The lines above the tree; empty for none. */
  readonly message: string;
  /** Beside the view's name; empty for nothing. */
  readonly description: string;
  readonly badge: { readonly value: number; readonly tooltip: string } | undefined;
  /** Whether "all" means anything: some store has tasks and can be changed. */
  readonly hasChangeableTasks: boolean;
}

/** What the view says besides its items. */
export function viewState(input: ViewInput): ViewState {
  const { filter } = input;
  const taskCount = input.stores.reduce((sum, store) => sum + (store.wasReady ? store.taskCount : 0), 0);
  return {
    situation: situation(input),
    message: [filterLine(filter), message(input)].filter((line) => line !== "").join("\n"),
    description: filter === null ? "" : `${formatCount(filter.shown)} of ${formatCount(filter.all)}`,
    badge: taskCount === 0 ? undefined : { value: taskCount, tooltip: counted(taskCount, "dead task") },
    hasChangeableTasks: input.stores.some(
      (store) => store.wasReady && store.taskCount > 0 && store.status.readOnly === null,
    ),
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

function filterLine(filter: ViewInput["filter"]): string {
  return filter === null ? "" : `${filter.label} · ${formatCount(filter.shown)} of ${formatCount(filter.all)}`;
}

function message({ trusted, stores }: ViewInput): string {
  if (stores.length === 0) return "";
  if (!trusted) return "Restricted Mode: dead tasks can be read. Trust this workspace to retry or delete them.";
  const [only] = stores;
  if (stores.length === 1 && only !== undefined) return storeWarnings(only).join(" ");
  const warned = stores.filter((store) => storeWarnings(store).length > 0).length;
  if (warned === 0) return "";
  return `${formatCount(warned)} of ${formatCount(stores.length)} stores need attention; their tooltips say why.`;
}

/** What holds for a whole store and its tasks do not show. */
export function storeWarnings({ status, description }: StoreModel): string[] {
  const warnings: string[] = [];
  if (status.problem !== null) warnings.push(status.problem.message);
  if (description.guess !== null) warnings.push(description.guess);
  if (status.readOnly !== null) warnings.push(`Read-only: ${status.readOnly}`);
  if (status.networkFileSystem !== null) {
    const name = status.networkFileSystem;
    warnings.push(
      `On a network file system (${name}): locks and renames may not hold there, so tasks can get lost or run twice.`,
    );
  }
  return warnings;
}
