import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, readdirSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeMarshal } from "../../../src/marshal";
import { startStoreService } from "../../../src/service/client";
import type { UndoRequest } from "../../../src/service/protocol";
import type { SendWay } from "../../../src/service/sendProtocol";
import type { StoreService } from "../../../src/service/storeService";
import { bundle } from "../../support/processes";
import { array, classNamed, int, nil, str } from "../../support/ruby";
import { newTask, openStore, taskLine, temporaryFolders } from "../../support/stores";

const dataName = "deferred-dead_tasks-0";

describe("the storage worker, asked to send tasks to another store", function () {
  this.timeout(20_000);
  const folders = temporaryFolders();
  const services: StoreService[] = [];
  const ids = ["1-1-1", "1-1-2", "1-1-3"];
  const lines = ids.map((id) => {
    const context = writeMarshal(array(classNamed("SyncInvoice"), array(str(id)), nil(), int(3), nil(), nil(), nil()));
    return taskLine(newTask(id, { context }));
  });

  afterEach(() => {
    for (const service of services.splice(0)) service.dispose();
  });

  async function open() {
    const folder = folders.make();
    const [here, there] = [join(folder, "storage"), join(folder, "other")];
    mkdirSync(here);
    writeFileSync(join(here, dataName), Buffer.concat(lines));
    const service = startStoreService(bundle("src/service/worker.ts"), () => undefined);
    services.push(service);
    const counts = new Map<string, number>();
    service.onUpdate((key, update) => {
      if (update.type === "status") counts.set(key, update.status.taskCount);
    });
    await service.open({ key: "here", path: here, prefix: "deferred-", backend: "disk" });
    await service.open({ key: "there", path: there, prefix: "deferred-", backend: "disk" });
    await service.refresh("here");
    const undo: UndoRequest = {
      directory: join(folder, "undo"),
      title: "SyncInvoice",
      limits: { bytes: 1e6, age: 86_400 },
    };
    const target = { path: there, prefix: "deferred" };
    const send = (way: SendWay, ...some: readonly string[]) => service.send("here", some, target, way, undo);
    const files = { from: join(here, dataName), to: join(there, dataName) };
    const undoLast = async () => {
      const [newest] = await service.undoableChanges(undo.directory);
      assert.ok(newest);
      return await service.undoChange(undo.directory, newest.name);
    };
    return { service, here, there, target, undo, send, counts, undoLast, ...files };
  }

  async function pending(path: string): Promise<number> {
    return (await (await openStore(path)).pending()).tasks.length;
  }

  it("copies, says what stands there already, tells the other store's views, and takes the copies away again", async () => {
    const { service, send, from, to, there, undo, undoLast, counts } = await open();
    const { undo: name, ...outcome } = await send("copy", "1-1-1", "1-1-2", "9-9-9");
    assert.deepEqual(outcome, { sent: ["1-1-1", "1-1-2"], present: [], missing: ["9-9-9"], failed: [], log: null });
    assert.deepEqual([counts.get("here"), counts.get("there")], [3, 2]);
    assert.deepEqual((await send("copy", "1-1-1")).present, ["1-1-1"]);
    const [change, ...more] = await service.undoableChanges(undo.directory);
    assert.equal(more.length, 0, "nothing is kept of what changed nothing");
    assert.deepEqual(
      [change?.name, change?.log, change?.elsewhere],
      [name, null, { way: "copy", directory: there, prefix: "deferred-" }],
    );
    assert.ok(!readFileSync(join(undo.directory, name!), "latin1").includes("exception"), "only which lines they are");
    const anew = taskLine(newTask("1-1-2", { exceptionMessage: "died there" }));
    appendFileSync(to, anew);
    assert.deepEqual(await undoLast(), {
      found: true,
      restored: [],
      present: [],
      elsewhere: { path: there, prefix: "deferred-", gone: ["1-1-1"], changed: ["1-1-2"] },
    });
    assert.ok(readFileSync(to).equals(Buffer.concat([lines[1]!, anew])));
    assert.ok(readFileSync(from).equals(Buffer.concat(lines)));
    assert.equal(counts.get("there"), 1);
    assert.deepEqual(await service.undoableChanges(undo.directory), []);
  });

  it("retries there, with the tasks staying or leaving, and undoes each", async () => {
    const { service, send, from, there, undo, undoLast, counts } = await open();
    for (const way of ["retry", "move"] as const) {
      const before = readFileSync(from);
      const { sent, log } = await send(way, "1-1-1", "1-1-3");
      assert.deepEqual(sent, ["1-1-1", "1-1-3"]);
      assert.ok(readdirSync(there).includes(log!));
      assert.deepEqual([await pending(there), counts.get("here")], [2, way === "move" ? 1 : 3]);
      const undone = await undoLast();
      const elsewhere = { path: there, prefix: "deferred-", gone: ["1-1-1", "1-1-3"], changed: [] };
      const expected =
        way === "move" ? { restored: ["1-1-1", "1-1-3"], present: [] } : { restored: [], present: [], elsewhere };
      assert.deepEqual(undone, { found: true, ...expected });
      assert.deepEqual([await pending(there), counts.get("here")], [0, 3]);
      const sorted = (content: Buffer): string[] => content.toString("latin1").split("\n").sort();
      assert.deepEqual(sorted(readFileSync(from)), sorted(before));
      assert.deepEqual(await service.undoableChanges(undo.directory), []);
    }
  });

  it("forgets what a worker there has taken, and not what is out of reach", async () => {
    const { service, send, there, undo, undoLast } = await open();
    const { log } = await send("move", "1-1-1");
    renameSync(there, `${there}-away`);
    await assert.rejects(undoLast(), { message: /other: it is not there\. Nothing was changed\.$/ });
    assert.equal((await service.undoableChanges(undo.directory)).length, 1);
    renameSync(`${there}-away`, there);
    unlinkSync(join(there, log!));
    assert.deepEqual(await service.undoableChanges(undo.directory), []);
  });

  it("keeps nothing where it is not asked to, and refuses what cannot be", async () => {
    const { service, here, target, undo } = await open();
    const outcome = await service.send("here", ["1-1-1"], target, "move");
    assert.deepEqual([outcome.sent, outcome.undo], [["1-1-1"], undefined]);
    assert.deepEqual(await service.undoableChanges(undo.directory), []);
    const same = { path: here, prefix: "deferred-" };
    await assert.rejects(service.send("here", ids, same, "copy"), { code: "invalid" });
    await assert.rejects(service.send("here", ids, { path: join(here, dataName), prefix: "x-" }, "copy"), {
      code: "read-only",
      message: /is not a directory/,
    });
    assert.deepEqual((await service.send("none", ids, target, "copy")).missing, ids);
  });

  it("tells the history, with the other store", async () => {
    const { service, send, there, undoLast, undo } = await open();
    const window = { name: "test", processId: 1 };
    await service.keepHistory({ directory: join(undo.directory, "history"), window, limits: undo.limits });
    await send("copy", "1-1-1");
    await undoLast();
    await send("move", "1-1-2");
    const { entries } = await service.history({ stores: null, after: null, limit: 10, known: null });
    const place = { directory: there, prefix: "deferred-" };
    assert.deepEqual(
      entries!.map(({ kind, tasks, target }) => [kind, tasks.map(({ id }) => id), target?.directory]),
      [
        ["send", ["1-1-2"], place.directory],
        ["undo", ["1-1-1"], place.directory],
        ["copy", ["1-1-1"], place.directory],
      ],
    );
  });

  it("looks at a directory before anything is sent there, and makes nothing", async () => {
    const { service, here, there } = await open();
    assert.deepEqual(await service.prefixesIn(here), ["deferred-"]);
    assert.deepEqual(await service.prefixesIn(there), []);
    const look = { readOnly: null, networkFileSystem: null };
    assert.deepEqual(await service.lookAtTarget({ path: here, prefix: "deferred" }), { ...look, exists: true });
    const far = { path: join(there, "not", "there"), prefix: "deferred-" };
    assert.deepEqual(await service.lookAtTarget(far), { ...look, exists: false });
    const file = { path: join(here, dataName, "below"), prefix: "deferred-" };
    const { readOnly } = await service.lookAtTarget(file);
    assert.equal(readOnly, `${join(here, dataName)} is not a directory`);
    assert.deepEqual(readdirSync(here), [dataName]);
  });
});
