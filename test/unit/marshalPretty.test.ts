import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { inspect, inspectLines, readMarshal, type RubyArray, type RubyValue } from "../../src/marshal";

function read(body: string): RubyValue {
  return readMarshal(Buffer.from(`\x04\x08${body}`, "latin1"));
}

/** What Ruby itself writes for these expressions. */
function rubyStreams<Name extends string>(expressions: Record<Name, string>): Record<Name, Buffer> {
  const program = 'JSON.parse(STDIN.read).each_value { |code| puts [Marshal.dump(eval(code))].pack("m0") }';
  const output = execFileSync("ruby", ["-rjson", "-e", program], {
    input: JSON.stringify(expressions),
    encoding: "utf8",
  });
  const lines = output.trim().split("\n");
  const streams = Object.keys(expressions).map((name, index) => [name, Buffer.from(lines[index]!, "base64")]);
  return Object.fromEntries(streams) as Record<Name, Buffer>;
}

const streams = rubyStreams({
  nested: '["a", {locale: :en, "key" => [1, 2.5], nil => {}}, []]',
  keys: '{"a b": 1, [1] => 2, /x/ => 3..4}',
  secrets: '{password: {deep: 1}, "api_token" => "t", user: {name: "Ada"}}',
  struct: 'Struct.new("Point", :x, :secret).new(1, [2])',
  object: "o = Object.new; o.instance_variable_set(:@a, [1]); o.instance_variable_set(:@token, 2); o",
  set: 'require "set"; Set[1, [2]]',
  oneLine:
    'require "date"; [Time.utc(2026, 1, 2), Date.new(2026, 1, 2), 3r, Complex(1, 2), 1..2, RuntimeError.new("boom")]',
  cycle: "a = [1]; a << a; h = {a: a}; h[:h] = h; h",
});

describe("inspectLines", () => {
  const text = (name: keyof typeof streams, isMasked?: (name: string) => boolean): string =>
    inspectLines(readMarshal(streams[name]), isMasked === undefined ? {} : { isMasked });

  it("puts each part on a line of its own", () => {
    assert.equal(
      text("nested"),
      [
        "[",
        '  "a",',
        "  {",
        "    locale: :en,",
        '    "key" => [',
        "      1,",
        "      2.5,",
        "    ],",
        "    nil => {},",
        "  },",
        "  [],",
        "]",
      ].join("\n"),
    );
  });

  it("keeps a key on the line of its value, whatever it is", () => {
    assert.equal(text("keys"), '{\n  "a b": 1,\n  [1] => 2,\n  /x/ => 3..4,\n}');
  });

  it("masks what inspect masks", () => {
    const isMasked = (name: string): boolean => /password|token|secret/.test(name);
    assert.equal(
      text("secrets", isMasked),
      '{\n  password: [FILTERED],\n  "api_token" => [FILTERED],\n  user: {\n    name: "Ada",\n  },\n}',
    );
    assert.equal(text("struct", isMasked), "#<struct Struct::Point\n  x=1,\n  secret=[FILTERED],\n>");
    assert.equal(text("object", isMasked), "#<Object\n  @a=[\n    1,\n  ],\n  @token=[FILTERED],\n>");
  });

  it("prints sets by their elements, and what has no parts as inspect does", () => {
    assert.equal(text("set"), "#<Set: {\n  1,\n  [\n    2,\n  ],\n}>");
    const value = readMarshal(streams.oneLine);
    assert.ok(value.type === "array");
    assert.deepEqual(
      text("oneLine").split("\n").slice(1, -1),
      value.elements.map((element) => `  ${inspect(element)},`),
    );
  });

  it("cuts a value within itself", () => {
    assert.equal(text("cycle"), "{\n  a: [\n    1,\n    [...],\n  ],\n  h: {...},\n}");
  });

  it("has the very characters of inspect, but for the white space and the commas at the ends of lines", () => {
    const bare = (printed: string): string => printed.replace(/[\s,]/g, "");
    for (const name of ["nested", "keys", "secrets", "struct", "object", "set", "oneLine"] as const) {
      assert.equal(bare(text(name)), bare(inspect(readMarshal(streams[name]))), name);
    }
  });

  it("is cut after a whole line, and stays short and quick, whatever a stream stands for", () => {
    let value = read("i\x06");
    for (let level = 0; level < 60; level++) {
      const inner = value;
      const elements = Array.from({ length: 10 }, () => inner);
      value = { type: "array", elements, instanceVariables: [], extendedBy: [], userClass: null } satisfies RubyArray;
    }
    const cut = inspectLines(value, { maxLength: 10_000 });
    assert.ok(cut.endsWith("\n…") && cut.length < 11_000, String(cut.length));
    const key = { type: "symbol", bytes: Buffer.alloc(1_000_000, "k"), instanceVariables: [] } as const;
    const entries = Array.from({ length: 50_000 }, () => [key, value] as const);
    const hash: RubyValue = {
      type: "hash",
      entries,
      defaultValue: null,
      comparesByIdentity: false,
      instanceVariables: [],
      extendedBy: [],
      userClass: null,
    };
    const started = performance.now();
    assert.ok(inspectLines(hash, { maxLength: 10_000 }).length < 60_000);
    assert.ok(performance.now() - started < 2_000);
  });
});
