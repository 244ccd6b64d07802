import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { StorageError, nodeFileSystem, type DeadTaskStore, type FileSystem } from "../../../src/storage";
import { loadFlock } from "../../../src/storage/flock";
import { failingOnce, intercepted, systemError, type FileCall } from "../../support/fileSystems";
import { secondProcesses, taskMessage } from "../../support/processes";
import { copyFixture, newTask, openStore, referenceSurvivors, temporaryFolders } from "../../support/stores";

const dataName = "deferred-dead_tasks-0";
const lockName = "deferred-dead_tasks.lock";
const id = "1767225637-4101-1";

const inputOutputError = systemError("EIO", "i/o error", "write");
const noSpace = systemError("ENOSPC", "no space left on device", "write");

/** What every failure must be: of a kind, about a file or task, in a sentence for people and without a stack. */
function isClear(code: StorageError["code"], ...parts: (string | RegExp)[]): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StorageError, String(error));
    assert.equal(error.code, code);
    for (const part of parts) {
      assert.ok(typeof part === "string" ? error.message.includes(part) : part.test(error.message), error.message);
    }
    assert.ok(!/\n|\bat .*:\d+:\d+|, (open|write|fsync|rename|stat)\b/.test(error.message), error.message);
    assert.match(error.message, /\.$/);
    return true;
  };
}

