import { MarshalError } from "./errors";

const QUOTE = 0x22;
const HASH = 0x23;
const BACKSLASH = 0x5c;
const HEX_MARK = 0x78;

/** The letter of each short escape, by the byte that it stands for. */
const SHORT_ESCAPES: readonly (readonly [byte: number, letter: string])[] = [
  [0x07, "a"],
  [0x08, "b"],
  [0x09, "t"],
  [0x0a, "n"],
  [0x0b, "v"],
  [0x0c, "f"],
  [0x0d, "r"],
  [0x1b, "e"],
  [QUOTE, '"'],
  [BACKSLASH, "\\"],
];

/** By byte: how many bytes stand for it in a dumped string (1, 2 or 4). `#` depends on what follows and counts as 1. */
const WIDTHS = new Uint8Array(256).fill(4);
/** By byte: the letter of its short escape. */
const LETTERS = new Uint8Array(256);
/** By byte: whether it stands for itself in a dumped string, whatever comes before and after. */
export const PLAIN = new Uint8Array(256).fill(1, 0x01, 0x80);
/** By byte: whether String#dump writes it as it is, whatever comes after. */
const ITSELF = new Uint8Array(256).fill(1, 0x20, 0x7f);
/** By letter: the byte that the short escape stands for, or 0. No escape stands for NUL. */
export const ESCAPED = new Uint8Array(256);
/** By digit: its value, or 255. */
export const HEX_VALUES = new Uint8Array(256).fill(255);
const HEX_DIGITS = Buffer.from("0123456789ABCDEF", "latin1");

PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;
for (const byte of [QUOTE, HASH, BACKSLASH]) ITSELF[byte] = 0;
WIDTHS.fill(1, 0x20, 0x7f);
for (const [byte, letter] of SHORT_ESCAPES) {
  WIDTHS[byte] = 2;
  LETTERS[byte] = letter.charCodeAt(0);
  ESCAPED[letter.charCodeAt(0)] = byte;
}
ESCAPED[HASH] = HASH;
for (const digits of ["0123456789ABCDEF", "0123456789abcdef"]) {
  for (let value = 0; value < 16; value++) HEX_VALUES[digits.charCodeAt(value)] = value;
}

/** Whether a `#` before this byte would start an interpolation: `{`, `$` or `@`. */
function interpolates(byte: number | undefined): boolean {
  return byte === 0x7b || byte === 0x24 || byte === 0x40;
}

/** Ruby's `String#dump` of a binary string: ASCII bytes, both quotes included. */
export function dumpString(bytes: Uint8Array): Uint8Array {
  let length = 2;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    length += WIDTHS[byte] ?? 0;
    if (byte === HASH && interpolates(bytes[index + 1])) length++;
  }
  const output = Buffer.allocUnsafe(length);
  output[0] = QUOTE;
  let at = 1;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    if (ITSELF[byte] === 1) {
      output[at++] = byte;
    } else if (byte === HASH) {
      if (interpolates(bytes[index + 1])) output[at++] = BACKSLASH;
      output[at++] = byte;
    } else {
      output[at++] = BACKSLASH;
      const letter = LETTERS[byte] ?? 0;
      if (letter !== 0) {
        output[at++] = letter;
      } else {
        output[at++] = HEX_MARK;
        output[at++] = HEX_DIGITS[byte >> 4] ?? 0;
        output[at++] = HEX_DIGITS[byte & 15] ?? 0;
      }
    }
  }
  output[at] = QUOTE;
  return output;
}

/**
 * The bytes that a dumped string stands for. Takes what `String#dump` writes of binary strings, and like
 * `String#undump` also hexadecimal digits in lower case, `#` unescaped and stray control bytes. `\u` and every escape
 * that dump never writes are refused, for what stands there cannot be what was stored.
 *
 * @throws MarshalError `invalid`, with the offset in `ascii`.
 */
export function undumpString(ascii: Uint8Array): Uint8Array {
  const last = ascii.length - 1;
  if (last < 1 || ascii[0] !== QUOTE) throw invalid("a dumped string starts with a double quote", 0);
  const output = Buffer.allocUnsafe(last - 1);
  let length = 0;
  let at = 1;
  while (at <= last) {
    const byte = ascii[at] ?? 0;
    if (PLAIN[byte] === 1) {
      output[length++] = byte;
      at++;
    } else if (byte === BACKSLASH) {
      const letter = ascii[at + 1];
      if (letter === HEX_MARK) {
        const high = HEX_VALUES[ascii[at + 2] ?? 0] ?? 255;
        const low = HEX_VALUES[ascii[at + 3] ?? 0] ?? 255;
        if (high > 15 || low > 15) throw invalid("an escape \\x lacks its two hexadecimal digits", at);
        output[length++] = high * 16 + low;
        at += 4;
      } else {
        const escaped = letter === undefined ? 0 : (ESCAPED[letter] ?? 0);
        if (escaped === 0) throw invalid("an escape that Ruby's String#dump never writes", at);
        output[length++] = escaped;
        at += 2;
      }
    } else if (byte === QUOTE) {
      if (at !== last) throw invalid("a double quote stands unescaped before the end", at);
      // A copy where most of the room was escapes: what is kept of it may be kept for long.
      return length * 2 < output.length ? Buffer.from(output.subarray(0, length)) : output.subarray(0, length);
    } else {
      throw invalid("a dumped string holds ASCII alone", at);
    }
  }
  throw invalid("a dumped string lacks its closing quote", ascii.length);
}

function invalid(message: string, offset: number): MarshalError {
  return new MarshalError("invalid", message, offset);
}
