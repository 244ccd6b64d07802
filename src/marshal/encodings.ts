import type { InstanceVariable, RubyRegexp, RubyString, RubySymbol, RubyUserDefined } from "./values";

/** UTF-8 text; what is not UTF-8 stands as U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return bufferOf(bytes).toString("utf8");
}

/** One character for each byte. */
export function latin1Of(bytes: Uint8Array): string {
  return bufferOf(bytes).toString("latin1");
}

/** The same bytes as a Buffer, without copying. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * The name of the value's encoding: "UTF-8", "US-ASCII", "ASCII-8BIT", or the text of its `encoding` variable. Without
 * any, a symbol is US-ASCII (or, of other bytes, binary), a string or a regexp binary.
 */
export function encodingOf(value: RubyString | RubySymbol | RubyRegexp | RubyUserDefined): string {
  for (const variable of value.instanceVariables) {
    if (isEncodingVariable(variable)) {
      const { value: encoding } = variable;
      if (encoding.type === "boolean") return encoding.value ? "UTF-8" : "US-ASCII";
      if (encoding.type === "string") return latin1Of(encoding.bytes);
    }
  }
  return value.type === "symbol" && isAscii(value.bytes) ? "US-ASCII" : "ASCII-8BIT";
}

/** Bytes. Ruby knows no encoding of a longer name; without a limit a name of megabytes could be gone through for each string. */
const LONGEST_ENCODING_NAME = 64;

/**
 * Whether a variable is one that stands for the encoding (`E` or `encoding`), and no variable of the object's own. The name
 * of an encoding is a plain string: one with variables could hide a value in them.
 */
export function isEncodingVariable({ name, value }: InstanceVariable): boolean {
  const { bytes } = name;
  if (bytes.length === 1) return bytes[0] === 0x45 && value.type === "boolean";
  if (value.type !== "string" || value.instanceVariables.length > 0 || !spells(bytes, "encoding")) return false;
  return value.bytes.length <= LONGEST_ENCODING_NAME;
}

/** Whether the bytes are this ASCII text. Costs nothing where they are of another length, however long. */
export function spells(bytes: Uint8Array, text: string): boolean {
  return bytes.length === text.length && latin1Of(bytes) === text;
}

export function isAscii(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte > 0x7f) return false;
  return true;
}

/** How the bytes of an encoding fall into characters, as Ruby's own tables have it. */
export interface CharacterSet {
  /** Bytes of the character at `at`, or 0 where none starts there. */
  readonly length: (bytes: Uint8Array, at: number) => number;
  /** The number that Ruby prints for a character. */
  readonly codePoint: (bytes: Uint8Array, at: number, length: number) => number;
  /** Numbers are Unicode's, and print as `\u`. */
  readonly unicode: boolean;
  /** Printable ASCII prints as itself. */
  readonly showsAscii: boolean;
  /** The smallest character, which is the step over an invalid byte. */
  readonly unit: 1 | 2 | 4;
}

type Ranges = readonly (readonly [number, number])[];
/** Legal values of each byte of a character, by position. */
type Shape = readonly Ranges[];

const HIGH: Ranges = [[0xa1, 0xfe]];
const EUC: readonly Shape[] = [[HIGH, HIGH]];
const EUC_JP: readonly Shape[] = [...EUC, [[[0x8e, 0x8e]], HIGH], [[[0x8f, 0x8f]], HIGH, HIGH]];
const SHIFT_JIS: readonly Shape[] = [
  [[[0xa1, 0xdf]]],
  [
    [
      [0x81, 0x9f],
      [0xe0, 0xfc],
    ],
    [
      [0x40, 0x7e],
      [0x80, 0xfc],
    ],
  ],
];
const GBK_PAIR: Shape = [
  [[0x81, 0xfe]],
  [
    [0x40, 0x7e],
    [0x80, 0xfe],
  ],
];
const LONE_80: Shape = [[[0x80, 0x80]]];
const BIG5: readonly Shape[] = [
  [
    HIGH,
    [
      [0x40, 0x7e],
      [0xa1, 0xfe],
    ],
  ],
];
const GB18030_FOUR: Shape = [[[0x81, 0xfe]], [[0x30, 0x39]], [[0x81, 0xfe]], [[0x30, 0x39]]];
const CP949_PAIR: Shape = [
  [[0x81, 0xfe]],
  [
    [0x41, 0x5a],
    [0x61, 0x7a],
    [0x81, 0xfe],
  ],
];

const MULE_TAIL: Ranges = [[0xa0, 0xff]];
const MULE: readonly Shape[] = [
  [[[0x81, 0x8f]], MULE_TAIL],
  [[[0x90, 0x99]], MULE_TAIL, MULE_TAIL],
  [[[0x9a, 0x9b]], [[0xe0, 0xef]], MULE_TAIL],
  [[[0x9c, 0x9c]], [[0xf0, 0xf4]], MULE_TAIL, MULE_TAIL],
  [[[0x9d, 0x9d]], [[0xf5, 0xfe]], MULE_TAIL, MULE_TAIL],
];

