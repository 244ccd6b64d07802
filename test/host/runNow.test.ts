import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationTarget, commands, tasks, window, workspace } from "vscode";
import { startStoreService } from "../../src/service/client";
import { deadTaskLine } from "../../src/storage/frames";
import type { StoreModel } from "../../src/stores/storeModel";
import { dataFile } from "../support/fixtures";
import { applicationLine, makeApplication, standIn, startScript } from "../support/runApplication";
import { newTask, taskLine, temporaryFolders } from "../support/stores";
import { deadTasks, eventually, openStores, recordNodes, root, setStores, useDialogs, type Shown } from "./window";

describe("Run Now", function () {
  this.timeout(60_000);
  const folders = temporaryFolders();
  const dialogs = useDialogs();
  const id = "1767225637-1-1";
  const bystander = taskLine(newTask("1767225637-1-2"));
  let application: string;
  let storage: string;
  let store: StoreModel;

  beforeEach(async () => {
    application = join(folders.make(), `bob's "shop"`);
    makeApplication(application);
    storage = join(application, "storage");
    await setCommand(["ruby", "-I", standIn]);
  });

  afterEach(() => setCommand(undefined));
  after(() => setStores(undefined));

  function setCommand(command: unknown): Thenable<void> {
    return workspace.getConfiguration("deadTasks").update("runCommand", command, ConfigurationTarget.Global);
  }

  /** A store with a task that misbehaves in this way. */
  async function open(how: string): Promise<void> {
    const line = applicationLine(application, id, `[Misbehave, [:${how}], nil, 21]`, "Misbehave");
    writeFileSync(dataFile(storage), Buffer.concat([line, bystander]));
    store = (await openStores({ path: storage, name: "shop" }))[0]!;
    await eventually(() => {
      assert.ok(store.task(id));
    });
  }

  function press(...buttons: readonly RegExp[]): void {
    dialogs.answer = (shown) => shown.buttons.find((one) => buttons.some((button) => button.test(one)));
  }

  async function run(command = "deadTasks.runNow"): Promise<void> {
    const [node] = await recordNodes(store, [id]);
    await commands.executeCommand(command, node);
  }

  /** What was shown beside the question. */
  function told(): Shown {
    const [shown, ...more] = dialogs.shown.filter(({ modalDetail }) => modalDetail === null);
    assert.ok(shown, JSON.stringify(dialogs.shown));
    assert.deepEqual(more, []);
    return shown;
  }

  it("asks, runs the task in a terminal, and takes it out of the dead tasks when it succeeds", async () => {
    await open("environment");
    const before = readFileSync(dataFile(storage));
    await run();
    const question = dialogs.only();
    assert.equal(question.text, "Run Misbehave now in shop?");
    assert.ok(question.modalDetail!.includes(`\nruby -I ${standIn}\n${application}\n`), question.modalDetail!);
    assert.deepEqual(question.buttons, ["Run", "Run, and Don't Ask Again in This Window"]);
    assert.ok(!existsSync(join(application, "noted")), "not before it was confirmed");

    press(/^Run$/, /^Bring Back$/);
    await run();
    const named = window.terminals.filter(({ name }) => name === "Run Misbehave");
    assert.equal(named.length, 1, "the terminal of the run stays");
    assert.equal(readFileSync(join(application, "noted"), "utf8"), "none none development development");
    const { severity, text, buttons } = told();
    assert.equal(severity, "information");
    assert.equal(text, "Misbehave ran and succeeded. It is no longer among the dead tasks.");
    assert.deepEqual(buttons, ["Bring Back"]);
    await eventually(() => {
      assert.ok(store.task(id), "brought back");
    });
    assert.deepEqual(readFileSync(dataFile(storage)).toString("latin1").split("\n").sort(), linesOf(before));
  });

  function linesOf(content: Buffer): string[] {
    return content.toString("latin1").split("\n").sort();
  }

  it("leaves a task that fails again where it is, and shows what was raised and where", async () => {
    await open("refuse");
    const before = readFileSync(dataFile(storage));
    const { pane } = await deadTasks();
    await pane.show(store, id);
    press(/^Run$/, /^Open Failing Line$/);
    await run();
    const { severity, text, buttons } = told();
    assert.equal(severity, "error");
    assert.equal(text, "Misbehave failed again: Misbehave::Refused: the gateway refused [31mat all");
    assert.deepEqual(buttons, ["Open Failing Line", "Show Output"]);
    await eventually(() => {
      const editor = window.activeTextEditor;
      assert.equal(editor?.document.uri.fsPath, join(application, "app", "tasks", "misbehave.rb"));
      assert.equal(editor.selection.active.line, 13);
    });
    assert.deepEqual(readFileSync(dataFile(storage)), before);
    assert.ok(store.task(id));
    await eventually(() => {
      const notices = pane.state?.notices.map((notice) => notice.text) ?? [];
      assert.ok(
        notices.some((notice) => notice.startsWith("You ran this task, and it failed again: Misbehave::Refused: ")),
        notices.join("\n"),
      );
    });
  });

  it("says why a task was not run at all", async () => {
    await open("environment");
    press(/^Run$/);
    writeFileSync(join(application, "config", "application.rb"), `require "rage/nowhere"\n`);
    await run();
    const unbooted = told();
    assert.match(
      unbooted.text,
      /^Misbehave was not run: the application could not be booted\. LoadError: cannot load such file -- rage\/nowhere Install the application's gems/,
    );
    assert.deepEqual(unbooted.buttons, ["Open Failing Line", "Show Output", "Open Settings"]);

    dialogs.shown = [];
    await setCommand(["sh", "-c", "exit 7"]);
    await run();
    assert.match(told().text, /^Misbehave was not run: “sh -c 'exit 7'” ended \(exit code 7\) before it came to/);
    assert.deepEqual(told().buttons, ["Show Output", "Open Settings"]);

    for (const [command, expected] of [
      [["no-such-ruby", "x"], /^The command no-such-ruby was not found, so no task can be run\./],
      [[], /must be a list of words/],
    ] as const) {
      dialogs.shown = [];
      await setCommand(command);
      await run();
      assert.match(dialogs.only().text, expected);
    }
    assert.ok(store.task(id));
    assert.ok(!existsSync(join(application, "noted")));
  });

  it("runs a task once at a time, asks before it is retried meanwhile, and knows of a terminal that was closed", async () => {
    await open("wait");
    press(/^Run$/);
    const running = run();
    await eventually(() => {
      assert.ok(existsSync(join(application, "begun")));
    }, 20_000);
    dialogs.shown = [];
    await run();
    assert.match(told().text, /^Misbehave is being run already; it was started just now\.$/);
    dialogs.shown = [];
    await run("deadTasks.retry");
    const question = dialogs.only();
    assert.equal(question.text, "Misbehave is being run now. Retry it all the same?");
    assert.deepEqual(question.buttons, ["Retry Anyway"]);
    assert.ok(store.task(id), "nothing was retried");
    window.terminals.find(({ name }) => name === "Run Misbehave")!.dispose();
    await running;
    const { text } = told();
    assert.match(
      text,
      /^(It is not known whether Misbehave ran to its end|Misbehave failed again: SignalException: SIGHUP)/,
    );
    assert.ok(store.task(id));
  });

  it("does not ask again where it was told so", async () => {
    await open("refuse");
    press(/^Run, and Don't Ask/);
    await run();
    dialogs.shown = [];
    await run();
    assert.match(dialogs.only().text, /^Misbehave failed again/);
    assert.equal(tasks.taskExecutions.length, 0);
  });

  it("settles a run that outlived its window", async () => {
    await open("environment");
    const { context, stores } = await deadTasks();
    const other = startStoreService(join(root, "dist", "worker.js"), () => undefined);
    await other.open({ key: "other", path: storage, prefix: "deferred-", backend: "disk" });
    await other.refresh("other");
    const start = await other.beginRun(join(context.globalStorageUri.fsPath, "runs"), "other", id);
    assert.ok(start.kind === "begun");
    await once(startScript(application, start.directory), "exit");
    await stores.look();
    assert.ok(store.task(id), "as long as its window is there it is that one's");
    other.dispose();
    await eventually(async () => {
      await stores.look();
      await eventually(() => {
        assert.ok(!store.task(id));
      }, 200);
    });
    await eventually(() => {
      assert.match(told().text, /^Misbehave ran and succeeded\. It is no longer/);
    });
    assert.deepEqual(readFileSync(dataFile(storage)), bystander);
  });

  it("says that debugging needs an extension where there is none", async () => {
    await open("environment");
    await run("deadTasks.debugNow");
    const { text, buttons } = dialogs.only();
    assert.match(text, /^Debug Now needs an extension that debugs Ruby with rdbg/);
    assert.deepEqual(buttons, ["Search Extensions"]);
  });

  it("does not run a record that cannot be read", async () => {
    await open("environment");
    writeFileSync(dataFile(storage), Buffer.concat([bystander, damaged()]));
    await eventually(() => {
      assert.ok(store.isUnreadable(id));
    });
    await run();
    assert.equal(dialogs.only().text, "A record that cannot be read cannot be run.");
  });

  function damaged(): Buffer {
    return deadTaskLine(id, Buffer.from('"nothing"'));
  }
});
