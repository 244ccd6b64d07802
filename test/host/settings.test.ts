import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TreeNode } from "../../src/tree/nodes";
import { copyFixture, temporaryFolders } from "../support/stores";
import {
  deadTasks,
  eventually,
  folder,
  nodesOf,
  openStores,
  recordNodes,
  setStores,
  storeNamed,
  useDialogs,
} from "./window";

describe("the setting deadTasks.stores", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();

  afterEach(() => setStores(undefined));

  async function topLevel(): Promise<TreeNode[]> {
    const { view } = await deadTasks();
    return view.tree.getChildren();
  }

  it("adds a store at run time, beside the application's own, and takes it out again", async () => {
    const storage = copyFixture(folders.make(), "basic");
    assert.equal((await topLevel())[0]!.kind, "task");
    const { view } = await deadTasks();
    const { badge } = view.view;
    const [staging] = await openStores({ path: storage, name: "staging" });
    assert.equal(staging!.taskCount, 6);
    const nodes = await topLevel();
    assert.deepEqual(
      nodes.map((node) => node.kind === "store" && view.tree.getTreeItem(node).label),
      ["staging", "bookshop"],
    );
    assert.equal(view.tree.getTreeItem(nodes[0]!).description, "6");
    assert.equal(view.view.badge!.value, badge!.value + 6);
    const [task] = await recordNodes(staging!);
    assert.equal(view.tree.getParent(task!)!.kind, "store");
    // The editor gives up where the tree is drawn anew in that moment.
    await eventually(() => view.view.reveal(task!, { select: true }));

    await setStores(undefined);
    assert.equal((await topLevel())[0]!.kind, "task");
    assert.deepEqual(view.view.badge, badge);
  });

  it("opens two prefixes of one directory as two stores", async () => {
    const path = copyFixture(folders.make(), "prefixes");
    const stores = await openStores({ path, name: "deferred" }, { path, prefix: "jobs-", name: "jobs" });
    const ids = await Promise.all(stores.map(async (store) => (await recordNodes(store)).length));
    assert.ok(ids[0]! > 0 && ids[1]! > 0);
    assert.notDeepEqual(stores[0]!.newestFirst(), stores[1]!.newestFirst());
  });

  it("gives the application's own store the name that the setting gives it, and lists it once", async () => {
    await setStores([{ path: "storage", name: "mine" }]);
    const store = await storeNamed("mine");
    assert.equal(store.description.target.path, join(folder(), "storage"));
    assert.equal((await deadTasks()).registry.stores.length, 1);
    assert.equal((await nodesOf(store)).length, store.taskCount);
  });

  it("says in one notification what is wrong with entries, shows each in the list, and opens the good ones", async () => {
    const path = copyFixture(folders.make(), "basic");
    await setStores([{ path, name: "good" }, { prefix: "x-" }, { path: "a", prefix: "b/c" }, 7]);
    await storeNamed("good");
    await eventually(() => {
      assert.equal(dialogs.shown.length, 1);
    });
    const shown = dialogs.only();
    assert.equal(
      shown.text,
      "“deadTasks.stores”, entry 2: “path” must be the storage directory, absolute or relative to the workspace folder. " +
        "The view “Dead Tasks” lists 2 more.",
    );
    assert.deepEqual(shown.buttons, ["Open Settings"]);
    const problems = (await topLevel()).filter((node) => node.kind === "settingProblem");
    assert.deepEqual(
      problems.map((node) => node.message),
      [
        "“deadTasks.stores”, entry 2: “path” must be the storage directory, absolute or relative to the workspace folder.",
        "“deadTasks.stores”, entry 3: “prefix” must be the beginning of the files' names, such as “deferred-”, without a slash.",
        "“deadTasks.stores”, entry 4: must be an object with a path and a prefix.",
      ],
    );

    await setStores("storage");
    await eventually(() => {
      assert.match(dialogs.only().text, /must be a list of stores/);
    });
  });

  it("shows a store that cannot be read, and why, and goes on with the others", async () => {
    const path = folders.make();
    mkdirSync(join(path, "deferred-dead_tasks-0"));
    const [store] = await openStores({ path, name: "no file" });
    assert.equal(store!.status.phase, "failed");
    const [node] = await nodesOf(store!);
    assert.ok(node?.kind === "failure" && node.message.includes(path), JSON.stringify(store!.status.problem));
    const { view } = await deadTasks();
    assert.equal(view.tree.getTreeItem({ kind: "store", store: store! }).description, "cannot be read");
    assert.equal(view.view.message, "1 of 2 stores need attention; their tooltips say why.");
    assert.ok((await storeNamed("bookshop")).taskCount > 30);
  });

  it("says of a path that is no directory that it is none", async () => {
    const file = join(folder(), "Gemfile");
    const [store] = await openStores({ path: file, name: "a file" });
    assert.equal(store!.status.readOnly, `${file} is not a directory`);
  });

  it("shows a directory that is not there yet as an empty store and makes nothing", async () => {
    const path = join(folders.make(), "later");
    const [store] = await openStores({ path, name: "later" });
    assert.equal(store!.status.exists, false);
    assert.equal(store!.status.phase, "ready");
    assert.deepEqual(await nodesOf(store!), []);
  });
});
