import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { arrayElementSpans, dumpString, undumpString } from "../../src/marshal";
import { contextForReplay, decodeContext } from "../../src/storage/context";
import { checksumOf, frameLine, parseDeadTaskLine, parseLogLine } from "../../src/storage/frames";
import { decodeRecord, encodeRecord } from "../../src/storage/record";
import { frontByDecoding } from "../../src/storage/recordIndex";
import { RecordReader } from "../../src/storage/recordReader";
import { detailOf } from "../../src/service/taskDetail";
import { newTask } from "../support/stores";
import { contexts, deadTaskLines, dumpedRecords, logLines, records, streams } from "./corpus";
import { StreamGenerator, maskedNames } from "./generate";
import { mutatedStream } from "./marshalTargets";
import { mutateTokens } from "./marshalTokens";
import { mutateBytes } from "./mutate";
import type { Random } from "./random";
import { readOrRefused, type Target } from "./target";

const frames: Target = {
  name: "frames",
  runs: { short: 4_000, long: 100_000 },
  make(random) {
    const lines = random.oneIn(2) ? deadTaskLines : logLines;
    const line = random.pick(lines).subarray(0, -1);
    // Half of the time the checksum is that of the mutated payload.
    if (random.oneIn(2)) return mutateBytes(random, line, lines);
    return frameLine(mutateBytes(random, line.subarray(9), lines)).subarray(0, -1);
  },
  check(input) {
    const expected = `${crc32(input.subarray(9)).toString(16).padStart(8, "0")}:`;
    const isValid = input.length > 9 && input.toString("latin1", 0, 9) === expected;
    assert.equal(checksumOf(input) !== null, isValid);
    const task = parseDeadTaskLine(input);
    const log = parseLogLine(input);
    assert.ok(isValid || (task === null && log === null));
    assert.ok(task === null || log === null, "no line is of both kinds");
    if (task !== null) {
      const id = input.subarray(input.indexOf(":", 9) + 1, task.dumpedAt - 1);
      assert.ok(input.toString("latin1", 9, 19) === "dead_task:" && id.length > 0 && !id.includes(":"));
      assert.ok(
        task.id === id.toString("utf8") || task.id.length === id.length,
        "an id is text, or a character a byte",
      );
    }
    if (log?.operation === "add") {
      const time = log.publishAt ?? 0;
      assert.ok(
        Number.isSafeInteger(time) && time >= 0 && input.subarray(input.length - log.dumped.length).equals(log.dumped),
      );
    }
    return task !== null || log !== null;
  },
};

/** The dumped text of a record, mutated as text, as a stream, or with a key's value from scratch. */
export function mutatedRecord(random: Random): Buffer {
  if (random.oneIn(4)) return mutateBytes(random, random.pick(dumpedRecords), dumpedRecords);
  const record = random.pick(records);
  const mutated = random.oneIn(3) ? null : mutateTokens(random, record, random.oneIn(2) ? records : streams);
  return Buffer.from(dumpString(mutated ?? mutateBytes(random, record, records)));
}

const reader = new RecordReader();

const record: Target = {
  name: "records",
  operations: 3,
  runs: { short: 5_000, long: 150_000 },
  make: mutatedRecord,
  check(input) {
    const whole = reader.whole(input);
    const front = reader.front(input);
    const decoded = frontByDecoding(input);
    assert.ok(typeof decoded !== "string" || decoded !== "", "a reason is given");
    // The quick reader may say that it does not know; when it says something, the decoder must say the same.
    if (whole !== null) assert.deepEqual(whole, decoded);
    if (whole !== null) assert.deepEqual(front, whole);
    if (front !== null && typeof decoded !== "string") assert.deepEqual(front, decoded);
    return typeof decoded !== "string";
  },
};

/** A context as Rage's classes would write it, elements from scratch, and as often as not mutated. */
function mutatedContext(random: Random): Buffer {
  if (random.oneIn(2)) return mutatedStream(random, contexts);
  const count = random.oneIn(6) ? random.below(9) : 4 + random.below(4);
  return new StreamGenerator(random).array(
    Array.from({ length: count }, (_, index) => (write) => {
      if (index === 0 && !random.oneIn(10)) write.class("SyncInvoice");
      else if (index === 3 && !random.oneIn(5)) write.raw(random.pick(["0", "i\x06", "i\x03\xff\xff\xff"]));
      else if (random.oneIn(3)) write.raw("0");
      else write.value(4);
    }),
  );
}

const context: Target = {
  name: "contexts",
  runs: { short: 5_000, long: 100_000 },
  make: mutatedContext,
  check(input) {
    const read = readOrRefused(() => decodeContext(input));
    const replayed = readOrRefused(() => contextForReplay(input));
    if (replayed === null) return read !== null;
    assert.ok(read !== null, "only what can be decoded is replayed");
    const span = arrayElementSpans(input)![3]!;
    const expected = [input.subarray(0, span.start), Buffer.from("0"), input.subarray(span.end)];
    assert.ok(Buffer.concat(expected).equals(replayed), "the attempts and nothing else are replaced");
    const again = decodeContext(replayed);
    assert.equal(again.attempts, null);
    // A context that holds itself holds the attempts a second time.
    if (!input.includes("@\0")) assert.deepEqual(again, { ...read, attempts: null });
    return true;
  },
};

const detail: Target = {
  name: "details",
  operations: 3,
  runs: { short: 2_000, long: 40_000 },
  make(random) {
    if (random.oneIn(3)) return mutatedRecord(random);
    return Buffer.from(dumpString(encodeRecord(newTask("1-1-1", { context: mutatedContext(random) }))));
  },
  check(input) {
    const task = readOrRefused(() => decodeRecord(input));
    if (task === null) return false;
    for (const reveal of [true, false]) {
      const shown = detailOf({ id: "1-1-1", ...task }, { reveal, maskedNames });
      assert.equal(shown.context === null, shown.contextError !== null);
      assert.ok(!reveal || !shown.masked);
      // It goes to the editor as a message.
      structuredClone(shown);
    }
    assert.ok(undumpString(input).length >= task.context.length);
    return true;
  },
};

export const recordTargets: readonly Target[] = [frames, record, context, detail];
