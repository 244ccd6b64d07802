import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { dumpString } from "../../../src/marshal";
import { StoreIndex, nodeFileSystem, type FileSystem } from "../../../src/storage";
import { deadTaskLine } from "../../../src/storage/frames";
import { encodeRecord } from "../../../src/storage/record";
import { bigDataFile, bigStoreId } from "../../support/bigStore";
import { intercepted, systemError } from "../../support/fileSystems";
import { fixtureCases, newTask, openStore, taskLine, temporaryFolders } from "../../support/stores";

/** What a listener was told, and what it then knows. */
class Told {
  readonly tasks: string[] = [];
  readonly gone: string[] = [];
  readonly newest: string[] = [];
  readonly known = new Map<string, string>();
  progress = 0;

  clear(): void {
    this.tasks.length = 0;
    this.gone.length = 0;
    this.progress = 0;
  }

  readonly listener: Parameters<StoreIndex["refresh"]>[0] = {
    task: (id, record) => {
      this.tasks.push(id);
      this.known.delete(id);
      this.known.set(id, record.exceptionMessage);
    },
    gone: (ids) => {
      this.gone.push(...ids);
      for (const id of ids) this.known.delete(id);
    },
    progress: () => {
      this.progress += 1;
    },
    newest: (tasks) => {
      this.newest.push(...tasks.map(({ id }) => id));
    },
  };
}

