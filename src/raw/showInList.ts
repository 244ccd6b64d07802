import { setTimeout as delay } from "node:timers/promises";
import type { DetailPane } from "../detail/detailPane";
import type { StoreModel } from "../stores/storeModel";
import { pageSize, type RecordNode } from "../tree/nodes";
import type { TaskView } from "../tree/taskView";

/** Tasks of a list that are shown so that one of them can be pointed out: more would take the list long to draw. */
const longestList = 25 * pageSize;

/** While the list is drawn anew, the editor knows none of its items; that is over after so many milliseconds. */
const drawingTime = 250;
const attempts = 4;

/** Shows a record in the pane, and selects it in the list where it stands there, among the newest few thousand. */
export async function showInList(view: TaskView, pane: DetailPane, store: StoreModel, id: string): Promise<void> {
  await pane.show(store, id);
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const node = nodeOf(view, store, id);
    if (node === null) return;
    try {
      await view.view.reveal(node, { select: true, focus: false });
      return;
    } catch {
      // The task is shown, which is what was asked for; a list that changes without pause does not show where it stands.
      await delay(drawingTime);
    }
  }
}

function nodeOf({ tree }: TaskView, store: StoreModel, id: string): RecordNode | null {
  const unreadable = store.status.unreadable.find((record) => record.id === id);
  if (unreadable !== undefined) return { kind: "unreadable", store, id, reason: unreadable.reason };
  const tasks = tree.tasks(store);
  const place = tasks.findIndex((task) => task.id === id);
  const task = tasks[place];
  if (task === undefined || place >= longestList) return null;
  while (tree.shown(store) <= place) tree.showMore(store);
  return { kind: "task", store, task };
}
