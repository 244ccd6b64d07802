import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Uri, commands, window, type QuickPickItem } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { dataFile } from "../support/fixtures";
import { deadTasks, eventually, folder, recordNodes, storeNamed, useDialogs } from "./window";

/** Any user but the storage's own; the usual number of `nobody`. */
const nobody = 65_534;

describe("a store that the user may not write to", () => {
  const dialogs = useDialogs();
  let storage: string;
  let store: StoreModel;

  before(async () => {
    storage = join(folder(), "storage");
    store = await storeNamed("bookshop");
    assert.equal(store.status.readOnly, null);
    mkdirSync(join(folder(), "..", "colleague"));
    chmodSync(join(folder(), "..", "colleague"), 0o777);
    if (process.getuid?.() === 0) {
      // Nothing is forbidden to root, so this whole extension host, its worker included, becomes another user, for good.
      chmodSync(join(folder(), ".."), 0o755);
      process.setgroups?.([]);
      process.setgid?.(nobody);
      process.setuid?.(nobody);
      const { registry } = await deadTasks();
      await registry.refresh();
    } else {
      chmodSync(storage, 0o555);
    }
    await eventually(() => {
      assert.notEqual(store.status.readOnly, null);
    });
  });

  it("is listed, with what is the matter", async () => {
    const { view } = await deadTasks();
    assert.ok((await recordNodes(store)).length > 30);
    const reason = `Read-only: you have no permission to write in ${storage}`;
    assert.equal(view.view.message, reason);
    const [node] = await recordNodes(store);
    assert.equal(view.tree.getTreeItem(node!).contextValue, "taskReadOnly", "so its menu has no retry and no delete");
  });

  it("is not changed, and why is said", async () => {
    const before = { files: readdirSync(storage), data: readFileSync(dataFile(storage)) };
    const [node] = await recordNodes(store);
    for (const command of ["retry", "editAndRetry", "delete"]) {
      await commands.executeCommand(`deadTasks.${command}`, node, [node]);
      assert.equal(dialogs.only().text, `bookshop is read-only: you have no permission to write in ${storage}`);
    }
    // And where a caller does not ask first.
    const { service } = await deadTasks();
    const { id } = store.newestFirst()[0]!;
    await assert.rejects(service.retry(store.key, [id], null), /no permission/);
    await assert.rejects(service.delete(store.key, [id]), /no permission/);
    assert.deepEqual({ files: readdirSync(storage), data: readFileSync(dataFile(storage)) }, before);
  });

  it("can be sent from, as long as nothing is to be removed", async () => {
    const before = { files: readdirSync(storage), data: readFileSync(dataFile(storage)) };
    const target = join(folder(), "..", "colleague", "storage");
    const { showQuickPick, showOpenDialog, showInputBox } = window;
    const [node] = await recordNodes(store);
    const lists: string[][] = [];
    Reflect.set(window, "showOpenDialog", () => Promise.resolve([Uri.file(target)]));
    Reflect.set(window, "showInputBox", () => Promise.resolve("deferred-"));
    dialogs.answer = ({ buttons }) => buttons.find((button) => button === "Copy");
    try {
      Reflect.set(window, "showQuickPick", (items: readonly QuickPickItem[]) => {
        lists.push(items.map(({ label }) => label));
        return Promise.resolve(items.find(({ label }) => /Another|Copy There/.test(label)));
      });
      await commands.executeCommand("deadTasks.send", node, [node]);
      assert.match(dialogs.shown.at(-1)!.text, /^Copied /);
      assert.deepEqual(
        lists[1]!.map((label) => label.replace(/^\S+ /, "")),
        ["Copy There as Dead Tasks, Keep Here", "Retry There, Keep Here"],
      );
      const { service } = await deadTasks();
      const place = { path: target, prefix: "deferred-" };
      const { id } = store.newestFirst()[0]!;
      // Not by the command: this user may not look at what the window that root began is running.
      assert.deepEqual((await service.send(store.key, [id], place, "retry")).sent, [id]);
      assert.equal(readdirSync(target).filter((file) => /^deferred-(dead_tasks-0|0-.*)$/.test(file)).length, 2);
      assert.deepEqual({ files: readdirSync(storage), data: readFileSync(dataFile(storage)) }, before);
      await assert.rejects(service.send(store.key, [id], place, "move"), /no permission/);
    } finally {
      Reflect.set(window, "showQuickPick", showQuickPick);
      Reflect.set(window, "showOpenDialog", showOpenDialog);
      Reflect.set(window, "showInputBox", showInputBox);
    }
  });

  it("is shown in the pane with the same reason", async () => {
    const { pane } = await deadTasks();
    const [node] = await recordNodes(store);
    await commands.executeCommand("deadTasks.show", node);
    await eventually(() => {
      assert.equal(pane.state?.kind, "task");
    });
    assert.equal(pane.state!.canChange, false);
    assert.deepEqual(
      pane.state!.notices.map(({ text }) => text),
      [`Read-only: you have no permission to write in ${storage}`],
    );
  });
});

// The last of this window: nothing of the extension works afterwards.
describe("the end of the extension", () => {
  it("ends the worker and leaves no command behind", async () => {
    const { context, service, pane } = await deadTasks();
    for (const disposable of context.subscriptions.splice(0).reverse()) disposable.dispose();
    await assert.rejects(service.refresh("any"), { code: "worker-ended", message: "Dead Tasks is shutting down." });
    const left = (await commands.getCommands(true)).filter((id) => /^deadTasks\.\w+$/.test(id));
    assert.deepEqual(left, []);
    assert.equal(pane.state, null);
  });
});
