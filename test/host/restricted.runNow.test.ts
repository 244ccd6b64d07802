import assert from "node:assert/strict";
import { commands } from "vscode";
import { deadTasks, eventually, recordNodes, useDialogs } from "./window";

describe("Run Now and Debug Now in Restricted Mode", () => {
  const dialogs = useDialogs();

  it("run nothing, and say why", async () => {
    const { registry } = await deadTasks();
    await eventually(() => {
      assert.ok(registry.stores[0]?.wasReady);
    });
    const [node] = await recordNodes(registry.stores[0]!);
    for (const command of ["deadTasks.runNow", "deadTasks.debugNow"]) {
      await commands.executeCommand(command, node);
      const { text, buttons } = dialogs.only();
      assert.equal(text, "In Restricted Mode dead tasks can be read, not run.");
      assert.deepEqual(buttons, ["Manage Workspace Trust"]);
    }
  });
});
