import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, readdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StorageError, UndoJournal, storageEnvironment, type FileSystem } from "../../../src/storage";
import { logRemoveLine, parseLogLine } from "../../../src/storage/frames";
import { failingOnce, intercepted, systemError, type FileCall } from "../../support/fileSystems";
import { secondProcesses } from "../../support/processes";
import { newTask, openStore, taskLine, temporaryFolders } from "../../support/stores";
import { array, classNamed, int, nil, str } from "../../support/ruby";
import { writeMarshal } from "../../../src/marshal";

const dataName = "deferred-dead_tasks-0";

describe("taking a replay back", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const context = writeMarshal(array(classNamed("SyncInvoice"), array(str("a")), nil(), int(3), nil(), nil(), nil()));
  const ids = ["1-1-1", "1-1-2", "1-1-3"];
  const lines = ids.map((id) => taskLine(newTask(id, { context })));

  /** A store of which some were retried, and what undoes it. */
  async function replayed(retried: readonly string[], fileSystem?: FileSystem) {
    const folder = folders.make();
    const path = join(folder, "storage");
    const replaced = fileSystem === undefined ? {} : { fileSystem };
    const store = await openStore(path, replaced);
    await store.add(newTask("0-0-0"));
    const data = join(path, dataName);
    writeFileSync(data, Buffer.concat(lines));
    const journal = new UndoJournal(await storageEnvironment(replaced), join(folder, "undo"));
    let name = "";
    const { log } = await store.replay(retried, null, {
      keepReplayed: ({ log, tasks }) => {
        const header = { title: "Retried", at: 1, directory: path, prefix: "deferred-", log };
        const kept = journal.begin(header, tasks);
        ({ name } = kept);
        return kept;
      },
    });
    const takeBack = async () => {
      const [entry] = journal.entries();
      assert.ok(entry?.log !== undefined && entry.log !== null);
      const tasks = journal.replayedTasks(entry.name);
      return await store.takeBack({ log: entry.log, tasks }, () => journal.lines(name));
    };
    return { path, data, store, journal, log: join(path, log!), takeBack };
  }

  const isClaimed = (error: unknown): boolean =>
    error instanceof StorageError && error.code === "claimed" && error.message.includes("A Rage worker has taken");

  it("brings the dead tasks back byte for byte, and leaves nothing to run", async () => {
    const { path, data, store, journal, log, takeBack } = await replayed(["1-1-1", "1-1-3"]);
    const pending = await processes.ruby(path).request({ do: "pending" });
    assert.equal((pending as unknown[]).length, 2);
    assert.equal(journal.entries()[0]?.log, log.split("/").at(-1));
    assert.deepEqual(await takeBack(), { restored: ["1-1-1", "1-1-3"], present: [] });
    assert.deepEqual(readFileSync(data), Buffer.concat([lines[1]!, lines[0]!, lines[2]!]));
    assert.deepEqual((await store.pending()).tasks, []);
    assert.deepEqual(await processes.ruby(path).request({ do: "pending" }), []);
    const operations = readFileSync(log, "latin1")
      .split("\n")
      .map((line) => parseLogLine(Buffer.from(line, "latin1"))?.operation);
    assert.deepEqual(operations, ["add", "add", "rem", "rem", undefined], "the log stays, with a rem for each");
    assert.deepEqual(
      readdirSync(path).filter((file) => file.startsWith(".")),
      [],
    );
  });

  it("leaves what stood there before, and was not restored, where it is interrupted", async () => {
    const failing = { path: "" };
    const fileSystem = intercepted({
      before: ({ name, path }) => {
        if (name === "write" && path === failing.path) throw systemError("EIO", "i/o error", "write");
      },
    });
    const { data, store, log, takeBack } = await replayed(["1-1-1", "1-1-3"], fileSystem);
    // As a copy from another store brings it back.
    appendFileSync(data, lines[0]!);
    const before = readFileSync(data);
    failing.path = log;
    await assert.rejects(takeBack(), /i\/o error/);
    assert.deepEqual(readFileSync(data), Buffer.concat([before, lines[2]!]));
    failing.path = "";
    await store.remove(["none"]);
    assert.deepEqual(readFileSync(data), before);
    assert.equal((await store.pending()).tasks.length, 2);
    assert.deepEqual(await takeBack(), { restored: ["1-1-3"], present: ["1-1-1"] });
    assert.deepEqual(readFileSync(data), Buffer.concat([before, lines[2]!]));
    assert.deepEqual((await store.pending()).tasks, []);
  });

  it("knows of a thousand tasks under which new ids they were enqueued", async () => {
    const many = Array.from({ length: 2_500 }, (_, number) => `2-1-${number}`);
    const { store, data, journal } = await replayed(["1-1-1"]);
    writeFileSync(data, Buffer.concat(many.map((id) => taskLine(newTask(id, { context })))));
    let name = "";
    const { retried, log } = await store.replay(many, null, {
      keepReplayed: ({ log, tasks }) => {
        const kept = journal.begin({ title: "many", at: 2, directory: ".", prefix: "deferred-", log }, tasks);
        ({ name } = kept);
        return kept;
      },
    });
    const tasks = journal.replayedTasks(name);
    assert.deepEqual(
      tasks.map(({ id, newId }) => ({ id, newId })),
      retried,
    );
    const { restored } = await store.takeBack({ log: log!, tasks }, () => journal.lines(name));
    assert.equal(restored.length, 2_500);
    assert.equal((await store.pending()).tasks.length, 1, "the one that was retried before");
  });

  it("refuses once a worker holds the log, has merged it, or has begun what is in it", async () => {
    const held = await replayed(["1-1-1"]);
    assert.equal(await processes.ruby(held.path).request({ do: "claim", log: held.log }), true);
    await assert.rejects(held.takeBack(), isClaimed);
    assert.deepEqual(readFileSync(held.data), Buffer.concat(lines.slice(1)));

    const merged = await replayed(["1-1-1"]);
    unlinkSync(merged.log);
    await assert.rejects(merged.takeBack(), isClaimed);
    assert.equal(existsSync(merged.log), false);

    const [add] = readFileSync(held.log, "latin1").split("\n");
    const newId = add!.split(":")[2]!;
    for (const trace of [logRemoveLine(newId), Buffer.from(`${add!}\n`, "latin1"), Buffer.from("torn")]) {
      const begun = await replayed(["1-1-1"]);
      appendFileSync(begun.log, trace);
      const before = readFileSync(begun.log);
      await assert.rejects(begun.takeBack(), isClaimed);
      assert.deepEqual(readFileSync(begun.log), before);
      assert.deepEqual(readFileSync(begun.data), Buffer.concat(lines.slice(1)));
    }
  });

  it("keeps a worker that starts meanwhile from the log", async () => {
    let claim = (): void => undefined;
    const fileSystem = intercepted({
      before: ({ name, path }: FileCall) => {
        if (name === "write" && path.includes("deferred-0-")) claim();
      },
    });
    const { path, log, takeBack } = await replayed(["1-1-2"], fileSystem);
    const worker = processes.ruby(path);
    await worker.request({ do: "ping" });
    let asked: Promise<unknown> = Promise.resolve(null);
    claim = () => {
      asked = worker.request({ do: "claim", log });
      // The other process must have tried before we go on.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    };
    await takeBack();
    assert.equal(await asked, false);
  });

  const interruptions: readonly (readonly [string, (call: FileCall) => boolean, boolean])[] = [
    ["before anything is restored", ({ name, path }) => name === "write" && path.endsWith(dataName), false],
    ["after the dead tasks are restored", ({ name, path }) => name === "write" && path.includes("deferred-0-"), false],
    ["after the log says so", ({ name, path }) => name === "unlink" && path.includes("takeback"), true],
  ];
  for (const [when, matches, isTakenBack] of interruptions) {
    it(`is undone or done by the next change where it was interrupted ${when}`, async () => {
      let armed = false;
      const fileSystem = failingOnce(
        (call) => armed && matches(call),
        systemError("EIO", "input/output error", "write"),
      );
      const { path, data, takeBack } = await replayed(["1-1-1"], fileSystem);
      armed = true;
      await assert.rejects(takeBack(), /EIO/);
      const store = await openStore(path);
      assert.ok(readdirSync(path).some((file) => file.includes("takeback")));
      assert.deepEqual(await store.finishInterrupted(), []);
      assert.deepEqual(
        readdirSync(path).filter((file) => file.startsWith(".")),
        [],
      );
      const dead = readFileSync(data, "latin1").includes("1-1-1");
      const pending = (await store.pending()).tasks.length;
      assert.deepEqual([dead, pending], isTakenBack ? [true, 0] : [false, 1]);
    });
  }
});
