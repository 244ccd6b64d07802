import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commands } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { bigDataFile, bigStoreId } from "../support/bigStore";
import { dataFile } from "../support/fixtures";
import { copyFixture, newTask, taskLine } from "../support/stores";
import { deadTasks, eventually, nodesOf, openStores, recordNodes, setStores, useDialogs } from "./window";

const count = 3_000;
const page = 200;

describe("a store of three thousand tasks", function () {
  this.timeout(40_000);
  useDialogs();
  let parent: string;
  let file: string;
  let store: StoreModel;

  before(async () => {
    parent = mkdtempSync(join(tmpdir(), "dead-tasks-"));
    const storage = copyFixture(parent, "empty");
    file = dataFile(storage);
    writeFileSync(file, bigDataFile(count));
    await deadTasks();
    store = (await openStores({ path: storage, name: "big" }))[0]!;
    await eventually(() => {
      assert.equal(store.taskCount, count);
    }, 20_000);
    await nodesOf(store);
  });

  after(async () => {
    await setStores(undefined);
    rmSync(parent, { recursive: true, force: true });
  });

  it("is counted whole on the badge and shown a page at a time", async () => {
    const { view, registry } = await deadTasks();
    assert.equal(
      view.view.badge!.value,
      registry.stores.reduce((sum, one) => sum + one.taskCount, 0),
    );
    for (let shown = page; shown <= 3 * page; shown += page) {
      const nodes = await nodesOf(store);
      assert.equal(nodes.length, shown + 1);
      assert.deepEqual(
        (await recordNodes(store)).map((node) => node.kind === "task" && node.task.id)[shown - 1],
        bigStoreId(count - shown),
      );
      const more = nodes.at(-1)!;
      assert.ok(more.kind === "more" && more.remaining === count - shown);
      const item = view.tree.getTreeItem(more);
      assert.equal(item.label, "Show 200 More…");
      assert.equal(item.description, `of ${(count - shown).toLocaleString("en-US")}`);
      await commands.executeCommand(item.command!.command, more);
    }
  });

  it("takes in a new task by reading only that", async () => {
    const started = performance.now();
    appendFileSync(file, taskLine(newTask("1767229999-1-1")));
    await eventually(async () => {
      assert.equal(store.newestFirst()[0]!.id, "1767229999-1-1");
      assert.equal((await recordNodes(store))[0]!.store, store);
    }, 1_000);
    assert.ok(performance.now() - started < 1_000);
  });
});
