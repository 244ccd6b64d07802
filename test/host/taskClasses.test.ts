import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  commands,
  languages,
  Location,
  Range,
  SymbolInformation,
  SymbolKind,
  Uri,
  window,
  workspace,
  WorkspaceEdit,
  Position,
} from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { deadTasks, eventually, folder, recordNodes, setStores, storeNamed, useDialogs } from "./window";

describe("going to the class of a task", () => {
  const dialogs = useDialogs();
  const written: string[] = [];
  let store: StoreModel;

  before(async () => {
    await setStores(undefined);
    store = await storeNamed("bookshop");
  });

  afterEach(async () => {
    await commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    await commands.executeCommand("workbench.action.closeAllEditors");
    for (const file of written.splice(0)) rmSync(file, { force: true });
  });

  function write(name: string, text: string): string {
    const file = join(folder(), name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    written.push(file);
    return file;
  }

  /** Where the cursor is after the command: `app/tasks/a.rb:3:7`, counted from 1. */
  async function open(name: string): Promise<string> {
    await commands.executeCommand("deadTasks.openTaskClass", name, store.key);
    return cursor();
  }

  function cursor(): string {
    const editor = window.activeTextEditor;
    assert.ok(editor, "no editor is open");
    const { line, character } = editor.selection.active;
    return `${workspace.asRelativePath(editor.document.uri)}:${line + 1}:${character + 1}`;
  }

  it("opens perform of each class of the demo, from its item in the list", async () => {
    const expected: Readonly<Record<string, string>> = {
      "Billing::ChargeCard": "app/tasks/billing/charge_card.rb:10:9",
      ImportCatalog: "app/tasks/import_catalog.rb:8:7",
      NotifySlack: "app/tasks/notify_slack.rb:4:7",
      ResizeImage: "app/tasks/resize_image.rb:6:7",
      SendWelcomeEmail: "app/tasks/send_welcome_email.rb:10:7",
      SyncInvoice: "app/tasks/sync_invoice.rb:13:7",
    };
    for (const [name, place] of Object.entries(expected)) {
      const [node] = await recordNodes(store, [store.classes.newest(name)!.id]);
      await commands.executeCommand("deadTasks.openTaskClass", node);
      assert.equal(cursor(), place);
    }
    assert.deepEqual(dialogs.shown, []);
  });

  it("says what was looked for where there is no such class, and offers nothing", async () => {
    const [node] = await recordNodes(store, [store.classes.newest("PrintLabels")!.id]);
    await commands.executeCommand("deadTasks.openTaskClass", node);
    const { text, buttons } = dialogs.only();
    assert.match(
      text,
      /^The class PrintLabels is not defined in this workspace: there is no print_labels\.rb, and none in \d+ Ruby files that were searched\.$/,
    );
    assert.deepEqual(buttons, []);
    await commands.executeCommand("deadTasks.openTaskClass", "../../etc/passwd", store.key);
    assert.equal(dialogs.only().text, "“../../etc/passwd” is not the name of a Ruby class.");
  });

  it("finds a class that no convention leads to, and notices when it comes and changes", async () => {
    await commands.executeCommand("deadTasks.openTaskClass", "Odd::Place", store.key);
    assert.match(dialogs.only().text, /there is no odd\/place\.rb/);
    const file = write("lib/collection.rb", "module Odd\n  class Place\n    def perform; end\n  end\nend\n");
    await eventually(async () => {
      assert.equal(await open("Odd::Place"), "lib/collection.rb:3:9");
    });
    writeFileSync(file, "\n\nclass Odd::Place\nend\n");
    await eventually(async () => {
      assert.equal(await open("Odd::Place"), "lib/collection.rb:3:7");
    });
    dialogs.shown = [];
  });

  it("goes by what an editor shows and has not saved", async () => {
    assert.equal(await open("SyncInvoice"), "app/tasks/sync_invoice.rb:13:7");
    const { document } = window.activeTextEditor!;
    const edit = new WorkspaceEdit();
    edit.insert(document.uri, new Position(0, 0), "# unsaved\n# lines\n");
    await workspace.applyEdit(edit);
    assert.equal(document.isDirty, true);
    assert.equal(await open("SyncInvoice"), "app/tasks/sync_invoice.rb:15:7");
  });

  it("prefers the definition that has perform, the application's own, and no test's", async () => {
    write("config/initializers/reopened.rb", "class SyncInvoice\nend\n");
    write("spec/tasks/sync_invoice.rb", "class SyncInvoice\n  def perform; end\nend\n");
    write("aaa/sync_invoice.rb", "class Other; end\n");
    assert.equal(await open("SyncInvoice"), "app/tasks/sync_invoice.rb:13:7");
  });

  it("asks which of several is meant", async () => {
    write("lib/sync_invoice.rb", "class SyncInvoice\n  def perform(other); end\nend\n");
    const original = window.showQuickPick;
    const offered: string[] = [];
    const pick = (items: readonly { label: string }[]): Promise<unknown> => {
      offered.push(...items.map(({ label }) => label));
      return Promise.resolve(items[1]);
    };
    Reflect.set(window, "showQuickPick", pick);
    try {
      await eventually(async () => {
        offered.length = 0;
        assert.equal(await open("SyncInvoice"), "lib/sync_invoice.rb:2:7");
      });
    } finally {
      Reflect.set(window, "showQuickPick", original);
    }
    assert.deepEqual(offered, ["app/tasks/sync_invoice.rb:13", "lib/sync_invoice.rb:2"]);
  });

  it("goes by a language server's symbols, exact names only, and does not wait for one that hangs", async () => {
    const file = write("server/elsewhere.rb", "class Elsewhere::Known\n  def perform; end\nend\n");
    const wrong = write("server/wrong.rb", "class Knowing\nend\n");
    const asked: string[] = [];
    const at = (path: string): Location => new Location(Uri.file(path), new Range(0, 0, 0, 5));
    const provider = languages.registerWorkspaceSymbolProvider({
      provideWorkspaceSymbols: (query) => {
        asked.push(query);
        if (query === "Hanging") return new Promise<SymbolInformation[]>(() => undefined);
        return [
          new SymbolInformation("Knowing", SymbolKind.Class, "", at(wrong)),
          new SymbolInformation("Known", SymbolKind.Class, "Elsewhere", at(file)),
        ];
      },
    });
    try {
      assert.equal(await open("Elsewhere::Known"), "server/elsewhere.rb:2:7");
      assert.deepEqual(asked, ["Known"]);
      const started = performance.now();
      await commands.executeCommand("deadTasks.openTaskClass", "Hanging", store.key);
      const took = performance.now() - started;
      assert.match(dialogs.only().text, /The class Hanging is not defined/);
      assert.ok(took > 1_000 && took < 6_000, `${took} ms`);
    } finally {
      provider.dispose();
    }
  });

  it("goes to the class of the pane's task", async () => {
    const { pane } = await deadTasks();
    const task = store.classes.newest("ResizeImage")!;
    await pane.show(store, task.id);
    await eventually(() => {
      assert.equal(pane.state?.kind, "task");
    });
    const { title, reference } = pane.state!;
    await commands.executeCommand("deadTasks.openTaskClass", title, reference.storeKey);
    assert.equal(cursor(), "app/tasks/resize_image.rb:6:7");
  });
});
