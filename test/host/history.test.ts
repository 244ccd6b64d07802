import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationTarget, Uri, commands, env, window, workspace } from "vscode";
import type { HistoryNode } from "../../src/history/historyTree";
import type { StoreModel } from "../../src/stores/storeModel";
import type { HistoryNote } from "../../src/service/historyProtocol";
import { doneByOtherWindow } from "../support/otherWindow";
import { copyFixture, temporaryFolders } from "../support/stores";
import { deadTasks, eventually, openStores, recordId, recordNodes, setStores, useDialogs } from "./window";

interface Item {
  readonly node: HistoryNode;
  /** Label and description. */
  readonly text: string;
  readonly tooltip: string;
  readonly contextValue: string;
}

describe("the history", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();
  const { showSaveDialog } = window;
  let storage: string;
  let store: StoreModel;
  let kept: string;

  beforeEach(async () => {
    storage = copyFixture(folders.make(), "basic");
    store = (await openStores({ path: storage, name: "shop" }))[0]!;
    const { context, service } = await deadTasks();
    kept = join(context.globalStorageUri.fsPath, "history");
    await service.clearHistory();
  });

  afterEach(async () => {
    Reflect.set(window, "showSaveDialog", showSaveDialog);
    await setting(undefined);
    const { historyView } = await deadTasks();
    if (historyView.ofAll) await commands.executeCommand("deadTasks.showOpenHistory");
  });

  after(() => setStores(undefined));

  function setting(days: number | undefined): Thenable<void> {
    return workspace.getConfiguration("deadTasks").update("history.days", days, ConfigurationTarget.Global);
  }

  function press(...buttons: readonly RegExp[]): void {
    dialogs.answer = (shown) => shown.buttons.find((one) => buttons.some((button) => button.test(one)));
  }

  async function run(command: string, count: number): Promise<string[]> {
    const chosen = (await recordNodes(store)).slice(0, count);
    await commands.executeCommand(`deadTasks.${command}`, chosen[0], chosen);
    return chosen.map((node) => recordId(node)!);
  }

  /** The list as it is now, without its days. */
  async function entries(): Promise<Item[]> {
    const { historyView } = await deadTasks();
    await historyView.look();
    const days = await historyView.getChildren();
    return await withItems((await Promise.all(days.map((day) => historyView.getChildren(day)))).flat());
  }

  async function children(node: HistoryNode): Promise<Item[]> {
    const { historyView } = await deadTasks();
    return await withItems(await historyView.getChildren(node));
  }

  async function withItems(nodes: readonly HistoryNode[]): Promise<Item[]> {
    const { historyView } = await deadTasks();
    return nodes.map((node) => {
      const { label, description = "", tooltip = "", contextValue = "" } = historyView.getTreeItem(node);
      assert.ok(typeof label === "string" && typeof tooltip === "string");
      return { node, tooltip, contextValue, text: `${label} | ${String(description).replace(/\d\d:\d\d/, "TIME")}` };
    });
  }

  async function texts(): Promise<string[]> {
    return (await entries()).map(({ text }) => text);
  }

  function files(): string[] {
    return existsSync(kept) ? readdirSync(kept) : [];
  }

  async function anotherWindow(notes: readonly HistoryNote[], directory = storage): Promise<void> {
    await doneByOtherWindow(kept, directory, notes);
  }

  it("says of each operation what was done, with which tasks, and what became of them", async () => {
    assert.deepEqual(await entries(), []);
    press(/^Delete 2$/);
    const deleted = await run("delete", 2);
    press();
    const [retried] = await run("retry", 1);
    assert.deepEqual(await texts(), [
      "Retried Billing::Webhooks::Deliver | TIME · shop",
      "Deleted SendWelcomeEmail and ImportCsv | TIME · shop",
    ]);
    const [retry, deletion] = await entries();
    assert.match(retry!.tooltip, new RegExp(`By this window .*, process ${process.pid}\\nEnqueued in deferred-0-`));
    const { text } = (await children(retry!.node))[0]!;
    assert.match(text, new RegExp(`^Billing::Webhooks::Deliver \\| ${retried!} → \\d+-\\d+-\\d+$`));
    assert.deepEqual((await children(deletion!.node)).map((child) => child.text).sort(), [
      `ImportCsv | ${deleted[1]!}`,
      `SendWelcomeEmail | ${deleted[0]!}`,
    ]);
    assert.equal(statSync(join(kept, files()[0]!)).mode & 0o077, 0, "nobody else can read it");
    assert.doesNotMatch(readFileSync(join(kept, files()[0]!), "latin1"), /example\.com/, "it has no arguments");
  });

  it("undoes what can be undone, and says that it was", async () => {
    press(/^Delete$/);
    const [deleted] = await run("delete", 1);
    await run("retry", 1);
    const [retry, deletion] = await entries();
    assert.deepEqual(
      [retry, deletion].map((entry) => entry!.contextValue),
      ["historyEntryUndoable", "historyEntryUndoable"],
    );
    await commands.executeCommand("deadTasks.undoHistory", deletion!.node);
    await commands.executeCommand("deadTasks.undoHistory", retry!.node);
    await eventually(() => {
      assert.equal(store.taskCount, 6);
    });
    assert.ok(store.task(deleted!));
    const after = await entries();
    assert.deepEqual(
      after.map(({ text }) => text),
      [
        "Took back ImportCsv | TIME · shop",
        "Brought back SendWelcomeEmail | TIME · shop",
        "Retried ImportCsv | TIME · undone · shop",
        "Deleted SendWelcomeEmail | TIME · undone · shop",
      ],
    );
    assert.deepEqual([...new Set(after.map(({ contextValue }) => contextValue))], ["historyEntry"]);
    assert.match(after[1]!.tooltip, /\nUndone: SendWelcomeEmail$/);
    dialogs.shown = [];
    await commands.executeCommand("deadTasks.undoHistory", after[0]!.node);
    assert.match(dialogs.only().text, /^Only a deletion or a retry/);
  });

  it("names what failed with its reason, and when what was retried is to run", async () => {
    const { service } = await deadTasks();
    const [id] = store.newestFirst().map((task) => task.id) as [string];
    await service.retry(store.key, [id], 1_900_000_000);
    const bad = copyFixture(folders.make(), "bad-payload");
    const [other] = await openStores({ path: bad, name: "bad" });
    const unreadable = other!.status.unreadable.map((record) => record.id);
    assert.ok(unreadable.length > 0);
    await service.retry(other!.key, unreadable.slice(0, 1), null);
    const [failure] = await entries();
    assert.equal(failure!.text, `Could not retry ${unreadable[0]!} | TIME · bad`);
    assert.match((await children(failure!.node))[0]!.text, /\| Its record cannot be read/);
    await openStores({ path: storage, name: "shop" });
    assert.match(
      (await texts())[0]!,
      /^Retried SendWelcomeEmail \| TIME · to run 2030-03-1\d TIME|· to run 2030-03-1\d/,
    );
  });

  it("shows a task that is dead still or again, and says of others that they are not", async () => {
    const { pane } = await deadTasks();
    press(/^Delete$/);
    await run("delete", 1);
    const again = store.newestFirst()[0]!;
    await anotherWindow([{ kind: "retry", done: [{ id: "1-1-1", newId: again.id }] }]);
    const [retry, deletion] = await entries();
    assert.match(retry!.text, / · by bookshop, process 4711$/);
    dialogs.shown = [];
    await commands.executeCommand("deadTasks.openHistory", (await children(retry!.node))[0]!.node);
    await eventually(() => {
      assert.equal(pane.state?.reference.id, again.id);
    });
    assert.deepEqual(dialogs.shown, []);
    await commands.executeCommand("deadTasks.openHistory", (await children(deletion!.node))[0]!.node);
    assert.equal(dialogs.only().text, "SendWelcomeEmail is not among the dead tasks now.");
  });

  it("follows other windows, and shows other workspaces' on demand", async () => {
    await anotherWindow([{ kind: "delete", done: [{ id: "1-1-1" }] }]);
    await anotherWindow([{ kind: "delete", done: [{ id: "1-1-2" }, { id: "1-1-3" }] }], "/srv/elsewhere/storage");
    assert.deepEqual(await texts(), ["Deleted PaymentTask | TIME · shop · by bookshop, process 4711"]);
    await commands.executeCommand("deadTasks.showAllHistory");
    const [elsewhere] = await entries();
    assert.equal(elsewhere!.text, "Deleted PaymentTask ×2 | TIME · elsewhere/storage · by bookshop, process 4711");
    await commands.executeCommand("deadTasks.openHistory", (await children(elsewhere!.node))[0]!.node);
    assert.match(dialogs.only().text, /^The store of PaymentTask is not open here: \/srv\/elsewhere\/storage$/);
    await commands.executeCommand("deadTasks.showOpenHistory");
    assert.equal((await entries()).length, 1);
  });

  it("compares the arguments of an edit", async () => {
    const edits = [{ id: "1-1-1", before: "PaymentTask.enqueue(1)", after: "PaymentTask.enqueue(2)" }];
    await anotherWindow([{ kind: "edit", done: [{ id: "1-1-1", newId: "2-2-2" }], edits }]);
    const [edit] = await entries();
    assert.match(edit!.text, /^Edited and retried PaymentTask \|/);
    await commands.executeCommand("deadTasks.openHistory", (await children(edit!.node))[0]!.node);
    await eventually(() => {
      const shown = workspace.textDocuments.filter(({ uri }) => uri.scheme === "dead-task-history");
      assert.deepEqual(shown.map((document) => document.getText()).sort(), [
        "PaymentTask.enqueue(1)\n",
        "PaymentTask.enqueue(2)\n",
      ]);
    });
    await commands.executeCommand("workbench.action.closeAllEditors");
  });

  it("is read by pages", async () => {
    await anotherWindow([...Array(250).keys()].map((index) => ({ kind: "delete", done: [{ id: `1-1-${index}` }] })));
    assert.equal((await entries()).length, 200);
    const { historyView } = await deadTasks();
    const older = (await historyView.getChildren()).at(-1)!;
    assert.equal(historyView.getTreeItem(older).label, "Show Older");
    await commands.executeCommand("deadTasks.olderHistory");
    assert.equal((await entries()).length, 250);
    assert.notEqual((await historyView.getChildren()).at(-1)!.kind, "historyOlder");
  }).timeout(20_000);

  it("is exported as Markdown or JSON, all of it, and copied", async () => {
    press(/^Delete 2$/);
    const ids = await run("delete", 2);
    const folder = folders.make();
    const asked: unknown[] = [];
    const saveAs = (name: string | undefined): void => {
      Reflect.set(window, "showSaveDialog", (options: unknown) => {
        asked.push(options);
        return Promise.resolve(name === undefined ? undefined : Uri.file(join(folder, name)));
      });
    };
    saveAs("history.md");
    await commands.executeCommand("deadTasks.exportHistory");
    const markdown = readFileSync(join(folder, "history.md"), "utf8");
    assert.match(
      markdown,
      /^# History of dead tasks\n\n1 entry, as of .*\n\n## \d{4}-\d\d-\d\d\n\n### \d\d:\d\d:\d\d Deleted `SendWelcomeEmail` and `ImportCsv`\n/,
    );
    for (const id of ids) assert.ok(markdown.includes(`\`${id}\``), id);
    saveAs("history.json");
    dialogs.answer = () => "Open";
    await commands.executeCommand("deadTasks.exportHistory");
    await eventually(() => {
      assert.equal(window.activeTextEditor?.document.uri.fsPath, join(folder, "history.json"));
    });
    const { entries: exported } = JSON.parse(readFileSync(join(folder, "history.json"), "utf8")) as {
      entries: { kind: string; tasks: { id: string; task_class: string }[] }[];
    };
    assert.deepEqual(
      exported.map(({ kind, tasks }) => [kind, tasks.map(({ id }) => id)]),
      [["delete", ids]],
    );
    saveAs(undefined);
    await commands.executeCommand("deadTasks.exportHistory");
    assert.deepEqual(readdirSync(folder).sort(), ["history.json", "history.md"]);
    writeFileSync(join(folder, "file"), "");
    saveAs(join("file", "history.md"));
    press();
    dialogs.shown = [];
    await commands.executeCommand("deadTasks.exportHistory");
    assert.match(dialogs.only().text, /^Could not run deadTasks\.exportHistory: /);
    await commands.executeCommand("deadTasks.copyHistory", (await entries())[0]!.node);
    assert.ok(markdown.includes(await env.clipboard.readText()));
    await commands.executeCommand("workbench.action.closeAllEditors");
  });

  it("is cleared where one is sure, and not kept where the settings say so", async () => {
    press(/^Delete$/);
    await run("delete", 1);
    dialogs.shown = [];
    press();
    await commands.executeCommand("deadTasks.clearHistory");
    assert.match(dialogs.only().text, /^Clear the history of all windows and workspaces\?$/);
    assert.equal((await entries()).length, 1);
    press(/^Clear$/);
    await commands.executeCommand("deadTasks.clearHistory");
    assert.deepEqual([await entries(), files()], [[], []]);
    dialogs.shown = [];
    await commands.executeCommand("deadTasks.exportHistory");
    assert.equal(dialogs.only().text, "The history is empty.");
    await setting(0);
    press(/^Delete$/);
    await run("delete", 1);
    assert.deepEqual([await entries(), files()], [[], []]);
  });
});
