import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commands, Range, Uri, window, workspace, WorkspaceEdit } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { writeMarshal, type RubyValue } from "../../src/marshal";
import { dataFile, logLines } from "../support/fixtures";
import { array, classNamed, int, nil, str, symbolHash } from "../support/ruby";
import { newTask, taskLine, temporaryFolders } from "../support/stores";
import { deadTasks, eventually, folder, openStores, recordNodes, setStores, useDialogs } from "./window";

describe("the check before a retry", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();
  const { positional, keyword, gone, inGem, undecodable } = {
    positional: "1767226001-1-1",
    keyword: "1767226002-1-1",
    gone: "1767226003-1-1",
    inGem: "1767226004-1-1",
    undecodable: "1767226005-1-1",
  };
  const ids = [positional, keyword, gone, inGem, undecodable];
  let exported: string;
  let source: string;
  let storage: string;
  let store: StoreModel;

  beforeEach(async () => {
    exported = join(folder(), "exports");
    source = join(folder(), "app", "tasks", "checked_task.rb");
    perform("(order, note = nil)");
    await open(join(exported, "shop", "storage"));
  });

  afterEach(async () => {
    await commands.executeCommand("workbench.action.files.revert");
    await commands.executeCommand("workbench.action.closeAllEditors");
    rmSync(source, { force: true });
    rmSync(exported, { recursive: true, force: true });
  });

  after(() => setStores(undefined));

  /** Defines the class anew, with these parameters. */
  function perform(parameters: string): void {
    writeFileSync(source, `class CheckedTask\n  def perform${parameters}\n  end\nend\n`);
  }

  /** The same, until the window has noticed by what is found of a task. */
  async function performs(parameters: string, id: string, doubt: string): Promise<void> {
    perform(parameters);
    const { retryCheck } = await deadTasks();
    await eventually(async () => {
      assert.equal((await retryCheck.of(store, store.task(id)!))?.text, doubt);
    });
  }

  async function open(path: string): Promise<void> {
    storage = path;
    mkdirSync(storage, { recursive: true });
    const task = (
      id: string,
      taskClass: string,
      args: RubyValue,
      kwargs: RubyValue,
      backtrace: string[] = [],
    ): Buffer => {
      const context = writeMarshal(array(classNamed(taskClass), args, kwargs, nil()));
      return taskLine(newTask(id, { taskClass, context, backtrace }));
    };
    const lines = [
      task(positional, "CheckedTask", array(int(1), str("s3cret")), nil()),
      task(keyword, "CheckedTask", array(int(1)), symbolHash({ locale: str("s3cret") })),
      task(gone, "GoneTask", nil(), nil(), ["/srv/app/app/tasks/gone_task.rb:3:in 'GoneTask#perform'"]),
      task(inGem, "Gem::Task", nil(), nil(), [
        "/srv/app/lib/called_back.rb:1:in 'CalledBack#call'",
        "/usr/local/bundle/gems/gem-1.0/lib/gem/task.rb:3:in 'Gem::Task#perform'",
        "/usr/local/bundle/gems/rage-rb-1.26.1/lib/rage/deferred/task.rb:71:in 'Rage::Deferred::Task#__perform'",
      ]),
      taskLine(newTask(undecodable, { taskClass: "GoneTask", context: Buffer.from("no Marshal") })),
    ];
    writeFileSync(dataFile(storage), Buffer.concat(lines));
    store = (await openStores({ path: storage, name: "checked" }))[0]!;
    await eventually(() => {
      assert.deepEqual(
        store
          .newestFirst()
          .map(({ id }) => id)
          .sort(),
        ids,
      );
    });
  }

  async function run(chosen: readonly string[]): Promise<void> {
    const nodes = await recordNodes(store, chosen);
    await commands.executeCommand("deadTasks.retry", nodes[0], nodes);
  }

  function press(button: string): void {
    dialogs.answer = ({ buttons }) => buttons.find((one) => one === button);
  }

  async function show(id: string): Promise<void> {
    const { pane } = await deadTasks();
    await pane.show(store, id);
    await eventually(() => {
      assert.ok(pane.state?.kind === "task" && pane.state.reference.id === id);
    });
  }

  async function warnings(): Promise<string[]> {
    const { pane } = await deadTasks();
    return pane.state?.notices.filter(({ tone }) => tone === "warning").map(({ text }) => text) ?? [];
  }

  async function eventuallyWarns(...texts: string[]): Promise<void> {
    await eventually(async () => {
      assert.deepEqual(
        await warnings(),
        texts.map((text) => `${text} As the code stands, a retry would fail again.`),
      );
    }, 10_000);
  }

  /** After a look that was asked for later than the pane's own has ended. */
  async function warnsNot(id: string): Promise<void> {
    await show(id);
    const { retryCheck } = await deadTasks();
    assert.equal(await retryCheck.of(store, store.task(id)!), null);
    assert.deepEqual(await warnings(), []);
  }

  const noLocale = "Its perform takes no keywords, and the task has the keyword locale:.";

  it("warns in the pane of what perform would refuse, and follows the file, saved or not", async () => {
    await warnsNot(positional);
    perform("(order)");
    await eventuallyWarns("Its perform takes 1 argument, and the task has 2.");
    await show(keyword);
    await eventuallyWarns(noLocale);

    const document = await workspace.openTextDocument(Uri.file(source));
    await window.showTextDocument(document, { preview: false });
    const edit = new WorkspaceEdit();
    edit.replace(document.uri, new Range(1, 0, 1, 100), "  def perform(order, language:)");
    await workspace.applyEdit(edit);
    await eventuallyWarns("Its perform needs the keyword language:, which the task has not.");
    const mend = new WorkspaceEdit();
    mend.replace(document.uri, new Range(1, 0, 1, 100), "  def perform(order, locale:)");
    await workspace.applyEdit(mend);
    await eventuallyWarns();
    assert.equal(document.isDirty, true);
  });

  it("warns of a class that is gone, and no longer when it is back", async () => {
    await show(gone);
    await eventuallyWarns("GoneTask is not defined in this workspace.");
    const file = join(dirname(source), "gone_task.rb");
    const watcher = workspace.createFileSystemWatcher(file);
    // A file that comes and goes at once is none to the window's watcher.
    const created = new Promise((resolve) => watcher.onDidCreate(resolve));
    try {
      writeFileSync(file, "class GoneTask\n  def perform\n  end\nend\n");
      await created;
      await eventuallyWarns();
    } finally {
      watcher.dispose();
      rmSync(file);
    }
    await eventuallyWarns("GoneTask is not defined in this workspace.");
  });

  it("says nothing where the code does not say", async () => {
    await warnsNot(inGem);
    await warnsNot(undecodable);
    const unknown = [
      "class CheckedTask < Base\nend\n",
      "class CheckedTask\n  alias_method :perform, :call\nend\n",
      "class CheckedTask\n  def perform(order,\n",
      "class CheckedTask\n  def perform(order)\n  end\nend\nclass CheckedTask\n  def perform(*)\n  end\nend\n",
    ];
    const { retryCheck } = await deadTasks();
    for (const text of unknown) {
      await performs("(order)", keyword, noLocale);
      const task = store.task(keyword)!;
      writeFileSync(source, text);
      await eventually(async () => {
        assert.equal(await retryCheck.of(store, task), null);
      });
    }
  });

  it("says nothing of a store whose application is elsewhere, and retries at once", async () => {
    await open(join(folders.make(), "storage"));
    await warnsNot(gone);
    await run([gone]);
    assert.match(dialogs.only().text, /^Retried GoneTask\./);
  });

  it("asks before it retries one that would fail again, and retries it when told to", async () => {
    const doubt = "Its perform has no keyword locale:.";
    await performs("(order, note = nil, id: 1)", keyword, doubt);
    await run([keyword]);
    assert.deepEqual(dialogs.only(), {
      severity: "warning",
      text: "Retry the dead task CheckedTask from checked?",
      modalDetail: `${doubt} As the code stands, it would fail again.`,
      buttons: ["Retry Anyway"],
    });
    assert.deepEqual(logLines(storage), []);
    assert.ok(store.task(keyword));

    press("Retry Anyway");
    await run([keyword]);
    assert.match(dialogs.shown.at(-1)!.text, /^Retried CheckedTask\. It runs when/);
    assert.equal(logLines(storage).length, 1);
    await eventually(() => {
      assert.equal(store.task(keyword), undefined);
    });
    dialogs.shown = [];
    await run([positional]);
    assert.match(dialogs.only().text, /^Retried CheckedTask\. /, "one that fits is not asked about");
  });

  it("says in the question about several for how many it found what", async () => {
    await performs("(order)", keyword, noLocale);
    await run([positional, keyword, gone, inGem]);
    const { text, modalDetail, buttons } = dialogs.only();
    assert.equal(text, "Retry 4 dead tasks from checked?");
    assert.deepEqual(modalDetail!.split("\n\n").at(-1)!.split("\n"), [
      "For 1 of them the check found: The perform of CheckedTask takes 1 argument, and the task has 2.",
      "For 1 of them the check found: The perform of CheckedTask takes no keywords, and the task has the keyword locale:.",
      "For 1 of them the check found: GoneTask is not defined in this workspace.",
    ]);
    assert.deepEqual(buttons, ["Retry 4", "Try One First"]);
    press("Retry 4");
    await run([positional, keyword, gone, inGem]);
    assert.match(dialogs.shown.at(-1)!.text, /^Retried 4 dead tasks\./);
    assert.equal(logLines(storage).length, 4);
  });

  it("takes the warning away with the task", async () => {
    await performs("(order)", keyword, noLocale);
    await show(keyword);
    await eventuallyWarns(noLocale);
    press("Retry Anyway");
    await run([keyword]);
    const { pane } = await deadTasks();
    assert.deepEqual(
      pane.state!.notices.map(({ text }) => text),
      ["You retried this task. It runs when a Rage worker next starts."],
    );
  });
});
