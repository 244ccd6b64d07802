/**
 * Characters that hide themselves or turn others about, made visible: controls, overrides of the writing direction, spaces
 * without width. Runs in the webview.
 */

/** A stretch of text. `hidden`: what it really is, where `shown` only stands for it; null for text that shows itself. */
export interface VisibleRun {
  readonly shown: string;
  readonly hidden: { readonly original: string; readonly name: string } | null;
}

// Everything of Unicode's categories for control, format and the unassigned, but for what a page lays out well by itself:
// newline and tab. Line separators and fillers beside: they show as nothing. Whole surrogate pairs are not `Cs`.
const hiding = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;

const names = new Map<number, string>([
  [0x00, "NULL"],
  [0x07, "BELL"],
  [0x08, "BACKSPACE"],
  [0x0b, "LINE TABULATION"],
  [0x0c, "FORM FEED"],
  [0x0d, "CARRIAGE RETURN"],
  [0x1b, "ESCAPE"],
  [0x7f, "DELETE"],
  [0x85, "NEXT LINE"],
  [0xad, "SOFT HYPHEN"],
  [0x061c, "ARABIC LETTER MARK"],
  [0x200b, "ZERO WIDTH SPACE"],
  [0x200c, "ZERO WIDTH NON-JOINER"],
  [0x200d, "ZERO WIDTH JOINER"],
  [0x200e, "LEFT-TO-RIGHT MARK"],
  [0x200f, "RIGHT-TO-LEFT MARK"],
  [0x2028, "LINE SEPARATOR"],
  [0x2029, "PARAGRAPH SEPARATOR"],
  [0x202a, "LEFT-TO-RIGHT EMBEDDING"],
  [0x202b, "RIGHT-TO-LEFT EMBEDDING"],
  [0x202c, "POP DIRECTIONAL FORMATTING"],
  [0x202d, "LEFT-TO-RIGHT OVERRIDE"],
  [0x202e, "RIGHT-TO-LEFT OVERRIDE"],
  [0x2060, "WORD JOINER"],
  [0x2066, "LEFT-TO-RIGHT ISOLATE"],
  [0x2067, "RIGHT-TO-LEFT ISOLATE"],
  [0x2068, "FIRST STRONG ISOLATE"],
  [0x2069, "POP DIRECTIONAL ISOLATE"],
  [0xfeff, "ZERO WIDTH NO-BREAK SPACE"],
]);

const letters = new Map<number, string>([
  [0x07, "a"],
  [0x08, "b"],
  [0x0b, "v"],
  [0x0c, "f"],
  [0x0d, "r"],
  [0x1b, "e"],
]);

/** The text in stretches that, shown one after another, hide nothing. A text without such characters is one stretch. */
export function visibleRuns(text: string): VisibleRun[] {
  const runs: VisibleRun[] = [];
  let end = 0;
  for (const match of text.matchAll(hiding)) {
    const [original] = match;
    if (isJoined(text, match.index, original)) continue;
    if (match.index > end) runs.push({ shown: text.slice(end, match.index), hidden: null });
    runs.push({ shown: symbolOf(original), hidden: { original, name: nameOf(original) } });
    end = match.index + original.length;
  }
  if (end < text.length) runs.push({ shown: text.slice(end), hidden: null });
  return runs;
}

/** The same as plain text, for where there is only one style. */
export function visibleText(text: string): string {
  return visibleRuns(text)
    .map(({ shown }) => shown)
    .join("");
}

/** A joiner does its honest work between letters beyond ASCII, and within an emoji of several. */
function isJoined(text: string, index: number, original: string): boolean {
  if (original !== "\u200c" && original !== "\u200d") return false;
  const before = /[^\0-\x7f]$/u.exec(text.slice(Math.max(0, index - 2), index))?.[0] ?? "";
  const after = /^[^\0-\x7f]/u.exec(text.slice(index + 1, index + 3))?.[0] ?? "";
  const joins = /^[\p{L}\p{M}\p{So}\p{Sk}]$/u;
  return joins.test(before) && joins.test(after);
}

/** The escape that a Rubyist would write: pictures of controls (`␛`) are missing in many fonts. */
function symbolOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const letter = letters.get(code);
  if (letter !== undefined) return `\\${letter}`;
  const hex = code.toString(16).toUpperCase();
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const name = names.get(code);
  return name === undefined ? number : `${number} ${name}`;
}
