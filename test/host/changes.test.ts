import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { StoreModel } from "../../src/stores/storeModel";
import { copyFixture, newTask, temporaryFolders } from "../support/stores";
import { secondProcesses, taskMessage } from "../support/processes";
import { commandLine, deadTasks, eventually, nodesOf, openStores, recordId, recordNodes, setStores } from "./window";

/** What "at once" means to a user, in milliseconds. */
const atOnce = 1_000;

describe("changes by others", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();
  let storage: string;
  let store: StoreModel;

  beforeEach(async () => {
    storage = copyFixture(folders.make(), "basic");
    store = (await openStores({ path: storage, name: "watched" }))[0]!;
  });

  after(() => setStores(undefined));

  async function ids(): Promise<(string | null)[]> {
    return (await recordNodes(store)).map(recordId);
  }

  it("shows a task that a worker adds, at the top, within a second", async () => {
    const worker = processes.ruby(storage);
    await worker.request({ do: "ping" });
    const before = await ids();
    const { view } = await deadTasks();
    const badge = view.view.badge!.value;
    await worker.request({ do: "add", task: taskMessage(newTask("1767225999-7-1")) });
    await eventually(async () => {
      assert.deepEqual(await ids(), ["1767225999-7-1", ...before]);
      assert.equal(view.view.badge!.value, badge + 1);
    }, atOnce);
  });

  it("takes out a task that a worker removes, within a second", async () => {
    const worker = processes.ruby(storage);
    await worker.request({ do: "ping" });
    const [first, ...rest] = await ids();
    await worker.request({ do: "remove", ids: [first] });
    await eventually(async () => {
      assert.deepEqual(await ids(), rest);
    }, atOnce);
  });

  it("takes out tasks that the command line deletes and retries, within a second", async () => {
    const [first, second, ...rest] = await ids();
    await commandLine("delete", first!, "--storage", storage);
    await eventually(async () => {
      assert.deepEqual(await ids(), [second, ...rest]);
    }, atOnce);
    await commandLine("retry", second!, "--storage", storage);
    await eventually(async () => {
      assert.deepEqual(await ids(), rest);
    }, atOnce);
  });

  it("moves a task to the top that died again", async () => {
    const worker = processes.ruby(storage);
    await worker.request({ do: "ping" });
    const before = await ids();
    const oldest = before.at(-1)!;
    const again = newTask(oldest, { failedAt: 1767229999, exceptionMessage: "again" });
    await worker.request({ do: "add", task: taskMessage(again) });
    await eventually(async () => {
      assert.deepEqual(await ids(), [oldest, ...before.slice(0, -1)]);
      assert.equal(store.task(oldest)!.exceptionMessage, "again");
    }, atOnce);
  });

  it("notices that a storage directory goes, and that it comes back", async () => {
    rmSync(storage, { recursive: true });
    await eventually(async () => {
      assert.deepEqual(await nodesOf(store), []);
    }, 2_000);
    const worker = processes.ruby(storage);
    await worker.request({ do: "add", task: taskMessage(newTask("1767225999-7-2")) });
    await eventually(async () => {
      assert.deepEqual(await ids(), ["1767225999-7-2"]);
    }, 2_000);
  });

  it("keeps up with a worker that adds two hundred in a row", async () => {
    const worker = processes.ruby(storage);
    for (let number = 0; number < 200; number++) {
      await worker.request({ do: "add", task: taskMessage(newTask(`1767226000-7-${number}`)) });
    }
    await eventually(() => {
      assert.equal(store.taskCount, 206);
      assert.equal(store.newestFirst()[0]!.id, "1767226000-7-199");
    }, atOnce);
  });
});
