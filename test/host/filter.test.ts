import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commands, window, type QuickPickItem } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { textFilter } from "../../src/tree/taskFilter";
import { bigDataFile, bigStoreId } from "../support/bigStore";
import { afterRemoval, dataFile, logLines } from "../support/fixtures";
import { copyFixture, newTask, taskLine, temporaryFolders } from "../support/stores";
import { deadTasks, eventually, nodesOf, openStores, recordNodes, setStores, useDialogs } from "./window";

describe("the list's filter", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();
  const { showQuickPick } = window;
  let storage: string;
  let store: StoreModel;
  let before: Buffer;

  beforeEach(async () => {
    storage = copyFixture(folders.make(), "basic");
    store = (await openStores({ path: storage, name: "shop" }))[0]!;
    before = readFileSync(dataFile(storage));
  });

  afterEach(async () => {
    Reflect.set(window, "showQuickPick", showQuickPick);
    await commands.executeCommand("deadTasks.clearFilter");
  });

  after(() => setStores(undefined));

  async function filter(text: string): Promise<void> {
    const { view } = await deadTasks();
    view.setFilter(textFilter(text));
    await view.filtered.settled();
  }

  function idsOf(taskClass: string): string[] {
    return store
      .newestFirst()
      .filter((task) => task.taskClass === taskClass)
      .map(({ id }) => id);
  }

  async function shown(): Promise<string[]> {
    return (await recordNodes(store)).map((node) => (node.kind === "task" ? node.task.id : node.id));
  }

  /** The store's item, and all tasks of it by a menu's command. */
  function onAll(command: "retryAll" | "deleteAll" | "retryMatching" | "deleteMatching"): Thenable<unknown> {
    return commands.executeCommand(`deadTasks.${command}`, { kind: "store", store });
  }

  it("shows what matches, says so above the list, counts all on the badge, and is cleared", async () => {
    const { view, registry } = await deadTasks();
    const all = await shown();
    const count = registry.stores.reduce((sum, one) => sum + one.taskCount, 0);
    const some = idsOf("SendWelcomeEmail");
    assert.ok(some.length > 0 && some.length < all.length);
    await filter("class:sendwelcome");
    assert.deepEqual(await shown(), some);
    const line = `Filter: class:sendwelcome · ${view.filtered.counts.shown} of ${count}`;
    assert.equal(view.view.message!.split("\n")[0], line);
    assert.equal(view.view.description, `${view.filtered.counts.shown} of ${count}`);
    assert.equal(view.view.badge?.value, count);
    const item = view.tree.getTreeItem({ kind: "store", store });
    assert.equal(item.description, `${some.length} of ${all.length}`);
    await commands.executeCommand("deadTasks.clearFilter");
    assert.deepEqual(await shown(), all);
    assert.ok(!view.view.message?.includes("Filter"));
    assert.equal(view.view.description, "");
  });

  it("lets new tasks in as they die, and no others", async () => {
    await filter("SendWelcomeEmail");
    const some = await shown();
    appendFileSync(dataFile(storage), taskLine(newTask("1767226001-1-1", { taskClass: "Other" })));
    appendFileSync(dataFile(storage), taskLine(newTask("1767226002-1-1", { taskClass: "SendWelcomeEmail" })));
    await eventually(async () => {
      assert.deepEqual(await shown(), ["1767226002-1-1", ...some]);
    });
    assert.ok(store.task("1767226001-1-1"), "it is known, and on the badge");
  });

  it("says that nothing matches, with a way out", async () => {
    const { view } = await deadTasks();
    await filter("nowhere");
    assert.deepEqual(await recordNodes(store), []);
    const [node] = view.tree.getChildren();
    assert.equal(node!.kind, "noMatch");
    const item = view.tree.getTreeItem(node!);
    assert.equal(item.label, "No task matches the filter");
    await onAll("retryMatching");
    const { text, buttons } = dialogs.only();
    assert.deepEqual([text, buttons], ["No dead task matches the filter.", ["Clear Filter"]]);
    await commands.executeCommand(item.command!.command);
    assert.ok((await shown()).length > 1);
  });

  it("has “all” act on what it shows, and on nothing that comes after the question", async () => {
    const some = idsOf("SendWelcomeEmail");
    await filter("class:SendWelcomeEmail");
    let late = "";
    dialogs.answer = ({ modalDetail, buttons }) => {
      if (modalDetail === null) return undefined;
      late = "1767226003-1-1";
      appendFileSync(dataFile(storage), taskLine(newTask(late, { taskClass: "SendWelcomeEmail" })));
      return buttons.find((button) => button.startsWith("Retry "));
    };
    await onAll("retryMatching");
    const matching = some.length === 1 ? "task from shop that matches" : "tasks from shop that match";
    assert.equal(dialogs.shown[0]!.text, `Retry the ${some.length} dead ${matching} “class:SendWelcomeEmail”?`);
    assert.equal(logLines(storage).length, some.length);
    await eventually(async () => {
      assert.deepEqual(await shown(), [late]);
    });
  });

  it("has “Delete All” spare what it hides, by whichever of its names it is called", async () => {
    const some = idsOf("SendWelcomeEmail");
    for (const command of ["deleteMatching", "deleteAll"] as const) {
      await filter("class:SendWelcomeEmail");
      dialogs.shown = [];
      await onAll(command);
      assert.match(dialogs.only().text, /^Delete the .* from shop that match(es)? “class:SendWelcomeEmail”\?$/);
    }
    dialogs.answer = ({ buttons }) => buttons.find((button) => button.startsWith("Delete"));
    await onAll("deleteAll");
    assert.deepEqual(readFileSync(dataFile(storage)), afterRemoval(before, some));
  });

  it("spans stores: each is counted, and all of them can be chosen", async () => {
    const other = copyFixture(folders.make(), "basic");
    const [, blog] = await openStores({ path: storage, name: "shop" }, { path: other, name: "blog" });
    const { registry } = await deadTasks();
    await filter("class:SendWelcomeEmail");
    const some = idsOf("SendWelcomeEmail");
    const asked: (readonly QuickPickItem[])[] = [];
    Reflect.set(window, "showQuickPick", (items: readonly QuickPickItem[]) => {
      asked.push(items);
      return Promise.resolve(items.find(({ label }) => label === "blog"));
    });
    dialogs.answer = ({ buttons }) => buttons.find((button) => button.startsWith("Delete"));
    await commands.executeCommand("deadTasks.deleteMatching");
    const labels = asked[0]!.map(({ label }) => label);
    assert.equal(labels[0], `All ${labels.length - 1} stores`);
    assert.ok(labels.includes("shop") && labels.includes("blog") && labels.length - 1 <= registry.stores.length);
    const picked = asked[0]!.find(({ label }) => label === "blog")!;
    assert.equal(picked.description, `${some.length} dead task${some.length === 1 ? "" : "s"} matching`);
    assert.deepEqual(readFileSync(dataFile(other)), afterRemoval(before, some));
    assert.deepEqual(readFileSync(dataFile(storage)), before);
    await eventually(() => {
      assert.equal(blog!.taskCount, store.taskCount - some.length);
    });
  });

  it("acts on all pages of what matches, not on the first alone, and on nothing else", async function () {
    this.timeout(40_000);
    const parent = mkdtempSync(join(tmpdir(), "dead-tasks-"));
    try {
      const big = copyFixture(parent, "empty");
      writeFileSync(dataFile(big), bigDataFile(3_000));
      store = (await openStores({ path: big, name: "big" }))[0]!;
      await filter("class:SyncInvoice exception:Net::OpenTimeout");
      const matching = store
        .newestFirst()
        .filter(
          ({ taskClass, exceptionClass }) => taskClass === "SyncInvoice" && exceptionClass === "Net::OpenTimeout",
        );
      assert.equal(matching.length, 250);
      const nodes = await nodesOf(store);
      assert.deepEqual([nodes.length, nodes.at(-1)!.kind], [201, "more"]);
      dialogs.answer = ({ buttons }) => buttons.find((button) => button.startsWith("Delete"));
      await onAll("deleteMatching");
      await eventually(() => {
        assert.equal(store.taskCount, 2_750);
      });
      assert.ok(matching.every(({ id }) => store.task(id) === undefined));
      assert.ok(store.task(bigStoreId(0)));
    } finally {
      await setStores(undefined);
      rmSync(parent, { recursive: true, force: true });
    }
  });
});
