import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { commands, ConfigurationTarget, Uri, window, workspace, type CodeLens } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { dataFile } from "../support/fixtures";
import { secondProcesses, taskMessage } from "../support/processes";
import { copyFixture, newTask, taskLine, temporaryFolders } from "../support/stores";
import { commandLine, deadTasks, eventually, folder, openStores, setStores, storeNamed, useDialogs } from "./window";

/** What "at once" means to a user, in milliseconds. */
const atOnce = 1_000;

describe("lenses on task classes", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const dialogs = useDialogs();
  let bookshop: StoreModel;

  before(async () => {
    await setStores(undefined);
    bookshop = await storeNamed("bookshop");
  });

  afterEach(() => commands.executeCommand("workbench.action.closeAllEditors"));
  after(() => setStores(undefined));

  function uri(name: string): Uri {
    return Uri.file(join(folder(), name));
  }

  async function lenses(name: string): Promise<CodeLens[]> {
    await workspace.openTextDocument(uri(name));
    return commands.executeCommand<CodeLens[]>("vscode.executeCodeLensProvider", uri(name), 100);
  }

  async function titles(name: string): Promise<string[]> {
    const ours = (await lenses(name)).filter(({ command }) => command?.command === "deadTasks.showClassTasks");
    return ours.map(({ command, range }) => `${range.start.line + 1}: ${command!.title}`);
  }

  it("say how many are dead and when the last died, on the classes that have any", async () => {
    const count = bookshop.classes.count("SendWelcomeEmail");
    assert.ok(count > 1);
    assert.equal(bookshop.newestFirst().filter(({ taskClass }) => taskClass === "SendWelcomeEmail").length, count);
    const [title, ...more] = await titles("app/tasks/send_welcome_email.rb");
    assert.match(title!, new RegExp(`^1: ${count} dead, last (just now|\\d+ (min|h|d) ago)$`));
    assert.deepEqual(more, []);
    assert.match((await titles("app/tasks/billing/charge_card.rb")).join(), /^2: \d+ dead, last [^,]+$/);
    assert.deepEqual(await titles("app/controllers/users_controller.rb"), []);
    assert.deepEqual(await titles("app/models/invoice.rb"), []);
  });

  it("follow a worker and the command line within a second", async () => {
    const storage = copyFixture(folders.make(), "empty");
    const [store] = await openStores({ path: storage, name: "copied" });
    await window.showTextDocument(uri("app/tasks/resize_image.rb"));
    const before = bookshop.classes.count("ResizeImage");
    const shown = async (): Promise<string> => (await titles("app/tasks/resize_image.rb")).join();
    assert.match(await shown(), new RegExp(`^1: ${before} dead`));
    const worker = processes.ruby(storage);
    await worker.request({ do: "ping" });
    const failedAt = Math.floor(Date.now() / 1000);
    const task = newTask("1767226000-1-1", { taskClass: "ResizeImage", failedAt });
    await worker.request({ do: "add", task: taskMessage(task) });
    await eventually(async () => {
      assert.equal(await shown(), `1: ${before + 1} dead, last just now`);
    }, atOnce);
    await commandLine("delete", "1767226000-1-1", "--storage", storage);
    await eventually(async () => {
      assert.match(await shown(), new RegExp(`^1: ${before} dead`));
    }, atOnce);
    assert.equal(store!.taskCount, 0);
  });

  it("follow what is typed", async () => {
    const editor = await window.showTextDocument(uri("app/tasks/notify_slack.rb"));
    assert.match((await titles("app/tasks/notify_slack.rb")).join(), /^1: /);
    await editor.edit((edit) => {
      edit.insert(editor.document.positionAt(0), "# a line\n");
    });
    assert.match((await titles("app/tasks/notify_slack.rb")).join(), /^2: /);
    await editor.edit((edit) => {
      edit.insert(editor.document.positionAt(0), "module Inner\n");
    });
    assert.deepEqual(await titles("app/tasks/notify_slack.rb"), [], "Inner::NotifySlack has no dead tasks");
    await commands.executeCommand("workbench.action.files.revert");
  });

  it("open the only dead task at once, and one of several that is picked", async () => {
    const storage = copyFixture(folders.make(), "empty");
    const [store] = await openStores({ path: storage, name: "copied" });
    const { pane } = await deadTasks();
    appendFileSync(dataFile(storage), taskLine(newTask("1767226000-1-1", { taskClass: "Product", failedAt: 1 })));
    const only = async (): Promise<CodeLens> => {
      const [lens] = (await lenses("app/models/product.rb")).filter(({ command }) =>
        command?.command.startsWith("deadTasks."),
      );
      assert.ok(lens?.command);
      return lens;
    };
    await eventually(async () => {
      assert.equal((await only()).command!.title, "1 dead, 1970-01-01");
    });
    const { command } = await only();
    await commands.executeCommand(command!.command, ...(command!.arguments as unknown[]));
    assert.deepEqual(pane.state?.reference, { storeKey: store!.key, id: "1767226000-1-1" });

    appendFileSync(dataFile(storage), taskLine(newTask("1767226000-1-2", { taskClass: "Product", failedAt: 99 })));
    await eventually(() => {
      assert.equal(store!.classes.count("Product"), 2);
    });
    const original = window.showQuickPick;
    const offered: string[] = [];
    Reflect.set(window, "showQuickPick", (items: readonly { label: string }[], options: { title: string }) => {
      offered.push(options.title, ...items.map(({ label }) => label));
      return Promise.resolve(items[1]);
    });
    try {
      await commands.executeCommand(command!.command, ...(command!.arguments as unknown[]));
    } finally {
      Reflect.set(window, "showQuickPick", original);
    }
    assert.deepEqual(offered, [
      "2 dead tasks of Product",
      "RuntimeError: message of 1767226000-1-2",
      "RuntimeError: message of 1767226000-1-1",
    ]);
    assert.equal(pane.state.reference.id, "1767226000-1-1");

    await commandLine("delete", "--all", "--storage", storage);
    await eventually(() => {
      assert.equal(store!.taskCount, 0);
    });
    await commands.executeCommand(command!.command, ...(command!.arguments as unknown[]));
    assert.equal(dialogs.only().text, "There is no dead task of Product any more.");
  });

  it("can be turned off", async () => {
    const setting = workspace.getConfiguration("deadTasks");
    await setting.update("codeLens", false, ConfigurationTarget.Workspace);
    try {
      assert.deepEqual(await titles("app/tasks/send_welcome_email.rb"), []);
    } finally {
      await setting.update("codeLens", undefined, ConfigurationTarget.Workspace);
    }
    await eventually(async () => {
      assert.equal((await titles("app/tasks/send_welcome_email.rb")).length, 1);
    });
  });
});
