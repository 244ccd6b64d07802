import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import {
  deadTaskLine,
  frameLine,
  checksumOf,
  logAddLine,
  parseDeadTaskLine,
  parseLogLine,
} from "../../../src/storage/frames";

function framed(payload: string): Buffer {
  return Buffer.from(`${crc32(Buffer.from(payload, "latin1")).toString(16).padStart(8, "0")}:${payload}`, "latin1");
}

describe("frames", () => {
  it("writes the checksum as eight lowercase digits, zero-padded, and a newline", () => {
    // Found by trying: payloads whose CRC-32 begins with zeros.
    const small = Array.from({ length: 5000 }, (_, number) => `dead_task:${number}:"x"`).find(
      (payload) => crc32(Buffer.from(payload)) < 0x00100000,
    );
    assert.ok(small !== undefined);
    const line = frameLine(Buffer.from(small)).toString("latin1");
    assert.match(line, /^000[0-9a-f]{5}:dead_task:\d+:"x"\n$/);
    assert.equal(checksumOf(Buffer.from(line.slice(0, -1), "latin1")), crc32(Buffer.from(small)));
  });

  it("refuses upper-case digits, other characters, a wrong place of the colon and a wrong checksum", () => {
    const payload = 'dead_task:1-1-1:"x"';
    const line = framed(payload).toString("latin1");
    assert.match(line, /^[0-9]*[a-f]/, "the sample must have a letter for its upper case to differ");
    assert.equal(parseDeadTaskLine(Buffer.from(line, "latin1"))?.id, "1-1-1");
    const digits = line.slice(0, 8);
    for (const broken of [
      `${digits.toUpperCase()}:${payload}`,
      `${digits.slice(1)}:${payload}`,
      `0${digits}:${payload}`,
      ` ${digits.slice(1)}:${payload}`,
      `+${digits.slice(1)}:${payload}`,
      `${digits};${payload}`,
      `${digits}:${payload} `,
      `${digits}:`,
      digits,
      "",
    ]) {
      assert.equal(parseDeadTaskLine(Buffer.from(broken, "latin1")), null, broken);
    }
  });

  it("takes as a dead task only that operation with an id and a dumped part", () => {
    for (const payload of [
      'dead_task::"x"',
      "dead_task:1-1-1",
      "dead_task:",
      "rem:1-1-1",
      'add:1:0:"x"',
      'dead_tasks:1:"x"',
    ]) {
      assert.equal(parseDeadTaskLine(framed(payload)), null, payload);
    }
    const frame = parseDeadTaskLine(framed('dead_task:a\xff-1:"x:y"'));
    assert.deepEqual(frame, {
      checksum: frame?.checksum,
      // A byte that is not UTF-8 stands as a lone surrogate.
      id: "a\udcff-1",
      dumpedAt: 24,
    });
  });

  it("reads what it writes", () => {
    const line = deadTaskLine("1767225637-1-1", Buffer.from('"x"'));
    assert.deepEqual(parseDeadTaskLine(line.subarray(0, -1)), {
      checksum: Number.parseInt(line.toString("latin1", 0, 8), 16),
      id: "1767225637-1-1",
      dumpedAt: line.indexOf('"x"'),
    });
    const add = logAddLine("1-1-1", 4102444800, Buffer.from('"y"')).subarray(0, -1);
    assert.match(add.toString(), /^[0-9a-f]{8}:add:1-1-1:4102444800:"y"$/);
    assert.deepEqual(parseLogLine(add), {
      operation: "add",
      id: "1-1-1",
      publishAt: 4102444800,
      dumped: Buffer.from('"y"'),
    });
    assert.match(logAddLine("1-1-1", null, Buffer.from('"y"')).toString(), /^[0-9a-f]{8}:add:1-1-1:0:"y"\n$/);
  });

  it("reads the lines of a log and refuses those that Rage would skip", () => {
    assert.deepEqual(parseLogLine(framed("rem:1-1-1")), { operation: "rem", id: "1-1-1" });
    assert.deepEqual(parseLogLine(framed('add:1-1-1:0:"y:z"')), {
      operation: "add",
      id: "1-1-1",
      publishAt: null,
      dumped: Buffer.from('"y:z"'),
    });
    for (const payload of [
      "add:1-1-1",
      "add:1-1-1:0",
      'add:1-1-1:soon:"y"',
      'add:1-1-1:-5:"y"',
      'dead_task:1:"y"',
      "rem",
    ]) {
      assert.equal(parseLogLine(framed(payload)), null, payload);
    }
    assert.equal(parseLogLine(Buffer.from('deadbeef:add:1-1-1:0:"x"')), null);
  });
});
