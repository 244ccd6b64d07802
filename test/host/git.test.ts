import assert from "node:assert/strict";
import { appendFileSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands, TabInputTextDiff, Uri, ViewColumn, window, workspace, type TreeItem } from "vscode";
import type { TaskState } from "../../src/detail/protocol";
import type { TaskSummary } from "../../src/service/protocol";
import type { StoreModel } from "../../src/stores/storeModel";
import { git } from "../support/git";
import { deadTasks, eventually, folder, logText, recordNodes, storeNamed, useDialogs } from "./window";

describe("changes since a failure", () => {
  const dialogs = useDialogs();
  let store: StoreModel;

  before(async () => {
    store = await storeNamed("bookshop");
    await commands.executeCommand("deadTasks.tasks.focus");
  });

  afterEach(async () => {
    git(folder(), ["checkout", "--quiet", "--", "."]);
    await commands.executeCommand("workbench.action.closeAllEditors");
  });

  function path(file: string): string {
    return join(folder(), file);
  }

  /** The newest task with this error. */
  function taskWith(exceptionClass: string): TaskSummary {
    const found = store.newestFirst().find((task) => task.exceptionClass === exceptionClass);
    assert.ok(found, exceptionClass);
    return found;
  }

  async function notices(): Promise<string[]> {
    const { pane } = await deadTasks();
    return pane.state?.notices.map(({ text }) => text) ?? [];
  }

  async function show(task: TaskSummary): Promise<void> {
    const [node] = await recordNodes(store, [task.id]);
    await commands.executeCommand("deadTasks.show", node);
    await eventually(async () => {
      const { pane } = await deadTasks();
      assert.equal(pane.state?.kind, "task", JSON.stringify(pane.state));
      assert.equal(pane.state.reference.id, task.id);
    });
  }

  async function describedAs(task: TaskSummary): Promise<string> {
    const { view } = await deadTasks();
    const [node] = await recordNodes(store, [task.id]);
    const item: TreeItem = view.tree.getTreeItem(node!);
    return String(item.description);
  }

  async function changesOf(task: TaskSummary) {
    const { changes } = await deadTasks();
    return changes.of(store, task);
  }

  const within = 15_000;

  it("are not claimed where nothing has changed", async () => {
    const declined = taskWith("PaymentGateway::CardDeclined");
    await show(declined);
    assert.deepEqual(await changesOf(declined), []);
    assert.deepEqual(await notices(), []);
    assert.doesNotMatch(await describedAs(declined), /changed/);
  });

  it("that are not committed are told while they are there, in pane and list", async () => {
    const declined = taskWith("PaymentGateway::CardDeclined");
    await show(declined);
    appendFileSync(path("lib/payment_gateway.rb"), "# changed\n");
    await eventually(async () => {
      assert.deepEqual(await notices(), [
        "lib/payment_gateway.rb (changes not committed) has changed since this task died.",
      ]);
      assert.match(await describedAs(declined), /^\d+\w+ · changed since · PaymentGateway::CardDeclined/);
    }, within);
    git(folder(), ["checkout", "--quiet", "--", "."]);
    await eventually(async () => {
      assert.deepEqual(await notices(), []);
      assert.doesNotMatch(await describedAs(declined), /changed/);
    }, within);
  });

  it("are none where the file was last written before the task died", async () => {
    const declined = taskWith("PaymentGateway::CardDeclined");
    const file = path("lib/payment_gateway.rb");
    appendFileSync(file, "# written long ago\n");
    utimesSync(file, declined.failedAt - 60, declined.failedAt - 60);
    const mailer = path("lib/mailer.rb");
    appendFileSync(mailer, "# written just now\n");
    // Git has seen both once it lists the second.
    await eventually(async () => {
      assert.equal((await changesOf(taskWith("Net::OpenTimeout"))).length, 1);
    }, within);
    assert.deepEqual(await changesOf(declined), []);
  });

  it("to the class's own file count as well as those to the failing one", async () => {
    const declined = taskWith("PaymentGateway::CardDeclined");
    await show(declined);
    appendFileSync(path("lib/payment_gateway.rb"), "# changed\n");
    appendFileSync(path("app/tasks/billing/charge_card.rb"), "# changed\n");
    await eventually(async () => {
      assert.deepEqual(await notices(), [
        "lib/payment_gateway.rb (changes not committed) and app/tasks/billing/charge_card.rb (changes not committed) " +
          "have changed since this task died.",
      ]);
    }, within);
    await (await deadTasks()).changes.show(await changesOf(declined), undefined);
    await eventually(() => {
      assert.match(window.tabGroups.activeTabGroup.activeTab?.label ?? "", /^Changes since the failure/);
    });
  });

  it("are none that git could compare with, for a file that it does not know", async () => {
    const file = "app/tasks/print_labels.rb";
    writeFileSync(path(file), "\n".repeat(20));
    // Its path is the container's: the file is found only since it was written.
    const removed = taskWith("NameError");
    await eventually(async () => {
      const { pane } = await deadTasks();
      await show(removed);
      const own = (pane.state as TaskState).backtrace.find(({ canOpen }) => canOpen);
      assert.equal(own?.place, `${file}:8`);
    }, within);
    assert.deepEqual(await changesOf(removed), []);
    git(folder(), ["clean", "--quiet", "--force"]);
  });

  it("that were committed are shown beside what was there before, and said when the task is retried", async () => {
    const declined = taskWith("PaymentGateway::CardDeclined");
    const file = path("lib/payment_gateway.rb");
    const before = readFileSync(file, "utf8");
    const first = git(folder(), ["rev-parse", "HEAD"]).trim();
    for (const [count, seconds] of [declined.failedAt + 1, declined.failedAt + 2].entries()) {
      appendFileSync(file, `# mended ${count}\n`);
      git(folder(), ["commit", "--quiet", "--all", "-m", "Mend"], seconds);
    }
    await show(declined);
    await eventually(async () => {
      assert.deepEqual(await notices(), ["lib/payment_gateway.rb (2 commits) has changed since this task died."]);
    }, within);
    const changes = await changesOf(declined);
    assert.deepEqual(changes, [{ file, before: first, commits: 2, uncommitted: false }]);

    await (await deadTasks()).changes.show(changes, ViewColumn.One);
    await eventually(async () => {
      const tab = window.tabGroups.activeTabGroup.activeTab;
      assert.ok(tab?.input instanceof TabInputTextDiff, "no comparison is open");
      assert.equal(tab.label, "payment_gateway.rb (before the failure ↔ now)");
      assert.equal((await workspace.openTextDocument(tab.input.original)).getText(), before);
      assert.equal(tab.input.modified.toString(), Uri.file(file).toString());
    });

    const others = store.newestFirst().filter(({ taskClass }) => taskClass === "NotifySlack");
    const nodes = await recordNodes(store, [declined.id, others[0]!.id]);
    await commands.executeCommand("deadTasks.retry", nodes[0], nodes);
    assert.match(dialogs.only().modalDetail!, /\n\nThe code of 1 of them has changed since they died\.$/);

    await commands.executeCommand("deadTasks.retry", nodes[0]);
    assert.equal(
      dialogs.only().text,
      "Retried Billing::ChargeCard. It runs when a Rage worker next starts. Its code has changed since it died.",
    );
  });

  it("have not made the log complain", async () => {
    assert.doesNotMatch(await logText(), /Could not tell what has changed|git could not tell/);
  });
});