describe("failures of the operating system", () => {
  const folders = temporaryFolders();

  function newCopy(): { path: string; data: string; original: Buffer } {
    const path = copyFixture(folders.make(), "basic");
    const data = join(path, dataName);
    return { path, data, original: readFileSync(data) };
  }

  /** Everything as it was: the data file, and no other file made or left. */
  function assertUntouched({ path, data, original }: ReturnType<typeof newCopy>): void {
    assert.ok(readFileSync(data).equals(original));
    assert.deepEqual(readdirSync(path).sort(), [dataName, lockName]);
  }

  function isOn(name: keyof FileSystem, ending: string): (call: FileCall) => boolean {
    return (call) => call.name === name && call.path.endsWith(ending);
  }

  describe("while adding", () => {
    it("takes back what a failed write or sync left", async () => {
      const failures: [string, FileSystem][] = [
        ["EIO", failingOnce(isOn("write", dataName), inputOutputError)],
        ["EIO", failingOnce(isOn("fsync", dataName), systemError("EIO", "i/o error", "fsync"))],
        ["ENOSPC", shortWriteThenFull()],
      ];
      for (const [code, fileSystem] of failures) {
        const copy = newCopy();
        const store = await openStore(copy.path, { fileSystem });
        await assert.rejects(
          store.add(newTask("1-1-1")),
          isClear("io", `Could not add task 1-1-1 to ${copy.data}`, code),
        );
        assertUntouched(copy);
        await store.add(newTask("1-1-1"));
        assert.equal((await store.find("1-1-1"))?.kind, "task", "the next one works");
      }
    });

    /** A disk that takes the first half of a line and no more. */
    function shortWriteThenFull(): FileSystem {
      let writes = 0;
      return {
        ...nodeFileSystem,
        write: (descriptor, buffer, offset, length) => {
          writes += 1;
          if (writes === 1) return nodeFileSystem.write(descriptor, buffer, offset, Math.floor(length / 2));
          if (writes === 2) throw noSpace;
          return nodeFileSystem.write(descriptor, buffer, offset, length);
        },
      };
    }

    it("reports the write's failure where taking back fails, too, and mends the rest with the next task", async () => {
      const copy = newCopy();
      let broken = true;
      const fileSystem: FileSystem = {
        ...nodeFileSystem,
        write: (descriptor, buffer, offset, length) => {
          if (!broken) return nodeFileSystem.write(descriptor, buffer, offset, length);
          nodeFileSystem.write(descriptor, buffer, offset, 40);
          throw noSpace;
        },
        ftruncate: (descriptor, length) => {
          if (broken) throw systemError("EIO", "i/o error", "ftruncate");
          nodeFileSystem.ftruncate(descriptor, length);
        },
      };
      const store = await openStore(copy.path, { fileSystem });
      await assert.rejects(store.add(newTask("1-1-1")), isClear("io", "ENOSPC"));
      assert.equal(readFileSync(copy.data).length, copy.original.length + 40);
      broken = false;
      await store.add(newTask("1-1-2"));
      assert.ok(readFileSync(copy.data).subarray(0, copy.original.length).equals(copy.original));
      const listing = await store.list();
      listing.close();
      assert.equal(listing.ids.at(-1), "1-1-2");
      assert.deepEqual(listing.damage, { lines: 0, bytes: 0, tornTailBytes: 0 });
    });

    it("says why a directory cannot be made", async () => {
      const folder = folders.make();
      writeFileSync(join(folder, "file"), "");
      const path = join(folder, "file", "storage");
      await assert.rejects((await openStore(path)).add(newTask("1-1-1")), isClear("io", path, "ENOTDIR"));
      const failing = failingOnce(({ name }) => name === "mkdir", systemError("EACCES", "permission denied", "mkdir"));
      const other = join(folder, "storage");
      await assert.rejects(
        (await openStore(other, { fileSystem: failing })).add(newTask("1-1-1")),
        isClear("io", other, "EACCES: permission denied"),
      );
      assert.ok(!existsSync(other));
    });

    it("adds nothing to a store whose name could not be made durable", async () => {
      const path = join(folders.make(), "storage");
      mkdirSync(path);
      const fileSystem = failingOnce(isOn("fsync", "storage"), systemError("EIO", "i/o error", "fsync"));
      await assert.rejects((await openStore(path, { fileSystem })).add(newTask("1-1-1")), isClear("io", "EIO"));
      assert.equal(statSync(join(path, dataName)).size, 0);
      const calls: string[] = [];
      const watched = intercepted({ before: ({ name, path: file }) => calls.push(`${name} ${file}`) });
      await (await openStore(path, { fileSystem: watched })).add(newTask("1-1-1"));
      assert.ok(calls.includes(`fsync ${path}`), "the next one makes up for it");
    });
  });

  describe("while removing", () => {
    for (const [what, matches] of [
      ["the staging file cannot be made", isOn("open", ".staging")],
      ["the survivors cannot be written", isOn("write", ".staging")],
      ["the survivors cannot be synced", isOn("fsync", ".staging")],
      ["the staging file cannot take the data file's place", isOn("rename", ".staging")],
      ["the mode cannot be kept", isOn("fchmod", ".staging")],
      ["the data file cannot be opened", isOn("open", dataName)],
      ["the data file cannot be read", isOn("read", dataName)],
      ["the lock file cannot be opened", isOn("open", lockName)],
      ["the long lock cannot be made", isOn("mkdir", ".busy")],
    ] as const) {
      it(`leaves everything as it was where ${what}`, async () => {
        const copy = newCopy();
        const fileSystem = failingOnce(matches, systemError("EIO", "i/o error", "call"));
        const store = await openStore(copy.path, { fileSystem });
        await assert.rejects(store.remove([id]), isClear("io", `Could not delete from ${copy.data}`, "EIO: i/o error"));
        assertUntouched(copy);
        assert.deepEqual(await store.remove([id]), { removed: [id], missing: [] }, "the next try works");
      });
    }

    it("reports that the new data file's name may not be durable", async () => {
      const copy = newCopy();
      const fileSystem = failingOnce(isOn("fsync", copy.path), systemError("EIO", "i/o error", "fsync"));
      const store = await openStore(copy.path, { fileSystem });
      await assert.rejects(store.remove([id]), isClear("io", "EIO"));
      assert.ok(
        readFileSync(copy.data).equals(referenceSurvivors(copy.original, [id])),
        "whole, old or new, never half",
      );
      assert.deepEqual(readdirSync(copy.path).sort(), [dataName, lockName]);
    });
  });

  describe("while replaying", () => {
    for (const [what, matches] of [
      ["the log cannot be made", isOn("open", ".staging")],
      ["the log cannot be written", isOn("write", ".staging")],
      ["the log cannot be synced", isOn("fsync", ".staging")],
      ["the log cannot get its name", isOn("rename", ".staging")],
      ["the data file cannot be read", isOn("read", dataName)],
    ] as const) {
      it(`leaves everything as it was where ${what}`, async () => {
        const copy = newCopy();
        const fileSystem = failingOnce(matches, systemError("ENOSPC", "no space left on device", "call"));
        const store = await openStore(copy.path, { fileSystem });
        await assert.rejects(
          store.replay([id], null),
          isClear("io", `Could not retry from ${copy.data}`, "ENOSPC: no space left"),
        );
        assertUntouched(copy);
      });
    }

    async function assertLeftBehind(
      copy: ReturnType<typeof newCopy>,
      store: DeadTaskStore,
      reason: string,
    ): Promise<void> {
      const { retried, failed, missing, log } = await store.replay([id], null);
      assert.deepEqual(retried, []);
      assert.deepEqual(missing, []);
      assert.equal(failed.length, 1);
      const { error, id: failedId } = failed[0]!;
      assert.equal(failedId, id);
      const { tasks } = await store.pending();
      assert.deepEqual(
        tasks.map((task) => task.log),
        [log],
        "it is in the log",
      );
      assert.equal(
        error,
        `It was enqueued as ${tasks[0]?.id} in ${log}, but could not be removed from the dead tasks (${reason}). The next retry or deletion in this store makes up for that.`,
      );
      assert.ok(readFileSync(copy.data).equals(copy.original), "and among the dead tasks");
      const names = readdirSync(copy.path).filter((name) => name.startsWith("."));
      assert.ok(names.length === 1 && names[0]?.startsWith(".deferred-dead_tasks.replay-"), names.join());
    }

    it("says that the task stands in both places where the log's name may not be durable", async () => {
      const copy = newCopy();
      let published = false;
      const fileSystem = intercepted({
        after: ({ name, path }) => {
          if (name === "rename" && path.includes("log")) published = true;
        },
        before: ({ name, path }) => {
          if (!published || name !== "fsync" || path !== copy.path) return;
          published = false;
          throw systemError("EIO", "i/o error", "fsync");
        },
      });
      await assertLeftBehind(copy, await openStore(copy.path, { fileSystem }), "EIO: i/o error");
    });

    it("says that the task stands in both places where the removal fails", async () => {
      const copy = newCopy();
      let renames = 0;
      const fileSystem = intercepted({
        before: ({ name }) => {
          if (name === "rename" && ++renames === 3) throw systemError("EIO", "i/o error", "rename");
        },
      });
      await assertLeftBehind(copy, await openStore(copy.path, { fileSystem }), "EIO: i/o error");
    });

    it("says that the task stands in both places where a worker keeps the lock from the removal", async () => {
      const copy = newCopy();
      const { flock } = await loadFlock();
      assert.ok(flock !== null);
      let published = false;
      const fileSystem = intercepted({ after: ({ name }) => (published ||= name === "rename") });
      const store = await openStore(copy.path, {
        fileSystem,
        clock: { now: () => Date.now(), sleep: () => Promise.resolve() },
        flock: {
          flock: { ...flock, tryLock: (descriptor) => !published && flock.tryLock(descriptor) },
          unavailable: null,
        },
      });
      const reason = `${join(copy.path, lockName)} stayed locked by another process for 1.45 seconds`;
      await assertLeftBehind(copy, store, reason);
    });

    it("refuses a time that is none", async () => {
      const copy = newCopy();
      const store = await openStore(copy.path);
      for (const time of [1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]) {
        await assert.rejects(store.replay([id], time), isClear("invalid", "whole Unix seconds"));
      }
      assertUntouched(copy);
    });
  });

  describe("with things in the wrong place", () => {
    it("names a data file that is a directory", async () => {
      const path = join(folders.make(), "storage");
      mkdirSync(join(path, dataName), { recursive: true });
      const store = await openStore(path);
      const data = join(path, dataName);
      await assert.rejects(store.list(), isClear("io", `Could not read ${data}`, "EISDIR"));
      await assert.rejects(store.find("1-1-1"), isClear("io", data, "EISDIR"));
      await assert.rejects(store.add(newTask("1-1-1")), isClear("io", data, "EISDIR"));
      await assert.rejects(store.remove(["1-1-1"]), isClear("io", data, "EISDIR"));
      await assert.rejects(store.replay(["1-1-1"], null), isClear("io", data, "EISDIR"));
    });

    it("finds nothing in a storage directory that is a file, and adds nothing to it", async () => {
      const path = join(folders.make(), "storage");
      writeFileSync(path, "precious");
      const store = await openStore(path);
      const listing = await store.list();
      listing.close();
      assert.deepEqual(listing.ids, []);
      assert.deepEqual((await store.pending()).tasks, []);
      await assert.rejects(store.add(newTask("1-1-1")), /Could not add task 1-1-1 to .*storage/);
      assert.equal(readFileSync(path, "utf8"), "precious");
    });

    it("passes over a directory among the logs", async () => {
      const { path } = newCopy();
      mkdirSync(join(path, "deferred-0-20261129-1-a"));
      const store = await openStore(path);
      assert.deepEqual((await store.pending()).tasks, []);
    });

    it("goes on past a log that vanishes between listing and opening, and names one that cannot be read", async () => {
      const { path } = newCopy();
      const logName = "deferred-0-20261129-1-a";
      writeFileSync(join(path, logName), "");
      const vanishing = intercepted({
        before: ({ name, path: file }) => {
          if (name === "open" && file.endsWith(logName)) rmSync(file);
        },
      });
      assert.deepEqual((await (await openStore(path, { fileSystem: vanishing })).pending()).tasks, []);
      writeFileSync(join(path, logName), "");
      const failing = failingOnce(isOn("open", logName), systemError("EACCES", "permission denied", "open"));
      await assert.rejects(
        (await openStore(path, { fileSystem: failing })).pending(),
        isClear("io", "EACCES", logName),
      );
    });

    it("tells a caller who reads on in a closed listing", async () => {
      const { path } = newCopy();
      const listing = await (await openStore(path)).list();
      const tasks = listing.tasks("oldest");
      await tasks.next();
      listing.close();
      listing.close();
      await assert.rejects(tasks.next(), isClear("io", "was closed while it was read"));
    });

    it("names the task whose record cannot be read any more", async () => {
      const { path } = newCopy();
      let broken = false;
      const fileSystem = intercepted({
        before: ({ name, path: file }) => {
          if (broken && name === "read" && file.endsWith(dataName)) throw systemError("EIO", "i/o error", "read");
        },
      });
      const listing = await (await openStore(path, { fileSystem })).list();
      broken = true;
      await assert.rejects(listing.tasks("oldest").next(), isClear("io", `Could not read task ${id}`, "EIO"));
    });
  });
});

