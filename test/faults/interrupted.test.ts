import assert from "node:assert/strict";
import { appendFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startStoreService } from "../../src/service/client";
import type { StoreService } from "../../src/service/storeService";
import type { FinishedReplay } from "../../src/storage";
import { frameLine } from "../../src/storage/frames";
import { intercepted, systemError } from "../support/fileSystems";
import { buildCommandLine, deadTasks } from "../support/commandLine";
import { bundle } from "../support/processes";
import { newTask, openStore, taskLine, temporaryFolders } from "../support/stores";

const dataName = "deferred-dead_tasks-0";
const tasks = ["1-1-1", "1-1-2", "1-1-3"].map((id) => newTask(id));

describe("a replay that was interrupted after its log was written", () => {
  const folders = temporaryFolders();

  before(buildCommandLine);

  /** A store whose task `1-1-2` stands in a log and among the dead tasks, with the journal that says so. */
  async function interruptedStore(): Promise<{ path: string; newId: string; log: string; journal: string }> {
    const path = join(folders.make(), "storage");
    const plain = await openStore(path);
    for (const task of tasks) await plain.add(task);
    let published = false;
    const failing = intercepted({
      before: ({ name, path: file }) => {
        if (published && name === "open" && file.includes("compaction")) throw systemError("EIO", "i/o error", "open");
        if (name === "rename" && file.includes("-log-")) published = true;
      },
    });
    const result = await (await openStore(path, { fileSystem: failing })).replay(["1-1-2"], null);
    assert.equal(result.failed.length, 1, "it says that the task stands in both places");
    const [pending] = (await plain.pending()).tasks;
    const journal = readdirSync(path).find((name) => name.includes(".replay-"));
    assert.ok(pending !== undefined && journal !== undefined);
    return { path, newId: pending.id, log: pending.log, journal };
  }

  async function idsOf(path: string): Promise<readonly string[]> {
    const listing = await (await openStore(path)).list();
    listing.close();
    return listing.ids;
  }

  function leftovers(path: string): string[] {
    return readdirSync(path).filter((name) => name.startsWith("."));
  }

  it("is still listed and changed by no reader", async () => {
    const { path, journal } = await interruptedStore();
    const before = readFileSync(join(path, dataName));
    assert.deepEqual(await idsOf(path), ["1-1-1", "1-1-2", "1-1-3"]);
    assert.equal((await (await openStore(path)).find("1-1-2"))?.kind, "task");
    assert.ok(readFileSync(join(path, dataName)).equals(before));
    assert.deepEqual(leftovers(path), [journal]);
  });

  it("is reported with the id that it got when it is asked for again, and not done a second time", async () => {
    const { path, newId, log } = await interruptedStore();
    const store = await openStore(path);
    const told: FinishedReplay[] = [];
    const result = await store.replay(["1-1-2"], null, { onFinished: (finished) => told.push(...finished) });
    assert.deepEqual(result, { retried: [{ id: "1-1-2", newId }], missing: [], failed: [], log });
    assert.deepEqual(told, [{ id: "1-1-2", newId, log }]);
    assert.deepEqual(
      (await store.pending()).tasks.map(({ id }) => id),
      [newId],
    );
    assert.deepEqual(await idsOf(path), ["1-1-1", "1-1-3"]);
    assert.deepEqual(leftovers(path), []);
    assert.deepEqual((await store.replay(["1-1-2"], null)).missing, ["1-1-2"]);
  });

  it("is told where the task was edited since, and the edit is not enqueued", async () => {
    const { path, newId } = await interruptedStore();
    const store = await openStore(path);
    const found = await store.find("1-1-2");
    assert.ok(found?.kind === "task");
    const { checksum, context } = found;
    const result = await store.replay(["1-1-2"], null, { edited: new Map([["1-1-2", { checksum, context }]]) });
    assert.deepEqual([result.retried, result.missing, result.log], [[], [], null]);
    assert.match(result.failed[0]!.error, new RegExp(`enqueued as ${newId}, and was finished now\\. What was edited`));
    assert.deepEqual(
      (await store.pending()).tasks.map(({ id }) => id),
      [newId],
    );
    assert.deepEqual(await idsOf(path), ["1-1-1", "1-1-3"]);
  });

  it("is finished though a worker has taken its log, which is then named no more", async () => {
    const { path, newId, log } = await interruptedStore();
    rmSync(join(path, log));
    const { retried, log: named } = await (await openStore(path)).replay(["1-1-2", "1-1-3"], null);
    assert.deepEqual(retried[0], { id: "1-1-2", newId });
    assert.equal(retried[1]?.id, "1-1-3");
    const { tasks: pending } = await (await openStore(path)).pending();
    assert.deepEqual(
      pending.map((task) => task.log),
      [named],
      "only the other one was enqueued",
    );
    assert.deepEqual(await idsOf(path), ["1-1-1"]);
  });

  it("is finished by the removal of another task, and by a request to finish it", async () => {
    const removal = await interruptedStore();
    assert.deepEqual(await (await openStore(removal.path)).remove(["1-1-1"]), { removed: ["1-1-1"], missing: [] });
    assert.deepEqual(await idsOf(removal.path), ["1-1-3"]);
    assert.deepEqual(leftovers(removal.path), []);

    const { path, newId, log } = await interruptedStore();
    const store = await openStore(path);
    assert.deepEqual(await store.finishInterrupted(), [{ id: "1-1-2", newId, log }]);
    assert.deepEqual(await idsOf(path), ["1-1-1", "1-1-3"]);
    assert.deepEqual(await store.finishInterrupted(), []);
  });

  it("is finished by the storage worker where it may change the store, and told to the log", async () => {
    const { path, newId } = await interruptedStore();
    const logged: string[] = [];
    const service = startStoreService(bundle("src/service/worker.ts"), (_, text) => logged.push(text));
    try {
      await service.open({ key: "store", path, prefix: "deferred-", backend: "disk" });
      await service.refresh("store");
      assert.deepEqual(await idsOf(path), ["1-1-1", "1-1-2", "1-1-3"], "not by opening it alone");
      await service.finishInterrupted("store");
      assert.deepEqual(await idsOf(path), ["1-1-1", "1-1-3"]);
      assert.deepEqual(logged, [
        `Finished an interrupted retry: dead task 1-1-2 had been enqueued as ${newId} and is removed now.`,
      ]);
    } finally {
      service.dispose();
    }
  });

  it("is told to the history once: as finished, or by the retry that finished it", async () => {
    for (const [finish, kinds] of [
      [(service: StoreService) => service.delete("store", ["1-1-1"]), ["delete 1-1-1", "finish 1-1-2"]],
      [(service: StoreService) => service.retry("store", ["1-1-2"], null), ["retry 1-1-2"]],
    ] as const) {
      const { path, newId, log } = await interruptedStore();
      const service = startStoreService(bundle("src/service/worker.ts"), () => undefined);
      try {
        const limits = { bytes: 1_000_000, age: 86_400 };
        await service.keepHistory({ directory: folders.make(), window: { name: "shop", processId: 1 }, limits });
        await service.open({ key: "store", path, prefix: "deferred-", backend: "disk" });
        await service.refresh("store");
        await finish(service);
        const { entries } = await service.history({ stores: ["store"], after: null, limit: 10, known: null });
        assert.deepEqual(
          entries!.map(({ kind, tasks: [task] }) => `${kind} ${task!.id}`),
          kinds,
        );
        const finished = entries!.at(-1)!;
        assert.deepEqual(finished.tasks, [{ id: "1-1-2", taskClass: tasks[1]!.taskClass, newId }]);
        assert.equal(finished.log, log);
      } finally {
        service.dispose();
      }
    }
  });

  it("is finished and noted by the command line", async () => {
    const { path, newId } = await interruptedStore();
    const { status, stdout, stderr } = await deadTasks(["delete", "1-1-1", "--storage", path]);
    assert.equal(status, 0);
    assert.equal(stdout, "deleted 1-1-1\n");
    assert.match(
      stderr,
      new RegExp(`interrupted retry: dead task 1-1-2 had been enqueued as ${newId} and is removed now`),
    );
    assert.deepEqual(await idsOf(path), ["1-1-3"]);
  });

  it("leaves alone a task that died anew under its id", async () => {
    const { path } = await interruptedStore();
    const anew = newTask("1-1-2", { failedAt: 1767999999 });
    appendFileSync(join(path, dataName), taskLine(anew));
    const store = await openStore(path);
    assert.deepEqual((await store.remove(["1-1-1"])).removed, ["1-1-1"]);
    const found = await store.find("1-1-2");
    assert.ok(found?.kind === "task" && found.failedAt === anew.failedAt);
    assert.deepEqual(leftovers(path), []);
    assert.equal((await store.replay(["1-1-2"], null)).retried.length, 1, "it can be retried like any other");
    assert.equal((await store.pending()).tasks.length, 2);
  });

  it("is not believed from a journal that is torn, damaged, or none of ours", async () => {
    for (const spoil of [
      (content: Buffer) => content.subarray(0, -10),
      (content: Buffer) => Buffer.from(content.toString().replace("1-1-2", "1-1-1")),
      () => Buffer.alloc(0),
      () => frameLine(Buffer.from("no JSON")),
      () => frameLine(Buffer.from('{"staging":"../x","log":"deferred-0-1","tasks":[]}')),
      () => frameLine(Buffer.from("null")),
    ]) {
      const { path, journal } = await interruptedStore();
      const file = join(path, journal);
      writeFileSync(file, spoil(readFileSync(file)));
      const store = await openStore(path);
      assert.deepEqual(await store.remove(["9-9-9"]), { removed: [], missing: ["9-9-9"] });
      assert.deepEqual(await idsOf(path), ["1-1-1", "1-1-2", "1-1-3"]);
      assert.deepEqual(leftovers(path), []);
    }
  });

  it("keeps nothing of the task but ids and a checksum in its journal", async () => {
    const { path, journal } = await interruptedStore();
    const text = readFileSync(join(path, journal), "utf8");
    const { staging, log, tasks: listed } = JSON.parse(text.slice(9)) as Readonly<Record<string, unknown>>;
    assert.match(`${String(staging)} ${String(log)}`, /^\.deferred-log-\S+\.staging deferred-0-\S+$/);
    const [task] = listed as readonly Readonly<Record<string, unknown>>[];
    assert.deepEqual(Object.keys(task ?? {}).sort(), ["checksum", "id", "newId"]);
    assert.ok(!text.includes("SyncInvoice"));
  });

  it("is another store's business where the prefix is another", async () => {
    const { path, journal } = await interruptedStore();
    const other = await openStore(path, {}, "jobs-");
    await other.add(newTask("1-1-2"));
    assert.deepEqual((await other.remove(["1-1-2"])).removed, ["1-1-2"]);
    assert.deepEqual(leftovers(path), [journal]);
    assert.deepEqual(await idsOf(path), ["1-1-1", "1-1-2", "1-1-3"]);
  });
});
