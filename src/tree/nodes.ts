import type { TaskSummary } from "../service/protocol";
import type { StoreModel } from "../stores/storeModel";

/** How many tasks a page has. */
export const pageSize = 200;

/** What stands in the tree. Nodes are made anew for each look at the tree; `nodeId` says which are the same item. */
export type TreeNode =
  | { readonly kind: "store"; readonly store: StoreModel }
  | { readonly kind: "task"; readonly store: StoreModel; readonly task: TaskSummary }
  | { readonly kind: "more"; readonly store: StoreModel; readonly remaining: number }
  | { readonly kind: "unreadableGroup"; readonly store: StoreModel }
  | { readonly kind: "unreadable"; readonly store: StoreModel; readonly id: string; readonly reason: string }
  | { readonly kind: "damage"; readonly store: StoreModel }
  | { readonly kind: "otherVersion"; readonly store: StoreModel; readonly file: string }
  | { readonly kind: "reading"; readonly store: StoreModel }
  | { readonly kind: "stopped"; readonly store: StoreModel }
  | { readonly kind: "failure"; readonly store: StoreModel; readonly message: string }
  | { readonly kind: "guess"; readonly store: StoreModel; readonly message: string }
  | { readonly kind: "settingProblem"; readonly message: string }
  /** Stands for the tasks where the filter lets none through. */
  | { readonly kind: "noMatch" };

/** The nodes that stand for one record. */
export type RecordNode = Extract<TreeNode, { kind: "task" | "unreadable" }>;

const nodeKinds: ReadonlySet<unknown> = new Set<TreeNode["kind"]>([
  "store",
  "task",
  "more",
  "unreadableGroup",
  "unreadable",
  "damage",
  "otherVersion",
  "reading",
  "stopped",
  "failure",
  "guess",
  "settingProblem",
  "noMatch",
]);

/** Commands take anything: a keybinding gives nothing, a menu a node, another extension whatever it likes. */
export function isTreeNode(value: unknown): value is TreeNode {
  return typeof value === "object" && value !== null && "kind" in value && nodeKinds.has(value.kind);
}

export function nodeId(node: TreeNode): string {
  switch (node.kind) {
    case "store":
      return `store ${node.store.key}`;
    case "task":
      return `task ${node.store.key} ${node.task.id}`;
    case "unreadable":
      return `unreadable ${node.store.key} ${node.id}`;
    case "otherVersion":
      return `otherVersion ${node.store.key} ${node.file}`;
    case "settingProblem":
      return `settingProblem ${node.message}`;
    case "noMatch":
      return node.kind;
    case "more":
    case "unreadableGroup":
    case "damage":
    case "reading":
    case "stopped":
    case "failure":
    case "guess":
      return `${node.kind} ${node.store.key}`;
  }
}

/** What the tree is made of at this moment. */
export interface TreeInput {
  readonly stores: readonly StoreModel[];
  readonly problems: readonly string[];
  /** How many tasks of a store are shown. */
  shown(store: StoreModel): number;
  /** Those of which the first are shown: all that are known, or that the filter lets through, newest first. */
  tasks(store: StoreModel): readonly TaskSummary[];
  /** Whether the filter lets no task through, of those that there are. */
  readonly nothingMatches: boolean;
}

export function rootNodes(input: TreeInput): TreeNode[] {
  const problems = input.problems.map((message): TreeNode => ({ kind: "settingProblem", message }));
  if (input.nothingMatches) problems.push({ kind: "noMatch" });
  const [only] = input.stores;
  if (only !== undefined && input.stores.length === 1) return [...problems, ...storeChildren(only, input)];
  return [...problems, ...input.stores.map((store): TreeNode => ({ kind: "store", store }))];
}

export function childNodes(node: TreeNode, input: TreeInput): TreeNode[] {
  if (node.kind === "store") return storeChildren(node.store, input);
  if (node.kind === "unreadableGroup") {
    const { store } = node;
    return store.status.unreadable.map(({ id, reason }) => ({ kind: "unreadable", store, id, reason }));
  }
  return [];
}

export function parentNode(node: TreeNode, input: TreeInput): TreeNode | undefined {
  if (node.kind === "settingProblem" || node.kind === "noMatch" || node.kind === "store") return undefined;
  if (node.kind === "unreadable") return { kind: "unreadableGroup", store: node.store };
  return input.stores.length === 1 ? undefined : { kind: "store", store: node.store };
}

/** What is wrong first, since it is rare and must not hide below thousands of tasks; then the tasks, newest first. */
export function storeChildren(store: StoreModel, input: Pick<TreeInput, "shown" | "tasks">): TreeNode[] {
  const { status, description } = store;
  const shown = input.shown(store);
  const tasks = input.tasks(store);
  const firstPages = tasks.slice(0, shown).map((task): TreeNode => ({ kind: "task", store, task }));
  const nodes: TreeNode[] = [];
  if (description.guess !== null) nodes.push({ kind: "guess", store, message: description.guess });
  if (status.phase === "failed" && status.problem !== null) {
    nodes.push({ kind: "failure", store, message: status.problem.message });
  }
  if (description.target.backend === "nil") return nodes;
  if (status.unreadable.length > 0) nodes.push({ kind: "unreadableGroup", store });
  if (status.damage.lines > 0 || status.damage.tornTailBytes > 0) nodes.push({ kind: "damage", store });
  for (const file of status.otherVersions) nodes.push({ kind: "otherVersion", store, file });
  if (!store.wasReady) {
    // The first page of what is coming: showing tasks as they are read, oldest first, would move items under the mouse.
    return [...nodes, ...firstPages, { kind: status.phase === "stopped" ? "stopped" : "reading", store }];
  }
  nodes.push(...firstPages);
  if (tasks.length > shown) nodes.push({ kind: "more", store, remaining: tasks.length - shown });
  return nodes;
}
