import assert from "node:assert/strict";
import { inspect, readMarshal, toRubyLiteral, writeMarshal } from "../../src/marshal";
import type { RubyArray, RubyValue } from "../../src/marshal";

type Mutable<Node> = { -readonly [Key in keyof Node]: Node[Key] };

function read(body: string, maxDepth?: number): RubyValue {
  return readMarshal(Buffer.from(`\x04\x08${body}`, "latin1"), maxDepth === undefined ? {} : { maxDepth });
}

const printed = (body: string): string => inspect(read(body));

/** Arrays of ten links to the one before each: a few hundred bytes that stand for 10^`levels` values. */
function laughs(levels: number): RubyValue {
  const leaf: RubyValue = read('[\x06I"\x08lol\x06:\x06ET');
  let value = leaf;
  for (let level = 0; level < levels; level++) {
    value = {
      type: "array",
      elements: Array.from({ length: 10 }, () => value),
      instanceVariables: [],
      extendedBy: [],
      userClass: null,
    };
  }
  return value;
}

/** A chain in which each of many arrays, none of them deep in the stream, holds the one before. */
function chain(count: number): RubyValue {
  const arrays: Mutable<RubyArray>[] = Array.from({ length: count }, () => ({
    type: "array",
    elements: [],
    instanceVariables: [],
    extendedBy: [],
    userClass: null,
  }));
  for (let index = 1; index < count; index++) arrays[index]!.elements = [arrays[index - 1]!];
  const root = read("[\x00");
  assert.equal(root.type, "array");
  // Through the stream, where the first comes first, so that no array in it is more than two levels deep.
  const again = readMarshal(writeMarshal({ ...root, elements: arrays }));
  assert.equal(again.type, "array");
  return again.elements.at(-1)!;
}

describe("inspect", () => {
  it("prints what the fixtures do not have", () => {
    const cases: [string, string][] = [
      ["[\x06@\x00", "[[...]]"],
      ["{\x06:\x06a@\x00", "{a: {...}}"],
      ["}\x06:\x06ai\x06i\x07", "{a: 1}"],
      ["S:\x06S\x06:\x06x@\x00", "#<struct S x=#<struct S:...>>"],
      ["S:\x06S\x07:\x07a?i\x06:\x06Bi\x07", "#<struct S :a?=1, B=2>"],
      ["S:\x06S\x00", "#<struct S >"],
      ["o:\x06O\x06:\x07@a@\x00", "#<O @a=#<O ...>>"],
      ["o:\x06O\x00", "#<O>"],
      ["o:\x06O\x06:\x07_a0", "#<O>"],
      ["U:\x06M[\x06@\x00", "#<M [#<M ...>]>"],
      ["d:\x06D0", "#<D nil>"],
      ["u:\x06U\x07\xe9a", '#<U "\\xE9a">'],
      ["Iu:\x06U\x07\xc3\xa9\x06:\x06ET", '#<U "é">'],
      ["u:\x09Time\x06a", '#<Time "a">'],
      ["u:\x0fBigDecimal\x09junk", '#<BigDecimal "junk">'],
      ["U:\x0dRational[\x06i\x06", "#<Rational [1]>"],
      ["U:\x0cComplex[\x07i\x06[\x00", "#<Complex [1, []]>"],
      ["U:\x09Date[\x06i\x06", "#<Date [1]>"],
      ["o:\x08Set\x06:\x0a@hash}\x06i\x06TF", "#<Set: {1}>"],
      ["o:\x08Set\x06:\x0a@hash}\x06@\x00TF", "#<Set: {#<Set: {...}>}>"],
      ["o:\x08Set\x06:\x0a@hash{\x06i\x06i\x07", "#<Set @hash={1 => 2}>"],
      ["o:\x0aRange\x08:\x09exclF:\x0abegin@\x00:\x08end0", "(... .. ...).."],
      ['o:\x0cIOError\x07:\x09mesgI"\x08a\nb\x06:\x06ET:\x07bt0', '#<IOError:"a\\nb">'],
      ["o:\x0cIOError\x07:\x09mesg0:\x07bt0", "#<IOError: IOError>"],
      ["o:\x0cIOError\x07:\x09mesg[\x00:\x07bt0", "#<IOError>"],
      ['{\x06I"\x06a\x06:\x06ETi\x06', '{"a" => 1}'],
      ["{\x06:\x08a=bi\x06", '{"a=b": 1}'],
      ["{\x07:\x08if!i\x06:\x06+i\x07", '{if!: 1, "+": 2}'],
      ["f\x0a1e-05", "1.0e-05"],
      ["c\x0bString", "String"],
      ["M\x0bString", "String"],
      ["/\x07\xe9\x01\x20", "/\\xE9\\x01/n"],
    ];
    for (const [body, expected] of cases) assert.equal(printed(body), expected);
  });

  it("masks values by the names before them, wherever they stand", () => {
    const isMasked = (name: string): boolean => name.toLowerCase().includes("secret");
    const cases: [string, string][] = [
      ['{\x06:\x0bsecretI"\x06x\x06:\x06ET', "{secret: [FILTERED]}"],
      ['{\x06I"\x0dA Secret\x06:\x06ET[\x06i\x06', '{"A Secret" => [FILTERED]}'],
      ["[\x06{\x06:\x06a{\x06:\x0bsecreti\x06", "[{a: {secret: [FILTERED]}}]"],
      ["S:\x06S\x06:\x0bsecreti\x06", "#<struct S secret=[FILTERED]>"],
      ["o:\x06O\x06:\x0c@secreti\x06", "#<O @secret=[FILTERED]>"],
      ["U:\x06M{\x06:\x0bsecreti\x06", "#<M {secret: [FILTERED]}>"],
      ["{\x06i\x06:\x0bsecret", "{1 => :secret}"],
    ];
    for (const [body, expected] of cases) {
      assert.equal(inspect(read(body), { isMasked }), expected);
      assert.ok(!printed(body).includes("FILTERED"));
    }
  });

  it("cuts a long text, between characters", () => {
    assert.equal(inspect(read("[\x08i\x06i\x07i\x08"), { maxLength: 9 }), "[1, 2, 3]");
    assert.equal(inspect(read("[\x08i\x06i\x07i\x08"), { maxLength: 8 }), "[1, 2, …");
    assert.equal(inspect(read("i\x06"), { maxLength: 1 }), "1");
    assert.equal(inspect(read("T"), { maxLength: 1 }), "…");
    const smiles = read(`I"\x0d${"\xf0\x9f\x99\x82".repeat(2)}\x06:\x06ET`);
    assert.equal(inspect(smiles, { maxLength: 6 }), '"🙂🙂"');
    assert.equal(inspect(smiles, { maxLength: 5 }), '"🙂…');
    assert.equal(inspect(smiles, { maxLength: 4 }), '"🙂…');
    assert.equal(inspect(smiles, { maxLength: 3 }), '"…');
  });

  it("shows the beginning of a long string without looking at the rest", () => {
    for (const encoding of ["UTF-8", "ASCII-8BIT", "Shift_JIS"]) {
      const string = read(`I"\x00\x06:\x0dencoding"${String.fromCharCode(encoding.length + 5)}${encoding}`);
      assert.equal(string.type, "string");
      const long = { ...string, bytes: Buffer.alloc(50_000_000, "日本é") };
      const started = performance.now();
      const text = inspect(long, { maxLength: 100 });
      assert.ok(performance.now() - started < 200, encoding);
      assert.equal(text.length, 100);
    }
  });

  it("ends for what would be endless: sharing, nesting, and both", () => {
    const started = performance.now();
    const text = inspect(laughs(30));
    assert.equal(text.length, 500_000);
    assert.ok(text.startsWith("[[[[") && text.endsWith("…"));
    assert.equal(inspect(laughs(30), { maxLength: 1000 }).length, 1000);

    const deep = inspect(read(`${"[\x06".repeat(100_000)}0`, 200_000));
    assert.equal(deep, `${"[".repeat(100_000)}nil${"]".repeat(100_000)}`);
    assert.equal(inspect(chain(100_000)).length, 200_000);
    assert.ok(performance.now() - started < 10_000);
  });
});

