import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commands, TreeItemCollapsibleState, type MarkdownString, type TreeItem } from "vscode";
import { TaskTree } from "../../src/tree/taskTree";
import type { StoreModel } from "../../src/stores/storeModel";
import type { TreeNode } from "../../src/tree/nodes";
import { secondProcesses } from "../support/processes";
import { deadTasks, eventually, folder, nodesOf, recordNodes, storeNamed } from "./window";

describe("the list of the demo application", () => {
  const processes = secondProcesses();
  let store: StoreModel;

  before(async () => {
    store = await storeNamed("bookshop");
  });

  function itemOf(view: { tree: { getTreeItem(node: TreeNode): TreeItem } }, node: TreeNode): TreeItem {
    return view.tree.getTreeItem(node);
  }

  it("holds what Ruby reads from the files, newest first", async () => {
    const listed = (await processes.ruby(join(folder(), "storage")).request({ do: "list" })) as {
      id: string;
      task_class: string;
      failed_at: number;
    }[];
    const nodes = await recordNodes(store);
    assert.ok(nodes.length > 30);
    assert.deepEqual(
      nodes.map((node) => node.kind === "task" && [node.task.id, node.task.taskClass, node.task.failedAt]),
      listed.reverse().map((task) => [task.id, task.task_class, task.failed_at]),
    );
    assert.equal((await nodesOf(store)).length, nodes.length, "there is nothing but tasks to show");
  });

  it("counts them on the badge", async () => {
    const { view } = await deadTasks();
    const count = store.taskCount;
    assert.deepEqual(view.view.badge, { value: count, tooltip: `${count} dead tasks` });
    assert.equal(view.view.message ?? "", "");
  });

  it("shows class, time and error in a row, and the rest in its tooltip", async () => {
    const { view } = await deadTasks();
    const [newest] = await recordNodes(store);
    const item = itemOf(view, newest!);
    assert.equal(item.label, "SendWelcomeEmail");
    assert.match(String(item.description), /^\d+m · Net::OpenTimeout: Failed to open TCP connection/);
    assert.equal(item.collapsibleState, TreeItemCollapsibleState.None);
    assert.equal(item.contextValue, "task");
    const resolved = view.tree.resolveTreeItem(item, newest!).tooltip as MarkdownString;
    for (const part of ["Failed", "Enqueued", "Attempts", "21"]) assert.ok(resolved.value.includes(part), part);
    assert.ok(!resolved.isTrusted && resolved.supportHtml !== true);
  });

  it("shows no task's arguments, neither in a row nor in its tooltip", async () => {
    const { view } = await deadTasks();
    const texts = (await recordNodes(store)).map((node) => {
      const item = itemOf(view, node);
      const tooltip = view.tree.resolveTreeItem(item, node).tooltip as MarkdownString;
      return JSON.stringify([item.label, item.description, tooltip.value]);
    });
    assert.doesNotMatch(texts.join("\n"), /tok_live|correct horse|sk_b00k5h0p|locale: :/);
  });

  it("is drawn anew only where something in it has changed", async () => {
    const { view } = await deadTasks();
    let drawn = 0;
    const listening = view.tree.onDidChangeTreeData(() => drawn++);
    // A look finds what is there already; the times in the rows may be another minute's, once.
    for (let look = 0; look < 5; look++) {
      await commands.executeCommand("deadTasks.refresh");
      await delay(200);
    }
    listening.dispose();
    assert.ok(drawn <= 1, `drawn ${drawn} times`);
  });

  it("is drawn anew where it was asked for between two refreshes, and what it showed then is over", async () => {
    const { view, registry } = await deadTasks();
    let problems: readonly string[] = [];
    const tree = new TaskTree(
      registry,
      () => problems,
      view.filtered,
      () => false,
    );
    let drawn = 0;
    const listening = tree.onDidChangeTreeData(() => drawn++);
    tree.refresh();
    const kinds = (): Set<string> => new Set(tree.getChildren().map(({ kind }) => kind));
    assert.ok(!kinds().has("settingProblem"));
    await delay(700);
    const before = drawn;
    tree.refresh();
    problems = ["wrong for a moment"];
    tree.refresh();
    assert.ok(kinds().has("settingProblem"), "the editor shows it");
    problems = [];
    tree.refresh();
    await eventually(() => {
      assert.equal(drawn, before + 1);
    });
    listening.dispose();
    tree.dispose();
  });

  it("finds an item's place again, so that it can be revealed", async () => {
    const { view } = await deadTasks();
    const nodes = await recordNodes(store);
    const chosen = nodes[20]!;
    assert.equal(view.tree.getParent(chosen), undefined);
    await view.view.reveal(chosen, { select: true, focus: true });
    await eventually(() => {
      assert.deepEqual(
        view.view.selection.map((node) => node.kind === "task" && node.task.id),
        [chosen.kind === "task" && chosen.task.id],
      );
    });
  });
});
