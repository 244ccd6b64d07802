import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commands } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import type { PendingNode } from "../../src/tree/pendingTree";
import { dataFile } from "../support/fixtures";
import { secondProcesses } from "../support/processes";
import { copyFixture, temporaryFolders } from "../support/stores";
import { commandLine, deadTasks, eventually, openStores, recordNodes, setStores, useDialogs } from "./window";

describe("the pending tasks", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const dialogs = useDialogs();
  const nobody = existsSync("/proc/locks") ? "Waiting for a Rage worker to start" : /^deferred-0-/;
  let storage: string;
  let store: StoreModel;

  beforeEach(async () => {
    storage = copyFixture(folders.make(), "basic");
    store = (await openStores({ path: storage, name: "shop" }))[0]!;
  });

  after(() => setStores(undefined));

  async function nodes(): Promise<{ readonly node: PendingNode; readonly text: string; readonly kind: string }[]> {
    const { pendingView } = await deadTasks();
    await pendingView.look();
    const below = (node: PendingNode): PendingNode[] => [node, ...pendingView.getChildren(node).flatMap(below)];
    // The demo's own store is open as well, so logs stand below their stores.
    const ours = pendingView.getChildren().filter((node) => node.kind === "pendingStore" && node.store === store);
    return ours
      .flatMap((node) => below(node).slice(1))
      .map((node) => {
        const { label, description, contextValue } = pendingView.getTreeItem(node);
        assert.ok(typeof label === "string");
        return { node, text: `${label} ${String(description)}`, kind: contextValue ?? "" };
      });
  }

  async function retry(command: "retry" | "delete", count: number): Promise<void> {
    const chosen = (await recordNodes(store)).slice(0, count);
    await commands.executeCommand(`deadTasks.${command}`, chosen[0], chosen);
  }

  it("are listed by log with what they wait for, and can be taken back", async () => {
    assert.deepEqual(await nodes(), []);
    const before = readFileSync(dataFile(storage));
    dialogs.answer = ({ buttons }) => buttons.find((button) => button === "Retry 2");
    await retry("retry", 2);
    const [log, ...tasks] = await nodes();
    assert.match(log!.text, nobody instanceof RegExp ? nobody : new RegExp(`^${nobody} 2 tasks$`));
    assert.deepEqual(
      tasks.map(({ text }) => text),
      ["ImportCsv at once · enqueued just now", "SendWelcomeEmail at once · enqueued just now"],
    );
    if (!existsSync("/proc/locks")) return;
    assert.equal(log!.kind, "logOfOurs");
    await commands.executeCommand("deadTasks.takeBack", log!.node);
    await eventually(() => {
      assert.equal(store.taskCount, 6);
    });
    assert.deepEqual(await nodes(), []);
    const lines = (content: Buffer): string[] => content.toString("latin1").split("\n").sort();
    assert.deepEqual(lines(readFileSync(dataFile(storage))), lines(before));
  });

  it("say when they run, and whose work cannot be taken back", async () => {
    const { id } = store.newestFirst()[0]!;
    await commandLine("retry", id, "--in", "7300", "--storage", storage);
    const [log, task] = await nodes();
    assert.equal(log!.kind, "log", "another program's retry");
    assert.match(task!.text, /^SendWelcomeEmail in 2 h · enqueued just now$/);
    await commands.executeCommand("deadTasks.takeBack", log!.node);
    assert.match(dialogs.only().text, /^Only tasks that were retried here/);
  });

  it("say that a worker holds them", async function () {
    if (!existsSync("/proc/locks")) this.skip();
    await retry("retry", 1);
    const [log] = await nodes();
    assert.ok(log?.node.kind === "log");
    const worker = processes.ruby(storage);
    assert.equal(await worker.request({ do: "claim", log: join(storage, log.node.log.name) }), true);
    const [held] = await nodes();
    assert.match(held!.text, /^Held by the worker \d+ 1 task$/);
    assert.equal(held!.kind, "log");
  });
});
