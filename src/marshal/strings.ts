import { isUtf8 } from "node:buffer";
import { bufferOf, characterSetOf, encodingOf, isAscii, textOf, utf8Length } from "./encodings";
import type { RubyRegexp, RubyString, RubySymbol, RubyUserDefined } from "./values";

/** What Ruby prints as itself beyond ASCII: everything but controls, line separators, surrogates and the unassigned. */
const PRINTABLE = String.raw`\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Cf}\p{Co}`;
const UNPRINTABLE = new RegExp(`[^${PRINTABLE}]`, "u");
const TO_ESCAPE = new RegExp(`["\\\\]|#(?=[{$@])|[^${PRINTABLE}]`, "gu");

const CONTROLS = new Map<number, string>([
  [0x07, "\\a"],
  [0x08, "\\b"],
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0b, "\\v"],
  [0x0c, "\\f"],
  [0x0d, "\\r"],
  [0x1b, "\\e"],
]);

/** A character by its number, as Ruby escapes it (`rb_str_buf_cat_escaped_char`). */
function escapeNumber(codePoint: number, unicode: boolean): string {
  const hex = codePoint.toString(16).toUpperCase();
  if (unicode) return codePoint < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
  return codePoint < 0x100 ? escapeByte(codePoint) : `\\x{${hex}}`;
}

const BYTE_ESCAPES = Array.from({ length: 256 }, (_, byte) => `\\x${byte.toString(16).toUpperCase().padStart(2, "0")}`);

function escapeByte(byte: number): string {
  return BYTE_ESCAPES[byte] ?? "";
}

function escapeText(text: string): string {
  return text.replace(TO_ESCAPE, (character) => {
    if (character === '"' || character === "\\" || character === "#") return `\\${character}`;
    const codePoint = character.codePointAt(0) ?? 0;
    return CONTROLS.get(codePoint) ?? escapeNumber(codePoint, true);
  });
}

/**
 * Bytes between double quotes, as `String#inspect` prints them for a reader of UTF-8. Of a long string only the
 * beginning is looked at: at least `limit` characters' worth.
 */
export function quote(bytes: Uint8Array, encoding: string, limit = Infinity): string {
  // No character of four bytes or fewer prints as less than one, nor as less than a quarter of its bytes.
  const shown = bytes.length > 4 * limit ? bytes.subarray(0, 4 * limit) : bytes;
  return `"${encoding === "UTF-8" ? quoteUtf8(shown) : quoteOther(shown, encoding)}"`;
}

function quoteUtf8(bytes: Uint8Array): string {
  const buffer = bufferOf(bytes);
  if (isUtf8(buffer)) return escapeText(buffer.toString("utf8"));
  const pieces: string[] = [];
  let valid = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = utf8Length(bytes, at);
    if (length === 0) {
      if (valid < at) pieces.push(escapeText(buffer.toString("utf8", valid, at)));
      pieces.push(escapeByte(bytes[at] ?? 0));
      valid = at + 1;
    }
    at += length || 1;
  }
  if (valid < at) pieces.push(escapeText(buffer.toString("utf8", valid)));
  return pieces.join("");
}

function quoteOther(bytes: Uint8Array, encoding: string): string {
  const characters = characterSetOf(encoding);
  const pieces: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const length = characters.length(bytes, at);
    if (length === 0) {
      for (const byte of bytes.subarray(at, at + characters.unit)) pieces.push(escapeByte(byte));
      at += characters.unit;
      continue;
    }
    const codePoint = characters.codePoint(bytes, at, length);
    at += length;
    const control = CONTROLS.get(codePoint);
    if (control !== undefined) {
      pieces.push(control);
    } else if (characters.showsAscii && codePoint >= 0x20 && codePoint < 0x7f) {
      const character = String.fromCharCode(codePoint);
      let isEscaped = character === '"' || character === "\\";
      if (character === "#") {
        const next = characters.length(bytes, at);
        isEscaped = next > 0 && [0x7b, 0x24, 0x40].includes(characters.codePoint(bytes, at, next));
      }
      pieces.push(isEscaped ? `\\${character}` : character);
    } else {
      pieces.push(escapeNumber(codePoint, characters.unicode));
    }
  }
  return pieces.join("");
}

/** A string, or the bytes of an object with a `_dump`. */
export function quoteString(value: RubyString | RubyUserDefined, limit?: number): string {
  return quote(value.bytes, encodingOf(value), limit);
}

