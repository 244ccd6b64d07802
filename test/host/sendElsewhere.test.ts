import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Uri, commands, window, workspace, type InputBoxOptions, type QuickPickItem } from "vscode";
import { writeMarshal } from "../../src/marshal";
import type { StoreModel } from "../../src/stores/storeModel";
import { dataFile, logLines } from "../support/fixtures";
import { secondProcesses } from "../support/processes";
import { array, classNamed, int, nil, str } from "../support/ruby";
import { copyFixture, newTask, referenceSurvivors, taskLine, temporaryFolders } from "../support/stores";
import { deadTasks, eventually, folder, openStores, recordNodes, setStores, useCancel, useDialogs } from "./window";

describe("sending to another store", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const dialogs = useDialogs();
  const cancelAtOnce = useCancel();
  const { showQuickPick, showInputBox, showOpenDialog } = window;
  let storage: string;
  let other: string;
  let shop: StoreModel;
  let colleague: StoreModel;
  let before: Buffer;
  let kept: string;
  /** The lists that were shown: what they asked, and their choices. */
  let asked: { readonly placeHolder: string; readonly labels: readonly string[] }[];

  beforeEach(async () => {
    storage = copyFixture(folders.make(), "basic");
    other = join(folders.make(), "storage");
    const opened = await openStores({ path: storage, name: "shop" }, { path: other, name: "colleague" });
    [shop, colleague] = opened as [StoreModel, StoreModel];
    before = readFileSync(dataFile(storage));
    const { context, service } = await deadTasks();
    kept = join(context.globalStorageUri.fsPath, "undo");
    await service.pruneUndo(kept, { bytes: 0, age: 0 });
    asked = [];
  });

  afterEach(() => {
    Object.entries({ showQuickPick, showInputBox, showOpenDialog }).forEach(([name, original]) =>
      Reflect.set(window, name, original),
    );
  });

  after(() => setStores(undefined));

  /** Stands in for the lists of choices, one pattern for each; null closes the list. */
  function choose(...patterns: readonly (RegExp | null)[]): void {
    const left = [...patterns];
    Reflect.set(window, "showQuickPick", (items: readonly QuickPickItem[], { placeHolder = "" }) => {
      const texts = items.map(({ label, description, detail }) => [label, description, detail].join(" | "));
      asked.push({ placeHolder: placeHolder, labels: texts });
      const pattern = left.shift();
      assert.notEqual(pattern, undefined, `a list that was not expected: ${texts.join("; ")}`);
      if (pattern === null) return Promise.resolve(undefined);
      const index = texts.findIndex((text) => pattern!.test(text));
      assert.ok(index >= 0, `nothing like ${String(pattern)} in ${texts.join("; ")}`);
      return Promise.resolve(items[index]);
    });
  }

  function chooseFolder(path: string | undefined): void {
    const chosen = path === undefined ? undefined : [Uri.file(path)];
    Reflect.set(window, "showOpenDialog", () => Promise.resolve(chosen));
  }

  function press(...buttons: readonly RegExp[]): void {
    dialogs.answer = (shown) => shown.buttons.find((one) => buttons.some((button) => button.test(one)));
  }

  async function send(from: StoreModel, ...ids: readonly string[]): Promise<void> {
    const nodes = await recordNodes(from, ids);
    await commands.executeCommand("deadTasks.send", nodes[0], nodes);
  }

  function ids(store: StoreModel): string[] {
    return store.newestFirst().map(({ id }) => id);
  }

  function unchanged(): void {
    assert.deepEqual(readFileSync(dataFile(storage)), before);
    assert.deepEqual(logLines(storage), []);
  }

  it("copies, byte for byte, and takes the copies away again", async () => {
    const [first, second] = ids(shop) as [string, string];
    choose(/colleague/, /Copy There/);
    press(/^Copy 2$/);
    await send(shop, first, second);
    const [question, told] = dialogs.shown;
    assert.equal(question!.text, "Copy 2 dead tasks from shop to colleague?");
    assert.match(question!.modalDetail!, new RegExp(`\n\nTo ${other}, which has no tasks yet\\.\n\nIt can be undone`));
    assert.match(told!.text, /^Copied 2 dead tasks to colleague\.$/);
    assert.deepEqual(told!.buttons, ["Undo"]);
    assert.deepEqual(
      asked.map(({ labels }) => labels.map((label) => label.split(" | ")[0])),
      [
        ["$(archive) colleague", "$(archive) bookshop", "", "$(folder-opened) Another Storage Directory…"],
        [
          "$(copy) Copy There as Dead Tasks, Keep Here",
          "$(debug-rerun) Retry There, Keep Here",
          "$(export) Retry There and Remove Here",
        ],
      ],
    );
    assert.match(asked[0]!.labels[0]!, /\| 0 dead tasks \| .*storage · deferred-$/);
    await eventually(() => {
      assert.deepEqual(ids(colleague).sort(), [first, second].sort());
    });
    unchanged();
    const listed = (await processes.ruby(other).request({ do: "list" })) as { id: string }[];
    assert.deepEqual(listed.map(({ id }) => id).sort(), [first, second].sort());

    choose(/copied to/);
    await commands.executeCommand("deadTasks.undo");
    await eventually(() => {
      assert.deepEqual(ids(colleague), []);
    });
    assert.equal(readFileSync(dataFile(other)).length, 0);
    assert.deepEqual(readdirSync(kept), []);
    unchanged();
  });

  it("can be cancelled while the other store waits for another window, and nothing was done", async () => {
    const [first, second] = ids(shop) as [string, string];
    mkdirSync(join(other, ".deferred-dead_tasks.busy"), { recursive: true });
    const titles = cancelAtOnce();
    for (const [way, button, done] of [
      [/Copy There/, /^Copy 2$/, "copied to"],
      [/Retry There, Keep/, /^Retry There 2$/, "retried in"],
    ] as const) {
      choose(/colleague/, way);
      press(button);
      await send(shop, first, second);
      assert.equal(dialogs.shown.at(-1)!.text, `Cancelled. Nothing was ${done} colleague.`);
      assert.deepEqual(dialogs.shown.at(-1)!.buttons, []);
    }
    assert.deepEqual(titles, ["Copying 2 tasks to colleague…", "Retrying 2 tasks in colleague…"]);
    rmSync(join(other, ".deferred-dead_tasks.busy"), { recursive: true });
    assert.deepEqual(ids(colleague), []);
    assert.deepEqual(logLines(other), []);
    unchanged();
  });

  it("retries there and keeps here, and takes that back from the notification", async () => {
    const [first] = ids(shop) as [string];
    choose(/colleague/, /Retry There, Keep/);
    press(/^Retry There$/);
    await send(shop, first);
    const [question, told] = dialogs.shown;
    assert.match(question!.text, /^Retry the dead task \w+ from shop in colleague\?$/);
    assert.match(
      question!.modalDetail!,
      /It runs when a Rage worker next starts there\.\nIt stays among the dead tasks here\./,
    );
    assert.match(told!.text, /^Retried \w+ in colleague\. It runs when a Rage worker next starts there\.$/);
    assert.equal(((await processes.ruby(other).request({ do: "pending" })) as unknown[]).length, 1);
    unchanged();
    const { pendingView } = await deadTasks();
    await pendingView.look();
    const changes = readdirSync(kept);
    assert.equal(changes.length, 1);

    dialogs.shown = [];
    press(/^Retry There$/, /^Undo$/);
    choose(/colleague/, /Retry There, Keep/);
    await send(shop, first);
    await eventually(() => {
      assert.deepEqual(readdirSync(kept), changes, "the second one was taken back");
    });
    assert.equal(((await processes.ruby(other).request({ do: "pending" })) as unknown[]).length, 1);
  });

  it("retries there and removes here, says so in the pane, and brings them back when undone", async () => {
    const [first, second] = ids(shop) as [string, string];
    const { pane } = await deadTasks();
    await pane.show(shop, first);
    await eventually(() => {
      assert.equal(pane.state?.kind, "task");
    });
    choose(/colleague/, /Remove Here/);
    press(/^Retry and Remove 2$/);
    await send(shop, first, second);
    assert.equal(dialogs.shown[0]!.text, "Retry 2 dead tasks from shop in colleague and remove them here?");
    assert.equal(
      dialogs.shown[1]!.text,
      "Retried 2 dead tasks in colleague. All 2 run when a Rage worker next starts there.",
    );
    assert.deepEqual(readFileSync(dataFile(storage)), referenceSurvivors(before, [first, second]));
    assert.equal(((await processes.ruby(other).request({ do: "pending" })) as unknown[]).length, 2);
    await eventually(() => {
      assert.deepEqual(
        pane.state!.notices.map(({ text }) => text),
        ["You retried this task in colleague. It runs when a Rage worker next starts there."],
      );
    });
    await commands.executeCommand("workbench.action.closeAllEditors");

    choose(/retried in/);
    await commands.executeCommand("deadTasks.undo");
    await eventually(() => {
      assert.equal(ids(shop).includes(first) && ids(shop).includes(second), true);
    });
    assert.deepEqual(await processes.ruby(other).request({ do: "pending" }), []);
    assert.deepEqual(
      [...readdirSync(storage), ...readdirSync(other)].filter((name) => name.startsWith(".")),
      [],
    );
  });

  it("says why it cannot be undone once a worker there has the tasks", async () => {
    const [first] = ids(shop) as [string];
    choose(/colleague/, /Remove Here/);
    press(/^Retry and Remove$/);
    await send(shop, first);
    const log = readdirSync(other).find((name) => name.startsWith("deferred-0-"))!;
    assert.equal(await processes.ruby(other).request({ do: "claim", log: join(other, log) }), true);
    choose(/retried in/);
    await commands.executeCommand("deadTasks.undo");
    assert.match(dialogs.shown.at(-1)!.text, /A Rage worker has taken the retried tasks already/);
    assert.equal(ids(shop).includes(first), false);
  });

  it("names what stands there already and what cannot be retried, and sends the rest", async () => {
    const [first, second] = ids(shop) as [string, string];
    mkdirSync(other, { recursive: true });
    writeFileSync(dataFile(other), taskLine(newTask(first, { exceptionMessage: "another's" })));
    choose(/colleague/, /Copy There/);
    press(/^Copy/);
    await send(shop, first, second);
    assert.match(
      dialogs.shown.at(-1)!.text,
      /^Copied \w+ to colleague\. \w+: colleague has a task of its id, and was left as it is\.$/,
    );
    assert.equal(dialogs.shown.at(-1)!.severity, "warning");

    const messy = copyFixture(folders.make(), "bad-payload");
    const [bad, target] = await openStores({ path: messy, name: "bad" }, { path: other, name: "colleague" });
    const unreadable = bad!.status.unreadable[0]!.id;
    const [task] = ids(bad!) as [string];
    dialogs.shown = [];
    choose(/colleague/, /Remove Here/);
    await send(bad!, task, unreadable);
    assert.match(dialogs.shown[0]!.modalDetail!, /1 record that cannot be read can only be copied, and stay/);
    dialogs.shown = [];
    choose(/colleague/, /Copy There/);
    await send(bad!, unreadable);
    assert.deepEqual(asked.at(-1)!.labels.length, 1, "a record that cannot be read can only be copied");
    await eventually(() => {
      assert.deepEqual(
        target!.status.unreadable.map(({ id }) => id),
        [unreadable],
      );
    });
  });

  it("asks for another directory: which of its stores, or with which prefix to begin one", async () => {
    const [first] = ids(shop) as [string];
    const several = copyFixture(folders.make(), "prefixes");
    press(/^Copy$/);
    choose(/Another Storage/, /jobs-/, /Copy There/);
    chooseFolder(several);
    await send(shop, first);
    assert.deepEqual(
      asked[1]!.labels.map((label) => label.split(" | ")[0]),
      ["$(archive) deferred-", "$(archive) jobs-"],
    );
    assert.match(readFileSync(join(several, "jobs-dead_tasks-0"), "latin1"), new RegExp(`dead_task:${first}:`));

    const empty = folders.make();
    const boxes: InputBoxOptions[] = [];
    Reflect.set(window, "showInputBox", (options: InputBoxOptions) => {
      boxes.push(options);
      return Promise.resolve("mine");
    });
    choose(/Another Storage/, /Copy There/);
    chooseFolder(empty);
    dialogs.shown = [];
    await send(shop, first);
    assert.deepEqual([boxes[0]!.value, boxes[0]!.prompt!.includes("has no tasks yet")], ["deferred-", true]);
    assert.equal(boxes[0]!.validateInput!("../x") === undefined, false);
    assert.equal(boxes[0]!.validateInput!("jobs"), undefined);
    assert.match(dialogs.shown[0]!.modalDetail!, /, which has no tasks yet\./);
    assert.ok(existsSync(join(empty, "mine-dead_tasks-0")));

    const application = folders.make();
    const configure = (backend: string): void => {
      mkdirSync(join(application, "config"), { recursive: true });
      const text = `require "rage"\nRage.configure do\n  config.deferred.backend = ${backend}\nend\n`;
      writeFileSync(join(application, "config", "application.rb"), text);
    };
    configure(':disk, path: "tasks"');
    choose(/Another Storage/, /Copy There/);
    chooseFolder(application);
    await send(shop, first);
    assert.ok(existsSync(join(application, "tasks", "deferred-dead_tasks-0")), "the application's own directory");
    configure("nil");
    rmSync(join(application, "tasks"), { recursive: true });
    dialogs.shown = [];
    choose(/Another Storage/);
    await send(shop, first);
    assert.match(
      dialogs.only().text,
      /^Nothing can be sent to .*: its application is configured with .* and keeps no tasks\.$/,
    );
  });

  it("refuses where nothing can be written, and where it is the same store", async () => {
    const [first] = ids(shop) as [string];
    const file = join(folders.make(), "file");
    writeFileSync(file, "");
    choose(/Another Storage/);
    Reflect.set(window, "showInputBox", () => Promise.resolve("deferred-"));
    chooseFolder(file);
    await send(shop, first);
    assert.match(dialogs.only().text, /^Nothing can be sent to .*file: .*file is not a directory\.$/);
    choose(/Another Storage/, /Copy There/);
    chooseFolder(storage);
    press(/^Copy/);
    await send(shop, first);
    assert.match(
      dialogs.shown.at(-1)!.text,
      /^Could not copy 1 task of shop to shop: The tasks are in .* already\. Nothing was changed\.$/,
    );
    unchanged();
  });

  it("changes nothing where the user thinks better of it, at each step", async () => {
    const [first] = ids(shop) as [string];
    chooseFolder(undefined);
    Reflect.set(window, "showInputBox", () => Promise.resolve(undefined));
    for (const steps of [[null], [/Another Storage/], [/colleague/, null], [/colleague/, /Remove Here/]]) {
      choose(...steps);
      await send(shop, first);
    }
    chooseFolder(folders.make());
    choose(/Another Storage/);
    await send(shop, first);
    assert.equal(dialogs.shown.length, 1, "the question that was not answered");
    assert.equal(existsSync(other), false);
    unchanged();
  });

  it("holds the tasks against the code of the application that they are sent to", async () => {
    const application = join(folder(), "exports", "local");
    const source = join(folder(), "app", "tasks", "sent_task.rb");
    const target = join(application, "storage");
    mkdirSync(target, { recursive: true });
    writeFileSync(source, "class SentTask\n  def perform(order)\n  end\nend\n");
    try {
      const context = writeMarshal(array(classNamed("SentTask"), array(int(1), str("two")), nil(), nil()));
      writeFileSync(dataFile(storage), taskLine(newTask("1767226001-1-1", { taskClass: "SentTask", context })));
      const [from] = await openStores({ path: storage, name: "shop" }, { path: target, name: "local" });
      const { retryCheck } = await deadTasks();
      await eventually(async () => {
        const task = from!.task("1767226001-1-1");
        assert.ok(task);
        assert.equal(await retryCheck.of(from!, task), null, "its own application is not in the workspace");
        const found = await retryCheck.within(5_000, new Map([[from!, [task]]]), {
          description: { target: { path: target } },
        });
        assert.equal(found.size, 1);
      }, 10_000);
      choose(/local/, /Retry There, Keep/);
      await send(from!, "1767226001-1-1");
      assert.match(
        dialogs.only().modalDetail!,
        /Its perform takes 1 argument, and the task has 2\. As the code there stands, it would fail again\./,
      );
    } finally {
      rmSync(source);
      rmSync(join(folder(), "exports"), { recursive: true });
    }
  });

  it("says that it cannot be undone where the settings keep nothing", async () => {
    const [first] = ids(shop) as [string];
    const configuration = workspace.getConfiguration("deadTasks");
    await configuration.update("undo.days", 0, true);
    try {
      choose(/colleague/, /Copy There/);
      press(/^Copy/);
      await send(shop, first);
      assert.match(
        dialogs.shown[0]!.modalDetail!,
        /This cannot be undone\. Nothing is kept for undoing, by the settings\.$/,
      );
      assert.deepEqual(dialogs.shown[1]!.buttons, []);
    } finally {
      await configuration.update("undo.days", undefined, true);
    }
  });
});
