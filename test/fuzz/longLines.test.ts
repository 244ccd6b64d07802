import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { logAddLine } from "../../src/storage/frames";
import { longestLine } from "../../src/storage/lines";
import { dumpString } from "../../src/marshal";
import { contextOfSyncInvoice, newTask, taskLine, temporaryFolders } from "../support/stores";
import type { LongLineReport } from "./longLineChild";
import { mostBytes } from "./protocol";

const mebibyte = 1 << 20;

const longMebibytes = 64;
const chunk = Buffer.alloc(mebibyte, "\\x00");

/** Writes a line of `longMebibytes` of dumped text. `damage` is put into its checksum. Returns its length. */
function writeLong(file: number, start: string, damage = 0): number {
  let checksum = crc32(start);
  for (let left = longMebibytes; left > 0; left--) checksum = crc32(chunk, checksum);
  checksum = (crc32('"', checksum) ^ damage) >>> 0;
  writeSync(file, `${checksum.toString(16).padStart(8, "0")}:${start}`);
  for (let left = longMebibytes; left > 0; left--) writeSync(file, chunk);
  writeSync(file, '"\n');
  return 9 + start.length + chunk.length * longMebibytes + 2;
}

/** CRC-32 of a file between two offsets. */
function checksumBetween(path: string, start: number, end: number): number {
  const file = openSync(path, "r");
  const buffer = Buffer.alloc(mebibyte);
  let checksum = 0;
  for (let position = start; position < end;) {
    const read = readSync(file, buffer, 0, Math.min(buffer.length, end - position), position);
    checksum = crc32(buffer.subarray(0, read), checksum);
    position += read;
  }
  closeSync(file);
  return checksum;
}

describe("lines too long to be held", function () {
  this.timeout(300_000);
  const folders = temporaryFolders();

  it("are listed, searched, shown, compacted and counted in little memory, beside the longest that are read", () => {
    const directory = folders.make();
    const dataFile = join(directory, "deferred-dead_tasks-0");
    const first = taskLine(newTask("good-1"));
    const last = taskLine(newTask("good-3"));
    // Nearly as long as a line may be, and of the kind that takes most memory as text: two bytes for each character.
    const large = taskLine(newTask("large", { exceptionMessage: `🙂${"x".repeat(longestLine - 1000)}` }));
    const file = openSync(dataFile, "w");
    writeSync(file, first);
    const longLength = writeLong(file, 'dead_task:long:"');
    writeSync(file, taskLine(newTask("both")));
    writeSync(file, large);
    const validEnd = first.length + longLength + taskLine(newTask("both")).length + large.length;
    const bothLength = writeLong(file, 'dead_task:both:"');
    const brokenLength = writeLong(file, 'dead_task:broken:"', 1);
    writeSync(file, last);
    for (let left = longMebibytes; left > 0; left--) writeSync(file, chunk);
    closeSync(file);
    const log = openSync(join(directory, "deferred-0-20260101-1-a"), "w");
    writeSync(log, logAddLine("waiting", null, dumpString(contextOfSyncInvoice)));
    writeLong(log, 'add:long:0:"');
    closeSync(log);
    // What follows the line to be removed stays as it is, but for the corrupt line and the torn tail, which no compaction keeps.
    const expected = crc32(last, checksumBetween(dataFile, first.length, validEnd + bothLength));

    // As a program of its own, so that its memory is its own.
    const script = join(__dirname, "longLineChild.ts");
    const parameters = ["--max-old-space-size=256", "--import", "tsx", script, directory];
    const report = JSON.parse(execFileSync(process.execPath, parameters, { encoding: "utf8" })) as LongLineReport;

    assert.deepEqual(report.listed, [
      { id: "good-1", message: "message of good-1 17" },
      { id: "both", message: "message of both 15" },
      { id: "large", message: `🙂${"x".repeat(18)} ${mebibyte - 1}` },
      { id: "good-3", message: "message of good-3 17" },
    ]);
    assert.deepEqual(report.indexed, ["good-1", "both", "large", "good-3"]);
    assert.deepEqual(report.unreadable, [{ id: "long", reason: "larger than 32 MiB", length: longLength }]);
    assert.deepEqual(report.damage, { lines: 1, bytes: brokenLength, tornTailBytes: longMebibytes * chunk.length });
    assert.deepEqual(report.indexDamage, report.damage);
    assert.deepEqual(report.found, ["unreadable", "task", "task"], "an older readable line of an id stands for it");
    assert.equal(report.raw.start, ':dead_task:long:"\\x00\\');
    assert.ok(report.raw.length > mebibyte && report.raw.length < mebibyte + 100);
    assert.deepEqual(report.pending, ["waiting"]);
    assert.equal(report.pendingDamage.lines, 1);
    assert.deepEqual(report.removed, ["good-1"]);
    assert.deepEqual(report.left, ["long", "both", "large", "good-3"]);
    const { size } = statSync(dataFile);
    assert.equal(size, validEnd - first.length + bothLength + last.length);
    assert.equal(checksumBetween(dataFile, 0, size), expected, "what was not removed is copied byte for byte");
    assert.ok(report.peakBytes < mostBytes, `${report.peakBytes} bytes`);
  });
});
