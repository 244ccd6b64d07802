import assert from "node:assert/strict";
import { arrayElementSpans, encodingOf, MarshalError, readMarshal, textOf, writeMarshal } from "../../src/marshal";
import type { MarshalErrorCode, RubyValue } from "../../src/marshal";

/** A stream from what follows the version, one character a byte. */
function stream(body: string): Buffer {
  return Buffer.from(`\x04\x08${body}`, "latin1");
}

function read(body: string): RubyValue {
  return readMarshal(stream(body));
}

function refuses(bytes: Uint8Array, code: MarshalErrorCode, offset?: number): void {
  assert.throws(
    () => readMarshal(bytes),
    (error) => {
      assert.ok(error instanceof MarshalError, String(error));
      assert.equal(error.code, code, error.message);
      if (offset !== undefined) assert.equal(error.offset, offset, error.message);
      assert.match(error.message, /^[^\n]+[^.\n]$/);
      return true;
    },
  );
}

function roundTrips(body: string): void {
  const bytes = stream(body);
  assert.equal(Buffer.from(writeMarshal(readMarshal(bytes))).toString("latin1"), bytes.toString("latin1"));
}

describe("readMarshal and writeMarshal", () => {
  it("keep every form that Ruby writes", () => {
    const forms = [
      "0",
      "T",
      "F",
      "i\x00",
      "i\x7f",
      "i\x80",
      "i\x01\x7b",
      "i\x01\xff",
      "i\xff\x84",
      "i\xff\x00",
      "i\x02\x00\x01",
      "i\xfe\xff\xfe",
      "i\x03\xff\xff\xff",
      "i\xfd\x00\x00\x00",
      "i\x04\xff\xff\xff\x3f",
      "i\xfc\x00\x00\x00\xc0",
      "l+\x07\x00\x00\x00\x40",
      "l-\x08\x01\x00\x02\x00\x03\x00",
      "l+\x09\xff\xff\xff\xff\xff\xff\xff\xff",
      "f\x081.5",
      "f\x08inf",
      "f\x09-inf",
      "f\x08nan",
      "f\x07-0",
      "f\x0a1e-05",
      '"\x06x',
      'I"\x06x\x06:\x06ET',
      'I"\x06x\x07:\x06EF:\x08@aai\x06',
      'I"\x07\x93\xfa\x06:\x0dencoding"\x0eShift_JIS',
      "/\x06x\x05",
      "I/\x06x\x10\x06:\x06ET",
      ":\x06x",
      "I:\x07\xc3\xa9\x06:\x06ET",
      'I:\x07\x93\xfa\x06:\x0dencoding"\x0eShift_JIS',
      "[\x08:\x06xI:\x07\xc3\xa9\x06:\x06ET;\x06",
      "[\x07i\x06i\x07",
      "{\x06:\x06ai\x06",
      "}\x06:\x06ai\x06i\x07",
      "C:\x09Hash{\x06:\x06ai\x06",
      "C:\x09SubHC:\x09Hash}\x00i\x00",
      "e:\x06MC:\x09Hash{\x00",
      'C:\x08Sub"\x06x',
      "e:\x06Me:\x06NC:\x08Sub[\x00",
      "I{\x06:\x06ai\x06\x06:\x06KT",
      "o:\x06O\x00",
      "o:\x06O\x07:\x07@a0:\x07@b[\x06@\x00",
      "oI:\x08\xc3\x9cn\x06:\x06ET\x00",
      'oI:\x07\x93\xfa\x06:\x0dencoding"\x0eShift_JIS\x06:\x07@a[\x07@\x00@\x06',
      "Io:\x06R\x08:\x09exclF:\x0abegini\x06:\x08endi\x07\x06:\x07@xi\x00",
      "S:\x06S\x06:\x06xi\x00",
      "IS:\x06S\x06:\x06x@\x00\x06:\x07@qi\x06",
      "u:\x06U\x07ab",
      "Iu:\x06U\x06a\x06:\x06EF",
      'I[\x07Iu:\x06U\x06a\x06:\x06z"\x06x@\x06\x06:\x07@yi\x00',
      "U:\x06M[\x06@\x00",
      "d:\x06D0",
      "c\x0bString",
      "Ic\x08\xc3\x9cn\x06:\x06ET",
      "m\x0fComparable",
      "M\x0bString",
      "[\x07f\x081.5@\x06",
      "[\x07l+\x07\x00\x00\x00\x40@\x06",
    ];
    for (const form of forms) roundTrips(form);
  });

  it("number links as marshal.c does: an object with a _dump takes its place after its variables", () => {
    const root = read('[\x08Iu:\x06U\x06a\x06:\x06z"\x06x@\x06@\x07');
    assert.equal(root.type, "array");
    const [dumped, first, second] = root.elements;
    assert.equal(dumped?.type, "user-defined");
    assert.equal(dumped.instanceVariables[0]?.value, first);
    assert.equal(second, dumped);
  });

  it("make one node of one object, and cycles of cycles", () => {
    const root = read('[\x08"\x06a@\x06@\x00');
    assert.equal(root.type, "array");
    assert.equal(root.elements[0], root.elements[1]);
    assert.equal(root.elements[2], root);
  });

  it("tell floats from integers, and a fixnum from an Integer that takes a place", () => {
    const root = read("[\x08i\x06f\x061l+\x06\x01\x00");
    assert.equal(root.type, "array");
    assert.deepEqual(
      root.elements.map((element) => [element.type, "value" in element ? element.value : null]),
      [
        ["integer", 1n],
        ["float", 1],
        ["integer", 1n],
      ],
    );
  });

  it("read integers of every length exactly", () => {
    for (const value of [2n ** 30n, -(2n ** 30n) - 1n, 2n ** 47n + 3n, 2n ** 48n, -(2n ** 64n), 2n ** 4000n + 1n]) {
      const node: RubyValue = {
        type: "integer",
        value,
        encoding: "bignum",
        instanceVariables: [],
        extendedBy: [],
        userClass: null,
      };
      const again = readMarshal(writeMarshal(node));
      assert.equal(again.type === "integer" && again.value, value);
    }
  });

  it("name encodings", () => {
    const cases: [string, string][] = [
      ['I"\x06x\x06:\x06ET', "UTF-8"],
      ['I"\x06x\x06:\x06EF', "US-ASCII"],
      ['"\x06x', "ASCII-8BIT"],
      ['I"\x06x\x06:\x0dencoding"\x0eShift_JIS', "Shift_JIS"],
      [":\x06x", "US-ASCII"],
      ["I:\x07\xc3\xa9\x06:\x06ET", "UTF-8"],
      ["/\x06x\x00", "ASCII-8BIT"],
      ["I/\x06x\x00\x06:\x06EF", "US-ASCII"],
    ];
    for (const [body, name] of cases) {
      const value = read(body);
      assert.ok(value.type === "string" || value.type === "symbol" || value.type === "regexp");
      assert.equal(encodingOf(value), name);
    }
  });

  it("ignore what follows the value, as Marshal.load does", () => {
    assert.deepEqual(readMarshal(stream("i\x06garbage")), readMarshal(stream("i\x06")));
  });

  it("link symbols by their content where a tree was made by hand", () => {
    const symbol = (): RubyValue => ({ type: "symbol", bytes: Buffer.from("a"), instanceVariables: [] });
    const tree: RubyValue = {
      type: "array",
      elements: [symbol(), symbol()],
      instanceVariables: [],
      extendedBy: [],
      userClass: null,
    };
    assert.equal(Buffer.from(writeMarshal(tree)).toString("latin1"), "\x04\x08[\x07:\x06a;\x00");
  });

  it("give names that mean something to JavaScript no meaning", () => {
    const root = read("{\x07:\x0e__proto__{\x06:\x0dpollutedT:\x10constructori\x06");
    assert.equal(root.type, "hash");
    assert.equal(root.entries.length, 2);
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
    roundTrips("{\x07:\x0e__proto__{\x06:\x0dpollutedT:\x10constructori\x06");
  });
});

