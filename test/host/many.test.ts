import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { commands, window, type QuickPickItem } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { textFilter } from "../../src/tree/taskFilter";
import { dataFile, logLines } from "../support/fixtures";
import type { LineProcess } from "../support/lineProcess";
import { secondProcesses } from "../support/processes";
import { copyFixture, newTask, taskLine, temporaryFolders } from "../support/stores";
import {
  commandLine,
  deadTasks,
  eventually,
  openStores,
  recordNodes,
  setStores,
  useCancel,
  useDialogs,
  type NamedStore,
  type Shown,
} from "./window";

describe("retrying and deleting many", function () {
  this.timeout(60_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const dialogs = useDialogs();
  const cancelAtOnce = useCancel();
  const { showQuickPick } = window;

  afterEach(async () => {
    Reflect.set(window, "showQuickPick", showQuickPick);
    await commands.executeCommand("deadTasks.clearFilter");
  });

  after(() => setStores(undefined));

  async function openNew(name: string, fixture = "basic"): Promise<{ store: StoreModel; storage: string }> {
    const storage = copyFixture(folders.make(), fixture);
    return { store: (await openStores({ path: storage, name }))[0]!, storage };
  }

  async function run(command: "retry" | "delete", store: StoreModel, ids: readonly string[]): Promise<void> {
    const nodes = await recordNodes(store, ids);
    await commands.executeCommand(`deadTasks.${command}`, nodes[0], nodes);
  }

  function press(button: RegExp): void {
    dialogs.answer = ({ buttons }) => buttons.find((one) => button.test(one));
  }

  /** What is shown next that this fits. */
  async function shown(text: RegExp): Promise<Shown> {
    await eventually(() => {
      assert.ok(
        dialogs.shown.some((one) => text.test(one.text)),
        dialogs.shown.map((one) => one.text).join("\n"),
      );
    }, 20_000);
    return dialogs.shown.find((one) => text.test(one.text))!;
  }

  describe("when it is cancelled", () => {
    /** As another window does that is at work in the store. */
    function hold(storage: string): () => void {
      const lock = join(storage, ".deferred-dead_tasks.busy");
      mkdirSync(lock);
      return () => {
        rmSync(lock, { recursive: true });
      };
    }

    it("says that nothing was done, and nothing was", async () => {
      const { store, storage } = await openNew("shop");
      const before = readFileSync(dataFile(storage));
      const release = hold(storage);
      const titles = cancelAtOnce();
      for (const [verb, done] of [
        ["retry", "retried"],
        ["delete", "deleted"],
      ] as const) {
        dialogs.shown = [];
        press(/^(Retry|Delete) 3$/);
        const ids = store.newestFirst().slice(0, 3);
        await run(
          verb,
          store,
          ids.map(({ id }) => id),
        );
        assert.equal(dialogs.shown.at(-1)!.text, `Cancelled. Nothing was ${done}.`);
        assert.deepEqual(dialogs.shown.at(-1)!.buttons, []);
      }
      release();
      assert.deepEqual(titles, ["Retrying 3 tasks…", "Deleting 3 tasks…"]);
      assert.deepEqual(readFileSync(dataFile(storage)), before);
      assert.deepEqual(logLines(storage), []);
    });

    it("says after which store, and leaves the next one as it is", async () => {
      const [path, other] = [copyFixture(folders.make(), "basic"), copyFixture(folders.make(), "basic")];
      const named: NamedStore[] = [
        { path, name: "shop" },
        { path: other, name: "blog" },
      ];
      const stores = await openStores(...named);
      const nodes = (await Promise.all(stores.map((store) => recordNodes(store)))).flatMap((some) => some.slice(0, 2));
      const before = readFileSync(dataFile(other));
      const release = hold(other);
      cancelAtOnce();
      press(/^Retry 4$/);
      await commands.executeCommand("deadTasks.retry", nodes[0], nodes);
      release();
      const { text, buttons } = dialogs.shown.at(-1)!;
      assert.equal(
        text,
        "Cancelled after shop: 2 retried; blog was left as it is. All 2 run when a Rage worker next starts.",
      );
      assert.deepEqual(buttons, ["Undo"]);
      assert.equal(logLines(path).length, 2);
      assert.deepEqual(readFileSync(dataFile(other)), before);
    });

    it("offers no Cancel for what is done in a moment", async () => {
      const { store } = await openNew("shop");
      const titles = cancelAtOnce();
      press(/^Delete$/);
      await run("delete", store, [store.newestFirst()[0]!.id]);
      assert.deepEqual(titles, []);
    });
  });

  it("goes on past bad ones of every kind, and lists each with its reason and the way to it", async () => {
    const { store, storage } = await openNew("shop", "contexts");
    const bad = readFileSync(dataFile(copyFixture(folders.make(), "bad-payload")), "latin1");
    const unreadable = ["1767225638-1-1", "1767225639-1-1", "1767225640-1-1"].slice(0, 2);
    const lines = bad.split("\n").filter((line) => unreadable.some((id) => line.includes(`:${id}:`)));
    appendFileSync(dataFile(storage), `${lines.join("\n")}\n`, "latin1");
    await eventually(() => {
      assert.equal(store.status.unreadable.length, 2);
    });
    const ids = store.newestFirst().map(({ id }) => id);
    const nodes = await recordNodes(store, [...ids, ...unreadable]);
    const gone = ["1767225637-5-1", "1767225638-5-1"];
    await commandLine("delete", ...gone, "--storage", storage);
    const asked: (readonly QuickPickItem[])[] = [];
    Reflect.set(window, "showQuickPick", (items: readonly QuickPickItem[]) => {
      asked.push(items);
      return Promise.resolve(items[0]);
    });
    press(/^(Retry 7|Show)$/);
    await commands.executeCommand("deadTasks.retry", nodes[0], nodes);
    assert.match(dialogs.shown[0]!.modalDetail!, /\n\n2 records that cannot be read are left as they are\.$/);
    const { text, severity, buttons } = dialogs.shown.at(-1)!;
    assert.equal(severity, "error");
    assert.match(
      text,
      /^Retried 2 dead tasks\. All 2 run when .*\. 2 dead tasks were already gone\. 5 tasks could not be retried\. SyncInvoice \(1767225641-5-1\): .* And 2 more\.$/,
    );
    assert.deepEqual(buttons, ["Undo", "Show", "Show Log"]);
    await eventually(() => {
      assert.equal(asked.length, 1);
    });
    assert.deepEqual(
      asked[0]!.map(({ label, description }) => [label, description]),
      [
        ...["1767225641-5-1", "1767225642-5-1", "1767225643-5-1"].map((id) => ["SyncInvoice", `${id} · shop`]),
        ...unreadable.map((id) => ["A record that cannot be read", `${id} · shop`]),
        ...gone.reverse().map((id) => ["SyncInvoice", `${id} · shop`]),
      ].sort(
        (one, other) =>
          asked[0]!.findIndex(({ description }) => description === one[1]) -
          asked[0]!.findIndex(({ description }) => description === other[1]),
      ),
    );
    assert.ok(asked[0]!.every(({ detail }) => detail !== undefined && detail.length > 10));
    assert.equal(logLines(storage).length, 2);
    await eventually(() => {
      assert.equal(window.tabGroups.activeTabGroup.activeTab?.label, "SyncInvoice");
      assert.deepEqual(
        store
          .newestFirst()
          .map(({ id }) => id)
          .sort(),
        ["1767225641-5-1", "1767225642-5-1", "1767225643-5-1"],
      );
    });
    await commands.executeCommand("workbench.action.closeAllEditors");
  });

  describe("of which one is tried first", () => {
    let store: StoreModel;
    let storage: string;
    let worker: LineProcess;
    let chosen: string[];

    beforeEach(async () => {
      storage = copyFixture(folders.make(), "empty");
      const tasks = ["1767226001-1-1", "1767226002-1-1", "1767226003-1-1", "1767226004-1-1"];
      appendFileSync(
        dataFile(storage),
        Buffer.concat(tasks.map((id, index) => taskLine(newTask(id, { failedAt: 1_767_300_000 + index })))),
      );
      store = (await openStores({ path: storage, name: "shop" }))[0]!;
      chosen = store.newestFirst().map(({ id }) => id);
      assert.deepEqual(chosen, [...tasks].reverse());
      worker = processes.ruby(storage);
    });

    /** Chooses Try One First; what the notification says then. */
    async function tryOne(answer: (shown: Shown) => string | undefined = () => undefined): Promise<Shown> {
      dialogs.answer = (one) => (one.modalDetail === null ? answer(one) : "Try One First");
      await run("retry", store, chosen);
      const [question, told] = dialogs.shown;
      assert.deepEqual(question!.buttons, ["Retry 4", "Try One First"]);
      return told!;
    }

    /** The worker claims the log; the id that it finds there. */
    async function startWorker(): Promise<string> {
      const ids = (await worker.request({ do: "start" })) as string[];
      assert.equal(ids.length, 1);
      return ids[0]!;
    }

    function ids(): string[] {
      return store.newestFirst().map(({ id }) => id);
    }

    it("retries the newest, says when it runs, and asks about the rest once it has run", async () => {
      const told = await tryOne(({ buttons }) => buttons.find((one) => one === "Retry 3"));
      assert.equal(
        told.text,
        "Retried one of 4: SyncInvoice. It runs when a Rage worker next starts; you will be asked about the other 3 when it has run.",
      );
      assert.deepEqual(told.buttons, ["Retry the Other 3 Now", "Undo"]);
      assert.deepEqual(ids(), chosen.slice(1));
      const id = await startWorker();
      await worker.request({ do: "perform", id, outcome: "run" });
      const offered = await shown(/ ran\. /);
      assert.equal(offered.text, "SyncInvoice ran. Retry the other 3?");
      assert.deepEqual(offered.buttons, ["Retry 3", "Show"]);
      await shown(/^Retried 3 dead tasks\. All 3 run when a Rage worker next starts\.$/);
      assert.deepEqual(ids(), []);
    });

    it("says that it died again, with the way there, and leaves the others", async () => {
      await tryOne(({ buttons }) => buttons.find((one) => one === "Show"));
      const id = await startWorker();
      await worker.request({ do: "perform", id, outcome: "die" });
      const told = await shown(/died again/);
      assert.equal(told.severity, "warning");
      assert.equal(
        told.text,
        "SyncInvoice died again: Timeout::Error: the gateway is still away. The other 3 were left.",
      );
      assert.deepEqual(told.buttons, ["Show"]);
      await eventually(() => {
        assert.equal(window.tabGroups.activeTabGroup.activeTab?.label, "SyncInvoice");
      });
      await commands.executeCommand("workbench.action.closeAllEditors");
      assert.deepEqual(ids(), [id, ...chosen.slice(1)]);
    });

    it("says when its worker will try it again, and goes on watching", async () => {
      await tryOne();
      const id = await startWorker();
      await worker.request({ do: "perform", id, outcome: "fail" });
      const told = await shown(/failed again/);
      assert.match(
        told.text,
        /^SyncInvoice failed again; its worker tries it once more at \d\d:\d\d\. The other 3 were left\.$/,
      );
      assert.deepEqual(told.buttons, ["Retry the Other 3 Now"]);
      await worker.request({ do: "perform", id, outcome: "run" });
      await shown(/^SyncInvoice ran\. Retry the other 3\?$/);
    });

    it("retries of the rest only what is dead as it was, and says what became of the others", async () => {
      const [, second, third, fourth] = chosen as [string, string, string, string];
      const dying = newTask(second, { failedAt: 1_767_400_000, exceptionMessage: "another reason" });
      let isAsked = false;
      await tryOne((one) => {
        const button = one.buttons.find((name) => name === "Retry the Other 3 Now");
        if (button === undefined || isAsked) return undefined;
        isAsked = true;
        appendFileSync(dataFile(storage), taskLine(dying));
        return button;
      });
      const told = await shown(/could not be retried/);
      assert.equal(
        told.text,
        `Retried 2 dead tasks. All 2 run when a Rage worker next starts. 1 task could not be retried. SyncInvoice (${second}): It has died anew since you were asked, and was left as it is.`,
      );
      assert.deepEqual(ids(), [second]);
      assert.equal(store.task(third) ?? store.task(fourth), undefined);
      const waiting = (await worker.request({ do: "pending" })) as unknown[];
      assert.equal(waiting.length, 3);
    });

    it("shows the rest alone in the list, and asks about it there as what it is", async () => {
      await tryOne(({ buttons }) => buttons.find((one) => one === "Show"));
      appendFileSync(dataFile(storage), taskLine(newTask("1767226009-1-1")));
      const id = await startWorker();
      await worker.request({ do: "perform", id, outcome: "run" });
      await shown(/ ran\. /);
      const { view } = await deadTasks();
      await eventually(async () => {
        assert.equal(view.filtered.filter?.label, "Left after trying SyncInvoice");
        const nodes = await recordNodes(store);
        assert.deepEqual(
          nodes.map((node) => node.kind === "task" && node.task.id),
          chosen.slice(1),
        );
      });
      dialogs.shown = [];
      dialogs.answer = () => undefined;
      await commands.executeCommand("deadTasks.retryMatching", { kind: "store", store });
      assert.equal(dialogs.only().text, "Retry the 3 dead tasks from shop that were left after SyncInvoice was tried?");
    });

    it("says nothing more once it was taken back", async () => {
      const told = await tryOne(({ buttons }) => buttons.find((one) => one === "Undo"));
      assert.match(told.text, /^Retried one of 4/);
      await eventually(() => {
        assert.deepEqual(ids().sort(), [...chosen].sort());
      });
      const before = dialogs.shown.length;
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      assert.equal(dialogs.shown.length, before);
    });
  });

  it("tries one of what a filter shows, and offers the rest of that alone", async () => {
    const { store, storage } = await openNew("shop");
    const { view } = await deadTasks();
    view.setFilter(textFilter("class:SendWelcomeEmail"));
    await view.filtered.settled();
    const matching = store.newestFirst().filter(({ taskClass }) => taskClass === "SendWelcomeEmail").length;
    assert.ok(matching > 1, "the fixture has several");
    dialogs.answer = (one) =>
      one.modalDetail === null ? one.buttons.find((name) => name.endsWith(" Now")) : "Try One First";
    await commands.executeCommand("deadTasks.retryMatching", { kind: "store", store });
    await eventually(() => {
      assert.equal(logLines(storage).length, matching);
    });
    await eventually(() => {
      assert.ok(store.newestFirst().every(({ taskClass }) => taskClass !== "SendWelcomeEmail"));
    });
    assert.ok(store.taskCount > 0);
  });
});
