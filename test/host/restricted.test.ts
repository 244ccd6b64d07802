import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands, env, Position, window, workspace, WorkspaceEdit } from "vscode";
import { editUri } from "../../src/editRetry/editUris";
import type { StoreModel } from "../../src/stores/storeModel";
import { dataFile } from "../support/fixtures";
import { copyFixture, newTask, taskLine, temporaryFolders } from "../support/stores";
import { deadTasks, eventually, folder, recordId, recordNodes, storeNamed, useDialogs } from "./window";

describe("the extension in Restricted Mode", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();
  let store: StoreModel;
  let storage: string;

  before(async () => {
    assert.equal(workspace.isTrusted, false);
    store = await storeNamed("bookshop");
    storage = join(folder(), "storage");
  });

  it("reads, counts and follows the dead tasks all the same", async () => {
    const { view } = await deadTasks();
    const before = (await recordNodes(store)).length;
    assert.ok(before > 30);
    assert.equal(view.view.badge!.value, before);
    assert.equal(
      view.view.message,
      "Restricted Mode: dead tasks can be read. Trust this workspace to retry or delete them.",
    );
    appendFileSync(dataFile(storage), taskLine(newTask("1767225999-7-1")));
    await eventually(async () => {
      assert.equal(recordId((await recordNodes(store))[0]!), "1767225999-7-1");
    }, 1_000);
  });

  it("refuses to change anything, whoever asks, and says how to trust the workspace", async () => {
    const before = { files: readdirSync(storage), data: readFileSync(dataFile(storage)) };
    const nodes = await recordNodes(store);
    for (const command of ["retry", "delete"]) {
      await commands.executeCommand(`deadTasks.${command}`, nodes[0], nodes.slice(0, 3));
      assert.deepEqual(dialogs.only(), {
        severity: "warning",
        text: "In Restricted Mode dead tasks can be read, not retried or deleted.",
        modalDetail: null,
        buttons: ["Manage Workspace Trust"],
      });
    }
    await commands.executeCommand("deadTasks.editAndRetry", nodes[0], nodes);
    assert.equal(dialogs.only().text, "In Restricted Mode dead tasks can be read, not edited and retried.");
    assert.equal(window.activeTextEditor, undefined);
    await commands.executeCommand("deadTasks.send", nodes[0], nodes.slice(0, 3));
    assert.equal(dialogs.only().text, "In Restricted Mode dead tasks can be read, not sent to another store.");
    for (const command of ["retryAll", "deleteAll"]) {
      await commands.executeCommand(`deadTasks.${command}`, { kind: "store", store });
      assert.match(dialogs.only().text, /^In Restricted Mode/);
    }
    assert.deepEqual({ files: readdirSync(storage), data: readFileSync(dataFile(storage)) }, before);
  });

  it("does not retry an edited task that the window brought back", async () => {
    const [node] = await recordNodes(store);
    assert.ok(node?.kind === "task");
    const { id, taskClass } = node.task;
    const before = { files: readdirSync(storage), data: readFileSync(dataFile(storage)) };
    const document = await workspace.openTextDocument(editUri({ storeKey: store.key, id }, taskClass));
    await window.showTextDocument(document);
    const change = new WorkspaceEdit();
    change.insert(document.uri, new Position(document.lineCount, 0), "# typed\n");
    assert.ok(await workspace.applyEdit(change));
    await commands.executeCommand("workbench.action.files.save");
    await eventually(() => {
      assert.equal(dialogs.shown[0]?.text, "In Restricted Mode dead tasks can be read, not edited and retried.");
    });
    dialogs.shown = [];
    assert.match(document.getText(), /^# typed$/m);
    assert.deepEqual({ files: readdirSync(storage), data: readFileSync(dataFile(storage)) }, before);
    await commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  });

  it("shows a task in the pane, where it can be read and copied and not changed", async () => {
    const [node] = await recordNodes(store);
    await commands.executeCommand("deadTasks.show", node);
    const { pane } = await deadTasks();
    await eventually(() => {
      assert.equal(pane.state?.kind, "task");
    });
    assert.equal(pane.state!.canChange, false);
    assert.deepEqual(
      pane.state!.notices.map(({ text }) => text),
      ["Restricted Mode: trust this workspace to retry or delete the task."],
    );
    await commands.executeCommand("deadTasks.copyRuby", node, [node]);
    assert.equal(await env.clipboard.readText(), "SyncInvoice.enqueue(1)");
    await commands.executeCommand("workbench.action.closeAllEditors");
  });

  it("does not take the workspace's word for where other stores are, nor for what is secret", async () => {
    const elsewhere = copyFixture(folders.make(), "basic");
    mkdirSync(join(folder(), ".vscode"), { recursive: true });
    const settings = {
      "deadTasks.stores": [{ path: elsewhere, name: "elsewhere" }],
      "deadTasks.maskedNames": [],
      "editor.tabSize": 7,
    };
    writeFileSync(join(folder(), ".vscode", "settings.json"), JSON.stringify(settings));
    await eventually(() => {
      assert.equal(workspace.getConfiguration("editor").get("tabSize"), 7, "the editor has read it");
    }, 15_000);
    const { registry, stores, pane } = await deadTasks();
    await stores.look();
    assert.deepEqual(
      registry.stores.map(({ name }) => name),
      ["bookshop"],
    );
    const charge = (await recordNodes(store)).find(
      (node) => node.kind === "task" && node.task.taskClass === "Billing::ChargeCard",
    );
    await commands.executeCommand("deadTasks.show", charge);
    await eventually(() => {
      assert.ok(pane.state?.kind === "task" && pane.state.secrets === "hidden");
    });
  });
});