const WORD = String.raw`(?:[A-Za-z_]|[^\0-\x7f])(?:\w|[^\0-\x7f])*`;
const SPECIAL_GLOBAL = String.raw`\$(?:[~*$?!@/\\;,.=:<>"&\x60'+0_]|-(?:\w|[^\0-\x7f])|\d+)`;
const OPERATOR = String.raw`<=>|<=|<<|<|>=|>>|>|=~|===|==|\*\*|\*|\+@|\+|-@|-|[|^&/%~\x60]|\[\]=|\[\]|!=|!~|!`;
/** Names that stand after a colon without quotes (`rb_enc_symname_type`). */
const SYMBOL_NAME = new RegExp(`^(?:${SPECIAL_GLOBAL}|\\$${WORD}|@@?${WORD}|${WORD}[?!=]?|${OPERATOR})$`, "u");
/** Names that a struct shows without quotes: a local's or a constant's. */
const MEMBER_NAME = new RegExp(`^${WORD}$`, "u");

/**
 * The name as text, where it can be printed as it is; null where Ruby puts it between quotes, and where it is too long
 * to be shown whole.
 */
function plainName(symbol: RubySymbol, pattern: RegExp, limit = Infinity): string | null {
  if (symbol.bytes.length > 4 * limit) return null;
  if (!isAscii(symbol.bytes) && encodingOf(symbol) !== "UTF-8") return null;
  const buffer = bufferOf(symbol.bytes);
  if (!isUtf8(buffer)) return null;
  const text = buffer.toString("utf8");
  return pattern.test(text) && !UNPRINTABLE.test(text) ? text : null;
}

function quoteSymbol(symbol: RubySymbol, limit?: number): string {
  return quote(symbol.bytes, encodingOf(symbol), limit);
}

export function inspectSymbol(symbol: RubySymbol, limit?: number): string {
  return `:${plainName(symbol, SYMBOL_NAME, limit) ?? quoteSymbol(symbol, limit)}`;
}

/** A symbol before its value in a hash: `name: `, with quotes where it would not read as a name there. */
export function inspectSymbolKey(symbol: RubySymbol, limit?: number): string {
  const name = plainName(symbol, SYMBOL_NAME, limit);
  const isQuoted = name === null || /^[@$!]|[-+*/`%^&|\]<=>~@]$/.test(name);
  return `${isQuoted ? quoteSymbol(symbol, limit) : name}: `;
}

/** The name of a struct's member before its value. */
export function inspectMemberName(symbol: RubySymbol, limit?: number): string {
  return plainName(symbol, MEMBER_NAME, limit) ?? inspectSymbol(symbol, limit);
}

/**
 * A regexp as `Regexp#inspect` prints it (`rb_reg_desc`): as it is where it can be, else with everything beyond ASCII
 * escaped, too.
 */
export function inspectRegexp(value: RubyRegexp, limit = Infinity): string {
  const encoding = encodingOf(value);
  const bytes = value.bytes.length > 4 * limit ? value.bytes.subarray(0, 4 * limit) : value.bytes;
  const needsEscapes = bytes.some(
    (byte) => byte === 0x2f || byte < 0x20 || byte === 0x7f || (byte > 0x7f && encoding !== "UTF-8"),
  );
  return `/${needsEscapes ? escapeRegexp(bytes, encoding) : textOf(bytes)}/${regexpLetters(value)}`;
}

/** The options after the second slash. */
export function regexpLetters({ options }: RubyRegexp): string {
  return `${options & 4 ? "m" : ""}${options & 1 ? "i" : ""}${options & 2 ? "x" : ""}${options & 32 ? "n" : ""}`;
}

function escapeRegexp(bytes: Uint8Array, encoding: string): string {
  const characters = characterSetOf(encoding);
  const pieces: string[] = [];
  let isEscaped = false;
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at] ?? 0;
    const length = characters.length(bytes, at);
    const isSpace = byte >= 0x09 && byte <= 0x0d;
    if (length === 0) pieces.push(escapeByte(byte));
    else if (byte > 0x7f) pieces.push(escapeNumber(characters.codePoint(bytes, at, length), characters.unicode));
    else if (byte === 0x2f && !isEscaped) pieces.push("\\/");
    else if ((byte >= 0x20 && byte < 0x7f) || isSpace || isEscaped) pieces.push(String.fromCharCode(byte));
    else pieces.push(escapeByte(byte));
    isEscaped = byte === 0x5c && !isEscaped;
    at += length || 1;
  }
  return pieces.join("");
}