describe("readMarshal on hostile data", () => {
  it("says where a stream ends too early, at any byte", () => {
    const whole = stream(
      'I[\x0bI"\x06x\x06:\x06ETl+\x07\x00\x00\x00\x40f\x081.5S:\x06S\x06:\x06xi\x02\x00\x01Iu:\x06U\x06a\x06;\x00FU:\x06M{\x06i\x06@\x06\x06:\x07@xc\x0bString',
    );
    readMarshal(whole);
    for (let length = 0; length < whole.length; length++) refuses(whole.subarray(0, length), "truncated");
  });

  it("takes no other version", () => {
    refuses(Buffer.from("\x04\x090", "latin1"), "version", 0);
    refuses(Buffer.from("\x04\x070", "latin1"), "version", 0);
    refuses(Buffer.from("\x03\x000", "latin1"), "version", 0);
    refuses(Buffer.from("{}", "latin1"), "version", 0);
  });

  it("knows every type there is and no other", () => {
    refuses(stream("x"), "unknown-type", 2);
    refuses(stream("[\x06\x00"), "unknown-type", 4);
    refuses(stream("I\xff"), "unknown-type", 3);
  });

  it("follows no link to nowhere", () => {
    refuses(stream("@\x00"), "bad-link", 2);
    refuses(stream("[\x07i\x06@\x06"), "bad-link", 6);
    refuses(stream("@\xfa"), "bad-link");
    refuses(stream(";\x00"), "bad-link", 2);
    refuses(stream("o;\x06\x00"), "bad-link");
  });

  it("believes no length that the stream cannot hold, and reserves nothing for it", () => {
    const billion = "\x04\x00\x00\x00\x40";
    for (const type of ["[", "{", "}", '"', ":", "l+", "f", "/", "c", "u:\x06U", "S:\x06S", "o:\x06O", 'I"\x00']) {
      refuses(stream(`${type}${billion}${"0".repeat(12)}`), "truncated");
    }
    for (const type of ["[", "{", '"', ":", "l+"]) refuses(stream(`${type}\xfa0`), "invalid");
  });

  it("stops at a depth, whatever nests", () => {
    const count = 100_000;
    for (const unit of [
      "[\x06",
      "{\x06i\x00",
      "{\x06",
      "}\x000",
      "U;\x00",
      "o;\x00\x06;\x00",
      "S;\x00\x06;\x00",
      'I"\x00\x06;\x00',
    ]) {
      const nested = unit.startsWith("}") ? "}\x00".repeat(count) : unit.repeat(count);
      refuses(stream(`[\x07:\x06a${nested}`), "too-deep");
    }
    assert.throws(() => readMarshal(stream("[\x06[\x06[\x00"), { maxDepth: 2 }), { code: "too-deep", offset: 6 });
    readMarshal(stream("[\x06[\x06[\x00"), { maxDepth: 3 });
    readMarshal(stream(`${"[\x06".repeat(999)}[\x00`));
  });

  it("writes what it was allowed to read, however deep", () => {
    const bytes = stream(`${"[\x06".repeat(200_000)}0`);
    assert.deepEqual(Buffer.from(writeMarshal(readMarshal(bytes, { maxDepth: 1_000_000 }))), bytes);
  });

  it("stops at a number of values", () => {
    const zeros = Buffer.concat([stream("[\x03\x40\x42\x0f"), Buffer.alloc(1_000_000, "0")]);
    refuses(zeros, "too-many");
    assert.throws(() => readMarshal(stream("[\x07[\x000"), { maxValues: 2 }), { code: "too-many" });
    readMarshal(stream("[\x07[\x000"), { maxValues: 3 });
    refuses(Buffer.concat([stream("l+\x03\x01\x00\x01"), Buffer.alloc(131_074, 1)]), "too-many");
  });

  it("refuses what Ruby never writes and the tree could not give back", () => {
    const forms = [
      "i\x01\x05",
      "i\x05",
      "i\xfb",
      "i\x02\x05\x00",
      "i\xff\xff",
      "i\xfe\x00\xff",
      '"\x01\x01x',
      "[\x07:\x06a:\x06a",
      'I"\x00\x00',
      "I0\x06:\x06ET",
      "Ii\x06\x06:\x06ET",
      "[\x07[\x00I@\x06\x06:\x06ET",
      "[\x07:\x06aI;\x00\x06:\x06ET",
      'II"\x00\x06:\x06ET\x06;\x00T',
      'C:\x06AI"\x00\x06:\x06ET',
      'C:\x06AC:\x06B"\x00',
      'C:\x06AC:\x09Hash"\x00',
      "C:\x06A0",
      "e:\x06A:\x06b",
      "l+\x07\x01\x00\x00\x00",
      "l-\x00",
      "l*\x06\x01\x00",
      "f\x06x",
      "f\x0a1.5\x00\x01",
      'o"\x06a\x00',
      "I:\x06a\x07:\x06ET:\x06bT",
      "I:\x06a\x06:\x06ki\x00",
    ];
    for (const form of forms) refuses(stream(form), "invalid");
  });

  it("does not hang on symbols within symbols", () => {
    refuses(stream("I:\x06a\x06".repeat(50_000)), "invalid");
  });
});

