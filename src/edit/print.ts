import { inspectSymbolKey, quote } from "../marshal";
import { makeSymbol } from "../marshal/make";
import { inspectFloat } from "../marshal/numbers";
import { inspectSymbol } from "../marshal/strings";
import type { IsMasked } from "./placeholders";
import type { EditedBytes, EditedCall, EditedEntry, EditedValue, Placeholder } from "./protocol";

/** Characters of a line before it is broken up. */
const longestLine = 100;
/** Placeholders that are listed in a comment. */
const mostListed = 50;
/** What stands for a literal under a masked name. */
const changedSecret = "[FILTERED, changed]";

/** The text that a user edits: what to know of it, and the call. */
export function editableText(call: EditedCall, title: string, placeholders: readonly Placeholder[]): string {
  const header = [
    title,
    "Save to retry the task with what stands here; nothing of it is run before.",
    "Write literals: nil, true, numbers, strings, symbols, arrays, hashes, ranges.",
  ];
  if (placeholders.length > 0) {
    header.push("These names stand for values as they are. Move, remove or replace them:");
    header.push(...listed(placeholders).map((line) => `  ${line}`));
  }
  return `${comment(header)}${printed(call, null)}\n`;
}

/** The text of a call to be compared with another. */
export function comparableText(call: EditedCall, placeholders: readonly Placeholder[], isMasked: IsMasked): string {
  const used = namesIn(call);
  const listing = listed(placeholders.filter(({ name }) => used.has(name)));
  return `${printed(call, isMasked)}\n${listing.length === 0 ? "" : `\n${comment(listing)}`}`;
}

function comment(lines: readonly string[]): string {
  return lines.map((line) => `# ${line}\n`).join("");
}

function listed(placeholders: readonly Placeholder[]): string[] {
  const shown = placeholders.slice(0, mostListed);
  const width = Math.max(0, ...shown.map(({ name }) => name.length));
  const lines = shown.map(({ name, description }) => `${name.padEnd(width)}  ${description}`);
  const left = placeholders.length - shown.length;
  return left === 0 ? lines : [...lines, `and ${left} more`];
}

/** `isMasked` null: everything as it is. */
function printed({ taskClass, args, kwargs }: EditedCall, isMasked: IsMasked | null): string {
  const printer = new Printer(isMasked);
  const parts = [...args.map((value) => printer.lines(value)), ...kwargs.map((entry) => printer.entry(entry))];
  if (parts.length === 0) return `${taskClass}.enqueue()`;
  return [`${taskClass}.enqueue(`, ...parts.flatMap(indented), ")"].join("\n");
}

class Printer {
  readonly #isMasked: IsMasked | null;

  constructor(isMasked: IsMasked | null) {
    this.#isMasked = isMasked;
  }

  lines(value: EditedValue): string[] {
    if (value.kind === "array") {
      return this.#container(
        "[",
        "]",
        value.elements.map((element) => this.lines(element)),
      );
    }
    if (value.kind === "hash") {
      return this.#container(
        "{ ",
        " }",
        value.entries.map((entry) => this.entry(entry)),
      );
    }
    return [this.#leaf(value)];
  }

  entry([key, value]: EditedEntry): string[] {
    const printedValue = this.#hides(key, value) ? [changedSecret] : this.lines(value);
    if (key.kind === "symbol") return joined([], symbolKeyText(key), printedValue);
    const printedKey = this.lines(key);
    return joined(printedKey.slice(0, -1), `${printedKey.at(-1) ?? ""} => `, printedValue);
  }

  #hides(key: EditedValue, value: EditedValue): boolean {
    if (this.#isMasked === null || value.kind === "placeholder") return false;
    return (key.kind === "symbol" || key.kind === "string") && this.#isMasked(bytesOf(key).toString("utf8"));
  }

  #container(opening: string, closing: string, parts: readonly string[][]): string[] {
    if (parts.length === 0) return [opening.trim() + closing.trim()];
    const length = parts.reduce((sum, [first = ""]) => sum + first.length + 2, opening.length + closing.length);
    if (length <= longestLine && parts.every((part) => part.length === 1)) {
      return [`${opening}${parts.flat().join(", ")}${closing}`];
    }
    return [opening.trim(), ...parts.flatMap(indented), closing.trim()];
  }

  #leaf(value: Exclude<EditedValue, { kind: "array" | "hash" }>): string {
    switch (value.kind) {
      case "nil":
        return "nil";
      case "boolean":
        return String(value.value);
      case "integer":
        return value.digits;
      case "float":
        return floatText(value.digits);
      case "string":
        return stringText(value);
      case "symbol":
        return symbolText(value);
      case "range": {
        const isEmpty = value.begin.kind === "nil" && value.end.kind === "nil";
        const [begin, end] = [value.begin, value.end].map((bound) =>
          bound.kind === "nil" && !isEmpty ? "" : this.lines(bound).join(""),
        );
        return `(${begin ?? ""}${value.excludesEnd ? "..." : ".."}${end ?? ""})`;
      }
      case "placeholder":
        return value.name;
    }
  }
}

/** A part of a list, with a comma after it. */
function indented(lines: readonly string[]): string[] {
  return lines.map((line, index) => `  ${line}${index === lines.length - 1 ? "," : ""}`);
}

function joined(before: readonly string[], key: string, [first = "", ...rest]: readonly string[]): string[] {
  return [...before, `${key}${first}`, ...rest];
}

function bytesOf({ bytes }: EditedBytes): Buffer {
  return Buffer.from(bytes, "latin1");
}

function floatText(digits: string): string {
  const value = Number(digits);
  if (Number.isNaN(value)) return "Float::NAN";
  return Number.isFinite(value) ? inspectFloat(value) : `${value < 0 ? "-" : ""}Float::INFINITY`;
}

function stringText({ bytes, encoding }: EditedBytes): string {
  const raw = Buffer.from(bytes, "latin1");
  if (encoding === "UTF-8") return withoutHidden(quote(raw, encoding));
  const text = quote(raw, "ASCII-8BIT");
  return encoding === "ASCII-8BIT" ? `${text}.b` : `${text}.force_encoding("US-ASCII")`;
}

function symbolText(value: EditedBytes): string {
  const quoted = quotedIfHiding(value);
  return quoted === null ? inspectSymbol(makeSymbol(bytesOf(value))) : `:${quoted}`;
}

function symbolKeyText(key: EditedBytes): string {
  const quoted = quotedIfHiding(key);
  return quoted === null ? inspectSymbolKey(makeSymbol(bytesOf(key))) : `${quoted}: `;
}

/** A symbol that could be written without quotes, but has a character that needs an escape. */
function quotedIfHiding(value: EditedBytes): string | null {
  const quoted = quote(bytesOf(value), "UTF-8");
  const visible = withoutHidden(quoted);
  return visible === quoted ? null : visible;
}

/** Characters that would hide themselves, or turn others about, as the escapes that Ruby reads as them. */
function withoutHidden(quoted: string): string {
  return quoted.replace(/[\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
  });
}

function namesIn({ args, kwargs }: EditedCall): ReadonlySet<string> {
  const names = new Set<string>();
  const stack: EditedValue[] = [...args, ...kwargs.flat()];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    if (value.kind === "placeholder") names.add(value.name);
    else if (value.kind === "array") stack.push(...value.elements);
    else if (value.kind === "hash") stack.push(...value.entries.flat());
  }
  return names;
}
