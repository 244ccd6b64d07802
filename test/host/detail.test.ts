import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commands, ViewColumn, window, type WebviewPanel } from "vscode";
import type { DetailState, TaskState } from "../../src/detail/protocol";
import type { StoreModel } from "../../src/stores/storeModel";
import { afterRemoval, dataFile, fixtureStores, plainText, unreadableIds, withoutAddresses } from "../support/fixtures";
import { copyFixture, newTask, taskLine, temporaryFolders } from "../support/stores";
import { deadTasks, eventually, folder, openStores, recordNodes, setStores, storeNamed, useDialogs } from "./window";

describe("the detail pane", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();

  afterEach(() => commands.executeCommand("workbench.action.closeAllEditors"));
  after(() => setStores(undefined));

  async function open(fixture: string): Promise<{ store: StoreModel; file: string }> {
    const storage = copyFixture(folders.make(), fixture);
    const [store] = await openStores({ path: storage, name: "detail" });
    return { store: store!, file: dataFile(storage) };
  }

  /** As a click on the item does. */
  async function show(store: StoreModel, id: string): Promise<void> {
    const [node] = await recordNodes(store, [id]);
    await commands.executeCommand("deadTasks.show", node);
    // A store that reports something meanwhile has the record read once more.
    await eventually(async () => {
      const shown = await state();
      assert.ok(shown.reference.id === id && shown.kind !== "bare");
    });
  }

  async function state(): Promise<DetailState> {
    const { pane } = await deadTasks();
    assert.ok(pane.state, "the pane is not open");
    return pane.state;
  }

  async function taskState(): Promise<TaskState> {
    const found = await state();
    assert.equal(found.kind, "task", JSON.stringify(found));
    return found;
  }

  function panes(): string[] {
    return window.tabGroups.all.flatMap((group) => group.tabs).map((tab) => tab.label);
  }

  it("shows all that a fixture's task is, as Rage reads it", async () => {
    const { store } = await open("basic");
    const { expected } = fixtureStores().find(({ name }) => name === "basic")!;
    for (const task of expected) {
      await show(store, task.id);
      const shown = await taskState();
      assert.equal(shown.title, plainText(task.task_class!));
      assert.equal(shown.exceptionClass, plainText(task.exception_class ?? "(anonymous error)"));
      assert.equal(shown.message, plainText(task.exception_message!));
      assert.deepEqual(
        shown.backtrace.map(({ text }) => text),
        task.backtrace!.map(plainText),
      );
      for (const [field, expectedText] of [
        ["args", task.args_inspect],
        ["kwargs", task.kwargs_inspect],
        ["logTags", task.log_tags],
        ["logContext", task.log_context],
        ["userContext", task.user_context],
      ] as const) {
        const { text, empty } = shown.context!.find((one) => one.field === field)!;
        const isEmpty = ["nil", "[]", "{}"].includes(withoutAddresses(expectedText!));
        assert.equal(empty, isEmpty, field);
        // Secrets are masked until the reader asks for them.
        if (!isEmpty && !text.includes("[FILTERED]")) assert.equal(text, withoutAddresses(expectedText!));
      }
    }
  });

  it("is one pane, whichever task is selected, beside nothing else", async () => {
    const { store } = await open("basic");
    for (const { id } of store.newestFirst().slice(0, 3)) await show(store, id);
    await eventually(() => {
      assert.deepEqual(panes(), [store.newestFirst()[2]!.taskClass]);
    });
  });

  it("shows the last of many that are selected in quick succession, whole", async () => {
    await setStores(undefined);
    const store = await storeNamed("bookshop");
    const nodes = await recordNodes(store);
    for (let round = 0; round < 5; round++) {
      const some = nodes.slice(round * 6, round * 6 + 6);
      await Promise.all(some.map((node) => commands.executeCommand("deadTasks.show", node)));
      const last = some.at(-1)!;
      assert.ok(last.kind === "task");
      await delay(100);
      const shown = await taskState();
      assert.equal(shown.reference.id, last.task.id);
      assert.equal(shown.facts[0]!.text, last.task.id);
      assert.equal(shown.title, last.task.taskClass);
    }
  });

  it("knows the files of the demo's backtraces, and only those below the folder", async () => {
    await setStores(undefined);
    const store = await storeNamed("bookshop");
    const newest = store.newestFirst()[0]!;
    await show(store, newest.id);
    const { backtrace } = await taskState();
    const own = backtrace.filter(({ canOpen }) => canOpen);
    assert.deepEqual(
      own.map(({ place }) => place.replace(/:\d+$/, "")),
      ["lib/mailer.rb", "app/tasks/send_welcome_email.rb"],
    );
    assert.ok(backtrace.some(({ origin, canOpen }) => origin === "gem" && !canOpen));
    assert.ok(own.every(({ text }) => text.startsWith(folder())));
  });

  it("masks secrets, and has none of them in its state until they are revealed", async () => {
    await setStores(undefined);
    const store = await storeNamed("bookshop");
    const charge = store.newestFirst().find(({ taskClass }) => taskClass === "Billing::ChargeCard")!;
    await show(store, charge.id);
    const shown = await taskState();
    assert.equal(shown.secrets, "hidden");
    assert.match(JSON.stringify(shown), /\[FILTERED\]/);
    assert.doesNotMatch(JSON.stringify(shown), /tok_live|sk_b00k5h0p/);
  });

  it("shows a record that cannot be read, and why", async () => {
    const { store } = await open("bad-payload");
    for (const id of unreadableIds("bad-payload")) {
      await show(store, id);
      const shown = await state();
      assert.ok(shown.kind === "unreadable" && shown.reason !== "", JSON.stringify(shown));
      assert.equal(shown.canChange, true, "it can be deleted");
    }
  });

  it("shows a task whose arguments cannot be read with all the rest", async () => {
    const { store } = await open("contexts");
    await show(store, "1767225641-5-1");
    const shown = await taskState();
    assert.equal(shown.context, null);
    assert.ok(shown.contextError!.length > 10);
  });

  it("follows its task when that dies again", async () => {
    const { store, file } = await open("basic");
    const { id } = store.newestFirst()[2]!;
    await show(store, id);
    appendFileSync(file, taskLine(newTask(id, { failedAt: 1767239999, exceptionMessage: "once more" })));
    await eventually(async () => {
      const shown = await taskState();
      assert.equal(shown.message, "once more");
      assert.match(shown.notices[0]!.text, /^This task died again at /);
    }, 1_000);
  });

  it("keeps what it showed when its task goes, and says what became of it", async () => {
    const { store, file } = await open("basic");
    const [first, second, third] = store.newestFirst().map(({ id }) => id);
    await show(store, first!);
    const before = await taskState();
    writeFileSync(file, afterRemoval(readFileSync(file), [first!]));
    await eventually(async () => {
      const shown = await taskState();
      assert.equal(shown.present, false);
      assert.equal(shown.canChange, false);
      assert.equal(shown.message, before.message);
      assert.deepEqual(
        shown.notices.map(({ text }) => text),
        ["This task is no longer among the dead. It was retried or deleted elsewhere."],
      );
    }, 1_000);

    await show(store, second!);
    const [node] = await recordNodes(store, [second!]);
    await commands.executeCommand("deadTasks.retry", node, [node]);
    assert.equal(
      (await taskState()).notices[0]!.text,
      "You retried this task. It runs when a Rage worker next starts.",
    );

    await show(store, third!);
    dialogs.answer = ({ modalDetail, buttons }) => (modalDetail === null ? undefined : buttons[0]);
    const [last] = await recordNodes(store, [third!]);
    await commands.executeCommand("deadTasks.delete", last, [last]);
    assert.equal((await taskState()).notices[0]!.text, "You deleted this task.");
  });

  it("comes back as it was after a reload of the window", async () => {
    const { store } = await open("basic");
    const { pane } = await deadTasks();
    const { id, taskClass } = store.newestFirst()[1]!;
    const panel = newPanel();
    await pane.deserializeWebviewPanel(panel, { storeKey: store.key, id });
    assert.equal((await taskState()).title, taskClass);
    assert.equal(panel.title, taskClass);

    const second = newPanel();
    let disposed = false;
    second.onDidDispose(() => (disposed = true));
    await pane.deserializeWebviewPanel(second, { storeKey: store.key, id });
    assert.equal(disposed, true, "there is one pane at most");
  });

  it("closes a restored pane that does not say whose it was", async () => {
    const { pane } = await deadTasks();
    for (const memory of [undefined, null, {}, { storeKey: 1, id: "x" }, "x"]) {
      const panel = newPanel();
      let disposed = false;
      panel.onDidDispose(() => (disposed = true));
      await pane.deserializeWebviewPanel(panel, memory);
      assert.equal(disposed, true);
      assert.equal(pane.state, null);
    }
  });

  it("says of a restored pane's store that it is no longer open", async () => {
    const { pane } = await deadTasks();
    await pane.deserializeWebviewPanel(newPanel(), { storeKey: "/nowhere/deferred-", id: "1-1-1" });
    const shown = await state();
    assert.equal(shown.kind, "bare");
    assert.match(shown.notices[0]!.text, /^The store of this task is not open\./);
  });

  it("shows as text, and as no more than a page can bear, what is hostile", async () => {
    const { store, file } = await open("empty");
    const message = "<img src=x onerror=alert(1)>\u202e[x](command:workbench.action.quit)\n".repeat(5_000);
    const hostile = newTask("1767226000-1-1", {
      taskClass: "<b>[x](command:x)</b>",
      exceptionMessage: message,
      backtrace: ["../../../etc/passwd:1:in 'x'", "/etc/passwd:1:in 'x'", `${join(folder(), "..", "x")}:1:in 'y'`],
    });
    appendFileSync(file, taskLine(hostile));
    await eventually(() => {
      assert.equal(store.taskCount, 1);
    });
    await show(store, hostile.id);
    const shown = await taskState();
    assert.equal(shown.title, hostile.taskClass);
    assert.equal(shown.message, message);
    assert.ok(
      shown.backtrace.every(({ canOpen }) => !canOpen),
      "files outside the folder are not opened",
    );
  });

  /** As the editor makes one before it hands it over. */
  function newPanel(): WebviewPanel {
    return window.createWebviewPanel("deadTasks.detail", "restored", ViewColumn.One);
  }
});