describe("the index of a store", () => {
  const folders = temporaryFolders();

  async function newIndex(
    content?: Uint8Array,
    fileSystem: FileSystem = nodeFileSystem,
  ): Promise<{ data: string; index: StoreIndex; told: Told; refresh: () => Promise<void> }> {
    const path = join(folders.make(), "storage");
    mkdirSync(path);
    const data = join(path, "deferred-dead_tasks-0");
    if (content !== undefined) writeFileSync(data, content);
    const index = new StoreIndex(await openStore(path, { fileSystem }), fileSystem);
    const told = new Told();
    const refresh = async (): Promise<void> => {
      told.clear();
      await index.refresh(told.listener);
    };
    return { data, index, told, refresh };
  }

  function lines(...ids: readonly string[]): Buffer {
    return Buffer.concat(ids.map((id) => taskLine(newTask(id))));
  }

  function replaceFile(data: string, content: Uint8Array): void {
    writeFileSync(`${data}.tmp`, content);
    renameSync(`${data}.tmp`, data);
  }

  /** A valid line whose record cannot be read. */
  function unreadableLine(id: string): Buffer {
    return deadTaskLine(id, Buffer.from('"\\x04\\b{"'));
  }

  it("knows of every fixture what a listing knows", async () => {
    for (const { name, prefix, dataFile, expected } of fixtureCases) {
      const { index, told, refresh, data } = await newIndex(dataFile);
      await refresh();
      const listing = await (await openStore(join(data, ".."))).list();
      listing.close();
      assert.deepEqual(
        [...told.known.keys()],
        expected.map(({ id }) => id),
        `${name} ${prefix}`,
      );
      assert.equal(index.taskCount, expected.length);
      assert.deepEqual(index.damage, listing.damage);
      assert.deepEqual(index.unreadable, listing.unreadable);
      for (const id of listing.ids.slice(0, 60)) {
        const found = await (await openStore(join(data, ".."))).find(id);
        assert.deepEqual([index.get(id)?.offset, index.get(id)?.length], [found?.offset, found?.length]);
      }
    }
  });

  it("takes for unreadable what a listing takes for unreadable, wherever the record breaks off", async () => {
    const whole = Buffer.from(encodeRecord(newTask("1-1-1")));
    const content: Buffer[] = [];
    for (let length = 0; length <= whole.length; length++) {
      content.push(deadTaskLine(`1-1-${length}`, dumpString(whole.subarray(0, length))));
    }
    // Every byte of the record, damaged; the checksum is of the damaged line, so it stays a valid frame.
    for (let place = 0; place < whole.length; place++) {
      const damaged = Buffer.from(whole);
      damaged[place] = damaged[place]! ^ 0x15;
      content.push(deadTaskLine(`2-2-${place}`, dumpString(damaged)));
    }
    const { index, told, refresh, data } = await newIndex(Buffer.concat(content));
    await refresh();
    const listing = await (await openStore(join(data, ".."))).list();
    assert.deepEqual(
      index.unreadable.map(({ id }) => id),
      listing.unreadable.map(({ id }) => id),
    );
    const listed: string[] = [];
    for await (const { id } of listing.tasks("oldest")) listed.push(id);
    assert.deepEqual([...told.known.keys()], listed);
    assert.ok(listed.length > 1 && listing.unreadable.length > 100);
  });

  it("reads only the new tail of a file that has grown", async () => {
    const content = bigDataFile(2000);
    let bytes = 0;
    const counting = intercepted({
      after: ({ name }, result) => {
        if (name === "read") bytes += Number(result);
      },
    });
    const { data, index, told, refresh } = await newIndex(content, counting);
    await refresh();
    assert.equal(told.tasks.length, 2000);
    assert.ok(bytes >= content.length);

    bytes = 0;
    const added = lines("1-1-1", "1-1-2");
    appendFileSync(data, added);
    await refresh();
    assert.deepEqual(told.tasks, ["1-1-1", "1-1-2"]);
    assert.deepEqual(told.gone, []);
    assert.equal(index.taskCount, 2002);
    // The tail itself, the last chunk in which its end is looked for, and a few bytes as proof of the file.
    assert.ok(bytes < added.length + (1 << 16) + 200, `${bytes} bytes`);

    bytes = 0;
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [[], []]);
    assert.ok(bytes <= (1 << 16) + 200, `${bytes} bytes`);
  });

  it("tells of a compaction by another only what is gone, and no other task flickers", async () => {
    const { data, index, told, refresh } = await newIndex(lines("1-1-1", "1-1-2", "1-1-3", "1-1-4"));
    await refresh();
    replaceFile(data, lines("1-1-1", "1-1-3", "1-1-4"));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [[], ["1-1-2"]]);
    replaceFile(data, lines("1-1-3", "1-1-4", "1-1-5"));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [["1-1-5"], ["1-1-1"]]);
    assert.deepEqual([...told.known.keys()], ["1-1-3", "1-1-4", "1-1-5"]);
    assert.equal(index.get("1-1-3")?.offset, 0);
    appendFileSync(data, lines("1-1-6"));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [["1-1-6"], []]);
  });

  it("notices another file of the same number and at least the length", async () => {
    let identity = "1:1";
    const sameNumber: FileSystem = {
      ...nodeFileSystem,
      fstat: (file) => ({ ...nodeFileSystem.fstat(file), identity }),
    };
    const { data, told, refresh } = await newIndex(lines("1-1-1", "1-1-2"), sameNumber);
    await refresh();
    replaceFile(data, lines("1-1-1", "1-1-3", "1-1-4"));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [["1-1-3", "1-1-4"], ["1-1-2"]]);
    identity = "1:2";
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [[], []]);
  });

  it("notices a file that became shorter in place", async () => {
    const { data, told, refresh, index } = await newIndex(lines("1-1-1", "1-1-2"));
    await refresh();
    const { ino } = statSync(data);
    truncateSync(data, lines("1-1-1").length);
    assert.equal(statSync(data).ino, ino);
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [[], ["1-1-2"]]);
    truncateSync(data, 0);
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [[], ["1-1-1"]]);
    assert.equal(index.exists, true);
    appendFileSync(data, lines("1-1-3"));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [["1-1-3"], []]);
  });

  it("follows a file that goes and comes", async () => {
    const { data, told, refresh, index } = await newIndex();
    await refresh();
    assert.equal(index.exists, false);
    assert.deepEqual([told.tasks, told.gone], [[], []]);
    writeFileSync(data, lines("1-1-1", "1-1-2"));
    await refresh();
    assert.equal(index.exists, true);
    assert.deepEqual([told.tasks, told.gone], [["1-1-1", "1-1-2"], []]);
    unlinkSync(data);
    await refresh();
    assert.equal(index.exists, false);
    assert.deepEqual([told.tasks, told.gone], [[], ["1-1-1", "1-1-2"]]);
    assert.deepEqual(index.damage, { lines: 0, bytes: 0, tornTailBytes: 0 });
    writeFileSync(data, lines("1-1-2"));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [["1-1-2"], []]);
  });

  it("lets the newest of an id's lines stand, now and after a compaction", async () => {
    const older = taskLine(newTask("1-1-1", { exceptionMessage: "older" }));
    const newer = taskLine(newTask("1-1-1", { exceptionMessage: "newer" }));
    const { data, told, refresh, index } = await newIndex(Buffer.concat([older, lines("1-1-2"), newer]));
    await refresh();
    assert.deepEqual(
      [...told.known],
      [
        ["1-1-2", "message of 1-1-2"],
        ["1-1-1", "newer"],
      ],
    );
    assert.equal(index.taskCount, 2);
    replaceFile(data, Buffer.concat([older, newer]));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [[], ["1-1-2"]]);
    appendFileSync(data, taskLine(newTask("1-1-1", { exceptionMessage: "newest" })));
    await refresh();
    assert.deepEqual([told.tasks, told.gone, told.known.get("1-1-1")], [["1-1-1"], [], "newest"]);
    replaceFile(data, older);
    await refresh();
    assert.deepEqual([told.tasks, told.gone, told.known.get("1-1-1")], [["1-1-1"], [], "older"]);
  });

  it("tells a task that was unreadable when it becomes readable, and as gone when it becomes unreadable", async () => {
    const { data, told, refresh, index } = await newIndex(unreadableLine("1-1-1"));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [[], []]);
    assert.deepEqual(
      index.unreadable.map(({ id }) => id),
      ["1-1-1"],
    );
    assert.equal(index.taskCount, 0);
    appendFileSync(data, lines("1-1-1"));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [["1-1-1"], []]);
    assert.deepEqual(index.unreadable, []);
    appendFileSync(data, unreadableLine("1-1-1"));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [[], []], "an older readable line still stands for it");
    replaceFile(data, unreadableLine("1-1-1"));
    await refresh();
    assert.deepEqual([told.tasks, told.gone], [[], ["1-1-1"]]);
    assert.deepEqual(
      index.unreadable.map(({ id }) => id),
      ["1-1-1"],
    );
    replaceFile(data, lines("1-1-2"));
    await refresh();
    assert.deepEqual(index.unreadable, []);
    assert.deepEqual([...told.known.keys()], ["1-1-2"]);
  });

  it("counts damage across reads, and an unfinished line only as long as it is there", async () => {
    const { data, refresh, index } = await newIndex(
      Buffer.concat([lines("1-1-1"), Buffer.from("corrupt\n"), Buffer.from("torn")]),
    );
    await refresh();
    assert.deepEqual(index.damage, { lines: 1, bytes: 8, tornTailBytes: 4 });
    appendFileSync(data, Buffer.concat([Buffer.from(" and glued\n"), lines("1-1-2")]));
    await refresh();
    assert.deepEqual(index.damage, { lines: 2, bytes: 8 + 15, tornTailBytes: 0 });
    replaceFile(data, lines("1-1-1", "1-1-2"));
    await refresh();
    assert.deepEqual(index.damage, { lines: 0, bytes: 0, tornTailBytes: 0 });
  });

  it("recovers from a read that broke off in the middle, first or later", async () => {
    const content = bigDataFile(2000);
    let readsUntilFailure = Number.POSITIVE_INFINITY;
    const failing = intercepted({
      before: ({ name, path }) => {
        if (name !== "read" || !path.endsWith("dead_tasks-0")) return;
        readsUntilFailure -= 1;
        if (readsUntilFailure < 0) throw systemError("EIO", "i/o error", "read");
      },
    });
    const { data, told, refresh, index } = await newIndex(content, failing);
    readsUntilFailure = 3;
    await assert.rejects(refresh(), /EIO/);
    readsUntilFailure = Number.POSITIVE_INFINITY;
    await refresh();
    assert.equal(index.taskCount, 2000);
    assert.equal(told.known.size, 2000);

    const long = { exceptionMessage: "x".repeat(3000) };
    const more = Array.from({ length: 1000 }, (_, number) => taskLine(newTask(`2-2-${number}`, long)));
    appendFileSync(data, Buffer.concat([Buffer.from("corrupt\n"), ...more]));
    appendFileSync(data, lines("1-1-1"));
    // The end is found, the file is known again and the first chunk is taken; the second fails.
    readsUntilFailure = 3;
    await assert.rejects(refresh(), /EIO/);
    assert.ok(told.tasks.length > 100 && told.tasks.length < 1000);
    assert.ok(told.known.has(bigStoreId(0)) && told.known.has(bigStoreId(1999)), "what was known stays known");
    readsUntilFailure = Number.POSITIVE_INFINITY;
    await refresh();
    assert.equal(told.known.has("1-1-1"), true);
    assert.equal(index.damage.lines, 1, "counted once");
    assert.equal(index.taskCount, 3001);
    assert.equal(told.known.size, 3001);
    assert.deepEqual(told.gone, []);

    const before = readFileSync(data);
    replaceFile(data, before.subarray(before.indexOf("\n") + 1));
    readsUntilFailure = 3;
    await assert.rejects(refresh(), /EIO/);
    assert.deepEqual(told.gone, [], "nothing is gone before all was read");
    readsUntilFailure = Number.POSITIVE_INFINITY;
    await refresh();
    assert.equal(told.gone.length, 1);
    assert.deepEqual(told.tasks, []);
  });

  it("reports how far a long read has come", async () => {
    const { told, refresh } = await newIndex(bigDataFile(6000));
    await refresh();
    assert.ok(told.progress >= 2, String(told.progress));
  });
});