/** Encodings of more than one byte a character, by upper-case name. Established with Ruby's `valid_encoding?`. */
const MULTIBYTE = new Map<string, readonly Shape[]>([
  ...["SHIFT_JIS", "WINDOWS-31J", "CP932", "MACJAPANESE", "SJIS-DOCOMO", "SJIS-KDDI", "SJIS-SOFTBANK"].map(
    (name) => [name, SHIFT_JIS] as const,
  ),
  ...["EUC-JP", "EUCJP-MS", "CP51932", "EUC-JIS-2004"].map((name) => [name, EUC_JP] as const),
  ...["GB2312", "GB12345", "EUC-KR"].map((name) => [name, EUC] as const),
  ...["BIG5", "CP950", "CP951", "BIG5-HKSCS", "BIG5-UAO"].map((name) => [name, BIG5] as const),
  ...["EMACS-MULE", "STATELESS-ISO-2022-JP", "STATELESS-ISO-2022-JP-KDDI"].map((name) => [name, MULE] as const),
  ["GBK", [LONE_80, GBK_PAIR]],
  ["CP949", [LONE_80, CP949_PAIR]],
  ["GB18030", [GBK_PAIR, GB18030_FOUR]],
  ["EUC-TW", [...EUC, [[[0x8e, 0x8e]], [[0xa1, 0xb0]], HIGH, HIGH]]],
]);

/** Stateful and other encodings that Ruby knows by name alone, and of which it prints every byte escaped. */
const DUMMY = /^(?:ISO-2022-JP(?:-2|-KDDI)?|CP5022[01]|UTF-7|IBM037)$/;

/** How Ruby cuts text of the named encoding into characters. An unknown name is taken for single bytes. */
export function characterSetOf(name: string): CharacterSet {
  const upper = name.toUpperCase();
  if (upper === "UTF-8" || upper.startsWith("UTF8-") || upper === "CESU-8") return UTF_8;
  if (upper.startsWith("UTF-16") || upper.startsWith("UTF-32")) return wideCharacterSet(upper);
  const shapes = MULTIBYTE.get(upper);
  if (shapes) return multibyteCharacterSet(shapes);
  return DUMMY.test(upper) ? DUMMY_BYTES : SINGLE_BYTES;
}

const oneByte = (): number => 1;
const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0;
const SINGLE_BYTES: CharacterSet = { length: oneByte, codePoint: byteAt, unicode: false, showsAscii: true, unit: 1 };
const DUMMY_BYTES: CharacterSet = { ...SINGLE_BYTES, showsAscii: false };

const UTF_8: CharacterSet = {
  length: utf8Length,
  codePoint: (bytes, at, length) =>
    length === 1
      ? byteAt(bytes, at)
      : (bufferOf(bytes)
          .toString("utf8", at, at + length)
          .codePointAt(0) ?? 0),
  unicode: true,
  showsAscii: true,
  unit: 1,
};

/** Bytes of the well-formed UTF-8 character at `at` (Unicode's table 3-7), or 0. */
export function utf8Length(bytes: Uint8Array, at: number): number {
  const first = byteAt(bytes, at);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + length > bytes.length) return 0;
  const second = byteAt(bytes, at + 1);
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let index = 2; index < length; index++) {
    if ((byteAt(bytes, at + index) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

function multibyteCharacterSet(shapes: readonly Shape[]): CharacterSet {
  return {
    length(bytes, at) {
      if (byteAt(bytes, at) < 0x80) return 1;
      const shape = shapes.find((candidate) =>
        candidate.every((ranges, index) => {
          const byte = bytes[at + index];
          return byte !== undefined && ranges.some(([low, high]) => byte >= low && byte <= high);
        }),
      );
      return shape?.length ?? 0;
    },
    codePoint(bytes, at, length) {
      let value = 0;
      for (let index = 0; index < length; index++) value = value * 256 + byteAt(bytes, at + index);
      return value;
    },
    unicode: false,
    showsAscii: true,
    unit: 1,
  };
}

/** Ruby compares as signed numbers, and so takes those with the top bit for characters, too. */
function isUtf32Character(signed: number): boolean {
  return signed <= 0x10ffff && !(signed < 0x10000 && ((signed >> 8) & 0xf8) === 0xd8);
}

/** UTF-16 and UTF-32, big-endian where the name does not say. */
function wideCharacterSet(upper: string): CharacterSet {
  const wide = upper.startsWith("UTF-32");
  const unit = wide ? 4 : 2;
  const little = upper.endsWith("LE");
  const unitAt = (source: Uint8Array, at: number): number => {
    let value = 0;
    for (let index = 0; index < unit; index++) {
      value = value * 256 + byteAt(source, at + (little ? unit - 1 - index : index));
    }
    return value;
  };
  const isSurrogate = (value: number, from: number): boolean => value >= from && value < from + 0x400;
  return {
    length(source, at) {
      if (at + unit > source.length) return 0;
      const first = unitAt(source, at);
      if (wide) return isUtf32Character(first | 0) ? 4 : 0;
      if (isSurrogate(first, 0xdc00)) return 0;
      if (!isSurrogate(first, 0xd800)) return 2;
      return at + 4 <= source.length && isSurrogate(unitAt(source, at + 2), 0xdc00) ? 4 : 0;
    },
    codePoint(source, at, length) {
      const first = unitAt(source, at);
      if (wide || length === 2) return first;
      return 0x10000 + (first - 0xd800) * 0x400 + (unitAt(source, at + 2) - 0xdc00);
    },
    unicode: true,
    showsAscii: true,
    unit,
  };
}
