import type { Random } from "./random";

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where the parts of a well-formed Marshal stream stand. */
interface Tokens {
  /** Offsets of type bytes. */
  readonly types: readonly number[];
  /** Lengths, counts and small Integers. */
  readonly longs: readonly Span[];
  /** The numbers of links to objects and to symbols. */
  readonly links: readonly Span[];
  /** Whole values, those within others included. */
  readonly values: readonly Span[];
}

/** Reads no more of the format than where one part ends and the next begins, independently of the module under test. */
class Scanner {
  readonly types: number[] = [];
  readonly longs: Span[] = [];
  readonly links: Span[] = [];
  readonly values: Span[] = [];
  #at = 2;

  constructor(readonly bytes: Buffer) {}

  value(): void {
    const start = this.#at;
    this.types.push(start);
    const type = String.fromCharCode(this.#byte());
    if ('":fcmM'.includes(type)) this.#bytes();
    else if (type === "i") this.#long(this.longs);
    else if (";@".includes(type)) this.#long(this.links);
    else if (type === "[") this.#times(1);
    else if (type === "{") this.#times(2);
    else if (type === "l") {
      this.#byte();
      this.#at += 2 * this.#long(this.longs);
    } else if (type === "/") {
      this.#bytes();
      this.#byte();
    } else if (type === "}") {
      this.#times(2);
      this.value();
    } else if ("So".includes(type)) {
      this.value();
      this.#times(2);
    } else if ("UdeC".includes(type)) {
      this.value();
      this.value();
    } else if (type === "u") {
      this.value();
      this.#bytes();
    } else if (type === "I") {
      this.value();
      this.#times(2);
    } else if (!"0TF".includes(type)) {
      throw new Error(`no such type: ${type}`);
    }
    this.values.push({ start, end: this.#at });
  }

  #times(size: number): void {
    for (let left = size * this.#long(this.longs); left > 0; left--) this.value();
  }

  #bytes(): void {
    this.#at += this.#long(this.longs);
  }

  #byte(): number {
    const byte = this.bytes[this.#at++];
    if (byte === undefined) throw new Error("the stream ends");
    return byte;
  }

  #long(spans: Span[]): number {
    const start = this.#at;
    const first = (this.#byte() << 24) >> 24;
    let value = first > 4 ? first - 5 : first < -4 ? first + 5 : 0;
    if (first > 0 && first < 5) for (let index = 0; index < first; index++) value += this.#byte() * 256 ** index;
    if (first < 0 && first > -5) this.#at -= first;
    spans.push({ start, end: this.#at });
    return value;
  }
}

/** Null where the stream is not well-formed, be it by earlier mutations. */
function scan(bytes: Buffer): Tokens | null {
  const scanner = new Scanner(bytes);
  try {
    scanner.value();
    return scanner;
  } catch {
    return null;
  }
}

/** A number as Marshal writes it, in `width` bytes or as few as it needs. */
export function long(value: number, width?: number): Buffer {
  if (width === undefined) {
    if (value === 0) return Buffer.of(0);
    if (value > 0 && value < 123) return Buffer.of(value + 5);
    if (value < 0 && value > -124) return Buffer.of((value - 5) & 0xff);
  }
  const size = width ?? [1, 2, 3].find((bytes) => (value < 0 ? value >= -(256 ** bytes) : value < 256 ** bytes)) ?? 4;
  const bytes = Buffer.alloc(size + 1);
  bytes[0] = value < 0 ? 256 - size : size;
  for (let index = 0, rest = value; index < size; index++, rest = Math.floor(rest / 256))
    bytes[index + 1] = rest & 0xff;
  return bytes;
}

const typeBytes = Buffer.from('0TFil"/[{}fSodUueCcmM:;I@', "latin1");
const extremes = [0, 1, -1, 4, 5, 122, 123, 255, 256, -123, -124, -256, 65_535, 65_536, 2 ** 24 - 1, 2 ** 24, 2 ** 30];
const largest = [2 ** 30 - 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, -(2 ** 30), -(2 ** 31)];

function put(bytes: Buffer, { start, end }: Span, inserted: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(end)]);
}

function anyLong(random: Random): Buffer {
  const value = random.pick(random.oneIn(2) ? extremes : largest);
  return long(value, random.oneIn(4) && Math.abs(value) < 256 ? 1 + random.below(4) : undefined);
}

type TokenMutation = (random: Random, bytes: Buffer, tokens: Tokens, others: readonly Buffer[]) => Buffer;

const mutations: readonly TokenMutation[] = [
  function swapType(random, bytes, { types }) {
    const at = random.pick(types);
    return put(bytes, { start: at, end: at + 1 }, Buffer.of(random.pick([...typeBytes])));
  },
  function extremeNumber(random, bytes, { longs }) {
    return longs.length === 0 ? bytes : put(bytes, random.pick(longs), anyLong(random));
  },
  function retargetLink(random, bytes, { links }) {
    const target = random.oneIn(4) ? anyLong(random) : long(random.below(12));
    return links.length === 0 ? bytes : put(bytes, random.pick(links), target);
  },
  function valueBecomesLink(random, bytes, { values }) {
    const type = Buffer.from(random.pick(["@", "@", ";"]), "latin1");
    return put(bytes, random.pick(values), Buffer.concat([type, long(random.below(values.length))]));
  },
  function otherValue(random, bytes, { values }, others) {
    const other = random.pick(others);
    const tokens = scan(other);
    if (tokens === null) return bytes;
    const { start, end } = random.pick(tokens.values);
    return put(bytes, random.pick(values), other.subarray(start, end));
  },
  function ownValueAgain(random, bytes, { values }) {
    const { start, end } = random.pick(values);
    return put(bytes, random.pick(values), bytes.subarray(start, end));
  },
  function wrap(random, bytes, { values }) {
    const { start, end } = random.pick(values);
    const [before, after] = random.pick(wrappings);
    const wrapped = [Buffer.from(before, "latin1"), bytes.subarray(start, end), Buffer.from(after, "latin1")];
    return put(bytes, { start, end }, Buffer.concat(wrapped));
  },
  function nest(random, bytes, { values }) {
    const { start, end } = random.pick(values);
    const [before, after] = random.pick(wrappings);
    const depth = random.pick([2, 10, 99, 101, 998, 999, 1000, 1001, 5000]);
    const wrapped = [
      Buffer.from(before.repeat(depth), "latin1"),
      bytes.subarray(start, end),
      Buffer.from(after.repeat(depth), "latin1"),
    ];
    return put(bytes, { start, end }, Buffer.concat(wrapped));
  },
];

/** What can stand around a value: containers of one, prefixes, variables after it. */
const wrappings: readonly (readonly [before: string, after: string])[] = [
  ["[\x06", ""],
  ["{\x060", ""],
  ["{\x06", "0"],
  ["}\x00", ""],
  ["I", "\x06:\x06ET"],
  ["I", "\x06;\x00T"],
  ["e:\x06M", ""],
  ["C:\x06C", ""],
  ["C:\x09Hash", ""],
  ["U:\x0dRational", ""],
  ["d:\x06D", ""],
  ["o:\x06O\x06:\x07@a", ""],
  ["o;\x00\x06;\x00", ""],
  ["S:\x06S\x06:\x06a", ""],
  ["o:\x08Set\x06:\x0a@hash", ""],
  ["o:\x0aRange\x08:\x09exclF:\x0abegini\x06:\x08end", ""],
];

/** One to three mutations that keep most of a Marshal stream well-formed; null where it was not to begin with. */
export function mutateTokens(random: Random, stream: Buffer, others: readonly Buffer[]): Buffer | null {
  let mutated = stream;
  for (let left = 1 + random.below(3); left > 0; left--) {
    const tokens = scan(mutated);
    if (tokens === null) return mutated === stream ? null : mutated;
    mutated = random.pick(mutations)(random, mutated, tokens, others);
  }
  return mutated;
}
