import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { commands, env, window, type InputBoxOptions, type QuickPickItem } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import type { TreeNode } from "../../src/tree/nodes";
import type { TaskView } from "../../src/tree/taskView";
import { afterRemoval, dataFile, logLines } from "../support/fixtures";
import { secondProcesses } from "../support/processes";
import { copyFixture, newTask, taskLine, temporaryFolders } from "../support/stores";
import { array, classNamed, nil, str, symbolHash } from "../support/ruby";
import { writeMarshal } from "../../src/marshal";
import { commandLine, deadTasks, eventually, openStores, recordId, recordNodes, setStores, useDialogs } from "./window";

const canBeUndone = 'It can be undone for 7 days, by "Dead Tasks: Undo".';

describe("retry and delete", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const dialogs = useDialogs();
  let storage: string;
  let store: StoreModel;
  let before: Buffer;

  beforeEach(async () => {
    await open("basic");
  });

  after(() => setStores(undefined));

  async function open(fixture: string): Promise<void> {
    storage = copyFixture(folders.make(), fixture);
    store = (await openStores({ path: storage, name: "shop" }))[0]!;
    before = readFileSync(dataFile(storage));
  }

  /** As the list's menu does it: on the first of these items, all of them selected. */
  async function run(command: "retry" | "retryLater" | "delete" | "copyId", ids: readonly string[]): Promise<void> {
    const nodes = await recordNodes(store, ids);
    await commands.executeCommand(`deadTasks.${command}`, nodes[0], nodes);
  }

  async function select({ view }: TaskView, node: TreeNode): Promise<void> {
    await commands.executeCommand("deadTasks.tasks.focus");
    // What is revealed while the tree is drawn anew is not selected afterwards.
    await eventually(async () => {
      await view.reveal(node, { select: true, focus: true });
      assert.equal(view.selection.length, 1);
    });
  }

  function ids(): string[] {
    return store.newestFirst().map(({ id }) => id);
  }

  function assertUntouched(): void {
    assert.deepEqual(readFileSync(dataFile(storage)), before);
    assert.deepEqual(logLines(storage), []);
    assert.deepEqual(
      readdirSync(storage).filter((file) => file.endsWith(".tmp") || file.startsWith(".")),
      [],
    );
  }

  function press(button: RegExp): void {
    dialogs.answer = ({ buttons }) => buttons.find((one) => button.test(one));
  }

  it("retries one task without a question, and says when it runs", async () => {
    const [newest, ...rest] = ids();
    await run("retry", [newest!]);
    assert.deepEqual(dialogs.only(), {
      severity: "information",
      text: "Retried SendWelcomeEmail. It runs when a Rage worker next starts.",
      modalDetail: null,
      buttons: ["Undo", "Don't Show Again"],
    });
    assert.equal(logLines(storage).length, 1);
    await eventually(() => {
      assert.deepEqual(ids(), rest);
    });
  });

  it("retries later at the time that is chosen, and says so", async () => {
    const { showQuickPick, showInputBox } = window;
    try {
      Reflect.set(window, "showQuickPick", (items: readonly QuickPickItem[]) => Promise.resolve(items.at(-1)));
      Reflect.set(window, "showInputBox", (options: InputBoxOptions) => {
        const problem = options.validateInput?.("yesterday");
        assert.ok(typeof problem === "string" && problem.startsWith("This is no time to come"));
        assert.equal(options.validateInput?.("2h"), undefined);
        return Promise.resolve("2h");
      });
      const [newest] = ids();
      await run("retryLater", [newest!]);
      assert.match(
        dialogs.only().text,
        /^Retried SendWelcomeEmail\. It runs at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, if a Rage worker has started by then; else when one next starts\.$/,
      );
      const { tasks } = await commandLine<{ tasks: { publish_at: number }[] }>("pending", "--storage", storage);
      assert.equal(tasks.length, 1);
      assert.ok(Math.abs(tasks[0]!.publish_at - Date.now() / 1000 - 7_200) < 60);

      Reflect.set(window, "showQuickPick", () => Promise.resolve(undefined));
      await run("retryLater", ids().slice(0, 1));
      assert.deepEqual(dialogs.shown, []);
      assert.equal(logLines(storage).length, 1, "closing the list retries nothing");
    } finally {
      Reflect.set(window, "showQuickPick", showQuickPick);
      Reflect.set(window, "showInputBox", showInputBox);
    }
  });

  it("lets Ruby find what was retried among the pending tasks", async () => {
    const [newest] = ids();
    await run("retry", [newest!]);
    const pending = (await processes.ruby(storage).request({ do: "pending" })) as {
      task_class: string;
      attempts: null;
    }[];
    assert.deepEqual(
      pending.map(({ task_class, attempts }) => [task_class, attempts]),
      [["SendWelcomeEmail", null]],
    );
  });

  it("asks before it retries several, with names and number, and writes one log for all", async () => {
    press(/^Retry 3$/);
    const chosen = ids().slice(0, 3);
    await run("retry", chosen);
    const [question, done] = dialogs.shown;
    assert.equal(question!.text, "Retry 3 dead tasks from shop?");
    assert.match(question!.modalDetail!, /They run when a Rage worker next starts\.$/);
    assert.deepEqual(question!.buttons, ["Retry 3", "Try One First"]);
    assert.equal(done!.text, "Retried 3 dead tasks. All 3 run when a Rage worker next starts.");
    assert.equal(readdirSync(storage).filter((file) => file.startsWith("deferred-0-")).length, 1);
    assert.equal(logLines(storage).length, 3);
    assert.deepEqual(readFileSync(dataFile(storage)), afterRemoval(before, chosen));
  });

  it("changes nothing when the question is closed", async () => {
    await run("retry", ids().slice(0, 2));
    await run("delete", ids().slice(0, 2));
    await run("delete", ids().slice(0, 1));
    assert.equal(dialogs.shown.length, 3);
    assert.ok(dialogs.shown.every(({ modalDetail }) => modalDetail !== null));
    assertUntouched();
  });

  it("asks before it deletes even one, and names it", async () => {
    press(/^Delete$/);
    const [newest, ...rest] = ids();
    await run("delete", [newest!]);
    assert.deepEqual(dialogs.shown, [
      {
        severity: "warning",
        text: "Delete the dead task SendWelcomeEmail from shop?",
        modalDetail: `${newest!}\n\n${canBeUndone}`,
        buttons: ["Delete"],
      },
      { severity: "information", text: "Deleted SendWelcomeEmail.", modalDetail: null, buttons: ["Undo"] },
    ]);
    assert.deepEqual(readFileSync(dataFile(storage)), afterRemoval(before, [newest!]));
    await eventually(() => {
      assert.deepEqual(ids(), rest);
    });
    assert.deepEqual(logLines(storage), []);
  });

  it("counts classes of the same name in the question", async () => {
    const all = ids();
    const classes = new Map<string, number>();
    for (const { taskClass } of store.newestFirst()) classes.set(taskClass, (classes.get(taskClass) ?? 0) + 1);
    await run("delete", all);
    const { text, modalDetail, buttons } = dialogs.only();
    assert.equal(text, "Delete 6 dead tasks from shop?");
    const names = [...classes].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`));
    assert.equal(modalDetail, `${names.join("\n")}\n\n${canBeUndone}`);
    assert.deepEqual(buttons, ["Delete 6"]);
  });

  it("acts on every store of a selection that spans two, each by itself", async () => {
    const other = copyFixture(folders.make(), "prefixes");
    const stores = await openStores({ path: storage, name: "shop" }, { path: other, prefix: "jobs-", name: "jobs" });
    const nodes = (await Promise.all(stores.map((one) => recordNodes(one)))).map(([first]) => first!);
    press(/^Delete 2$/);
    await commands.executeCommand("deadTasks.delete", nodes[0], nodes);
    assert.deepEqual(
      dialogs.shown.map(({ text }) => text),
      ["Delete 2 dead tasks from 2 stores?", "Deleted 2 dead tasks."],
    );
    await eventually(() => {
      for (const [index, one] of stores.entries()) assert.equal(one.task(recordId(nodes[index]!)!), undefined);
    });
  });

  it("tells of those that had gone meanwhile, and does the rest", async () => {
    const [first, second, third] = ids();
    const nodes = await recordNodes(store, [first!, second!, third!]);
    await commandLine("delete", first!, "--storage", storage);
    press(/^Retry 3$/);
    await commands.executeCommand("deadTasks.retry", nodes[0], nodes);
    const done = dialogs.shown.at(-1)!;
    assert.equal(done.severity, "warning");
    assert.equal(
      done.text,
      "Retried 2 dead tasks. All 2 run when a Rage worker next starts. SendWelcomeEmail was already gone.",
    );
    assert.equal(logLines(storage).length, 2);

    dialogs.shown = [];
    await commands.executeCommand("deadTasks.retry", nodes[0], [nodes[0]]);
    assert.equal(dialogs.only().text, "SendWelcomeEmail was already gone.");
    assert.equal(logLines(storage).length, 2, "nothing is enqueued twice");
  });

  it("names those that cannot be retried, keeps them, and retries the rest", async () => {
    await open("contexts");
    press(/^Retry 7$/);
    await run("retry", ids());
    const done = dialogs.shown.at(-1)!;
    assert.equal(done.severity, "error");
    assert.match(
      done.text,
      /^Retried 4 dead tasks\. All 4 run when .*\. 3 tasks could not be retried\. SyncInvoice \(1767225641-5-1\): /,
    );
    assert.deepEqual(done.buttons, ["Undo", "Show Log"]);
    await eventually(() => {
      assert.deepEqual(ids().sort(), ["1767225641-5-1", "1767225642-5-1", "1767225643-5-1"]);
    });
  });

  it("leaves every task where it was while a worker holds the lock, says so, and works afterwards", async function () {
    this.timeout(20_000);
    const worker = processes.ruby(storage);
    const held = assert.rejects(worker.request({ do: "hold", seconds: 60 }));
    await worker.notice("held");
    const [newest] = ids();
    await run("retry", [newest!]);
    const shown = dialogs.only();
    assert.equal(shown.severity, "error");
    assert.match(
      shown.text,
      /^Could not retry 1 task of shop: .*dead_tasks\.lock stayed locked by another process for 1\.45 seconds\. Nothing was changed; try again/,
    );
    assert.deepEqual(shown.buttons, ["Show Log"]);
    assertUntouched();
    press(/^Delete$/);
    await run("delete", [newest!]);
    assert.match(dialogs.shown.at(-1)!.text, /^Could not delete 1 task of shop: .*stayed locked/);
    assertUntouched();
    assert.equal(ids()[0], newest);

    await worker.stop();
    await held;
    await run("retry", [newest!]);
    assert.match(dialogs.shown.at(-1)!.text, /^Retried /);
    assert.deepEqual(readFileSync(dataFile(storage)), afterRemoval(before, [newest!]));
  });

  it("does not retry a task twice when it is asked to twice at once", async () => {
    const [newest] = ids();
    await Promise.all([run("retry", [newest!]), run("retry", [newest!])]);
    assert.equal(logLines(storage).length, 1);
    assert.deepEqual(dialogs.shown.map(({ severity }) => severity).sort(), ["information", "warning"]);
  });

  it("retries and deletes all of a store, those that cannot be read not among them", async () => {
    await open("bad-payload");
    press(/^(Retry|Delete) 2$/);
    await commands.executeCommand("deadTasks.retryAll", { kind: "store", store });
    assert.equal(dialogs.shown[0]!.text, "Retry 2 dead tasks from shop?");
    await eventually(() => {
      assert.deepEqual(ids(), []);
    });
    assert.equal(store.status.unreadable.length, 3);
    dialogs.shown = [];
    await commands.executeCommand("deadTasks.deleteAll", { kind: "store", store });
    assert.equal(dialogs.only().text, "Select a dead task first.");
    assert.equal(store.status.unreadable.length, 3);
  });

  it("acts on the selection when no item is given, as a key does", async () => {
    const { view } = await deadTasks();
    const [newest] = ids();
    const [node] = await recordNodes(store, [newest!]);
    await select(view, node!);
    await commands.executeCommand("deadTasks.delete");
    assert.match(dialogs.only().modalDetail!, new RegExp(`^${newest!}\n`));
    await commands.executeCommand("deadTasks.copyId");
    assert.equal(await env.clipboard.readText(), newest);
  });

  it("acts on the selection in the moment, too, in which the list is drawn anew and none of its items is known", async () => {
    const { view } = await deadTasks();
    const [newest] = ids();
    const [node] = await recordNodes(store, [newest!]);
    await select(view, node!);
    for (const command of ["copyId", "openRaw", "show"]) {
      await eventually(() => {
        assert.equal(view.view.selection.length, 1, command);
      });
      appendFileSync(dataFile(storage), "no record\n");
      const until = Date.now() + 5_000;
      while (view.view.selection.length > 0) {
        assert.ok(Date.now() < until, "it is drawn anew");
        await new Promise(setImmediate);
      }
      await commands.executeCommand(`deadTasks.${command}`);
    }
    assert.equal(await env.clipboard.readText(), newest);
    await eventually(() => {
      const labels = window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
      assert.ok(
        labels.includes("deferred-dead_tasks-0") && labels.includes(store.task(newest!)!.taskClass),
        labels.join(),
      );
    });
    assert.deepEqual(dialogs.shown, []);
  });

  it("does nothing, and says so, when the item that was clicked is gone, whatever is selected", async () => {
    const { view } = await deadTasks();
    const [node] = await recordNodes(store);
    await select(view, node!);
    for (const command of ["retry", "delete", "copyId", "copyRuby", "openRaw", "retryAll", "deleteAll"]) {
      await commands.executeCommand(`deadTasks.${command}`, undefined, undefined);
      assert.match(dialogs.only().text, /^The list was being drawn anew, .* Nothing was done; try again\.$/, command);
    }
    assertUntouched();
  });

  it("asks for nothing and changes nothing for what is no item of the list", async () => {
    const nothing = [{ kind: "task" }, { kind: "store" }, "1767225637-4101-1", null, 7];
    const [, second] = await recordNodes(store);
    for (const item of nothing.slice(2)) await commands.executeCommand("deadTasks.showMore", item);
    await commands.executeCommand("deadTasks.retry", second, [second, ...nothing.slice(2)]);
    assert.equal(logLines(storage).length, 1, "only the item among them");
    assert.ok(existsSync(join(storage, "deferred-dead_tasks-0")));
  });

  describe("copying", () => {
    it("copies the ids of all that are selected", async () => {
      await run("copyId", ids().slice(0, 3));
      assert.equal(await env.clipboard.readText(), ids().slice(0, 3).join("\n"));
      assert.deepEqual(dialogs.shown, []);
    });

    it("copies the call as Ruby with secrets masked, and with them when asked to", async () => {
      const context = writeMarshal(
        array(
          classNamed("SyncInvoice"),
          array(str("ada@example.com")),
          symbolHash({ password: str("hunter2") }),
          nil(),
        ),
      );
      appendFileSync(dataFile(storage), taskLine(newTask("1767226000-1-1", { context })));
      await eventually(() => {
        assert.equal(ids()[0], "1767226000-1-1");
      });
      const [node] = await recordNodes(store, ["1767226000-1-1"]);
      await commands.executeCommand("deadTasks.copyRuby", node, [node]);
      assert.deepEqual(dialogs.only(), {
        severity: "information",
        text: "Copied as Ruby, with secrets as [FILTERED].",
        modalDetail: null,
        buttons: ["Copy with Secrets"],
      });
      const masked = await env.clipboard.readText();
      assert.match(masked, /^SyncInvoice\.enqueue\("ada@example\.com", password: .*FILTERED/);
      assert.doesNotMatch(masked, /hunter2/);

      press(/^Copy with Secrets$/);
      await commands.executeCommand("deadTasks.copyRuby", node, [node]);
      await eventually(async () => {
        assert.equal(await env.clipboard.readText(), 'SyncInvoice.enqueue("ada@example.com", password: "hunter2")');
      });
    });

    it("says why arguments that cannot be read cannot be copied", async () => {
      await open("contexts");
      const [node] = await recordNodes(store, ["1767225641-5-1"]);
      await env.clipboard.writeText("as it was");
      await commands.executeCommand("deadTasks.copyRuby", node, [node]);
      assert.match(dialogs.only().text, /^The arguments of SyncInvoice cannot be read: /);
      assert.equal(await env.clipboard.readText(), "as it was");
    });
  });
});
