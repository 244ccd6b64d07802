import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { writeMarshal, type RubyValue } from "../../../src/marshal";
import type { SendOutcome } from "../../../src/service/sendProtocol";
import {
  StorageError,
  copyElsewhere,
  moveElsewhere,
  removeCopies,
  retryElsewhere,
  takeBackElsewhere,
  type DeadTaskStore,
  type FileSystem,
  type FinishedReplay,
} from "../../../src/storage";
import { deadTaskLine, frameLine } from "../../../src/storage/frames";
import { readLines, type Line } from "../../../src/storage/lines";
import { nodeFileSystem } from "../../../src/storage/fileSystem";
import { failingOnce, intercepted, systemError, type FileCall } from "../../support/fileSystems";
import { secondProcesses } from "../../support/processes";
import { array, classNamed, int, nil, str } from "../../support/ruby";
import {
  fixtureCases,
  newTask,
  openStore,
  referenceLines,
  referenceSurvivors,
  taskLine,
  temporaryFolders,
} from "../../support/stores";

const dataName = "deferred-dead_tasks-0";

describe("sending dead tasks to another store", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const contextOf = (id: string, attempts: RubyValue = int(3)): Uint8Array =>
    writeMarshal(array(classNamed("SyncInvoice"), array(str(id)), nil(), attempts, nil(), nil(), nil()));
  const ids = ["1-1-1", "1-1-2", "1-1-3"];
  const lines = ids.map((id) => taskLine(newTask(id, { context: contextOf(id) })));
  const unreadable = deadTaskLine("1-1-8", Buffer.from('"unreadable"'));
  const unretryable = taskLine(newTask("1-1-7", { context: Buffer.from("none") }));

  interface Pair {
    readonly source: DeadTaskStore;
    readonly target: DeadTaskStore;
    /** Their data files. */
    readonly from: string;
    readonly to: string;
    readonly there: string;
    readonly here: string;
  }

  /** A store with these lines, and another whose directory is there where it is given a content. */
  async function pair(
    content: Uint8Array = Buffer.concat(lines),
    other: Uint8Array | null = Buffer.alloc(0),
    fileSystem?: FileSystem,
  ): Promise<Pair> {
    const folder = folders.make();
    const [here, there] = [join(folder, "storage"), join(folder, "colleague", "storage")];
    const replaced = fileSystem === undefined ? {} : { fileSystem };
    const [source, target] = [await openStore(here, replaced), await openStore(there, replaced)];
    mkdirSync(here, { recursive: true });
    writeFileSync(join(here, dataName), content);
    if (other !== null) {
      mkdirSync(there, { recursive: true });
      writeFileSync(join(there, dataName), other);
    }
    return { source, target, here, there, from: join(here, dataName), to: join(there, dataName) };
  }

  function hidden(...directories: readonly string[]): string[] {
    return directories.flatMap((directory) => readdirSync(directory).filter((name) => name.startsWith(".")));
  }

  async function idsOf(store: DeadTaskStore): Promise<readonly string[]> {
    const listing = await store.list();
    listing.close();
    return listing.ids;
  }

  describe("as copies", () => {
    it("appends the line that stands for each id, byte for byte, and leaves the store as it was", async () => {
      let copiedLines = 0;
      for (const { dataFile, expected } of fixtureCases) {
        const { source, target, here, there, from, to } = await pair(dataFile);
        const all = await idsOf(source);
        const { copied, present, missing } = await copyElsewhere(source, target, [...all, "9-9-9"]);
        assert.deepEqual([copied.map(({ id }) => id), present, missing], [[...all], [], ["9-9-9"]]);
        assert.ok(readFileSync(from).equals(dataFile));
        const copies = referenceLines(readFileSync(to)).lines;
        const originals = new Set(referenceLines(dataFile).lines.map(({ bytes }) => bytes.toString("latin1")));
        assert.ok(copies.every(({ bytes }) => originals.has(bytes.toString("latin1"))));
        assert.equal(copies.length, all.length, "one line for each id");
        assert.deepEqual(await idsOf(target), all);
        for (const { id, context_base64: context } of expected) {
          const task = await target.find(id);
          assert.ok(task?.kind === "task");
          assert.equal(Buffer.from(task.context).toString("base64"), context);
        }
        assert.deepEqual(hidden(here, there), []);
        copiedLines += copied.length;
      }
      assert.ok(copiedLines > 150, String(copiedLines));
    });

    it("makes a store that is not there yet, and mends an unfinished line of one that is", async () => {
      const made = await pair(undefined, null);
      await copyElsewhere(made.source, made.target, ["1-1-2"]);
      assert.ok(readFileSync(made.to).equals(lines[1]!));
      const mended = await pair(undefined, Buffer.concat([lines[2]!, Buffer.from("torn")]));
      await copyElsewhere(mended.source, mended.target, ["1-1-1"]);
      assert.ok(readFileSync(mended.to).equals(Buffer.concat([lines[2]!, lines[0]!])));
    });

    it("leaves what stands there under an id, be it this line or another's", async () => {
      const other = taskLine(newTask("1-1-2", { exceptionMessage: "of another application" }));
      const content = Buffer.concat([lines[0]!, other]);
      const { source, target, to } = await pair(undefined, content);
      const result = await copyElsewhere(source, target, ids);
      assert.deepEqual([result.copied.map(({ id }) => id), result.present], [["1-1-3"], ["1-1-1", "1-1-2"]]);
      assert.ok(readFileSync(to).equals(Buffer.concat([content, lines[2]!])));
    });

    it("copies records that cannot be read or retried, and a line too long for memory", async () => {
      const long = deadTaskLine("1-1-9", Buffer.alloc(33 << 20, "x"));
      const content = Buffer.concat([unreadable, long, unretryable]);
      const { source, target, to } = await pair(content);
      const { copied } = await copyElsewhere(source, target, ["1-1-7", "1-1-8", "1-1-9"]);
      assert.equal(copied.length, 3);
      assert.ok(readFileSync(to).equals(content));
    });

    it("reads from a store that cannot be changed, and refuses to write to one", async () => {
      const { source, there, here, from } = await pair();
      const flock = { flock: null, unavailable: "there is no flock here" };
      const readOnly = await openStore(here, { flock });
      const { copied } = await copyElsewhere(readOnly, await openStore(there), ["1-1-1"]);
      assert.equal(copied.length, 1);
      const { retried } = await retryElsewhere(readOnly, await openStore(there), ["1-1-1"], null);
      assert.equal(retried.length, 1);
      assert.ok(readFileSync(from).equals(Buffer.concat(lines)));
      const refused = { code: "read-only", message: /there is no flock here/ };
      const locked = await openStore(there, { flock });
      await assert.rejects(copyElsewhere(source, locked, ["1-1-1"]), refused);
      await assert.rejects(retryElsewhere(source, locked, ["1-1-1"], null), refused);
      await assert.rejects(moveElsewhere(source, locked, ["1-1-1"], null), refused);
      await assert.rejects(moveElsewhere(readOnly, await openStore(there), ["1-1-1"], null), refused);
      assert.deepEqual(hidden(here, there), []);
    });

    it("can be removed again, as long as they are the same lines", async () => {
      const own = taskLine(newTask("3-1-1"));
      const { source, target, to, there } = await pair(undefined, own);
      const { copied } = await copyElsewhere(source, target, ids);
      const anew = taskLine(newTask("1-1-2", { exceptionMessage: "died there" }));
      appendFileSync(to, anew);
      assert.deepEqual(await removeCopies(target, copied), ["1-1-1", "1-1-3"]);
      assert.ok(readFileSync(to).equals(Buffer.concat([own, lines[1]!, anew])));
      assert.deepEqual(hidden(there), []);
      assert.deepEqual(await removeCopies(target, copied), ["1-1-1", "1-1-3"], "and again, with nothing left to do");
    });
  });

  describe("to be retried there", () => {
    it("is one new log in the other directory, and the contexts are as they were but for their attempts", async () => {
      for (const leaves of [false, true]) {
        const content = Buffer.concat([...lines, unreadable, unretryable]);
        const { source, target, here, there, from } = await pair(content, null);
        const send = leaves ? moveElsewhere : retryElsewhere;
        const asked = ["1-1-3", "1-1-1", "1-1-7", "1-1-8", "9-9-9"];
        const { retried, missing, failed, log } = await send(source, target, asked, 4_102_444_800);
        assert.deepEqual([retried.map(({ id }) => id), missing], [["1-1-1", "1-1-3"], ["9-9-9"]]);
        assert.deepEqual(
          failed.map(({ id, error }) => [id, /cannot be (decoded|read)/.exec(error)?.[1]]),
          [
            ["1-1-8", "read"],
            ["1-1-7", "decoded"],
          ],
        );
        assert.deepEqual(readdirSync(there), [log]);
        assert.match(log ?? "", /^deferred-0-\d{8}-\d+-[0-9a-z]+$/);
        const pending = (await processes.ruby(there).request({ do: "pending" })) as {
          readonly id: string;
          readonly publish_at: number;
          readonly context: string;
        }[];
        assert.deepEqual(
          pending.map(({ id, publish_at, context }) => ({ id, publish_at, context })),
          retried.map(({ id, newId }) => ({
            id: newId,
            publish_at: 4_102_444_800,
            context: Buffer.from(contextOf(id, nil())).toString("base64"),
          })),
        );
        assert.ok(readFileSync(from).equals(leaves ? referenceSurvivors(content, ["1-1-1", "1-1-3"]) : content));
        assert.deepEqual((await source.pending()).tasks, [], "nothing waits here");
        assert.deepEqual(hidden(here, there), []);
      }
    });

    it("changes nothing where none can be retried, or none is there", async () => {
      const { source, target, here, there, from } = await pair(Buffer.concat([unretryable]));
      for (const send of [retryElsewhere, moveElsewhere]) {
        assert.equal((await send(source, target, ["1-1-7"], null)).failed.length, 1);
        assert.deepEqual((await send(source, target, ["9-9-9"], null)).missing, ["9-9-9"]);
      }
      assert.ok(readFileSync(from).equals(unretryable));
      assert.deepEqual([readdirSync(there), hidden(here)], [[dataName], []]);
    });

    it("is refused where the other store is this one, by whatever path", async () => {
      const { source, here } = await pair();
      const link = join(folders.make(), "link");
      symlinkSync(here, link);
      const same = await openStore(link);
      const refused = { code: "invalid", message: /are in .*link already/ };
      await assert.rejects(copyElsewhere(source, same, ids), refused);
      await assert.rejects(retryElsewhere(source, same, ids, null), refused);
      await assert.rejects(moveElsewhere(source, same, ids, null), refused);
      const otherPrefix = await openStore(here, {}, "jobs-");
      assert.equal((await moveElsewhere(source, otherPrefix, ["1-1-1"], null)).retried.length, 1);
      assert.equal((await otherPrefix.pending()).tasks.length, 1);
      assert.deepEqual([(await source.pending()).tasks, hidden(here)], [[], []]);
    });

    it("keeps before the log gets its name which tasks are in it, and forgets that where it gets none", async () => {
      const events: string[] = [];
      const fileSystem = intercepted({
        before: ({ name, path }) => {
          if (name === "rename" && path.includes("-log-")) events.push("rename");
        },
      });
      const keepReplayed = ({ log, tasks }: { log: string; tasks: readonly unknown[] }) => {
        events.push(`begin ${tasks.length} ${log.slice(0, 11)}`);
        return {
          name: "",
          append: () => undefined,
          keep: () => events.push("keep"),
          discard: () => events.push("discard"),
        };
      };
      const { source, target } = await pair(undefined, undefined, fileSystem);
      await retryElsewhere(source, target, ids, null, { keepReplayed });
      assert.deepEqual(events.splice(0), ["begin 3 deferred-0-", "keep", "rename"]);
      const failing = failingOnce(
        ({ name, path }) => name === "rename" && path.includes("-log-"),
        systemError("EIO", "i/o error", "rename"),
      );
      const broken = await pair(undefined, undefined, failing);
      await assert.rejects(retryElsewhere(broken.source, broken.target, ids, null, { keepReplayed }), /EIO/);
      assert.deepEqual(events, ["begin 3 deferred-0-", "keep", "discard"]);
      assert.deepEqual(hidden(broken.there), []);
    });
  });

  describe("with several windows at once", () => {
    it("sends each task once, whoever asks, and waits for nobody in a circle", async function () {
      this.timeout(60_000);
      const many = Array.from({ length: 300 }, (_, number) => `2-1-${number}`);
      const content = Buffer.concat(many.map((id) => taskLine(newTask(id, { context: contextOf(id) }))));
      const back = Array.from({ length: 300 }, (_, number) => `3-1-${number}`);
      const other = Buffer.concat(back.map((id) => taskLine(newTask(id, { context: contextOf(id) }))));
      const { source, target, here, there } = await pair(content, other);
      const forth = [processes.ours(here), processes.ours(here)];
      const windows = [processes.ours(there), processes.ours(there)];
      const results = (await Promise.all([
        ...forth.map((window) => window.request({ do: "send", way: "move", ids: many, folder: there })),
        ...windows.map((window) => window.request({ do: "send", way: "move", ids: back, folder: here })),
      ])) as SendOutcome[];
      assert.deepEqual(
        results.map(({ sent, missing }) => sent.length + missing.length),
        [300, 300, 300, 300],
      );
      assert.equal(
        results.reduce((sum, { sent }) => sum + sent.length, 0),
        600,
      );
      assert.equal((await target.pending()).tasks.length, 300);
      assert.equal((await source.pending()).tasks.length, 300);
      assert.deepEqual([await idsOf(source), await idsOf(target)], [[], []]);
      assert.deepEqual(hidden(here, there), []);
    });

    it("copies each task once", async () => {
      const { here, there, to } = await pair();
      const windows = [processes.ours(here), processes.ours(here), processes.ours(here)];
      const results = (await Promise.all(
        windows.map((window) => window.request({ do: "send", way: "copy", ids, folder: there })),
      )) as SendOutcome[];
      assert.deepEqual(results.map(({ sent }) => sent.length).sort(), [0, 0, 3]);
      assert.deepEqual(results.map(({ present }) => present.length).sort(), [0, 3, 3]);
      assert.ok(readFileSync(to).equals(Buffer.concat(lines)));
    });
  });

  describe("when that was interrupted after the tasks had been enqueued there", () => {
    const sent = ["1-1-1", "1-1-3"];

    /** Both stand in the other store's log and are dead here all the same. */
    async function interrupted(): Promise<Pair & { readonly journal: string; readonly newIds: readonly string[] }> {
      let published = false;
      const failing = intercepted({
        before: ({ name, path }) => {
          if (published && name === "open" && path.includes("compaction"))
            throw systemError("EIO", "i/o error", "open");
          if (name === "rename" && path.includes("receiving")) published = true;
        },
      });
      const stores = await pair(undefined, null, failing);
      const { retried, failed } = await moveElsewhere(stores.source, stores.target, sent, null);
      assert.deepEqual([retried.length, failed.map(({ id }) => id)], [0, sent]);
      assert.match(failed[0]!.error, /^It was enqueued as \S+ in deferred-0-\S+, but could not be removed/);
      const [journal] = hidden(stores.here);
      assert.ok(journal !== undefined);
      const source = await openStore(stores.here);
      const target = await openStore(stores.there);
      const newIds = (await target.pending()).tasks.map(({ id }) => id);
      return { ...stores, source, target, journal: join(stores.here, journal), newIds };
    }

    it("is finished by the next change, and not sent a second time", async () => {
      const { source, target, here, there, newIds } = await interrupted();
      const told: FinishedReplay[] = [];
      const again = await moveElsewhere(source, target, ids, null, {
        onFinished: (finished) => told.push(...finished),
      });
      assert.deepEqual(
        again.retried.slice(0, 2),
        sent.map((id, index) => ({ id, newId: newIds[index] })),
      );
      assert.deepEqual(
        [again.retried.length, told.length, told[0]?.elsewhere],
        [3, 2, { directory: there, prefix: "deferred-" }],
      );
      assert.equal((await target.pending()).tasks.length, 3);
      assert.deepEqual([await idsOf(source), hidden(here, there)], [[], []]);
    });

    it("is finished by a retry here or a retry elsewhere, which says where the tasks went", async () => {
      const here = await interrupted();
      const { retried, failed } = await here.source.replay(ids, null);
      assert.deepEqual([retried.map(({ id }) => id), failed.map(({ id }) => id)], [["1-1-2"], sent]);
      assert.equal(
        failed[0]!.error,
        `It had been enqueued in ${here.there} by a retry that was interrupted, and is removed here now.`,
      );
      const kept = await interrupted();
      const third = await openStore(join(folders.make(), "third"));
      const result = await retryElsewhere(kept.source, third, ids, null);
      assert.deepEqual([result.retried.map(({ id }) => id), result.failed.map(({ id }) => id)], [["1-1-2"], sent]);
      assert.deepEqual([await idsOf(kept.source), hidden(kept.here, kept.there)], [["1-1-2"], []]);
      assert.deepEqual((await kept.source.finishInterrupted()).length, 0);
    });

    it("is finished though a worker has taken the log there", async () => {
      const { source, there, here, newIds } = await interrupted();
      for (const name of readdirSync(there).filter((file) => file.startsWith("deferred-0-")))
        unlinkSync(join(there, name));
      const elsewhere = { directory: there, prefix: "deferred-" };
      assert.deepEqual(
        await source.finishInterrupted(),
        sent.map((id, index) => ({ id, newId: newIds[index], log: null, elsewhere })),
      );
      assert.deepEqual([await idsOf(source), hidden(here, there)], [["1-1-2"], []]);
    });

    for (const inItsPlace of ["nothing", "an empty directory"]) {
      it(`waits while ${inItsPlace} is where the other directory was, and sends none of them twice`, async () => {
        const { source, target, here, there, from, journal } = await interrupted();
        const away = `${there}-unmounted`;
        renameSync(there, away);
        if (inItsPlace === "an empty directory") mkdirSync(there);
        const reason = new RegExp(`^Whether it waits in ${there} cannot be told: it is not there, or another one`);
        const third = await openStore(join(folders.make(), "third"));
        for (const result of [
          await source.replay(["1-1-1"], null),
          await retryElsewhere(source, third, ["1-1-1"], null),
          await moveElsewhere(source, third, ["1-1-1"], null),
        ]) {
          assert.deepEqual(result.retried, []);
          assert.match(result.failed[0]!.error, reason);
          assert.ok(result.failed[0]!.error.includes(journal), "and what to do where it is gone for good");
        }
        assert.ok(readFileSync(from).equals(Buffer.concat(lines)));
        assert.equal((await source.replay(["1-1-2"], null)).retried.length, 1, "others are none of its business");
        assert.deepEqual((await source.remove(["1-1-3"])).removed, ["1-1-3"], "and to delete them does nothing twice");
        assert.ok(existsSync(journal));
        rmSync(there, { recursive: true, force: true });
        renameSync(away, there);
        assert.equal((await source.finishInterrupted()).length, 2);
        assert.deepEqual([await idsOf(source), hidden(here, there)], [[], []]);
        assert.equal((await target.pending()).tasks.length, 2);
      });
    }

    it("does not make a change here fail where the other directory cannot be looked into", async () => {
      const { here, there, source } = await interrupted();
      const failing = intercepted({
        before: ({ path }) => {
          if (path.startsWith(there)) throw systemError("EACCES", "permission denied", "stat");
        },
      });
      const blind = await openStore(here, { fileSystem: failing });
      assert.deepEqual((await blind.remove(["1-1-2"])).removed, ["1-1-2"]);
      const [failed] = (await blind.replay(["1-1-1"], null)).failed;
      assert.match(failed!.error, /cannot be told: EACCES: permission denied\./);
      assert.equal((await source.finishInterrupted()).length, 2);
    });

    it("leaves alone a task that died anew under its id", async () => {
      const { source, from, here, there } = await interrupted();
      const anew = newTask("1-1-1", { failedAt: 1767999999 });
      appendFileSync(from, taskLine(anew));
      assert.deepEqual(
        (await source.finishInterrupted()).map(({ id }) => id),
        ["1-1-3"],
      );
      const found = await source.find("1-1-1");
      assert.ok(found?.kind === "task" && found.failedAt === anew.failedAt);
      assert.deepEqual(hidden(here, there), []);
    });

    it("is not believed from a journal that is damaged or none of ours", async () => {
      const spoils: readonly ((content: Buffer) => Buffer)[] = [
        () => Buffer.alloc(0),
        () => frameLine(Buffer.from("no JSON")),
        () => frameLine(Buffer.from('{"directory":"relative","prefix":"deferred-","mark":"x"}')),
        () => frameLine(Buffer.from('{"directory":"/tmp","prefix":"deferred-","mark":"../mark"}')),
        (content) => content.subarray(0, -10),
        (content) => Buffer.concat([content.subarray(0, content.indexOf("\n") + 1), frameLine(Buffer.from("{}"))]),
      ];
      for (const spoil of spoils) {
        const { source, journal, here } = await interrupted();
        writeFileSync(journal, spoil(readFileSync(journal)));
        assert.deepEqual(await source.finishInterrupted(), []);
        assert.deepEqual(await idsOf(source), ids);
        assert.deepEqual(hidden(here), []);
      }
    });

    it("keeps nothing of the tasks but ids and checksums in its journal", async () => {
      const { journal } = await interrupted();
      const [, decision = ""] = readFileSync(journal, "utf8").split("\n");
      const { tasks } = JSON.parse(decision.slice(9)) as { readonly tasks: readonly object[] };
      assert.deepEqual(Object.keys(tasks[0]!).sort(), ["checksum", "id", "newId"]);
      assert.ok(!readFileSync(journal, "latin1").includes("SyncInvoice"));
    });

    it("had not happened where the log is still in the making, which no change there takes for an orphan", async () => {
      const failing = intercepted({
        before: ({ name, path }) => {
          const isBroken = name === "rename" ? path.includes("receiving") : name === "ftruncate";
          if (isBroken) throw systemError("EIO", "i/o error", name);
        },
      });
      const { here, there, from } = await pair(undefined, undefined, failing);
      const broken = [await openStore(here, { fileSystem: failing }), await openStore(there)] as const;
      await assert.rejects(moveElsewhere(...broken, sent, null), /EIO/);
      const [source, target] = [await openStore(here), await openStore(there)];
      await target.add(newTask("3-1-1"));
      await target.remove(["3-1-1"]);
      assert.equal(hidden(there).length, 2, "the mark and the log in the making");
      assert.deepEqual(await source.finishInterrupted(), []);
      assert.ok(readFileSync(from).equals(Buffer.concat(lines)));
      assert.deepEqual([(await target.pending()).tasks, hidden(here, there)], [[], []]);
    });

    it("leaves nothing behind where it did not come to the log", async () => {
      const failing = failingOnce(
        ({ name, path }) => name === "fsync" && path.includes("receiving"),
        systemError("ENOSPC", "no space left on device", "fsync"),
      );
      const { source, target, from, here, there } = await pair(undefined, null, failing);
      await assert.rejects(moveElsewhere(source, target, sent, null), /ENOSPC/);
      assert.ok(readFileSync(from).equals(Buffer.concat(lines)));
      assert.deepEqual(hidden(here, there), []);
    });
  });

  describe("and taking that back", () => {
    async function moved(fileSystem?: FileSystem) {
      const stores = await pair(undefined, null, fileSystem);
      let replayed: {
        readonly log: string;
        readonly tasks: readonly { id: string; checksum: number; newId: string }[];
      };
      const kept: Buffer[] = [];
      await moveElsewhere(stores.source, stores.target, ["1-1-1", "1-1-3"], null, {
        keepReplayed: (given) => {
          replayed = given;
          return {
            name: "",
            append: (bytes) => kept.push(Buffer.from(bytes)),
            keep: () => undefined,
            discard: () => undefined,
          };
        },
      });
      const file = join(folders.make(), "kept");
      writeFileSync(file, Buffer.concat(kept));
      const read = function* (): Generator<Line> {
        const descriptor = nodeFileSystem.open(file, 0);
        try {
          yield* readLines(nodeFileSystem, descriptor, 0, nodeFileSystem.fstat(descriptor).size);
        } finally {
          nodeFileSystem.close(descriptor);
        }
      };
      const takeBack = () => takeBackElsewhere(stores.source, stores.target.names, replayed, read);
      return { ...stores, log: join(stores.there, replayed!.log), takeBack };
    }

    it("makes the tasks dead again here, byte for byte, and leaves nothing to run there", async () => {
      const { source, target, from, here, there, takeBack } = await moved();
      assert.deepEqual(await takeBack(), { restored: ["1-1-1", "1-1-3"], present: [] });
      assert.ok(readFileSync(from).equals(Buffer.concat([lines[1]!, lines[0]!, lines[2]!])));
      assert.deepEqual(await processes.ruby(there).request({ do: "pending" }), []);
      assert.deepEqual(hidden(here, there), []);
      assert.equal((await moveElsewhere(source, target, ["1-1-1"], null)).retried.length, 1, "it can be sent again");
    });

    it("is refused once a worker has the log, or where the directory is not there", async () => {
      const isClaimed = (error: unknown): boolean => error instanceof StorageError && error.code === "claimed";
      const held = await moved();
      assert.equal(await processes.ruby(held.there).request({ do: "claim", log: held.log }), true);
      await assert.rejects(held.takeBack(), isClaimed);
      assert.ok(readFileSync(held.from).equals(lines[1]!));
      const merged = await moved();
      unlinkSync(merged.log);
      await assert.rejects(merged.takeBack(), isClaimed);
      const unmounted = await moved();
      renameSync(unmounted.there, `${unmounted.there}-away`);
      await assert.rejects(unmounted.takeBack(), { code: "io", message: /it is not there\. Nothing was changed\.$/ });
      for (const { here } of [held, merged, unmounted]) assert.deepEqual(hidden(here), []);
    });

    const interruptions: readonly (readonly [string, (call: FileCall) => boolean])[] = [
      ["before anything is restored", ({ name, path }) => name === "write" && path.endsWith(dataName)],
      ["after the dead tasks are restored", ({ name, path }) => name === "write" && path.includes("deferred-0-")],
    ];
    for (const [when, matches] of interruptions) {
      it(`is undone by the next change where it was interrupted ${when}, if the other directory is there`, async () => {
        let armed = false;
        const failing = failingOnce((call) => armed && matches(call), systemError("EIO", "i/o error", "write"));
        const { target, from, here, there, takeBack } = await moved(failing);
        armed = true;
        await assert.rejects(takeBack(), /EIO/);
        const restored = readFileSync(from);
        const source = await openStore(here);
        renameSync(there, `${there}-away`);
        const { failed } = await source.replay(["1-1-1"], null);
        if (restored.length > lines[1]!.length) assert.match(failed[0]!.error, /cannot be told/);
        assert.ok(readFileSync(from).equals(restored), "nothing is decided without it");
        renameSync(`${there}-away`, there);
        assert.deepEqual(await source.finishInterrupted(), []);
        assert.deepEqual([await idsOf(source), (await target.pending()).tasks.length], [["1-1-2"], 2]);
        assert.deepEqual(hidden(here, there), []);
      });
    }
  });
});
