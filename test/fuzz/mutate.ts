import type { Random } from "./random";

/** Bytes at which readers change their minds: ends of ranges, quotes, escapes, separators, Marshal's types. */
const interestingBytes = [
  ...Buffer.from('\0\x01\x04\x05\x08\x0a\x7f\x80\xfa\xfb\xfc\xff"\\#x:;@[]{}0TFilfSodUueCcmMI/,\n', "latin1"),
];

function splice(bytes: Buffer, start: number, end: number, inserted: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(end)]);
}

function range(random: Random, length: number): [start: number, end: number] {
  const start = random.below(length + 1);
  const most = random.oneIn(3) ? length - start : Math.min(length - start, 16);
  return [start, start + random.below(most + 1)];
}

type Mutation = (random: Random, bytes: Buffer, others: readonly Buffer[]) => Buffer;

function change(random: Random, bytes: Buffer, byteAt: (before: number) => number): Buffer {
  if (bytes.length === 0) return bytes;
  const changed = Buffer.from(bytes);
  const place = random.below(bytes.length);
  changed[place] = byteAt(changed[place]!);
  return changed;
}

const mutations: readonly Mutation[] = [
  (random, bytes) => change(random, bytes, (before) => before ^ (1 << random.below(8))),
  (random, bytes) => change(random, bytes, () => random.pick(interestingBytes)),
  (random, bytes) => change(random, bytes, (before) => before + (random.oneIn(2) ? 1 : -1)),
  // Cut short.
  (random, bytes) => bytes.subarray(0, random.below(bytes.length + 1)),
  // A part left out, doubled, or put in from elsewhere.
  (random, bytes) => splice(bytes, ...range(random, bytes.length), Buffer.alloc(0)),
  (random, bytes) => {
    const [start, end] = range(random, bytes.length);
    const part = bytes.subarray(start, end);
    return splice(bytes, end, end, Buffer.concat(Array.from({ length: 1 + random.below(3) }, () => part)));
  },
  (random, bytes, others) => {
    const other = random.pick(others);
    return splice(bytes, ...range(random, bytes.length), other.subarray(...range(random, other.length)));
  },
  (random, bytes) => splice(bytes, ...range(random, bytes.length), random.bytes(1 + random.below(8))),
];

/** One to four mutations that know nothing of the format. `others`: where spliced parts come from. */
export function mutateBytes(random: Random, bytes: Buffer, others: readonly Buffer[]): Buffer {
  let mutated = bytes;
  for (let left = 1 + random.below(4); left > 0; left--) mutated = random.pick(mutations)(random, mutated, others);
  return mutated;
}
