import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands, Uri, window, type CodeLens } from "vscode";
import { secondProcesses, taskMessage } from "../support/processes";
import { newTask } from "../support/stores";
import { commandLine, deadTasks, eventually, folder, storeNamed } from "./window";

describe("lenses while no task is dead", () => {
  const processes = secondProcesses();

  after(async () => {
    await commands.executeCommand("workbench.action.closeAllEditors");
    for (const name of readdirSync(folder())) rmSync(join(folder(), name), { recursive: true });
    const { stores } = await deadTasks();
    await stores.look();
  });

  it("start nothing, and appear with the first dead task", async () => {
    writeFileSync(join(folder(), "Gemfile"), 'gem "rage-rb"\n');
    mkdirSync(join(folder(), "app"));
    const file = join(folder(), "app", "sync_invoice.rb");
    writeFileSync(file, "class SyncInvoice\n  def perform(id); end\nend\n");
    const { stores, ruby } = await deadTasks();
    await stores.look();
    await storeNamed("empty");
    await window.showTextDocument(Uri.file(file));
    const lenses = (): Thenable<CodeLens[]> =>
      commands.executeCommand<CodeLens[]>("vscode.executeCodeLensProvider", Uri.file(file), 10);
    assert.deepEqual(await lenses(), []);
    assert.equal(ruby.running, false, "the parser was started for nothing");

    const storage = join(folder(), "storage");
    const failedAt = Math.floor(Date.now() / 1000);
    const worker = processes.ruby(storage);
    await worker.request({ do: "add", task: taskMessage(newTask("1767226000-1-1", { failedAt })) });
    await eventually(async () => {
      assert.deepEqual(
        (await lenses()).map(({ command }) => command?.title),
        ["1 dead, just now"],
      );
    }, 2_000);
    assert.equal(ruby.running, true);
    await commandLine("delete", "1767226000-1-1", "--storage", storage);
    await eventually(async () => {
      assert.deepEqual(await lenses(), []);
    }, 1_000);
  });
});
