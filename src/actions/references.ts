import type { TaskSummary } from "../service/protocol";
import type { StoreModel } from "../stores/storeModel";
import { shownId } from "../text/labels";
import { isTreeNode, type RecordNode, type TreeNode } from "../tree/nodes";

/** A task, or a record that cannot be read, in a store. */
export interface RecordReference {
  readonly store: StoreModel;
  readonly id: string;
  /** The task class, or the id of a record that cannot be read: for confirmations and outcomes. */
  readonly name: string;
  readonly readable: boolean;
}

export function taskReference(store: StoreModel, task: TaskSummary): RecordReference {
  return { store, id: task.id, name: task.taskClass, readable: true };
}

export function recordReference(store: StoreModel, id: string): RecordReference {
  const task = store.task(id);
  return { store, id, name: task?.taskClass ?? shownId(id), readable: task !== undefined };
}

/**
 * What a command is to act on, from the arguments that it was called with. A menu gives the item that it was opened on and, where
 * that item is one of several that are selected, all of them; a key gives nothing and means the selection. An item outside
 * the selection stands alone. Null where a menu gave an item that the editor no longer knows, since the task went or the list
 * was being drawn in that moment: the selection is then something else than what was clicked.
 */
export function chosenNodes(given: readonly unknown[], selection: readonly TreeNode[]): TreeNode[] | null {
  const [item, items] = given;
  if (given.length === 0) return [...selection];
  if (!isTreeNode(item)) return null;
  if (Array.isArray(items) && items.includes(item)) return items.filter(isTreeNode);
  return [item];
}

export function recordsOf(nodes: readonly TreeNode[]): RecordReference[] {
  return nodes
    .filter((node): node is RecordNode => node.kind === "task" || node.kind === "unreadable")
    .map((node) =>
      node.kind === "task"
        ? taskReference(node.store, node.task)
        : { store: node.store, id: node.id, name: shownId(node.id), readable: false },
    );
}

/** By store, in the order in which the stores first come up: each store is one operation. */
export function groupByStore(records: readonly RecordReference[]): { store: StoreModel; records: RecordReference[] }[] {
  const groups = new Map<StoreModel, RecordReference[]>();
  for (const record of records) {
    const group = groups.get(record.store);
    if (group === undefined) groups.set(record.store, [record]);
    else group.push(record);
  }
  return [...groups].map(([store, grouped]) => ({ store, records: grouped }));
}

/** Finds again which of these records the ids of an answer name. */
export function recordsByIds(records: readonly RecordReference[]): (ids: readonly string[]) => RecordReference[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  return (ids) => ids.map((id) => byId.get(id)).filter((record) => record !== undefined);
}