/** Streams of a megabyte in which what is long is met very often: the time must not be the product of the two. */
function repetitive(): RubyValue[] {
  const count = 100_000;
  const many = "\x03\xa0\x86\x01";
  const name = `:${many}${"n".repeat(count)}`;
  const string = `I"${many}${"s".repeat(count)}\x06:\x06ET`;
  const hidden = `o:\x06O${many}:\x07_a0${";\x060".repeat(count - 1)}`;
  const encodings = `I"\x00${many}:\x06ET${";\x00T".repeat(count - 1)}`;
  return [
    read(`[${many}${name}${";\x00".repeat(count - 1)}`),
    read(`S:\x06S${many}${name}0${";\x060".repeat(count - 1)}`),
    read(`{${many}${name}0${";\x000".repeat(count - 1)}`),
    read(`[${many}${string}${"@\x06".repeat(count - 1)}`),
    read(`[${many}${hidden}${"@\x06".repeat(count - 1)}`),
    read(`[${many}${encodings}${"@\x06".repeat(count - 1)}`),
    read(
      `[${many}Iu:\x09Time\x0d${"\xff".repeat(8)}${many}:\x06a0${";\x060".repeat(count - 1)}${"@\x06".repeat(count - 1)}`,
    ),
  ];
}

describe("long things in many places", () => {
  for (const [index, value] of repetitive().entries()) {
    it(`cost no more than they print (${index + 1})`, () => {
      const started = performance.now();
      assert.ok(inspect(value).length <= 500_000);
      assert.equal(inspect(value, { maxLength: 100, isMasked: (name) => name === "x" }).length, 100);
      const literal = toRubyLiteral(value);
      assert.ok(literal.length < 8_000_000);
      writeMarshal(value);
      const took = performance.now() - started;
      assert.ok(took < 8000, `${took} ms`);
    });
  }
});

