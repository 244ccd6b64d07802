import { dirname, isAbsolute, join, normalize, resolve } from "node:path";
import type { RubyToken } from "./rubySource";

/** What the expression may name: where the application and the file stand. Absolute paths. */
export interface ExpressionPlace {
  readonly root: string;
  readonly file: string;
}

/** A value known from the text alone. A `path` is a Pathname, whose `+` and `/` join instead of concatenating. */
export interface KnownValue {
  readonly kind: "string" | "path" | "nil";
  readonly text: string;
}

/** Thrown inside the parser, caught at its edge: the text does not say what the value is. */
class NotReadable extends Error {}

/** Reads tokens from a position on. Newlines count as ends of expressions only outside brackets. */
export class TokenReader {
  constructor(
    readonly tokens: readonly RubyToken[],
    public index: number,
  ) {}

  peek(): RubyToken | undefined {
    return this.tokens[this.index];
  }

  skipNewlines(): void {
    while (this.peek()?.kind === "newline") this.index++;
  }

  /** Takes the next token where it is this punctuation. */
  take(...texts: string[]): boolean {
    const token = this.peek();
    if (token?.kind !== "punctuation" || !texts.includes(token.text)) return false;
    this.index++;
    return true;
  }

  takeName(text: string): boolean {
    const token = this.peek();
    if (token?.kind !== "name" || token.text !== text) return false;
    this.index++;
    return true;
  }

  /** Whether the next token ends an expression. */
  atEnd(): boolean {
    const token = this.peek();
    if (token === undefined || token.kind === "newline") return true;
    if (token.kind === "name") return token.text === "end";
    return token.kind === "punctuation" && [",", "}", ")", "]", ";"].includes(token.text);
  }
}

/** The value of the expression at the reader's position, or null where only the running application knows it. */
export function readKnownValue(reader: TokenReader, place: ExpressionPlace): KnownValue | null {
  try {
    const value = readSum(reader, place, 0);
    return reader.atEnd() ? value : null;
  } catch (error) {
    if (error instanceof NotReadable) return null;
    throw error;
  }
}

function readSum(reader: TokenReader, place: ExpressionPlace, depth: number): KnownValue {
  if (depth > 50) throw new NotReadable();
  let value = readCalls(reader, place, depth);
  for (;;) {
    const joins = reader.peek()?.text === "/";
    if (!reader.take("+", "/")) return value;
    reader.skipNewlines();
    const other = readCalls(reader, place, depth);
    if (value.kind === "string" && (joins || other.kind !== "string")) throw new NotReadable();
    value = value.kind === "path" ? joinPath(value.text, [other]) : { kind: "string", text: value.text + other.text };
  }
}

/** A primary and the methods called on it; a line may begin with the dot. */
function readCalls(reader: TokenReader, place: ExpressionPlace, depth: number): KnownValue {
  let value = readPrimary(reader, place, depth);
  for (;;) {
    const before = reader.index;
    reader.skipNewlines();
    if (!reader.take(".")) {
      reader.index = before;
      return value;
    }
    reader.skipNewlines();
    const method = reader.peek();
    if (method?.kind !== "name") throw new NotReadable();
    reader.index++;
    value = call(value, method.text, readArguments(reader, place, depth), place);
  }
}

function call(value: KnownValue, method: string, given: KnownValue[], place: ExpressionPlace): KnownValue {
  if (method === "join" && value.kind === "path") return joinPath(value.text, given);
  if (given.length > 0) throw new NotReadable();
  switch (method) {
    case "to_s":
    case "to_path":
      return { kind: "string", text: value.text };
    case "freeze":
      return value;
    case "cleanpath":
      if (value.kind !== "path") throw new NotReadable();
      return path(normalize(value.text));
    case "expand_path":
      if (value.kind !== "path") throw new NotReadable();
      return path(expandPath(value.text, place.root));
    default:
      throw new NotReadable();
  }
}

