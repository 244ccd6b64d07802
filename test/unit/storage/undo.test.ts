import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { StorageError, UndoJournal, storageEnvironment, type FileSystem, type UndoHeader } from "../../../src/storage";
import { deadTaskLine } from "../../../src/storage/frames";
import { failingOnce, intercepted, systemError, type FileCall } from "../../support/fileSystems";
import { fixtureCases, newTask, openStore, referenceLines, taskLine, temporaryFolders } from "../../support/stores";

const dataName = "deferred-dead_tasks-0";

describe("undoing a deletion", () => {
  const folders = temporaryFolders();
  const ids = ["1-1-1", "1-1-2", "1-1-3", "1-1-4"];
  const lines = ids.map((id) => taskLine(newTask(id)));

  async function setUp(content: Uint8Array, fileSystem?: FileSystem, now = Date.now()) {
    const folder = folders.make();
    const path = join(folder, "storage");
    const directory = join(folder, "ours", "undo");
    const replaced = {
      ...(fileSystem === undefined ? {} : { fileSystem }),
      clock: { now: () => now, sleep: () => Promise.resolve() },
    };
    const store = await openStore(path, replaced);
    await store.add(newTask("0-0-0"));
    const data = join(path, dataName);
    writeFileSync(data, content);
    const journal = new UndoJournal(await storageEnvironment(replaced), directory);
    const header: UndoHeader = {
      title: "Deleted",
      at: Math.floor(now / 1000),
      directory: path,
      prefix: "deferred-",
      log: null,
    };
    const remove = async (...removed: readonly string[]): Promise<string> => {
      let name = "";
      await store.remove(removed, {
        keep: () => {
          const kept = journal.begin(header);
          ({ name } = kept);
          return kept;
        },
      });
      return name;
    };
    const restore = (name: string) => store.restore(() => journal.lines(name));
    return { store, data, directory, journal, header, remove, restore };
  }

  it("brings every line back byte for byte, the unreadable, the doubled and those of odd ids among them", async () => {
    let restored = 0;
    for (const { dataFile } of fixtureCases) {
      const { data, store, remove, restore, journal } = await setUp(dataFile);
      const listing = await store.list();
      listing.close();
      if (listing.ids.length === 0) continue;
      const before = referenceLines(dataFile).lines.filter(({ id }) => id !== null);
      const name = await remove(...listing.ids);
      assert.equal(statSync(data).size, 0);
      const outcome = await restore(name);
      assert.deepEqual([[...outcome.restored].sort(), outcome.present], [[...listing.ids].sort(), []]);
      const after = referenceLines(readFileSync(data)).lines;
      assert.deepEqual(
        after.map(({ bytes }) => bytes.toString("latin1")),
        before.map(({ bytes }) => bytes.toString("latin1")),
      );
      journal.remove(name);
      assert.deepEqual(journal.entries(), []);
      restored += after.length;
    }
    assert.ok(restored > 150, String(restored));
  });

  it("appends after what was added meanwhile, and mends an unfinished line before it", async () => {
    const { data, remove, restore } = await setUp(Buffer.concat(lines));
    const name = await remove("1-1-2", "1-1-3");
    appendFileSync(data, Buffer.concat([taskLine(newTask("2-1-1")), Buffer.from("torn")]));
    await restore(name);
    const expected = [lines[0]!, lines[3]!, taskLine(newTask("2-1-1")), lines[1]!, lines[2]!];
    assert.deepEqual(readFileSync(data), Buffer.concat(expected));
  });

  it("adds nothing a second time, nor where nothing was removed in the end", async () => {
    const { data, remove, restore, journal, header } = await setUp(Buffer.concat(lines));
    const name = await remove("1-1-2");
    assert.deepEqual(await restore(name), { restored: ["1-1-2"], present: [] });
    const once = readFileSync(data);
    assert.deepEqual(await restore(name), { restored: [], present: ["1-1-2"] });
    const kept = journal.begin(header);
    kept.append(lines[0]!);
    kept.keep();
    assert.deepEqual(await restore(kept.name), { restored: [], present: ["1-1-1"] });
    assert.deepEqual(readFileSync(data), once);
  });

  it("goes on where it was interrupted between two lines of one id", async () => {
    const older = taskLine(newTask("1-1-1", { exceptionMessage: "older" }));
    const newer = taskLine(newTask("1-1-1", { exceptionMessage: "newer" }));
    const { data, remove, restore } = await setUp(Buffer.concat([older, lines[1]!, newer]));
    const name = await remove("1-1-1");
    appendFileSync(data, older);
    assert.deepEqual(await restore(name), { restored: ["1-1-1"], present: [] });
    assert.deepEqual(readFileSync(data), Buffer.concat([lines[1]!, older, newer]));
  });

  it("leaves a task that has died anew since as it is", async () => {
    const { data, remove, restore } = await setUp(Buffer.concat(lines));
    const name = await remove("1-1-1", "1-1-2");
    appendFileSync(data, taskLine(newTask("1-1-1", { exceptionMessage: "died again" })));
    assert.deepEqual(await restore(name), { restored: ["1-1-2"], present: ["1-1-1"] });
    assert.match(readFileSync(data, "latin1"), /died again[^\n]*\n[^\n]*1-1-2[^\n]*\n$/);
  });

  it("restores many in small holds of the workers' lock, and one that is too long for memory", async () => {
    const long = deadTaskLine("1-1-9", Buffer.alloc(33 << 20, "x"));
    const many = Array.from({ length: 2_000 }, (_, number) =>
      taskLine(newTask(`3-1-${number}`, { exceptionMessage: "m".repeat(500) })),
    );
    const content = Buffer.concat([...many.slice(0, 1_000), long, ...many.slice(1_000)]);
    let locked = 0;
    const fileSystem = intercepted({
      after: ({ name, path }) => {
        if (name === "open" && path.endsWith(".lock")) locked += 1;
      },
    });
    const { data, store, remove, restore } = await setUp(content, fileSystem);
    const listing = await store.list();
    listing.close();
    const name = await remove(...listing.ids);
    locked = 0;
    const { restored } = await restore(name);
    assert.equal(restored.length, 2_001);
    assert.ok(readFileSync(data).equals(content));
    const megabytes = (content.length - long.length) / (1 << 20);
    assert.ok(megabytes > 1.5 && locked > megabytes * 4, `${locked} holds for ${megabytes} MB`);
  });

  it("keeps what a worker appended to a task in the last moment, too", async () => {
    let append = (): void => undefined;
    const fileSystem = intercepted({
      after: ({ name, path }: FileCall) => {
        if (name === "fsync" && path.includes("compaction")) append();
      },
    });
    const { data, remove, restore } = await setUp(Buffer.concat(lines), fileSystem);
    const late = taskLine(newTask("1-1-2", { exceptionMessage: "at the last moment" }));
    append = () => {
      append = () => undefined;
      appendFileSync(data, late);
    };
    const name = await remove("1-1-2");
    await restore(name);
    assert.deepEqual(readFileSync(data), Buffer.concat([lines[0]!, lines[2]!, lines[3]!, lines[1]!, late]));
  });

  it("keeps one entry for a removal that began anew, since another compacted meanwhile", async () => {
    let compact = (): void => undefined;
    const fileSystem = intercepted({
      after: ({ name, path }) => {
        if (name === "fsync" && path.includes("compaction")) compact();
      },
    });
    const { data, directory, journal, remove, restore } = await setUp(Buffer.concat(lines), fileSystem);
    compact = () => {
      compact = () => undefined;
      writeFileSync(`${data}.tmp`, Buffer.concat(lines.slice(0, 3)));
      renameSync(`${data}.tmp`, data);
    };
    const name = await remove("1-1-2");
    assert.deepEqual(readdirSync(directory), [name]);
    assert.equal(journal.entries()[0]?.bytes, statSync(join(directory, name)).size);
    assert.deepEqual((await restore(name)).restored, ["1-1-2"]);
  });

  it("removes nothing that cannot be kept, and says why", async () => {
    for (const call of ["open", "write", "fsync", "rename"] as const) {
      const fileSystem = failingOnce(
        ({ name, path }) => name === call && path.includes(".undo"),
        systemError("ENOSPC", "no space left on device", call),
      );
      const { data, directory, remove } = await setUp(Buffer.concat(lines), fileSystem);
      await assert.rejects(
        remove("1-1-2"),
        (error) =>
          error instanceof StorageError &&
          error.code === "io" &&
          error.message.includes("kept for undoing") &&
          error.message.includes("ENOSPC"),
      );
      assert.deepEqual(readFileSync(data), Buffer.concat(lines));
      assert.deepEqual(readdirSync(directory), [], call);
    }
  });

  it("keeps nothing of what was not found, and nothing where the removal failed", async () => {
    const { directory, remove } = await setUp(Buffer.concat(lines));
    await remove("9-9-9");
    assert.deepEqual(readdirSync(directory), []);
    const fileSystem = failingOnce(
      ({ name, path }) => name === "rename" && path.includes("compaction"),
      systemError("EACCES", "permission denied", "rename"),
    );
    const failing = await setUp(Buffer.concat(lines), fileSystem);
    await assert.rejects(failing.remove("1-1-1"), /EACCES/);
    assert.deepEqual(readdirSync(failing.directory), []);
  });

  it("is for its owner alone", async () => {
    const { directory, remove } = await setUp(Buffer.concat(lines));
    const name = await remove("1-1-1");
    assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600);
  });

  it("lists what can be undone, newest first, and passes over what is none of it", async () => {
    const { directory, journal, header } = await setUp(Buffer.concat(lines));
    assert.deepEqual(journal.entries(), []);
    for (const [title, at] of [
      ["first", 100],
      ["third", 300],
      ["second", 200],
    ] as const) {
      const kept = journal.begin({ ...header, title, at });
      kept.append(lines[0]!);
      kept.keep();
    }
    writeFileSync(join(directory, "notes.txt"), "mine");
    writeFileSync(join(directory, "1-1-a.undo"), "no frame\n");
    writeFileSync(join(directory, "2-1-a.undo"), "");
    assert.deepEqual(
      journal.entries().map(({ title, at, prefix }) => [title, at, prefix]),
      [
        ["third", 300, "deferred-"],
        ["second", 200, "deferred-"],
        ["first", 100, "deferred-"],
      ],
    );
  });

  it("says of an entry that is gone that it is", async () => {
    const { restore, data } = await setUp(Buffer.concat(lines));
    for (const name of ["1-1-a.undo", "../storage/deferred-dead_tasks-0", "/etc/passwd"]) {
      await assert.rejects(restore(name), /not kept any more/);
    }
    assert.deepEqual(readFileSync(data), Buffer.concat(lines));
  });

  it("takes an entry that another window removes while it is looked for as one that is gone", async () => {
    const { remove, journal, directory } = await setUp(Buffer.concat(lines));
    const name = await remove("1-1-1");
    const path = join(directory, name);
    let opened = 0;
    const fileSystem = intercepted({
      before: (call) => {
        if (call.name !== "open" || call.path !== path) return;
        opened++;
        rmSync(path, { force: true });
      },
    });
    const other = new UndoJournal(await storageEnvironment({ fileSystem }), directory);
    const kept = readFileSync(path);
    for (const [look, answer] of [
      [() => other.entry(name), null],
      [() => other.entries(), []],
    ] as const) {
      writeFileSync(path, kept);
      assert.equal(journal.entries().length, 1);
      assert.deepEqual(look(), answer);
    }
    writeFileSync(path, kept);
    assert.throws(() => [...other.lines(name)], /not kept any more/);
    assert.equal(opened, 3);
  });

  it("forgets what is too old, then the oldest of what is too much, and all of it on demand", async () => {
    const day = 86_400;
    const now = Date.now();
    const folder = folders.make();
    const directory = join(folder, "undo");
    let at = now;
    const environment = await storageEnvironment({ clock: { now: () => at, sleep: () => Promise.resolve() } });
    const journal = new UndoJournal(environment, directory);
    journal.clear();
    const keep = (title: string, days: number, bytes: number): string => {
      at = now - days * day * 1000;
      const kept = journal.begin({ title, at: at / 1000, directory: folder, prefix: "deferred-", log: null });
      kept.append(Buffer.alloc(bytes, "x"));
      kept.keep();
      at = now;
      return kept.name;
    };
    const titles = (): string[] => journal.entries().map(({ title }) => title);
    keep("old", 8, 10);
    keep("large", 3, 5_000);
    keep("small", 2, 1_000);
    keep("new", 0, 1_000);
    at = now - 2 * day * 1000;
    journal.begin({ title: "killed", at: 0, directory: folder, prefix: "deferred-", log: null });
    at = now;
    assert.equal(readdirSync(directory).length, 5);
    journal.prune({ bytes: 1_000_000, age: 7 * day });
    assert.deepEqual(titles(), ["new", "small", "large"]);
    assert.equal(readdirSync(directory).length, 3, "what was never finished is gone, too");
    journal.prune({ bytes: 3_000, age: 7 * day });
    assert.deepEqual(titles(), ["new", "small"]);
    journal.clear();
    assert.deepEqual(readdirSync(directory), []);
    assert.ok(existsSync(directory));
  });
});