describe("another user's store", function () {
  this.timeout(20_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const stranger = 65_534;

  function newCopy(): { path: string; data: string; original: Buffer } {
    const path = copyFixture(folders.make(), "basic");
    const data = join(path, dataName);
    return { path, data, original: readFileSync(data) };
  }

  if (process.geteuid?.() === 0) {
    /** A process of our own that has become another user. */
    async function asStranger(path: string): Promise<ReturnType<typeof processes.ours>> {
      const other = processes.ours(path);
      await other.request({ do: "become", uid: stranger });
      return other;
    }

    it("can be read but not changed, and the reason is clear", async () => {
      const cases: [
        string,
        (copy: ReturnType<typeof newCopy>) => void,
        (copy: ReturnType<typeof newCopy>) => string,
      ][] = [
        ["the directory", () => undefined, ({ path }) => `you have no permission to write in ${path}`],
        [
          "the data file",
          ({ path }) => {
            chmodSync(path, 0o777);
          },
          ({ data }) => `you have no permission to write to ${data}`,
        ],
        [
          "the data file's owner",
          ({ path, data }) => {
            chmodSync(path, 0o777);
            chmodSync(data, 0o666);
          },
          ({ data }) => `${data} belongs to another user (0), who could not write to a file that replaces it`,
        ],
        [
          "a missing lock file",
          ({ path, data }) => {
            chmodSync(path, 0o777);
            rmSync(join(path, lockName));
            rmSync(data);
          },
          ({ path, data }) => `${path} belongs to another user (0), who could not write to ${data} if you made it`,
        ],
      ];
      for (const [what, prepare, reason] of cases) {
        const copy = newCopy();
        chmodSync(join(copy.path, ".."), 0o755);
        prepare(copy);
        const before = readdirSync(copy.path).sort();
        const other = await asStranger(copy.path);
        assert.equal(await other.request({ do: "readOnly" }), reason(copy), what);
        if (existsSync(copy.data)) {
          assert.equal(((await other.request({ do: "list" })) as string[]).length, 6);
          for (const change of ["remove", "replay"]) {
            await assert.rejects(other.request({ do: change, ids: [id] }), {
              code: "read-only",
              message: /^Could not .*\.$/,
            });
          }
          assert.ok(readFileSync(copy.data).equals(copy.original));
        }
        await assert.rejects(other.request({ do: "add", task: taskMessage(newTask("1-1-1")) }), { code: "read-only" });
        assert.deepEqual(readdirSync(copy.path).sort(), before, what);
      }
    });

    it("is reported, not crashed over, where its directory cannot even be looked into", async () => {
      const copy = newCopy();
      chmodSync(join(copy.path, ".."), 0o700);
      const other = await asStranger(copy.path);
      assert.equal(
        await other.request({ do: "readOnly" }),
        `you have no permission to look into ${join(copy.path, "..")}`,
      );
      for (const request of [{ do: "list" }, { do: "remove", ids: [id] }, { do: "replay", ids: [id] }]) {
        await assert.rejects(other.request(request), { code: /^(io|read-only)$/, message: /permission/ });
      }
    });

    it("keeps its owner, whatever root makes in it", async () => {
      const { path, data } = newCopy();
      for (const file of [path, data, join(path, lockName)]) chownSync(file, stranger, stranger);
      const store = await openStore(path);
      await store.add(newTask("1-1-1"));
      const { log } = await store.replay([id], null);
      rmSync(join(path, lockName));
      await store.remove(["1-1-1"]);
      for (const name of [dataName, lockName, log ?? ""]) {
        const { uid, gid } = statSync(join(path, name));
        assert.deepEqual([uid, gid], [stranger, stranger], name);
      }
    });

    it("is not hidden by a sub-folder of another user's that discovery cannot read", async () => {
      const folder = folders.make();
      chmodSync(folder, 0o755);
      const path = copyFixture(folder, "basic");
      mkdirSync(join(folder, "private", "storage"), { recursive: true, mode: 0o700 });
      const other = await asStranger(path);
      assert.deepEqual(await other.request({ do: "discover", folder }), [path]);
    });
  } else {
    it("can be read but not changed, and the reason is clear", async () => {
      const { path, data } = newCopy();
      const fileSystem: FileSystem = {
        ...nodeFileSystem,
        stat: (file) => ({ ...nodeFileSystem.stat(file), uid: file === data ? 0 : nodeFileSystem.stat(file).uid }),
      };
      const store = await openStore(path, { fileSystem });
      assert.equal(
        store.readOnlyReason(),
        `${data} belongs to another user (0), who could not write to a file that replaces it`,
      );
      await assert.rejects(store.remove([id]), { code: "read-only" });
    });
  }

  it("gets no file that its workers could not write to, even where giving it away fails", async () => {
    const path = join(folders.make(), "storage");
    mkdirSync(path);
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      // The directory of someone whom this machine's root cannot give files to, as in a container.
      stat: (file) => (file === path ? { ...nodeFileSystem.stat(file), uid: stranger } : nodeFileSystem.stat(file)),
      fchown: () => {
        throw systemError("EPERM", "operation not permitted", "fchown");
      },
    };
    const store = await openStore(path, { fileSystem });
    await assert.rejects(store.add(newTask("1-1-1")), { code: "read-only", message: /another user/ });
    assert.deepEqual(readdirSync(path), []);
  });
});