function readPrimary(reader: TokenReader, place: ExpressionPlace, depth: number): KnownValue {
  const token = reader.peek();
  if (token === undefined) throw new NotReadable();
  reader.index++;
  if (token.kind === "string") {
    let text = token.text;
    for (let next = reader.peek(); next?.kind === "string"; next = reader.peek()) {
      text += next.text;
      reader.index++;
    }
    return { kind: "string", text };
  }
  if (token.kind === "punctuation" && token.text === "(") {
    reader.skipNewlines();
    const value = readSum(reader, place, depth + 1);
    reader.skipNewlines();
    if (!reader.take(")")) throw new NotReadable();
    return value;
  }
  if (token.kind === "punctuation" && token.text === "::") return readPrimary(reader, place, depth + 1);
  if (token.kind !== "name") throw new NotReadable();
  return readNamed(token.text, reader, place, depth);
}

function readNamed(name: string, reader: TokenReader, place: ExpressionPlace, depth: number): KnownValue {
  switch (name) {
    case "nil":
      return { kind: "nil", text: "" };
    case "__dir__":
      return { kind: "string", text: dirname(place.file) };
    case "__FILE__":
      return { kind: "string", text: place.file };
    case "Rage":
    case "Rails":
      if (reader.take(".") && reader.takeName("root")) return path(place.root);
      throw new NotReadable();
    case "Dir":
      // The server's working directory is the application's root.
      if (reader.take(".") && (reader.takeName("pwd") || reader.takeName("getwd"))) {
        return { kind: "string", text: place.root };
      }
      throw new NotReadable();
    case "Pathname": {
      if (reader.take(".") && !reader.takeName("new")) throw new NotReadable();
      const [only, ...more] = readArguments(reader, place, depth);
      if (only === undefined || only.kind === "nil" || more.length > 0) throw new NotReadable();
      return path(only.text);
    }
    case "File":
      if (!reader.take(".")) throw new NotReadable();
      if (reader.takeName("join")) return fileJoin(readArguments(reader, place, depth));
      if (reader.takeName("expand_path")) return fileExpandPath(readArguments(reader, place, depth), place.root);
      throw new NotReadable();
    default:
      throw new NotReadable();
  }
}

/** `(a, b)`; none without brackets. */
function readArguments(reader: TokenReader, place: ExpressionPlace, depth: number): KnownValue[] {
  const values: KnownValue[] = [];
  if (!reader.take("(")) return values;
  for (;;) {
    reader.skipNewlines();
    if (reader.take(")")) return values;
    values.push(readSum(reader, place, depth + 1));
    reader.skipNewlines();
    if (reader.take(")")) return values;
    if (!reader.take(",")) throw new NotReadable();
  }
}

function path(text: string): KnownValue {
  return { kind: "path", text };
}

/** `Pathname#join`: an absolute part starts anew. */
function joinPath(start: string, parts: readonly KnownValue[]): KnownValue {
  return path(
    parts.reduce((joined, part) => {
      if (part.kind === "nil") throw new NotReadable();
      return isAbsolute(part.text) ? part.text : join(joined, part.text);
    }, start),
  );
}

/** `File.join`: one separator between the parts, whatever they begin with. */
function fileJoin(parts: readonly KnownValue[]): KnownValue {
  if (parts.some((part) => part.kind === "nil")) throw new NotReadable();
  return {
    kind: "string",
    text: parts
      .map((part) => part.text)
      .join("/")
      .replace(/\/{2,}/g, "/"),
  };
}

function fileExpandPath(given: readonly KnownValue[], root: string): KnownValue {
  const [relative, base] = given;
  if (relative === undefined || relative.kind === "nil" || given.length > 2) throw new NotReadable();
  const start = base === undefined || base.kind === "nil" ? root : expandPath(base.text, root);
  return { kind: "string", text: expandPath(relative.text, start) };
}

function expandPath(relative: string, base: string): string {
  // Whose home that is depends on the user that the server runs as.
  if (relative.startsWith("~")) throw new NotReadable();
  return resolve(base, relative);
}