describe("toRubyLiteral", () => {
  it("writes what one would type", () => {
    const cases: [string, string][] = [
      ["0", "nil"],
      ["[\x08TFi\xfa", "[true, false, -1]"],
      ["l+\x09\x00\x00\x00\x00\x00\x00\x00\x80", "9223372036854775808"],
      ["[\x0af\x081.5f\x08inff\x09-inff\x08nanf\x07-0", "[1.5, Float::INFINITY, -Float::INFINITY, Float::NAN, -0.0]"],
      ['I"\x09\xc3\xa9\x00#\x06:\x06ET', '"é\\u0000#"'],
      ['I"\x06a\x06:\x06EF', '"a".dup.force_encoding("US-ASCII")'],
      ['"\x07a\xff', '"a\\xFF".b'],
      ['I"\x07\x93\xfa\x06:\x0dencoding"\x0eShift_JIS', '"\\x93\\xFA".dup.force_encoding("Shift_JIS")'],
      ['{\x08:\x06aI"\x06x\x06:\x06ETi\x06i\x07:\x08a bi\x08', '{a: "x", 1 => 2, "a b": 3}'],
      ["[\x07:\x08a bI:\x07\xc3\xa9\x06:\x06ET", '[:"a b", :é]'],
      ["o:\x0aRange\x08:\x09exclT:\x0abegini\x06:\x08end0", "(1...nil)"],
      ["I/\x08a/b\x05\x06:\x06EF", "/a\\/b/mi"],
      ["U:\x0dRational[\x07i\xfai\x08", "Rational(-1, 3)"],
      ["U:\x0cComplex[\x07i\x06f\x07-0", "Complex(1, -0.0)"],
      ["o:\x08Set\x06:\x0a@hash}\x06i\x06TF", "Set.new([1])"],
      ["u:\x0fBigDecimal\x0e27:0.15e1", 'BigDecimal("0.15e1")'],
      ["U:\x09Date[\x0bi\x00i\x03\xbe\x8e%i\x00i\x00i\x00f\x0c2299161", "Date.new(2026, 11, 29)"],
      ["c\x0cA::Name", "A::Name"],
      // Two references to one string, as `map { { kind: "x" } }` makes them.
      ['[\x07{\x06:\x06kI"\x06x\x06:\x06ET{\x06;\x00@\x07', '[{k: "x"}, {k: "x"}]'],
    ];
    for (const [body, expected] of cases) assert.equal(toRubyLiteral(read(body)), expected);
  });

  it("loads what has no literal, and only that", () => {
    const cases: [string, string][] = [
      ["[\x07i\x06o:\x06O\x00", '[1, Marshal.load("\\x04\\bo:\\x06O\\x00")]'],
      ["S:\x06S\x06:\x06xi\x00", 'Marshal.load("\\x04\\bS:\\x06S\\x06:\\x06xi\\x00")'],
      ["C:\x06A[\x00", 'Marshal.load("\\x04\\bC:\\x06A[\\x00")'],
      ["}\x00i\x00", 'Marshal.load("\\x04\\b}\\x00i\\x00")'],
      ["C:\x09Hash{\x00", 'Marshal.load("\\x04\\bC:\\tHash{\\x00")'],
      ["[\x06@\x00", 'Marshal.load("\\x04\\b[\\x06@\\x00")'],
      ["[\x07[\x06i\x06@\x06", 'Marshal.load("\\x04\\b[\\a[\\x06i\\x06@\\x06")'],
      ["c\x0bsystem", 'Marshal.load("\\x04\\bc\\vsystem")'],
      ["I/\x08#{x\x00\x06:\x06EF", 'Marshal.load("\\x04\\bI/\\b\\#{x\\x00\\x06:\\x06EF")'],
    ];
    for (const [body, expected] of cases) assert.equal(toRubyLiteral(read(body)), expected);
  });

  it("lets nothing in a value become code", () => {
    const evil = '#{`id`} #$x #@y " \\ \n';
    const length = String.fromCharCode(evil.length + 5);
    for (const body of [
      `I"${length}${evil}\x06:\x06ET`,
      `"${length}${evil}`,
      `:${length}${evil}`,
      `{\x06:${length}${evil}0`,
      `c${length}${evil}`,
      `I/${length}${evil}\x00\x06:\x06EF`,
      `o:${length}${evil}\x00`,
    ]) {
      const literal = toRubyLiteral(read(body));
      assert.doesNotMatch(literal, /(?<!\\)#[{$@]/);
      assert.doesNotMatch(literal, /\n/);
    }
    const encoding = 'a")+`id`+("';
    const literal = toRubyLiteral(
      read(`I"\x06x\x06:\x0dencoding"${String.fromCharCode(encoding.length + 5)}${encoding}`),
    );
    assert.match(literal, /^Marshal\.load\("(?:[^"\\]|\\.)*"\)$/);
  });

  it("ends for what is shared or nested without end, and stays as small as its Marshal", () => {
    assert.ok(toRubyLiteral(laughs(30)).length < 3000);
    const deep = toRubyLiteral(read(`${"[\x06".repeat(100_000)}0`, 200_000));
    assert.ok(deep.startsWith("Marshal.load("));
    assert.ok(toRubyLiteral(chain(100_000)).startsWith("Marshal.load("));
  });
});
