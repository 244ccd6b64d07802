import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commands } from "vscode";
import { dataFile } from "../support/fixtures";
import { doneByOtherWindow } from "../support/otherWindow";
import { deadTasks, folder, storeNamed, useDialogs } from "./window";

describe("the history in Restricted Mode", () => {
  const dialogs = useDialogs();

  it("can be read and cleared, and nothing is undone from it", async () => {
    await storeNamed("bookshop");
    const { context, historyView } = await deadTasks();
    const storage = join(folder(), "storage");
    const kept = join(context.globalStorageUri.fsPath, "history");
    await doneByOtherWindow(kept, storage, [{ kind: "delete", done: [{ id: "1-1-1" }], undo: "1-1-a.undo" }]);
    await historyView.look();
    const [day] = await historyView.getChildren();
    const [entry] = await historyView.getChildren(day);
    assert.equal(historyView.getTreeItem(entry!).label, "Deleted PaymentTask");
    const before = readFileSync(dataFile(storage));
    await commands.executeCommand("deadTasks.undoHistory", entry);
    assert.equal(dialogs.only().text, "In Restricted Mode dead tasks can be read, not brought back.");
    assert.deepEqual(readFileSync(dataFile(storage)), before);
    dialogs.answer = () => "Clear";
    await commands.executeCommand("deadTasks.clearHistory");
    assert.deepEqual(await historyView.getChildren(), []);
  });
});
