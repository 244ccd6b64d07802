import { isUtf8 } from "node:buffer";
import { encodingOf, inspect, quote, textOf, timeOf, type RubyValue } from "../marshal";
import type { Place } from "./valueParts";
import type { ContentSize, ValueContent } from "./valueProtocol";

/** Characters of a preview. */
export const previewLength = 200;
/** What of a long value is shown at first, and what more at once: characters of text, bytes of a dump. */
const firstCharacters = 1_000;
const bytesAtOnce = 1_024;
/** Nobody reads more in a tree. */
const mostCharacters = 1_000_000;
/** Bytes of a binary string that are looked at to see whether it is text. */
const looked = 4_096;
const bytesALine = 16;

/** What can be read of a value at length; null where its preview is all of it. */
export function contentSize(place: Place): ContentSize | null {
  const bytes = rawBytes(place);
  if (bytes !== null) return { kind: "bytes", size: bytes.length };
  const text = longText(place);
  return text === null ? null : { kind: "text", size: text.length };
}

/** A stretch of it: text always from the beginning, a dump from the byte `from` on. Null where there is no content. */
export function contentOf(place: Place, from: number): ValueContent | null {
  const bytes = rawBytes(place);
  if (bytes !== null) {
    const start = Math.min(from - (from % bytesALine), bytes.length);
    const end = Math.min(start + bytesAtOnce, bytes.length);
    return { kind: "bytes", text: hexDump(bytes, start, end), end, size: bytes.length, more: end < bytes.length };
  }
  const text = longText(place);
  if (text === null) return null;
  const most = from === 0 ? firstCharacters : mostCharacters;
  const shown = text.length <= most ? text : text.slice(0, most).replace(unfinishedEscape, "");
  const more = from === 0 && shown.length < text.length;
  return { kind: "text", text: brokenIntoLines(shown), end: shown.length, size: text.length, more };
}

const unfinishedEscape = /[\ud800-\udbff]$|(?<!\\)(?:\\\\)*\\(?:x[\dA-F]?|u[\dA-F]{0,3}|u?\{[\dA-F]*)?$/;

/** Ruby text stays what it is, and yet a line of the value begins a line. */
function brokenIntoLines(text: string): string {
  return text.replace(/\\(.)/g, (escape, letter) => (letter === "n" ? "\\n\n" : escape));
}

/** Bytes that are not text: a binary string, one that is not what its encoding says, the `_dump` of an unknown class. */
function rawBytes(place: Place): Uint8Array | null {
  if (place.type === "user-defined") {
    const isKnown = timeOf(place) !== null || textOf(place.className.bytes) === "BigDecimal";
    return isKnown || place.bytes.length === 0 ? null : place.bytes;
  }
  if (place.type !== "string") return null;
  const encoding = encodingOf(place);
  if (encoding === "UTF-8") return isUtf8(place.bytes) ? null : place.bytes;
  return encoding === "ASCII-8BIT" && !isPrintable(place.bytes.subarray(0, looked)) ? place.bytes : null;
}

function isPrintable(bytes: Uint8Array): boolean {
  return bytes.every((byte) => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d));
}

/** Texts of long strings, for as long as these are in use: the size is asked for at each rendering. */
const longTexts = new WeakMap<RubyValue, string>();

/** Ruby text of a single value that a preview cuts or that has several lines. */
function longText(place: Place): string | null {
  if (place.type === "string") {
    if (place.bytes.length <= previewLength / 4 && !place.bytes.includes(0x0a)) return null;
    return remembered(place, () => {
      const text = quote(place.bytes, encodingOf(place), mostCharacters).slice(1, -1);
      return text.length > previewLength - 2 || text.includes("\\n") ? text : "";
    });
  }
  if (place.type !== "symbol" && place.type !== "regexp" && place.type !== "integer") return null;
  return remembered(place, () => {
    const text = inspect(place, { maxLength: mostCharacters });
    return text.length > previewLength ? text : "";
  });
}

function remembered(value: RubyValue, make: () => string): string | null {
  const text = longTexts.get(value) ?? make();
  longTexts.set(value, text);
  return text === "" ? null : text;
}

/** `00000010  68 65 6c 6c 6f …  |hello|` */
function hexDump(bytes: Uint8Array, start: number, end: number): string {
  const lines: string[] = [];
  for (let at = start; at < end; at += bytesALine) {
    const row = [...bytes.subarray(at, Math.min(at + bytesALine, end))];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(3 * bytesALine - 1)}  ${text}`);
  }
  return lines.join("\n");
}
