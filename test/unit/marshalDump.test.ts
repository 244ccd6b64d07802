import assert from "node:assert/strict";
import { dumpString, MarshalError, undumpString } from "../../src/marshal";

const dumped = (text: string): string => Buffer.from(dumpString(Buffer.from(text, "latin1"))).toString("latin1");
const undumped = (text: string): string => Buffer.from(undumpString(Buffer.from(text, "latin1"))).toString("latin1");

describe("dumpString", () => {
  it("escapes as String#dump does", () => {
    const cases: [string, string][] = [
      ["", '""'],
      ["plain ~", '"plain ~"'],
      ["\x07\x08\t\n\x0b\f\r\x1b", '"\\a\\b\\t\\n\\v\\f\\r\\e"'],
      ['"\\', '"\\"\\\\"'],
      ["#{ #$ #@ # #x", '"\\#{ \\#$ \\#@ # #x"'],
      ["##{", '"#\\#{"'],
      ["ends in #", '"ends in #"'],
      ["\0\x7f\x80\xff", '"\\x00\\x7F\\x80\\xFF"'],
    ];
    for (const [text, expected] of cases) {
      assert.equal(dumped(text), expected);
      assert.equal(undumped(expected), text);
    }
  });

  it("is undone for every byte beside every other", () => {
    const bytes = Buffer.alloc(2 * 256 * 256);
    for (let index = 0; index < 256 * 256; index++) bytes.writeUInt16BE(index, index * 2);
    const ascii = dumpString(bytes);
    assert.ok(ascii.every((byte) => byte >= 0x20 && byte < 0x7f));
    assert.deepEqual(Buffer.from(undumpString(ascii)), bytes);
  });

  it("reads views of larger buffers, and keeps no larger one than it needs", () => {
    const whole = Buffer.from('xx"\\x04\\b0"yy');
    const bytes = undumpString(whole.subarray(2, -2));
    assert.deepEqual([...bytes], [4, 8, 0x30]);
    assert.ok(undumpString(dumpString(Buffer.alloc(100_000))).buffer.byteLength < 200_000);
  });
});

describe("undumpString", () => {
  it("refuses what String#dump does not write", () => {
    const cases: [string, number][] = [
      ["", 0],
      ['"', 0],
      ["abc", 0],
      ['abc"', 0],
      ['"abc', 4],
      ['"abc\\"', 6],
      ['"a"b"', 2],
      ['"a"', -1],
      ['"\\x4"', 1],
      ['"\\xG0"', 1],
      ['"\\x', 1],
      ['"\\q"', 1],
      ['"\\0"', 1],
      ['"\\u00e9"', 1],
      ['"\\x41" ', 5],
      ['"\xe9"', 1],
      ['"a\0"', 2],
      ['"a".dup.force_encoding("UTF-16LE")', 2],
    ];
    for (const [text, offset] of cases) {
      if (offset === -1) {
        assert.equal(undumped(text), "a");
        continue;
      }
      assert.throws(
        () => undumped(text),
        (error) => error instanceof MarshalError && error.code === "invalid" && error.offset === offset,
        text,
      );
    }
  });
});
