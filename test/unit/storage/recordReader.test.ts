import assert from "node:assert/strict";
import { dumpString, writeMarshal } from "../../../src/marshal";
import { parseDeadTaskLine } from "../../../src/storage/frames";
import { encodeRecord } from "../../../src/storage/record";
import { RecordReader } from "../../../src/storage/recordReader";
import { frontByDecoding } from "../../../src/storage/recordIndex";
import { array, int, str, symbolHash } from "../../support/ruby";
import { fixtureCases, newTask, referenceLines } from "../../support/stores";

const reader = new RecordReader();

function dumped(stream: Uint8Array): Buffer {
  return Buffer.from(dumpString(stream));
}

/** The quick reader may say that it does not know; when it says something, the full decoder must say the same. */
function assertAgrees(text: Buffer, what: string): { readonly known: boolean } {
  const whole = reader.whole(text);
  const decoded = frontByDecoding(text);
  if (whole !== null) {
    assert.deepEqual(whole, decoded, what);
    assert.deepEqual(reader.front(text), whole, what);
  }
  return { known: whole !== null };
}

describe("the quick reader of records", () => {
  it("says of every line of the fixtures what the full decoder says, and knows most of them", () => {
    let known = 0;
    let count = 0;
    for (const { name, dataFile } of fixtureCases) {
      for (const { bytes } of referenceLines(dataFile).lines) {
        const line = bytes.subarray(0, -1);
        const frame = parseDeadTaskLine(line);
        if (frame === null) continue;
        count += 1;
        assert.deepEqual(reader.whole(line, frame.dumpedAt), reader.whole(line.subarray(frame.dumpedAt)), name);
        if (assertAgrees(line.subarray(frame.dumpedAt), name).known) known += 1;
      }
    }
    assert.ok(count > 250 && known > count * 0.95, `${known} of ${count}`);
  });

  it("agrees about extreme values", () => {
    const times = [0, 1, 122, 123, 255, 256, 65_536, 2 ** 30 - 1, 2 ** 30, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 47];
    for (const time of times) {
      for (const sign of [1, -1]) {
        const record = encodeRecord(
          newTask("1-1-1", { enqueuedAt: sign * time, failedAt: time, attempts: sign * time }),
        );
        assertAgrees(dumped(record), String(time));
      }
    }
    const messages = ["", "x".repeat(70_000), "日本語 🙂", '#{1} #$a #@b "quoted" \\', "\0\x07\x1b\x7f\n"];
    for (const exceptionMessage of messages) {
      const record = encodeRecord(newTask("1-1-1", { exceptionMessage, exceptionClass: null, backtrace: [] }));
      assert.ok(assertAgrees(dumped(record), exceptionMessage.slice(0, 20)).known);
    }
  });

  it("agrees about numbers of every width, those included that are wider than they need be", () => {
    const before = Buffer.from(encodeRecord(newTask("1-1-1", { attempts: 5 })));
    const place = before.indexOf(":\rattempts") + ":\rattempts".length;
    assert.deepEqual([...before.subarray(place, place + 2)], [0x69, 10]);
    for (const width of [1, 2, 3, 4, -1, -2, -3, -4]) {
      for (const first of [0x00, 0x01, 0x7a, 0x7b, 0x84, 0x85, 0xff]) {
        for (const last of [0x00, 0x01, 0x3f, 0x40, 0x7f, 0x80, 0xff]) {
          const number = Buffer.alloc(Math.abs(width), first);
          number[number.length - 1] = number.length === 1 ? first : last;
          const stream = [before.subarray(0, place + 1), Buffer.of(width & 0xff), number, before.subarray(place + 2)];
          assertAgrees(dumped(Buffer.concat(stream)), `${width} ${number.toString("hex")}`);
        }
      }
    }
  });

  it("leaves records of another shape to the full decoder", () => {
    const record = symbolHash({ id: str("1-1-1"), task_class: str("A") });
    for (const value of [record, array(), int(1), str("a")]) {
      const text = dumped(writeMarshal(value));
      assert.equal(reader.whole(text), null);
      assert.equal(reader.front(text), null);
    }
    for (const text of ["", '"', '""', '"\\x04\\b', 'x"', '"\\x04\\b{\\x0E"', '"\\q"', '"\\x0"', "\u{1f}"]) {
      assert.equal(reader.whole(Buffer.from(text)), null, text);
      assert.equal(reader.front(Buffer.from(text)), null, text);
    }
  });

  it("never contradicts the full decoder, whichever byte is damaged and wherever the record ends", () => {
    const record = Buffer.from(encodeRecord(newTask("1-1-1", { exceptionMessage: "a \u00e9 \n b" })));
    const text = dumped(record);
    let known = 0;
    for (let place = 0; place < record.length; place++) {
      for (const bits of [0x01, 0x15, 0x80, 0xff]) {
        const damaged = Buffer.from(record);
        damaged[place] = damaged[place]! ^ bits;
        if (assertAgrees(dumped(damaged), `byte ${place} ^ ${bits}`).known) known += 1;
      }
      assertAgrees(dumped(record.subarray(0, place)), `cut at ${place}`);
    }
    for (let place = 0; place < text.length; place++) {
      const damaged = Buffer.from(text);
      damaged[place] = damaged[place]! ^ 0x02;
      assertAgrees(damaged, `dumped byte ${place}`);
      assertAgrees(text.subarray(0, place), `dumped text cut at ${place}`);
    }
    assert.ok(known > 400, `damage within texts is readable, so many must be known: ${known}`);
  });
});
