import assert from "node:assert/strict";
import {
  arrayElementSpans,
  dumpString,
  inspect,
  readMarshal,
  toRubyArguments,
  toRubyKeywords,
  toRubyLiteral,
  undumpString,
  writeMarshal,
  type RubyValue,
} from "../../src/marshal";
import { dumpedRecords, streams } from "./corpus";
import { StreamGenerator, maskedNames, secret } from "./generate";
import { mutateBytes } from "./mutate";
import { mutateTokens } from "./marshalTokens";
import type { Random } from "./random";
import { readOrRefused, type Target } from "./target";

/** A stream of the corpus or from scratch, mutated with and without knowledge of the format. */
export function mutatedStream(random: Random, corpus: readonly Buffer[]): Buffer {
  const stream = random.oneIn(3) ? new StreamGenerator(random).stream() : random.pick(corpus);
  if (random.oneIn(10)) return stream;
  const mutated = random.oneIn(3) ? null : mutateTokens(random, stream, corpus);
  return mutated !== null && !random.oneIn(8) ? mutated : mutateBytes(random, mutated ?? stream, corpus);
}

const isMasked = (name: string): boolean => maskedNames.some((masked) => name.includes(masked));

/** Every text that is made of a tree; each within its limit. */
function printAll(value: RubyValue): void {
  for (const maxLength of [1, 80, 10_000]) {
    const text = inspect(value, { maxLength });
    assert.ok(text.length <= maxLength, `${text.length} of ${maxLength} characters`);
  }
  toRubyLiteral(value);
  if (value.type === "array") toRubyArguments(value);
  if (value.type === "hash") toRubyKeywords(value);
}

const dump: Target = {
  name: "String#dump",
  runs: { short: 3_000, long: 100_000 },
  make(random) {
    if (random.oneIn(6)) return random.bytes(random.below(60));
    return mutateBytes(random, random.pick(dumpedRecords), dumpedRecords);
  },
  check(input) {
    assert.ok(input.equals(undumpString(dumpString(input))), "any bytes survive being dumped");
    const bytes = readOrRefused(() => undumpString(input));
    if (bytes === null) return false;
    assert.ok(bytes.length <= input.length);
    assert.ok(Buffer.from(undumpString(dumpString(bytes))).equals(bytes));
    return true;
  },
};

const marshal: Target = {
  name: "Marshal",
  operations: 4,
  runs: { short: 6_000, long: 350_000 },
  make: (random) => mutatedStream(random, streams),
  check(input) {
    const before = Buffer.from(input);
    const value = readOrRefused(() => readMarshal(input));
    if (value === null) {
      assert.equal(
        readOrRefused(() => arrayElementSpans(input)),
        null,
      );
      return false;
    }
    const written = writeMarshal(value);
    assert.ok(before.subarray(0, written.length).equals(written), "what was read is written back byte for byte");
    const spans = arrayElementSpans(input);
    if (spans !== null) {
      assert.ok(value.type === "array" && value.elements.length === spans.length);
      let end = spans[0]?.start ?? 0;
      for (const span of spans) {
        assert.ok(span.start === end && span.end > span.start && span.end <= input.length);
        end = span.end;
      }
    }
    assert.ok(before.equals(input), "the input is left as it was");
    return true;
  },
};

const text: Target = {
  name: "inspect and literals",
  operations: 3,
  runs: { short: 3_000, long: 150_000 },
  make: (random) => mutatedStream(random, streams),
  check(input) {
    const value = readOrRefused(() => readMarshal(input));
    if (value === null) return false;
    // The time is taken for an input, and a large one has enough in what is printed of it in earnest.
    if (input.length < 100_000) printAll(value);
    inspect(value, { isMasked });
    // Its callers make none of a larger value.
    if (input.length < 4 << 20) toRubyLiteral(value, { isMasked });
    return true;
  },
};

const masking: Target = {
  name: "masking",
  runs: { short: 4_000, long: 60_000 },
  make: (random) => new StreamGenerator(random).stream(),
  check(input) {
    const value = readOrRefused(() => readMarshal(input));
    if (value === null) return false;
    const texts = [inspect(value, { isMasked }), toRubyLiteral(value, { isMasked })];
    if (value.type === "array") texts.push(toRubyArguments(value, { isMasked }));
    if (value.type === "hash") texts.push(toRubyKeywords(value, { isMasked }));
    for (const shown of texts) assert.ok(!shown.includes(secret), shown);
    return true;
  },
};

export const marshalTargets: readonly Target[] = [dump, marshal, text, masking];
