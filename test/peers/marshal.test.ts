import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import {
  dumpString,
  inspect,
  MarshalError,
  readMarshal,
  toRubyLiteral,
  undumpString,
  writeMarshal,
} from "../../src/marshal";

const SCRIPT = join(__dirname, "marshalPeer.rb");
const SEED = Number(process.env["MARSHAL_SEED"] ?? 20_260_117);

/** What real Ruby answers, an object for each line that it prints. */
function ruby<Answer>(mode: readonly string[], input: readonly object[] = []): Answer[] {
  const run = spawnSync("ruby", ["-W0", SCRIPT, ...mode], {
    input: input.map((line) => `${JSON.stringify(line)}\n`).join(""),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  assert.equal(run.error, undefined, "Ruby is needed for this test");
  assert.equal(run.status, 0, run.stderr);
  return run.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Answer);
}

const bytesOf = (base64: string): Buffer => Buffer.from(base64, "base64");
const base64Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

describe("Marshal against Ruby", function () {
  this.timeout(120_000);

  /** Values of every kind at random, and others by name. */
  let generated: { marshal: string; dump: string }[];
  let special: { name: string; marshal: string; inspect: string | null }[];
  before(() => {
    generated = ruby(["generate", String(SEED), "3000"]);
    special = ruby(["special"]);
    assert.equal(generated.length, 3000);
    assert.ok(special.length > 25);
  });

  it("writes back byte for byte what Ruby wrote", () => {
    for (const { marshal } of [...generated, ...special]) {
      assert.equal(base64Of(writeMarshal(readMarshal(bytesOf(marshal)))), marshal);
    }
  });

  it("dumps and undumps strings as Ruby does", () => {
    for (const { marshal, dump } of generated) {
      assert.equal(Buffer.from(dumpString(bytesOf(marshal))).toString("base64"), bytesOf(dump).toString("base64"));
      assert.equal(base64Of(undumpString(bytesOf(dump))), marshal);
    }
  });

  it("undumps what Ruby would, where it takes more than dump writes", () => {
    const accepted = ['"\\xe9\\xE9"', '"#{x} #$y \\#\\#{"', '"\x01\t\n\x7f"', '""', '"\\\\\\""'].map((text) =>
      Buffer.from(text),
    );
    const answers = ruby<{ bytes: string }>(
      ["undump"],
      accepted.map((dumped) => ({ dumped: base64Of(dumped) })),
    );
    assert.deepEqual(
      accepted.map((dumped) => base64Of(undumpString(dumped))),
      answers.map(({ bytes }) => bytes),
    );
  });

  it("prints as Ruby does what Ruby 3.4 did not change", () => {
    for (const { name, marshal, inspect: expected } of special) {
      if (expected !== null) assert.equal(inspect(readMarshal(bytesOf(marshal))), expected, name);
    }
  });

  it("prints strings of every encoding as Ruby does", () => {
    const strings = ruby<{ marshal: string; inspect: string }>(["strings", String(SEED), "10000"]);
    assert.equal(strings.length, 10_000);
    for (const { marshal, inspect: expected } of strings) {
      // Ruby before 3.4 takes U+0085 for printable.
      const shown = expected.replaceAll("\u0085", "\\u0085");
      assert.equal(inspect(readMarshal(bytesOf(marshal))), shown, marshal);
    }
  });

  it("escapes the characters that Ruby escapes, but for those that Unicode has assigned since", () => {
    const [answer] = ruby<{ unprintable: [number, number][] }>(["characters"]);
    assert.ok(answer);
    const inRuby = new Set<number>([0x85]);
    for (const [from, to] of answer.unprintable) for (let number = from; number <= to; number++) inRuby.add(number);
    const utf8 = readMarshal(Buffer.from('\x04\bI"\x00\x06:\x06ET', "latin1"));
    assert.equal(utf8.type, "string");
    let newer = 0;
    for (let number = 0x80; number <= 0x10ffff; number++) {
      if (number === 0xd800) number = 0xe000;
      const isEscaped = inspect({ ...utf8, bytes: Buffer.from(String.fromCodePoint(number)) }).includes("\\");
      if (isEscaped === inRuby.has(number)) continue;
      assert.ok(!isEscaped, `U+${number.toString(16)} is printable in Ruby`);
      newer++;
    }
    assert.ok(newer < 20_000, `${newer} characters that Ruby does not know`);
  });

  it("makes literals that Ruby evaluates to the same value", () => {
    const loadable = special.filter(({ name }) => name !== "class outside ASCII");
    const values = [...generated, ...loadable].map(({ marshal }) => ({
      literal: toRubyLiteral(readMarshal(bytesOf(marshal))),
      marshal,
    }));
    const answers = ruby<{ same?: boolean; equal?: boolean; error?: string }>(["evaluate"], values);
    let same = 0;
    for (const [index, answer] of answers.entries()) {
      const value = values[index]!;
      assert.equal(answer.error, undefined, value.literal);
      assert.equal(answer.equal, true, value.literal);
      if (answer.same === true) same++;
      // Where a literal stands for a string that the original had twice, the new Marshal has no link to it.
      else assert.ok(!value.literal.startsWith("Marshal.load"), value.literal);
    }
    assert.equal(answers.length, values.length);
    assert.ok(same > values.length * 0.9, `${same} of ${values.length} are the same to the byte`);
  });

  it("refuses no damaged stream that Ruby loads and writes back as it was", () => {
    // One byte of each value changed: whatever we read must be written as it stood, and whatever Ruby both loads and
    // dumps unchanged must be readable.
    let state = SEED;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const damaged = generated.slice(0, 1500).map(({ marshal }) => {
      const bytes = bytesOf(marshal);
      bytes[2 + random(bytes.length - 2)] = random(256);
      return bytes;
    });
    const answers = ruby<{ again?: string; error?: string }>(
      ["load"],
      damaged.map((bytes) => ({ marshal: base64Of(bytes) })),
    );
    let read = 0;
    for (const [index, bytes] of damaged.entries()) {
      let written: Buffer | null = null;
      try {
        const value = readMarshal(bytes);
        written = Buffer.from(writeMarshal(value));
        // Whatever can be read can be shown, in both ways.
        inspect(value);
        toRubyLiteral(value);
        read++;
      } catch (error) {
        assert.ok(error instanceof MarshalError, String(error));
      }
      if (written) assert.equal(base64Of(written), base64Of(bytes.subarray(0, written.length)));
      if (answers[index]?.again === base64Of(bytes)) assert.ok(written, `Ruby loads ${base64Of(bytes)}`);
    }
    assert.ok(read > 100 && read < damaged.length);
  });
});
