import assert from "node:assert/strict";
import { appendFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { crc32 } from "node:zlib";
import { dumpString } from "../../../src/marshal";
import { lineStates, type LineState, type RawRow, type RawTable } from "../../../src/service/rawProtocol";
import { RawStore } from "../../../src/service/rawStore";
import { nodeFileSystem } from "../../../src/storage";
import { longestLine } from "../../../src/storage/lines";
import { writeBigStore } from "../../support/bigStore";
import {
  copyFixture,
  fixtureCases,
  newTask,
  openStore,
  referenceLines,
  taskLine,
  temporaryFolders,
} from "../../support/stores";

/** Nothing else makes memory comparable; mocha's own process was not started with it. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

const dataName = "deferred-dead_tasks-0";
const mask = { reveal: false, maskedNames: ["password", "token"] };

describe("the lines of a data file", function () {
  this.timeout(20_000);
  const folders = temporaryFolders();

  /** A store of these bytes, read to its end. */
  async function opened(content: Buffer | string, prefix = "deferred-") {
    const path = folders.make();
    const file = join(path, `${prefix}dead_tasks-0`);
    writeFileSync(file, content);
    const raw = new RawStore(await openStore(path, {}, prefix), nodeFileSystem);
    return { path, file, raw, table: await raw.read(10_000) };
  }

  async function allRows(raw: RawStore, table: RawTable, states: readonly LineState[] = lineStates): Promise<RawRow[]> {
    const rows: RawRow[] = [];
    for (;;) {
      const page = await raw.rows(table.generation, states, rows.length, 200);
      assert.ok(page);
      if (page.length === 0) return rows;
      rows.push(...page);
    }
  }

  /** A valid frame of anything. */
  function frame(payload: string): string {
    return `${crc32(Buffer.from(payload, "latin1")).toString(16).padStart(8, "0")}:${payload}\n`;
  }

  const unreadable = (id: string): string => frame(`dead_task:${id}:"\\x04\\b0"`);

  for (const { name, prefix, dataFile, expected } of fixtureCases) {
    it(`are those of the fixture ${name} with ${prefix}, each with its offset, its id and its state`, async () => {
      const { raw, table } = await opened(dataFile, prefix);
      const rows = await allRows(raw, table);
      const { lines, tornTail } = referenceLines(dataFile);
      const places = rows.map(({ line, offset, length }) => [line, offset, length]);
      const wanted = lines.map(({ offset, bytes }, index) => [index + 1, offset, bytes.length]);
      if (tornTail.length > 0) wanted.push([lines.length + 1, dataFile.length - tornTail.length, tornTail.length]);
      assert.deepEqual(places, wanted);
      assert.deepEqual(
        rows.filter(({ state }) => state === "corrupt").map(({ line }) => line),
        lines.flatMap(({ id }, index) => (id === null ? [index + 1] : [])),
      );
      // What Rage lists is what is current, in the same order.
      const listed = rows.filter(({ state }) => state === "current").map(({ id }) => id);
      assert.deepEqual(
        listed,
        expected.map(({ id }) => id),
      );
      for (const { state, record, reason } of rows) {
        assert.equal(record !== null, state === "current" || state === "superseded");
        assert.equal(reason === null, state === "current" || state === "superseded");
      }
      assert.equal(table.bytesRead, dataFile.length);
      const total = lineStates.reduce((sum, state) => sum + table.counts[state], 0);
      assert.equal(total, rows.length);
    });
  }

  it("say which line stands for an id: the newest that can be read", async () => {
    const died = (id: string, failedAt: number): string => taskLine(newTask(id, { failedAt })).toString("latin1");
    const { raw, table } = await opened(
      [
        died("1-1-1", 1), // 1: superseded by 4
        unreadable("1-1-2"), // 2: the newer one, 5, stands for its id
        died("1-1-1", 2), // 3: superseded by 4
        died("1-1-1", 3), // 4: current
        unreadable("1-1-2"), // 5
        unreadable("1-1-1"), // 6: 4 still stands for its id
        unreadable("1-1-3"), // 7: 8 does
        died("1-1-3", 4), // 8: current
      ].join(""),
    );
    const rows = await allRows(raw, table);
    assert.deepEqual(
      rows.map(({ state, standing }) => [state, standing]),
      [
        ["superseded", 4],
        ["unreadable", 5],
        ["superseded", 4],
        ["current", null],
        ["unreadable", null],
        ["unreadable", 4],
        ["unreadable", 8],
        ["current", null],
      ],
    );
    assert.deepEqual(table.counts, { current: 2, superseded: 2, unreadable: 4, corrupt: 0, torn: 0 });
    for (const [id, line] of [
      ["1-1-1", 4],
      ["1-1-2", 5],
      ["1-1-3", 8],
    ] as const) {
      const found = await raw.find(table.generation, { by: "id", id }, ["current"]);
      assert.deepEqual(found, { line, index: line === 4 ? 0 : line === 8 ? 1 : null });
    }
    assert.equal(await raw.find(table.generation, { by: "id", id: "1-1-4" }, lineStates), null);
  });

  it("tell what is wrong with each damaged one, and where the next is", async () => {
    const good = taskLine(newTask("1-1-1")).toString("latin1");
    const flipped = good.replace("dead_task", "dead_tusk");
    const content = [good, "\n", flipped, good, "garbage\n", frame("add:1-1-1:0:x"), frame("dead_task::x"), "torn"];
    const { raw, table } = await opened(content.join(""));
    const rows = await allRows(raw, table, ["corrupt", "torn"]);
    assert.deepEqual(
      rows.map(({ line, reason }) => [line, reason]),
      [
        [2, "an empty line"],
        [3, "its checksum does not match"],
        [5, "it does not begin with a checksum"],
        [6, "not a dead task's line"],
        [7, "it has no id"],
        [8, "an unfinished write: no newline at its end; the next append removes it"],
      ],
    );
    const lengths = content.map((text) => text.length);
    assert.equal(table.corruptBytes, lengths[1]! + lengths[2]! + lengths[4]! + lengths[5]! + lengths[6]!);
    assert.deepEqual(table.tornTail, { offset: content.join("").length - 4, length: 4 });
    const steps: (number | null)[] = [];
    for (const direction of ["next", "previous"] as const) {
      for (let from = direction === "next" ? 0 : 9; ;) {
        const found = await raw.find(table.generation, { by: "damage", from, direction }, lineStates);
        steps.push(found?.line ?? null);
        if (found === null) break;
        assert.equal(found.index, found.line - 1);
        from = found.line;
      }
    }
    assert.deepEqual(steps, [2, 3, 5, 6, 7, 8, null, 8, 7, 6, 5, 3, 2, null]);
  });

  it("come in pages of the states that are asked for", async () => {
    const content = Array.from({ length: 500 }, (_, number) =>
      number % 3 === 0 ? `bad ${number}\n` : taskLine(newTask(`1-1-${number}`)).toString("latin1"),
    ).join("");
    const { raw, table } = await opened(content);
    assert.equal((await raw.rows(table.generation, lineStates, 0, 10_000))?.length, 200);
    const page = await raw.rows(table.generation, ["corrupt"], 100, 3);
    assert.deepEqual(
      page?.map(({ line }) => line),
      [301, 304, 307],
    );
    assert.deepEqual(await raw.rows(table.generation, ["corrupt"], 167, 3), []);
    assert.deepEqual(await raw.rows(table.generation, [], 0, 3), []);
    const found = await raw.find(table.generation, { by: "line", line: 304 }, ["corrupt"]);
    assert.deepEqual(found, { line: 304, index: 101 });
    assert.equal(await raw.find(table.generation, { by: "line", line: 501 }, lineStates), null);
  });

  it("grow with the file: only what is new is read, and an older line of the same id is superseded then", async () => {
    const reads: number[] = [];
    const counting = {
      ...nodeFileSystem,
      read: (descriptor: number, buffer: Uint8Array, offset: number, length: number, position: number): number => {
        const read = nodeFileSystem.read(descriptor, buffer, offset, length, position);
        reads.push(read);
        return read;
      },
    };
    const path = folders.make();
    const file = join(path, dataName);
    const lines = Array.from({ length: 3_000 }, (_, number) => taskLine(newTask(`1-1-${number}`)));
    writeFileSync(file, Buffer.concat(lines));
    const store = await openStore(path, { fileSystem: counting });
    const raw = new RawStore(store, counting);
    const before = await raw.read(10_000);
    await store.add(newTask("1-1-7"));
    appendFileSync(file, "torn");
    reads.length = 0;
    const after = await raw.read(10_000);
    const bytes = reads.reduce((sum, read) => sum + read, 0);
    assert.ok(bytes < 100_000, `${bytes} bytes were read for one line`);
    assert.equal(after.generation, before.generation);
    assert.ok(after.version > before.version);
    assert.deepEqual(after.counts, { current: 3_000, superseded: 1, unreadable: 0, corrupt: 0, torn: 1 });
    assert.equal((await raw.line(after.generation, 8, mask))?.row.standing, 3_001);
    // An append of another process cuts the torn tail off.
    await store.add(newTask("1-1-8"));
    const mended = await raw.read(10_000);
    assert.deepEqual(mended.counts, { current: 3_000, superseded: 2, unreadable: 0, corrupt: 0, torn: 0 });
    assert.equal((await raw.read(10_000)).version, mended.version, "nothing changed");
  });

  it("are read anew when the file was compacted, and answers about the former ones are refused", async () => {
    const { path, raw, table } = await opened(Buffer.concat(["1-1-1", "1-1-2"].map((id) => taskLine(newTask(id)))));
    await (await openStore(path)).remove(["1-1-1"]);
    // The file is another already, although nobody has looked yet.
    assert.equal(await raw.rows(table.generation, lineStates, 0, 10), null);
    assert.equal(await raw.line(table.generation, 1, mask), null);
    assert.equal(await raw.bytes(table.generation, 1, 0, 10), null);
    const after = await raw.read(10_000);
    assert.notEqual(after.generation, table.generation);
    assert.deepEqual(
      (await allRows(raw, after)).map(({ id }) => id),
      ["1-1-2"],
    );
    assert.equal(await raw.rows(table.generation, lineStates, 0, 10), null);
  });

  it("are read anew when another file has the same inode, or the file went and came again", async () => {
    const { file, raw, table } = await opened(Buffer.concat(["1-1-1", "1-1-2"].map((id) => taskLine(newTask(id)))));
    const { ino } = statSync(file);
    truncateSync(file);
    appendFileSync(file, Buffer.concat(["1-1-3", "1-1-4", "1-1-5"].map((id) => taskLine(newTask(id)))));
    assert.equal(statSync(file).ino, ino);
    const other = await raw.read(10_000);
    assert.notEqual(other.generation, table.generation);
    assert.deepEqual(
      (await allRows(raw, other)).map(({ id }) => id),
      ["1-1-3", "1-1-4", "1-1-5"],
    );
    renameSync(file, `${file}.away`);
    const away = await raw.read(10_000);
    assert.deepEqual([away.exists, away.complete, away.counts.current, away.bytesTotal], [false, true, 0, 0]);
    assert.equal(await raw.rows(away.generation, lineStates, 0, 10), null);
    renameSync(`${file}.away`, file);
    assert.equal((await raw.read(10_000)).counts.current, 3);
  });

  it("show the record masked unless asked to reveal it, and its bytes as they stand in the file", async () => {
    const storage = copyFixture(folders.make(), "basic");
    const raw = new RawStore(await openStore(storage), nodeFileSystem);
    const table = await raw.read(10_000);
    const content = readFileSync(join(storage, dataName));
    const { lines } = referenceLines(content);
    for (const [index, { bytes, id }] of lines.entries()) {
      const line = await raw.line(table.generation, index + 1, mask);
      assert.equal(line?.id, id);
      assert.equal(line.task?.id, id);
      const read = await raw.bytes(table.generation, index + 1, 0, 1 << 20);
      assert.deepEqual(Buffer.from(read!), bytes);
      assert.deepEqual(Buffer.from((await raw.bytes(table.generation, index + 1, 5, 7))!), bytes.subarray(5, 12));
    }
    assert.equal((await raw.bytes(table.generation, 1, 1e9, 7))?.length, 0);
    assert.equal(await raw.line(table.generation, lines.length + 1, mask), null);
  });

  it("hold ids that are not UTF-8, and cut huge ones for display alone", async () => {
    const record = dumpString(Buffer.from("\x04\b0", "latin1"));
    const longId = "x".repeat(100_000);
    const content = [frame(`dead_task:\xff\xfe:${Buffer.from(record).toString("latin1")}`), unreadable(longId)];
    const { raw, table } = await opened(Buffer.from(content.join("") + unreadable(longId), "latin1"));
    const rows = await allRows(raw, table);
    assert.deepEqual(
      rows.map(({ standing }) => standing),
      [null, 3, null],
    );
    assert.equal(rows[1]!.id?.length, 201);
    assert.equal((await raw.line(table.generation, 2, mask))?.id, longId);
    const odd = (await raw.line(table.generation, 1, mask))!.id!;
    assert.equal((await raw.find(table.generation, { by: "id", id: odd }, lineStates))?.line, 1);
  });

  it("of more than 32 MiB are never held whole, and are told apart all the same", async () => {
    const payload = Buffer.concat([
      Buffer.from('dead_task:1-1-1:"'),
      Buffer.alloc(longestLine, 0x61),
      Buffer.from('"'),
    ]);
    const checksum = crc32(payload).toString(16).padStart(8, "0");
    const huge = Buffer.concat([Buffer.from(`${checksum}:`), payload, Buffer.from("\n")]);
    const broken = Buffer.concat([Buffer.from("00000000:"), payload, Buffer.from("\n")]);
    const { raw, table } = await opened(Buffer.concat([huge, broken, taskLine(newTask("1-1-2"))]));
    const rows = await allRows(raw, table);
    assert.deepEqual(
      rows.map(({ state, id, reason }) => [state, id, reason]),
      [
        ["unreadable", "1-1-1", "larger than 32 MiB"],
        ["corrupt", null, "not a valid frame"],
        ["current", "1-1-2", null],
      ],
    );
    assert.equal((await raw.line(table.generation, 1, mask))?.task, null);
    assert.equal((await raw.bytes(table.generation, 1, huge.length - 3, 10))?.length, 3);
    assert.equal((await raw.bytes(table.generation, 1, 0, 1e9))?.length, 1 << 20);
  });

  it("are read in slices that go on where the last one stopped, and show rows before the end", async () => {
    const path = folders.make();
    writeBigStore(path, 20_000);
    const raw = new RawStore(await openStore(path), nodeFileSystem);
    const first = await raw.read(0);
    assert.equal(first.complete, false);
    assert.ok(first.counts.current >= 1 && first.counts.current < 20_000);
    assert.equal((await raw.rows(first.generation, lineStates, 0, 1))?.length, 1);
    assert.equal(await raw.find(first.generation, { by: "id", id: "x" }, lineStates), null);
    let table = first;
    let slices = 0;
    for (; !table.complete; slices++) table = await raw.read(20);
    assert.ok(slices > 1);
    assert.deepEqual([table.generation, table.counts.current], [first.generation, 20_000]);
  });

  it("are known within the time of reading the file, 100,000 of them in some 25 bytes each", async function () {
    this.timeout(120_000);
    const path = folders.make();
    writeBigStore(path, 100_000);
    const store = await openStore(path);
    const started = performance.now();
    (await store.list()).close();
    const onePass = performance.now() - started;
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    const raw = new RawStore(store, nodeFileSystem);
    const begun = performance.now();
    const table = await raw.read(1e6);
    const time = performance.now() - begun;
    assert.deepEqual([table.complete, table.counts.current], [true, 100_000]);
    collectGarbage();
    const bytes = process.memoryUsage().arrayBuffers - before;
    // Up to twice the room is kept ready for more, and the last chunks of a megabyte may not have been freed yet.
    assert.ok(bytes < 8e6, `${bytes} bytes`);
    assert.ok(time < onePass * 3 + 500, `${time.toFixed()} ms, one pass of the store's list ${onePass.toFixed()} ms`);
    rmSync(path, { recursive: true });
  });
});
