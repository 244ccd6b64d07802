import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  commands,
  ConfigurationTarget,
  DiagnosticSeverity,
  languages,
  MarkdownString,
  Range,
  TabInputText,
  TabInputTextDiff,
  window,
  workspace,
  WorkspaceEdit,
  type CompletionList,
  type Hover,
  type QuickPickItem,
  type Tab,
  type TextDocument,
} from "vscode";
import { writeMarshal, type RubyValue } from "../../src/marshal";
import type { StoreModel } from "../../src/stores/storeModel";
import { dataFile } from "../support/fixtures";
import { secondProcesses } from "../support/processes";
import { array, classNamed, int, nil, str, struct, sym, symbolHash } from "../support/ruby";
import { newTask, taskLine, temporaryFolders } from "../support/stores";
import {
  commandLine,
  deadTasks,
  eventually,
  folder,
  logText,
  openStores,
  recordNodes,
  setStores,
  useDialogs,
  type Shown,
} from "./window";

interface Pending {
  readonly task_class: string;
  readonly args: string;
  readonly kwargs: string;
  readonly publish_at: number | null;
}

describe("editing a dead task and retrying it", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const dialogs = useDialogs();
  const { showQuickPick } = window;
  const { welcome, charge, broken } = { welcome: "1767226001-1-1", charge: "1767226002-1-1", broken: "1767226003-1-1" };
  const secret = "s3cret-word";
  let storage: string;
  let store: StoreModel;
  let before: Buffer;

  beforeEach(async () => {
    storage = folders.make();
    writeFileSync(
      dataFile(storage),
      Buffer.concat([
        line(
          welcome,
          "SendWelcomeEmail",
          array(str("user@example.com")),
          symbolHash({ locale: sym("en"), password: str(secret) }),
        ),
        line(charge, "Billing::Charge", array(struct("Money", { cents: int(5), currency: sym("eur") }), int(7)), nil()),
        taskLine(newTask(broken, { taskClass: "Broken", context: Buffer.from("no Marshal") })),
      ]),
    );
    before = readFileSync(dataFile(storage));
    store = (await openStores({ path: storage, name: "shop" }))[0]!;
    await eventually(() => {
      assert.equal(store.taskCount, 3);
    });
  });

  afterEach(async () => {
    Reflect.set(window, "showQuickPick", showQuickPick);
    dialogs.answer = () => undefined;
    for (let left = allTabs().length; left > 0; left--) {
      await commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    }
  });

  after(() => setStores(undefined));

  function line(id: string, taskClass: string, args: RubyValue, kwargs: RubyValue, message = "it failed"): Buffer {
    const context = writeMarshal(array(classNamed(taskClass), args, kwargs, int(3)));
    return taskLine(newTask(id, { taskClass, context, exceptionMessage: message }));
  }

  /** Opens a task as its menu does. */
  async function edit(id: string): Promise<TextDocument> {
    const nodes = await recordNodes(store, [id]);
    await commands.executeCommand("deadTasks.editAndRetry", nodes[0], nodes);
    const document = window.activeTextEditor?.document;
    assert.equal(document?.uri.scheme, "dead-task-edit", dialogs.shown.at(-1)?.text);
    return document;
  }

  async function replace(document: TextDocument, old: string, text: string): Promise<void> {
    const at = document.getText().indexOf(old);
    assert.ok(at >= 0, document.getText());
    const change = new WorkspaceEdit();
    change.replace(document.uri, new Range(document.positionAt(at), document.positionAt(at + old.length)), text);
    assert.ok(await workspace.applyEdit(change));
  }

  function press(...buttons: readonly RegExp[]): void {
    dialogs.answer = (shown) => shown.buttons.find((one) => buttons.some((button) => button.test(one)));
  }

  /** Saves as `Ctrl+S` does, and waits for what is said. */
  async function save(): Promise<Shown> {
    const shown = dialogs.shown.length;
    await commands.executeCommand("workbench.action.files.save");
    await eventually(() => {
      assert.ok(dialogs.shown.length > shown, "nothing was said");
    });
    return dialogs.shown[shown]!;
  }

  function allTabs(): Tab[] {
    return window.tabGroups.all.flatMap(({ tabs }) => [...tabs]);
  }

  function tabOf(document: TextDocument): Tab | undefined {
    return allTabs().find(
      ({ input }) => input instanceof TabInputText && input.uri.toString() === document.uri.toString(),
    );
  }

  function diffTab(): Tab | undefined {
    return allTabs().find(({ input }) => input instanceof TabInputTextDiff);
  }

  async function diffTexts(): Promise<readonly [string, string]> {
    const input = diffTab()?.input;
    assert.ok(input instanceof TabInputTextDiff, "no diff is open");
    const [one, other] = await Promise.all(
      [input.original, input.modified].map((uri) => workspace.openTextDocument(uri)),
    );
    return [one!.getText(), other!.getText()];
  }

  function problems(document: TextDocument): string[] {
    return languages
      .getDiagnostics(document.uri)
      .filter(({ source }) => source === "Dead Tasks")
      .map(({ message }) => message);
  }

  function logs(): string[] {
    return readdirSync(storage).filter((name) => name.startsWith("deferred-0-"));
  }

  /** Nothing of the store is other than it was. */
  function assertUntouched(data = before): void {
    assert.deepEqual(readFileSync(dataFile(storage)), data);
    assert.deepEqual(logs(), []);
  }

  async function pending(): Promise<readonly Pending[]> {
    return (await commandLine<{ tasks: Pending[] }>("pending", "--storage", storage)).tasks;
  }

  /** As Ruby itself loads it, in the way of any of its releases. */
  async function pendingInRuby(): Promise<readonly string[]> {
    const tasks = (await processes.ruby(storage).request({ do: "pending" })) as {
      task_class: string;
      args_inspect: string;
      kwargs_inspect: string;
    }[];
    const plain = (text: string): string => text.replaceAll(/:(\w+)=>/g, "$1: ").replaceAll("=>", " => ");
    return tasks.map((task) => [task.task_class, task.args_inspect, plain(task.kwargs_inspect)].join(" "));
  }

  function ids(): string[] {
    return store.newestFirst().map(({ id }) => id);
  }

  it("opens as Ruby in a tab called after the class, with what has no literal or is secret as placeholders", async () => {
    const document = await edit(welcome);
    assert.equal(document.languageId, "ruby");
    assert.equal(document.isDirty, false);
    assert.equal(tabOf(document)?.label, "SendWelcomeEmail.rb");
    assert.equal(tabOf(document)?.isPreview, false);
    const code = document.getText().replaceAll(/^\s*#.*\n/gm, "");
    assert.match(
      code.replaceAll(/\s+/g, " "),
      /^\s*SendWelcomeEmail\.enqueue\(\s?"user@example\.com", locale: :en, password: secret_1,?\s?\)\s*$/,
    );
    assert.ok(!document.getText().includes(secret));
    const { active } = window.activeTextEditor!.selection;
    assert.match(document.lineAt(active.line).text.slice(active.character), /^"user@example\.com"/);
    const other = await edit(charge);
    assert.equal(tabOf(other)?.label, "Billing::Charge.rb");
    assert.match(other.getText(), /^Billing::Charge\.enqueue\(/m);
    assert.deepEqual(dialogs.shown, []);
    assertUntouched();
  });

  it("shows the change, asks, retries with exactly what was typed, and is undone byte for byte", async () => {
    const document = await edit(welcome);
    await replace(document, '"user@example.com"', '"grace@example.com", 12');
    await replace(document, ":en", ":fr");
    let compared: readonly [string, string] = ["", ""];
    const asked: Shown[] = [];
    const compares: Promise<void>[] = [];
    dialogs.answer = (shown) => {
      asked.push(shown);
      if (shown.modalDetail === null) return undefined;
      compares.push(
        diffTexts().then((texts) => {
          compared = texts;
        }),
      );
      return "Retry";
    };
    await save();
    await eventually(() => {
      assert.ok(!ids().includes(welcome));
      assert.equal(tabOf(document), undefined);
      assert.equal(diffTab(), undefined);
    });
    await Promise.all(compares);
    assert.deepEqual(
      { ...asked[0]!, buttons: [...asked[0]!.buttons] },
      {
        severity: "warning",
        text: "Retry SendWelcomeEmail with these arguments?",
        modalDetail:
          "Changed: argument 1 and keyword locale. Added: argument 2.\n\nIt runs when a Rage worker next starts.",
        buttons: ["Retry", "Retry Later…", "Review Changes"],
      },
    );
    assert.match(compared[0], /"user@example\.com"/);
    assert.match(compared[1], /"grace@example\.com"/);
    assert.ok(!compared.join().includes(secret));
    assert.deepEqual(await pending(), [
      {
        ...(await pending())[0]!,
        task_class: "SendWelcomeEmail",
        args: '["grace@example.com", 12]',
        kwargs: `{locale: :fr, password: "${secret}"}`,
      },
    ]);
    assert.deepEqual(await pendingInRuby(), [
      `SendWelcomeEmail ["grace@example.com", 12] {locale: :fr, password: "${secret}"}`,
    ]);
    assert.match(asked[1]!.text, /^Retried SendWelcomeEmail\. It runs when a Rage worker next starts\./);
    assert.deepEqual(asked[1]!.buttons[0], "Undo");

    pick((items) => items[0]);
    await commands.executeCommand("deadTasks.undo");
    await eventually(() => {
      assert.ok(ids().includes(welcome));
    });
    const lines = (content: Buffer): string[] => content.toString("latin1").split("\n").sort();
    assert.deepEqual(lines(readFileSync(dataFile(storage))), lines(before));
    assert.deepEqual(await pending(), []);
  });

  /** Stands in for the list of choices, as `useDialogs` does for messages. */
  function pick(choose: (items: readonly QuickPickItem[]) => QuickPickItem | undefined): void {
    Reflect.set(window, "showQuickPick", (items: readonly QuickPickItem[]) => Promise.resolve(choose(items)));
  }

  it("brings a secret and an object back as what they were, wherever they were moved", async () => {
    const document = await edit(welcome);
    await replace(document, "password: secret_1", "token: [secret_1]");
    press(/^Retry$/);
    await save();
    await eventually(() => {
      assert.ok(!ids().includes(welcome));
    });
    const moved = await edit(charge);
    const [placeholder] = /money_\w*|\w+_1/i.exec(moved.getText().replaceAll(/^\s*#.*\n/gm, ""))!;
    await replace(moved, "  7,", `  { amount: ${placeholder} },`);
    await save();
    await eventually(() => {
      assert.ok(!ids().includes(charge));
    });
    const found = (await pending()).map(({ task_class, args, kwargs }) => [task_class, args, kwargs].join(" ")).sort();
    const money = "#<struct Money cents=5, currency=:eur>";
    assert.deepEqual(found, [
      `Billing::Charge [${money}, {amount: ${money}}] nil`,
      `SendWelcomeEmail ["user@example.com"] {locale: :en, token: ["${secret}"]}`,
    ]);
    assert.doesNotMatch(await logText(), new RegExp(secret));
  });

  it("runs later where that is wanted, and not at all where no time is chosen", async () => {
    const document = await edit(welcome);
    await replace(document, ":en", ":fr");
    press(/^Retry Later…$/);
    pick(() => undefined);
    await save();
    await eventually(() => {
      assert.equal(diffTab(), undefined);
      assert.equal(window.activeTextEditor?.document, document);
    });
    assertUntouched();
    pick((items) => items.find(({ label }) => label === "In an hour"));
    await save();
    await eventually(() => {
      assert.ok(!ids().includes(welcome));
    });
    const [task] = await pending();
    assert.ok(Math.abs(task!.publish_at! - (Date.now() / 1000 + 3600)) < 60, String(task!.publish_at));
    assert.equal(task!.kwargs, `{locale: :fr, password: "${secret}"}`);
  });

  it("keeps what was typed where the question is cancelled, and asks again when it is saved again", async () => {
    const document = await edit(welcome);
    await replace(document, ":en", ":fr");
    const edited = document.getText();
    assert.equal((await save()).modalDetail === null, false);
    await eventually(() => {
      assert.equal(diffTab(), undefined);
      assert.equal(window.activeTextEditor?.document, document);
    });
    assert.equal(document.getText(), edited);
    assert.ok(tabOf(document));
    assertUntouched();
    assert.equal((await save()).text, "Retry SendWelcomeEmail with these arguments?", "with nothing to save");
    await eventually(() => {
      assert.equal(diffTab(), undefined);
    });

    await window.tabGroups.close(tabOf(document)!);
    dialogs.shown = [];
    const again = await edit(welcome);
    assert.equal(again.getText(), edited);
    assert.deepEqual(
      { text: dialogs.shown[0]!.text, buttons: dialogs.shown[0]!.buttons },
      { text: "What you changed in SendWelcomeEmail before is still there.", buttons: ["Start Anew"] },
    );
    press(/^Start Anew$/);
    await edit(welcome);
    await eventually(() => {
      assert.match(again.getText(), /locale: :en/);
      assert.equal(again.isDirty, false);
    });
    assertUntouched();
  });

  it("leaves the diff to be looked at, from which it can be retried", async () => {
    const document = await edit(welcome);
    await replace(document, ":en", ":fr");
    press(/^Review Changes$/);
    await save();
    await delay(200);
    const input = diffTab()?.input;
    assert.ok(input instanceof TabInputTextDiff && diffTab()!.isActive);
    assertUntouched();
    press(/^Retry$/);
    await commands.executeCommand("deadTasks.retryEdited", input.modified);
    await eventually(() => {
      assert.ok(!ids().includes(welcome));
      assert.deepEqual(allTabs(), []);
    });
    assert.equal(logs().length, 1);
  });

  it("asks about nothing that saves itself, and keeps it", async () => {
    const files = workspace.getConfiguration("files");
    await files.update("autoSave", "afterDelay", ConfigurationTarget.Global);
    await files.update("autoSaveDelay", 50, ConfigurationTarget.Global);
    try {
      const document = await edit(welcome);
      await replace(document, ":en", ":fr");
      await eventually(() => {
        assert.equal(document.isDirty, false);
      });
      await replace(document, ":fr", ":de");
      await eventually(() => {
        assert.equal(document.isDirty, false);
      });
      await delay(300);
      assert.deepEqual(dialogs.shown, []);
      assert.equal(diffTab(), undefined);
      assertUntouched();
      press(/^Retry$/);
      assert.equal((await save()).text, "Retry SendWelcomeEmail with these arguments?");
      await eventually(() => {
        assert.equal(logs().length, 1);
      });
      assert.match((await pending())[0]!.kwargs, /^\{locale: :de,/);
    } finally {
      await files.update("autoSave", undefined, ConfigurationTarget.Global);
      await files.update("autoSaveDelay", undefined, ConfigurationTarget.Global);
    }
  });

  it("marks what cannot be kept while it is typed, and does not retry it", async () => {
    const document = await edit(welcome);
    await replace(document, ":en", ":en.to_s");
    await eventually(() => {
      assert.equal(problems(document).length, 1);
    });
    const [problem] = languages.getDiagnostics(document.uri).filter(({ source }) => source === "Dead Tasks");
    assert.equal(problem!.severity, DiagnosticSeverity.Error);
    assert.match(document.lineAt(problem!.range.start.line).text, /:en\.to_s/);
    const shown = await save();
    assert.equal(shown.severity, "error");
    assert.equal(shown.modalDetail, null);
    assert.equal(
      shown.text,
      `SendWelcomeEmail was not retried. Line ${problem!.range.start.line + 1}: ${problem!.message}`,
    );
    assert.deepEqual(window.activeTextEditor?.selection.active, problem!.range.start);
    assert.equal(diffTab(), undefined);
    assertUntouched();
    await replace(document, ":en.to_s", "nobody_1");
    await eventually(() => {
      assert.match(problems(document).join(), /nobody_1/);
    });
    await replace(document, "nobody_1", ":fr");
    await eventually(() => {
      assert.deepEqual(problems(document), []);
    });
  });

  it("says where nothing was changed, and offers the plain retry", async () => {
    const document = await edit(welcome);
    await replace(document, ":en", " :en");
    const shown = await save();
    assert.deepEqual(
      { ...shown, buttons: [...shown.buttons] },
      {
        severity: "information",
        text: "The arguments of SendWelcomeEmail are as they were. Nothing was retried.",
        modalDetail: null,
        buttons: ["Retry"],
      },
    );
    assertUntouched();
    press(/^Retry$/);
    await save();
    await eventually(() => {
      assert.ok(!ids().includes(welcome));
      assert.equal(tabOf(document), undefined);
    });
    assert.deepEqual(await pendingInRuby(), [
      `SendWelcomeEmail ["user@example.com"] {locale: :en, password: "${secret}"}`,
    ]);
  });

  it("writes nothing where the task has gone meanwhile, and keeps the text", async () => {
    const document = await edit(welcome);
    await replace(document, ":en", ":fr");
    await commandLine("delete", welcome, "--storage", storage);
    const data = readFileSync(dataFile(storage));
    await eventually(() => {
      assert.deepEqual(problems(document), ["This task is no longer among the dead."]);
    });
    press(/./);
    const shown = await save();
    assert.equal(
      shown.text,
      "SendWelcomeEmail is no longer among the dead tasks. Nothing was retried; what you typed stays.",
    );
    assert.match(document.getText(), /:fr/);
    assert.ok(tabOf(document));
    assertUntouched(data);
    await commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    await eventually(() => {
      assert.deepEqual(problems(document), []);
    });
  });

  it("writes nothing where the task has died anew meanwhile, and can go on from how it is now", async () => {
    const document = await edit(welcome);
    await replace(document, ":en", ":fr");
    const kwargs = symbolHash({ locale: sym("en"), password: str("another") });
    appendFileSync(
      dataFile(storage),
      line(welcome, "SendWelcomeEmail", array(str("user@example.com")), kwargs, "again"),
    );
    const data = readFileSync(dataFile(storage));
    await eventually(() => {
      assert.match(problems(document).join(), /^This task has died anew since it was opened here/);
    });
    const shown = await save();
    assert.match(
      shown.text,
      /^SendWelcomeEmail has died anew since you opened it, or .* Nothing was retried; what you typed stays\.$/,
    );
    assert.deepEqual(shown.buttons, ["Edit as It Is Now"]);
    assertUntouched(data);
    press(/^Edit as It Is Now$/);
    await save();
    await eventually(() => {
      assert.deepEqual(problems(document), []);
    });
    assert.match(document.getText(), /:fr/);
    press(/^Retry$/);
    await save();
    await eventually(() => {
      assert.ok(!ids().includes(welcome));
    });
    assert.deepEqual(await pendingInRuby(), [
      'SendWelcomeEmail ["user@example.com"] {locale: :fr, password: "another"}',
    ]);
  });

  it("says what a placeholder stands for, and completes its name", async () => {
    const document = await edit(charge);
    const code = /^Billing::Charge\.enqueue\(\s*(\w+)/m.exec(document.getText());
    assert.ok(code?.[1], document.getText());
    const position = document.positionAt(document.getText().indexOf(code[0]) + code[0].length - 1);
    const hovers = await commands.executeCommand<Hover[]>("vscode.executeHoverProvider", document.uri, position);
    const said = hovers.flatMap(({ contents }) =>
      contents.map((one) => (one instanceof MarkdownString ? one.value : "")),
    );
    assert.match(said.join("\n"), /Stands for this value[^]*#<struct Money cents=5, currency=:eur>/);
    const { items } = await commands.executeCommand<CompletionList>(
      "vscode.executeCompletionItemProvider",
      document.uri,
      position,
    );
    assert.ok(items.some(({ label }) => label === code[1]));

    const secrets = await edit(welcome);
    const at = secrets.positionAt(secrets.getText().lastIndexOf("secret_1") + 2);
    const [hover] = await commands.executeCommand<Hover[]>("vscode.executeHoverProvider", secrets.uri, at);
    assert.match((hover!.contents[0] as MarkdownString).value, /^A secret\./);
    assert.ok(!JSON.stringify(hover).includes(secret));
  });

  it("tells where the task would fail again with what was typed, and where that could not be undone", async () => {
    const shop = join(folder(), "exports", "shop", "storage");
    mkdirSync(shop, { recursive: true });
    writeFileSync(dataFile(shop), before);
    const setting = workspace.getConfiguration("deadTasks");
    try {
      store = (await openStores({ path: shop, name: "shop" }))[0]!;
      const { retryCheck } = await deadTasks();
      // The question does not wait long for the code to be found the first time.
      await eventually(async () => {
        assert.ok(await retryCheck.of(store, store.task(welcome)!));
      }, 15_000);
      const document = await edit(welcome);
      await replace(document, ":en", ":fr");
      const doubted = await save();
      assert.equal(
        doubted.modalDetail,
        "Changed: keyword locale.\n\nIt runs when a Rage worker next starts.\n\n" +
          "Its perform has no keyword password:. As the code stands, it would fail again.",
      );
      assert.deepEqual(doubted.buttons, ["Retry Anyway", "Retry Later…", "Review Changes"]);
      await eventually(() => {
        assert.equal(window.activeTextEditor?.document, document);
      });
      await replace(document, "  password: secret_1,\n", "");
      await setting.update("undo.days", 0, ConfigurationTarget.Global);
      const asked = await save();
      assert.equal(
        asked.modalDetail,
        "Changed: keyword locale. Removed: keyword password.\n\nIt runs when a Rage worker next starts.\n\n" +
          "This cannot be undone. Nothing is kept for undoing, by the settings.",
      );
      assert.equal(asked.buttons[0], "Retry");
    } finally {
      await setting.update("undo.days", undefined, ConfigurationTarget.Global);
      rmSync(join(folder(), "exports"), { recursive: true, force: true });
    }
  });

  it("refuses what cannot be read, with the reason", async () => {
    const nodes = await recordNodes(store, [broken]);
    await commands.executeCommand("deadTasks.editAndRetry", nodes[0], nodes);
    assert.match(dialogs.only().text, /^Could not edit Broken: /);
    assert.equal(window.activeTextEditor, undefined);
  });
});
