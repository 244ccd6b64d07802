import assert from "node:assert/strict";
import { appendFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { commands } from "vscode";
import { copyStorage, dataFile, removeCopies } from "../support/fixtures";
import { newTask, taskLine } from "../support/stores";
import { eventually, folder, logText, openStores, recordNodes, setStores, useDialogs } from "./window";

/** Arguments of the demo's tasks. */
const secrets = /tok_live|correct horse|sk_b00k5h0p|ada@example|margaret@example|Käthe|linus@example/i;

describe("the log", () => {
  const dialogs = useDialogs();

  after(async () => {
    await setStores(undefined);
    removeCopies();
  });

  it("says what was done and what failed, and never an argument", async () => {
    const storage = copyStorage("contexts");
    cpSync(join(folder(), "storage"), storage, { recursive: true });
    appendFileSync(dataFile(storage), taskLine(newTask("1767225641-5-1", { context: Buffer.from("ada@example") })));
    const [store] = await openStores({ path: storage, name: "logged" });
    dialogs.answer = ({ buttons }) => buttons.find((button) => button !== "Undo");
    const nodes = await recordNodes(store!);
    for (const node of nodes.slice(0, 12)) {
      await commands.executeCommand("deadTasks.show", node);
      await commands.executeCommand("deadTasks.copyRuby", node, [node]);
    }
    await commands.executeCommand("deadTasks.retry", nodes[0], nodes);
    await eventually(() => {
      assert.equal(store!.taskCount, 1);
    });
    await commands.executeCommand("deadTasks.deleteAll", { kind: "store", store });
    await eventually(async () => {
      const text = await logText();
      assert.match(text, /\[info\] retry \d+ tasks of logged: \d+ done, 0 gone, 1 failed/);
      assert.match(text, /\[error\] logged: could not retry 1767225641-5-1: /);
      assert.match(text, /\[info\] delete 1 task of logged: 1 done, 0 gone, 0 failed/);
    });
    assert.doesNotMatch(await logText(), secrets);
    await commands.executeCommand("workbench.action.closeAllEditors");
  });

  it("has no stack in it: nothing has failed unexpectedly so far", async () => {
    assert.doesNotMatch(await logText(), /^\s+at /m);
  });
});
