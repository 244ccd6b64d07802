import { setTimeout as delay } from "node:timers/promises";
import type { TreeView } from "vscode";

/** How long the editor may take to draw a list anew, and between two looks whether it has, in milliseconds. */
const drawing = 500;
const betweenLooks = 20;

/**
 * What is selected in a view. While the editor draws a list anew it knows none of the items, but keeps which of them are selected:
 * this waits until it knows them again, and so takes half a second where nothing is selected.
 *
 * It is why an item's command has no arguments. Those are forgotten with the item as well, and a click in that moment would be lost.
 */
export async function selectionOf<Node>(view: Pick<TreeView<Node>, "selection">): Promise<readonly Node[]> {
  const until = Date.now() + drawing;
  while (view.selection.length === 0 && Date.now() < until) await delay(betweenLooks);
  return view.selection;
}
