import assert from "node:assert/strict";
import { commands, workspace } from "vscode";
import { deadTasks, eventually, recordNodes, storeNamed } from "./window";

describe("the raw storage file in Restricted Mode", () => {
  after(() => commands.executeCommand("workbench.action.closeAllEditors"));

  it("opens at a task's line all the same: it is only read", async () => {
    assert.equal(workspace.isTrusted, false);
    const { rawFiles } = await deadTasks();
    const [node] = await recordNodes(await storeNamed("bookshop"));
    await commands.executeCommand("deadTasks.openRaw", node, [node]);
    await eventually(() => {
      const { document, selected } = rawFiles.active ?? {};
      assert.equal(document?.state.table?.complete, true);
      assert.ok(typeof selected === "number" && selected > 0);
    }, 20_000);
  });
});
