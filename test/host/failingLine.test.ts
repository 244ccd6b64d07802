import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands, ConfigurationTarget, window, workspace } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { dataFile, unreadableIds } from "../support/fixtures";
import { copyFixture, newTask, taskLine, temporaryFolders } from "../support/stores";
import { deadTasks, eventually, folder, openStores, recordNodes, setStores, storeNamed, useDialogs } from "./window";

describe("the failing line", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();

  afterEach(() => commands.executeCommand("workbench.action.closeAllEditors"));
  after(async () => {
    await setPathMappings(undefined);
    await setStores(undefined);
  });

  async function open(store: StoreModel, id: string): Promise<void> {
    const [node] = await recordNodes(store, [id]);
    await commands.executeCommand("deadTasks.openFailingLine", node);
  }

  /** A store with one task that has this backtrace. */
  async function storeWith(...backtrace: string[]): Promise<StoreModel> {
    const storage = copyFixture(folders.make(), "empty");
    const [store] = await openStores({ path: storage, name: "failing" });
    appendFileSync(dataFile(storage), taskLine(newTask("1767226000-1-1", { taskClass: "Charge", backtrace })));
    await eventually(() => {
      assert.equal(store!.taskCount, 1);
    });
    return store!;
  }

  async function setPathMappings(value: unknown): Promise<void> {
    await workspace.getConfiguration("deadTasks").update("pathMappings", value, ConfigurationTarget.Workspace);
  }

  function place(): string {
    const editor = window.activeTextEditor;
    assert.ok(editor, "no editor is open");
    return `${editor.document.uri.fsPath}:${editor.selection.active.line + 1}`;
  }

  it("is that of the first own frame of each of the demo's tasks, wherever the task died", async () => {
    await setStores(undefined);
    const store = await storeNamed("bookshop");
    const { service } = await deadTasks();
    const seen = new Set<string>();
    for (const task of store.newestFirst()) {
      if (seen.has(task.exceptionClass ?? "") || task.taskClass === "PrintLabels") continue;
      seen.add(task.exceptionClass ?? "");
      const [found] = await service.backtraces(store.key, [task.id]);
      const own = found!.backtrace.find((line) => line.startsWith(folder()) || line.startsWith("/srv/app/"))!;
      const [, file, line] = /^(?:\/srv\/app|.*?\/bookshop)\/(.+?):(\d+)/.exec(own)!;
      await open(store, task.id);
      assert.equal(place(), `${join(folder(), file!)}:${line}`);
    }
    assert.ok(seen.size > 10);
    assert.deepEqual(dialogs.shown, []);
  });

  it("is opened without the pane, and beside it where there is room", async () => {
    await setStores(undefined);
    const store = await storeNamed("bookshop");
    const { pane } = await deadTasks();
    const { id } = store.newestFirst()[0]!;
    await open(store, id);
    assert.equal(pane.state, null);
    await commands.executeCommand("workbench.action.splitEditor");
    const [node] = await recordNodes(store, [id]);
    await commands.executeCommand("deadTasks.show", node);
    const column = pane.column;
    await open(store, id);
    assert.notEqual(window.activeTextEditor!.viewColumn, column);
  });

  it("that cannot be found is named, with the way to the setting that finds it", async () => {
    const store = await storeWith(
      "/usr/local/bundle/gems/x-1.0/lib/x.rb:1:in 'x'",
      "/opt/elsewhere/charge [x](command:x).rb:12:in 'y'",
    );
    await open(store, "1767226000-1-1");
    const { severity, text, buttons } = dialogs.only();
    assert.equal(severity, "warning");
    assert.match(text, /^\/opt\/elsewhere\/charge \[x\]\u200b\(command:x\)\.rb:12 was not found in the workspace\. /);
    assert.match(text, /“deadTasks\.pathMappings”/);
    assert.deepEqual(buttons, ["Open Settings"]);
    assert.equal(window.activeTextEditor, undefined);
  });

  it("is found where the path mappings say, from then on", async () => {
    const store = await storeWith("/opt/elsewhere/charge.rb:2:in 'x'");
    const elsewhere = folders.make();
    mkdirSync(join(elsewhere, "code"));
    writeFileSync(join(elsewhere, "code/charge.rb"), "one\ntwo\nthree\n");
    await setPathMappings({ "/opt/elsewhere": join(elsewhere, "code") });
    await open(store, "1767226000-1-1");
    assert.equal(place(), `${join(elsewhere, "code/charge.rb")}:2`);
    assert.equal(dialogs.shown.length, 0);

    await setPathMappings({ "/opt/elsewhere": 7 });
    await open(store, "1767226000-1-1");
    await open(store, "1767226000-1-1");
    const problems = dialogs.shown.filter(({ text }) => text.startsWith("“deadTasks.pathMappings”"));
    assert.deepEqual(
      problems.map(({ text, buttons }) => [text, buttons]),
      [
        [
          "“deadTasks.pathMappings”, “/opt/elsewhere”: must name a directory, absolute or relative to the workspace folder.",
          ["Open Settings"],
        ],
      ],
    );
    await setPathMappings(undefined);
  });

  it("is the last one of a file that has become shorter", async () => {
    const store = await storeWith(`${folder()}/config.ru:9999:in 'x'`);
    await open(store, "1767226000-1-1");
    const lines = readFileSync(join(folder(), "config.ru"), "utf8").split("\n").length;
    assert.equal(place(), `${join(folder(), "config.ru")}:${lines}`);
  });

  it("is not there without own frames, without a backtrace, or for what cannot be read", async () => {
    await open(await storeWith("/usr/local/bundle/gems/x-1.0/lib/x.rb:1:in 'x'"), "1767226000-1-1");
    assert.equal(dialogs.only().text, "No line of the backtrace of Charge is the application's own.");
    await open(await storeWith(), "1767226000-1-1");
    assert.equal(dialogs.only().text, "Charge has no backtrace: its error was never raised.");
    const [unreadable] = await openStores({ path: copyFixture(folders.make(), "bad-payload"), name: "bad" });
    await open(unreadable!, unreadableIds("bad-payload")[0]!);
    assert.equal(dialogs.only().text, "A record that cannot be read names no line.");
    await commands.executeCommand("deadTasks.openFailingLine", { kind: "store", store: unreadable });
    assert.equal(dialogs.only().text, "Select a dead task first.");
  });
});
