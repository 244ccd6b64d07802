import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commands, env, window, type QuickPickItem } from "vscode";
import { writeMarshal } from "../../src/marshal";
import type { StoreModel } from "../../src/stores/storeModel";
import { dataFile } from "../support/fixtures";
import { array, classNamed, nil, str } from "../support/ruby";
import { copyFixture, newTask, taskLine, temporaryFolders } from "../support/stores";
import { eventually, folder, openStores, recordNodes, setStores, storeNamed, useDialogs } from "./window";

describe("reproducing a dead task", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();
  const { showQuickPick } = window;
  let store: StoreModel;
  /** The labels that were offered, and which is picked. */
  let offered: string[];
  let pick: string | undefined;

  before(async () => {
    await setStores(undefined);
    store = await storeNamed("bookshop");
  });

  beforeEach(() => {
    offered = [];
    pick = undefined;
    const stub = (items: readonly QuickPickItem[]): Promise<QuickPickItem | undefined> => {
      offered = items.map(({ label }) => label);
      return Promise.resolve(items.find(({ label }) => label === pick));
    };
    Reflect.set(window, "showQuickPick", stub);
  });

  afterEach(async () => {
    Reflect.set(window, "showQuickPick", showQuickPick);
    while (window.activeTextEditor !== undefined) {
      await commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    }
    for (const name of [".rspec", "spec", "test"]) rmSync(join(folder(), name), { recursive: true, force: true });
  });

  after(() => setStores(undefined));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder(), path)), { recursive: true });
    writeFileSync(join(folder(), path), text);
  }

  async function run(command: string, of: StoreModel, id: string): Promise<void> {
    const [node] = await recordNodes(of, [id]);
    await commands.executeCommand(command, node, [node]);
  }

  /** With the newest dead task of this class. */
  function runOn(command: string, taskClass: string): Promise<void> {
    return run(command, store, store.newestFirst().find((task) => task.taskClass === taskClass)!.id);
  }

  function shown(): { readonly scheme: string; readonly path: string; readonly text: string } {
    const document = window.activeTextEditor?.document;
    assert.ok(document, "no editor is open");
    assert.deepEqual([document.languageId, document.isDirty], ["ruby", true]);
    const { scheme, fsPath } = document.uri;
    return { scheme, path: fsPath.slice(folder().length + 1), text: document.getText() };
  }

  it("copies a snippet for the console", async () => {
    await runOn("deadTasks.copyConsoleSnippet", "SendWelcomeEmail");
    assert.deepEqual(dialogs.shown, []);
    const text = await env.clipboard.readText();
    assert.match(text, /^# Dead task \S+\. It died on \S+ \S+ UTC at lib\/mailer\.rb:\d+:\n/);
    assert.match(text, /\n# {3}Net::OpenTimeout: Failed to open TCP connection/);
    assert.match(text, /\nSendWelcomeEmail\.new\.perform\("user@example\.com", locale: :en\)\n$/);
  });

  it("copies a snippet with its secrets masked, and whole where that is asked for", async () => {
    dialogs.answer = ({ buttons }) => buttons.find((button) => button === "Copy with Secrets");
    await runOn("deadTasks.copyConsoleSnippet", "Billing::ChargeCard");
    assert.deepEqual(dialogs.only(), {
      severity: "information",
      text: "Copied for the console, with secrets as [FILTERED].",
      modalDetail: null,
      buttons: ["Copy with Secrets"],
    });
    await eventually(async () => {
      assert.match(await env.clipboard.readText(), /\nBilling::ChargeCard\.new\.perform\(.*token: "tok_live_/);
    });
  });

  it("opens a test for RSpec at the place of the class, which is saved there when the user saves it", async () => {
    write(".rspec", "--color\n");
    write("spec/models/user_spec.rb", 'require "json"\nrequire "rage_helper"\n');
    await runOn("deadTasks.generateTest", "SendWelcomeEmail");
    const { scheme, path, text } = shown();
    assert.deepEqual([scheme, path], ["untitled", join("spec", "tasks", "send_welcome_email_spec.rb")]);
    assert.match(text, /^require "rage_helper"\n\n# Dead task /);
    assert.match(text, /\nRSpec\.describe SendWelcomeEmail do\n {2}it "is performed without Net::OpenTimeout: /);
    assert.match(text, /\n {6}SendWelcomeEmail\.new\.perform\("user@example\.com", locale: :en\)\n/);
    assert.deepEqual([offered, dialogs.shown], [[], []]);
    assert.equal(existsSync(join(folder(), path)), false, "nothing is written that nobody saved");

    await runOn("deadTasks.generateTest", "SendWelcomeEmail");
    assert.equal(shown().path, join("spec", "tasks", "send_welcome_email_dead_task_spec.rb"));
    const second = shown();
    await commands.executeCommand("workbench.action.files.save");
    await eventually(() => {
      assert.equal(readFileSync(join(folder(), second.path), "utf8"), second.text);
    });
    await runOn("deadTasks.generateTest", "SendWelcomeEmail");
    assert.equal(shown().path, join("spec", "tasks", "send_welcome_email_dead_task_2_spec.rb"));
  });

  it("asks for the framework where the application uses both or none, and does nothing without an answer", async () => {
    await runOn("deadTasks.generateTest", "NotifySlack");
    assert.deepEqual(offered, ["RSpec", "Minitest"]);
    assert.equal(window.activeTextEditor, undefined);

    write("spec/spec_helper.rb", "");
    write("test/test_helper.rb", "");
    pick = "Minitest";
    await runOn("deadTasks.generateTest", "NotifySlack");
    assert.deepEqual(offered, ["RSpec", "Minitest"]);
    const { path, text } = shown();
    assert.equal(path, join("test", "tasks", "notify_slack_test.rb"));
    assert.match(text, /^require "test_helper"\n[\s\S]*\nclass NotifySlackTest < Minitest::Test\n/);
  });

  it("masks the secrets in a test, and fills them in where that is asked for", async () => {
    write("test/test_helper.rb", "");
    await runOn("deadTasks.generateTest", "Billing::ChargeCard");
    assert.equal(shown().path, join("test", "tasks", "billing", "charge_card_test.rb"));
    assert.match(shown().text, /\n# \[FILTERED\] stands for secrets[\s\S]*token: "\[FILTERED\]"/);
    assert.doesNotMatch(shown().text, /tok_live/);
    assert.deepEqual(dialogs.only().buttons, ["Fill In Secrets"]);

    dialogs.answer = ({ buttons }) => buttons.find((button) => button === "Fill In Secrets");
    await runOn("deadTasks.generateTest", "Billing::ChargeCard");
    await eventually(() => {
      assert.match(shown().text, /token: "tok_live_/);
      assert.doesNotMatch(shown().text, /FILTERED/);
    });
    assert.equal(shown().path, join("test", "tasks", "billing", "charge_card_dead_task_test.rb"));
  });

  it("says why arguments that cannot be read cannot be performed", async () => {
    const [contexts] = await openStores({ path: copyFixture(folders.make(), "contexts"), name: "contexts" });
    await env.clipboard.writeText("as it was");
    for (const command of ["deadTasks.copyConsoleSnippet", "deadTasks.generateTest"]) {
      await run(command, contexts!, "1767225641-5-1");
      assert.match(dialogs.only().text, /^The arguments of SyncInvoice cannot be read: /);
    }
    assert.equal(await env.clipboard.readText(), "as it was");
    assert.equal(window.activeTextEditor, undefined);
  });

  it("says so where the arguments are too many for a call", async () => {
    const storage = copyFixture(folders.make(), "empty");
    const args = array(str("x".repeat(250_000)));
    const context = writeMarshal(array(classNamed("SyncInvoice"), args, nil(), nil(), nil(), nil(), nil()));
    appendFileSync(dataFile(storage), taskLine(newTask("1767226000-1-1", { context })));
    const [large] = await openStores({ path: storage, name: "large" });
    for (const command of ["deadTasks.copyConsoleSnippet", "deadTasks.generateTest"]) {
      await run(command, large!, "1767226000-1-1");
      assert.match(dialogs.only().text, /^SyncInvoice cannot be written as a call: it has too many arguments/);
    }
    assert.equal(window.activeTextEditor, undefined);
  });
});