describe("arrayElementSpans", () => {
  it("gives the bytes of each element", () => {
    const bytes = stream('[\x09c\x08FooI"\x06x\x06:\x06ET[\x07i\x06i\x070');
    const spans = arrayElementSpans(bytes);
    assert.deepEqual(
      spans?.map(({ start, end }) => bytes.toString("latin1", start, end)),
      ["c\x08Foo", 'I"\x06x\x06:\x06ET', "[\x07i\x06i\x07", "0"],
    );
    assert.deepEqual(arrayElementSpans(stream("[\x00")), []);
  });

  it("gives null for anything else than a plain array", () => {
    for (const body of ["0", "{\x00", "I[\x00\x06:\x07@xT", "C:\x06A[\x00", "e:\x06M[\x00", "U:\x06A[\x00"]) {
      assert.equal(arrayElementSpans(stream(body)), null);
    }
  });

  it("throws for a broken stream", () => {
    assert.throws(() => arrayElementSpans(stream("[\x07i\x06")), { code: "truncated" });
    assert.throws(() => arrayElementSpans(stream("{\x07i\x06")), MarshalError);
  });
});

describe("textOf", () => {
  it("puts U+FFFD in place of what is not UTF-8, and keeps a byte-order mark", () => {
    assert.equal(textOf(Buffer.from("\xef\xbb\xbfa\xe9b", "latin1")), "\ufeffa\ufffdb");
  });
});

describe("writeMarshal", () => {
  it("refuses a number that the format cannot hold", () => {
    const fixnum = (value: bigint): RubyValue => ({
      type: "integer",
      value,
      encoding: "fixnum",
      instanceVariables: [],
      extendedBy: [],
      userClass: null,
    });
    assert.throws(() => writeMarshal(fixnum(2n ** 32n)), { code: "invalid", offset: 3 });
    assert.throws(() => writeMarshal(fixnum(-(2n ** 32n) - 1n)), { code: "invalid" });
    roundTrips("i\x04\xff\xff\xff\xff");
    roundTrips("i\xfc\x00\x00\x00\x00");
  });
});
