import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { secondProcesses, taskMessage } from "../support/processes";
import { copyFixture, newTask } from "../support/stores";
import { deadTasks, eventually, folder, nodesOf, storeNamed, useDialogs } from "./window";

describe("the extension in an empty folder", () => {
  const processes = secondProcesses();
  const dialogs = useDialogs();

  afterEach(async () => {
    for (const name of readdirSync(folder())) rmSync(join(folder(), name), { recursive: true });
    const { registry, stores } = await deadTasks();
    await stores.look();
    assert.deepEqual(registry.stores, []);
    assert.deepEqual(dialogs.shown, []);
  });

  function write(name: string, text: string): void {
    mkdirSync(join(folder(), name, ".."), { recursive: true });
    writeFileSync(join(folder(), name), text);
  }

  /** The files by which an application is recognised. */
  function application(backend: string, directory = "."): void {
    write(join(directory, "Gemfile"), 'gem "rage-rb"\n');
    write(
      join(directory, "config/application.rb"),
      `require "rage/all"\n\nRage.configure do\n  config.deferred.backend = ${backend}\nend\n`,
    );
  }

  async function openStores(): Promise<readonly StoreModel[]> {
    const { registry } = await deadTasks();
    return registry.stores;
  }

  async function paths(): Promise<string[]> {
    return (await openStores()).map(({ description }) => `${description.target.path} ${description.target.prefix}`);
  }

  it("finds no store, has no badge, and makes no file", async () => {
    const { view, stores } = await deadTasks();
    await eventually(() => {
      assert.equal(stores.looked, true);
    });
    assert.deepEqual(await openStores(), []);
    assert.deepEqual(view.tree.getChildren(), []);
    assert.equal(view.view.badge, undefined);
    assert.deepEqual(readdirSync(folder()), []);
    await commands.executeCommand("deadTasks.retryAll");
    assert.equal(dialogs.only().text, "There are no dead tasks.");
  });

  it("notices an application that appears, and its first dead task", async () => {
    application(":disk");
    await eventually(async () => {
      assert.deepEqual(await paths(), [`${join(folder(), "storage")} deferred-`]);
    });
    const store = await storeNamed("empty");
    assert.equal(store.status.exists, false);
    assert.deepEqual(readdirSync(folder()).sort(), ["Gemfile", "config"], "looking makes nothing");

    await processes
      .ruby(join(folder(), "storage"))
      .request({ do: "add", task: taskMessage(newTask("1767225999-7-1")) });
    const { view } = await deadTasks();
    await eventually(async () => {
      assert.equal((await nodesOf(store)).length, 1);
      assert.equal(view.view.badge?.value, 1);
    }, 2_000);
  });

  it("notices a storage directory that no configuration points to", async () => {
    copyFixture(folder(), "basic");
    const store = await storeNamed("empty");
    assert.equal(store.taskCount, 6);
    assert.equal(store.description.source, "files");
  });

  it("follows the configuration from one store to another, and to none", async () => {
    application(':disk, path: "storage", prefix: "a"');
    await eventually(async () => {
      assert.deepEqual(await paths(), [`${join(folder(), "storage")} a-`]);
    });
    application(':disk, path: "elsewhere"');
    await eventually(async () => {
      assert.deepEqual(await paths(), [`${join(folder(), "elsewhere")} deferred-`]);
    });
    application("nil");
    await eventually(async () => {
      assert.deepEqual(
        (await openStores()).map(({ description }) => description.target.backend),
        ["nil"],
      );
    });
    const { view } = await deadTasks();
    const store = await storeNamed("empty");
    assert.deepEqual(await nodesOf(store), []);
    assert.equal(view.view.badge, undefined);
    await commands.executeCommand("deadTasks.deleteAll", { kind: "store", store });
    assert.equal(dialogs.only().text, "Select a dead task first.");
    assert.ok(!readdirSync(folder()).includes("storage"));
  });

  it("says which path is a guess where the configuration depends on the running application", async () => {
    application(':disk, path: ENV["STORAGE_PATH"]');
    const store = await storeNamed("empty");
    const [node] = await nodesOf(store);
    assert.ok(node?.kind === "guess", JSON.stringify(store.description));
    const { view } = await deadTasks();
    assert.equal(view.tree.getTreeItem(node).command!.command, "deadTasks.openSettings");
    assert.equal(view.view.message, node.message);
  });

  it("opens the stores of two applications in sub-folders under their names", async () => {
    application(":disk", "shop");
    application(":disk", "blog");
    mkdirSync(join(folder(), "shop", "storage"));
    await eventually(async () => {
      assert.deepEqual((await openStores()).map(({ name }) => name).sort(), ["blog", "shop"]);
    });
    const { view } = await deadTasks();
    assert.deepEqual(
      view.tree.getChildren().map(({ kind }) => kind),
      ["store", "store"],
    );
  });
});
