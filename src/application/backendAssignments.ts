import { readKnownValue, TokenReader, type ExpressionPlace } from "./rubyExpression";
import type { RubyToken } from "./rubySource";

/** One `config.deferred.backend = …` in a file. */
export interface BackendAssignment {
  /** 1-based. */
  readonly line: number;
  /** Whether it stands under an `if` or the like, so that the text does not say whether it happens. */
  readonly conditional: boolean;
  readonly backend: "disk" | "nil";
  /** As given; null where it is not given or cannot be read. */
  readonly path: string | null;
  readonly prefix: string | null;
  /** What was given in a way that only the running application knows. */
  readonly unknown: readonly ("backend" | "path" | "prefix")[];
}

type Setting = Pick<BackendAssignment, "backend" | "path" | "prefix" | "unknown">;

const conditionalOpeners = ["if", "unless", "case", "while", "until", "for", "def"];
const otherOpeners = ["do", "begin", "class", "module"];
/** Tokens that anything is looked for in: more is no code that somebody wrote, and the search would go over it again and again. */
const longestSearch = 200;
const mostOptions = 10;
const modifiers = ["if", "unless", "while", "until", "rescue"];

/** The assignments of a file in the order of the text. */
export function findAssignments(tokens: readonly RubyToken[], place: ExpressionPlace): BackendAssignment[] {
  const found: BackendAssignment[] = [];
  const open = new OpenConstructs();
  tokens.forEach((token, index) => {
    trackNesting(tokens, index, open);
    if (token.kind !== "name" || token.text !== "deferred") return;
    const assigned = valueIndex(tokens, index);
    if (assigned === null) return;
    const reader = new TokenReader(tokens, assigned.index);
    const setting = assigned.operator === "=" ? readSetting(reader, place) : unreadable;
    const conditional = open.areConditional || !beginsStatement(tokens, index) || endsInModifier(reader);
    found.push({ line: token.line, conditional, ...setting });
  });
  return found;
}

const unreadable: Setting = { backend: "disk", path: null, prefix: null, unknown: ["backend"] };

/** Position after `deferred.backend =` (or `||=` and its like), or null where there is no such thing here. */
function valueIndex(tokens: readonly RubyToken[], index: number): { index: number; operator: string } | null {
  const reader = new TokenReader(tokens, index + 1);
  reader.skipNewlines();
  if (!reader.take(".")) return null;
  reader.skipNewlines();
  if (!reader.takeName("backend")) return null;
  const operator = reader.peek();
  if (operator === undefined || !reader.take("=", "||=", "&&=")) return null;
  reader.skipNewlines();
  return { index: reader.index, operator: operator.text };
}

/** Whether the chain that ends in this `deferred` (`config.deferred`, `Rage.config.deferred`) is a statement of its own. */
function beginsStatement(tokens: readonly RubyToken[], index: number): boolean {
  let start = index;
  for (;;) {
    let before = start - 1;
    while (tokens[before]?.kind === "newline" && tokens[before - 1]?.text === ".") before--;
    const link = tokens[before];
    if (link?.kind !== "punctuation" || ![".", "&.", "::"].includes(link.text)) break;
    before--;
    while (link.text !== "::" && tokens[before]?.kind === "newline") before--;
    if (tokens[before]?.kind === "name") start = before;
    else if (link.text === "::") start = before + 1;
    else return false;
  }
  const previous = tokens[start - 1];
  if (previous === undefined || previous.kind === "newline") return true;
  if (previous.kind === "punctuation") return [";", "{", "|"].includes(previous.text);
  return previous.kind === "name" && ["do", "begin", "then", "else"].includes(previous.text);
}

/** Reads `:disk[, options]`, `[:disk, options]` or `nil`. */
function readSetting(reader: TokenReader, place: ExpressionPlace): Setting {
  const bracketed = reader.take("[");
  if (bracketed) reader.skipNewlines();
  const first = reader.peek();
  reader.index++;
  if (first?.kind === "name" && first.text === "nil" && (reader.atEnd() || endsInModifier(reader))) {
    return { backend: "nil", path: null, prefix: null, unknown: [] };
  }
  if (first?.kind !== "symbol" || first.text !== "disk") return unreadable;
  if (bracketed) reader.skipNewlines();
  if (!reader.take(",")) {
    const ended = reader.atEnd() || endsInModifier(reader);
    return ended ? { backend: "disk", path: null, prefix: null, unknown: [] } : unreadable;
  }
  reader.skipNewlines();
  const setting = readOptions(reader, place);
  if (bracketed) {
    reader.skipNewlines();
    reader.take(",");
    reader.skipNewlines();
    reader.take("]");
  }
  return setting;
}

/** Reads `{ path: …, prefix: … }`, with the braces or without, up to its end. */
function readOptions(reader: TokenReader, place: ExpressionPlace): Setting {
  const braced = reader.take("{");
  const values: Partial<Record<"path" | "prefix", string>> = {};
  const unknown = new Set<"path" | "prefix">();
  for (let keys = 1; ; keys++) {
    if (braced) reader.skipNewlines();
    if (braced && reader.take("}")) break;
    const key = readKey(reader);
    // A splat, a variable: it may carry either option. So may the rest of a list without end.
    if (key === null || keys > mostOptions)
      return { backend: "disk", path: null, prefix: null, unknown: ["path", "prefix"] };
    reader.skipNewlines();
    if (key === "path" || key === "prefix") {
      const start = reader.index;
      const value = readKnownValue(reader, place);
      // Where it gave up may be inside brackets; the value is skipped as a whole.
      if (value === null) reader.index = start;
      const isReadable = value !== null && (key === "path" || value.kind !== "path");
      if (!isReadable) unknown.add(key);
      else unknown.delete(key);
      // An explicit nil is what leaving the option out is.
      values[key] = isReadable ? value.text : "";
    }
    skipValue(reader);
    if (braced) reader.skipNewlines();
    if (!reader.take(",")) {
      if (braced) reader.take("}");
      break;
    }
    reader.skipNewlines();
  }
  const known = (key: "path" | "prefix"): string | null => {
    const value = values[key];
    return value === undefined || value === "" ? null : value;
  };
  return { backend: "disk", path: known("path"), prefix: known("prefix"), unknown: [...unknown] };
}

function readKey(reader: TokenReader): string | null {
  const token = reader.peek();
  if (token?.kind === "label") {
    reader.index++;
    return token.text;
  }
  if (token?.kind !== "symbol") return null;
  reader.index++;
  return reader.take("=>") ? token.text : null;
}

/** Goes on to the end of the present value, over brackets of its own. */
function skipValue(reader: TokenReader): void {
  let depth = 0;
  const last = reader.index + longestSearch;
  for (let token = reader.peek(); token !== undefined && reader.index < last; token = reader.peek()) {
    if (depth === 0 && (reader.atEnd() || endsInModifier(reader))) return;
    if (token.kind === "punctuation" && ["(", "[", "{"].includes(token.text)) depth++;
    if (token.kind === "punctuation" && [")", "]", "}"].includes(token.text)) depth--;
    reader.index++;
  }
}

function endsInModifier(reader: TokenReader): boolean {
  const token = reader.peek();
  return token?.kind === "name" && modifiers.includes(token.text);
}

/** The constructs that are open at a token, each to be closed by an `end`. */
class OpenConstructs {
  readonly #openers: string[] = [];
  #conditional = 0;

  get areConditional(): boolean {
    return this.#conditional > 0;
  }

  push(opener: string): void {
    this.#openers.push(opener);
    if (conditionalOpeners.includes(opener)) this.#conditional += 1;
  }

  pop(): void {
    const opener = this.#openers.pop();
    if (opener !== undefined && conditionalOpeners.includes(opener)) this.#conditional -= 1;
  }
}

/** Keeps the constructs that are open at a token. */
function trackNesting(tokens: readonly RubyToken[], index: number, open: OpenConstructs): void {
  const token = tokens[index];
  const previous = tokens[index - 1];
  if (token?.kind !== "name") return;
  const isMethodName =
    previous !== undefined && [".", "&.", "def", "::"].includes(previous.text) && previous.kind !== "string";
  if (isMethodName) return;
  if (token.text === "end") {
    open.pop();
  } else if (token.text === "do") {
    if (!closesLoopHead(tokens, index)) open.push("do");
  } else if (otherOpeners.includes(token.text)) {
    open.push(token.text);
  } else if (conditionalOpeners.includes(token.text)) {
    const isModifier = modifiers.includes(token.text) && !mayOpen(previous);
    const isEndless = token.text === "def" && isEndlessMethod(tokens, index);
    if (!isModifier && !isEndless) open.push(token.text);
  }
}

/** Whether an `if` after this token opens a construct rather than follow a statement. */
function mayOpen(previous: RubyToken | undefined): boolean {
  if (previous === undefined || previous.kind === "newline" || previous.kind === "label") return true;
  if (previous.kind === "punctuation") return ![")", "]", "}"].includes(previous.text);
  return (
    previous.kind === "name" &&
    ["do", "begin", "then", "else", "ensure", "return", "and", "or", "not"].includes(previous.text)
  );
}

/** The `do` of `while condition do` is part of the loop, not a block of its own. */
function closesLoopHead(tokens: readonly RubyToken[], index: number): boolean {
  for (let before = index - 1; before >= Math.max(0, index - longestSearch); before--) {
    const token = tokens[before];
    if (token === undefined || token.kind === "newline" || token.text === ";") return false;
    if (token.kind === "name" && ["while", "until", "for"].includes(token.text)) return mayOpen(tokens[before - 1]);
  }
  return false;
}

/** `def name(…) = value` has no `end`. */
function isEndlessMethod(tokens: readonly RubyToken[], index: number): boolean {
  const reader = new TokenReader(tokens, index + 2);
  while (reader.take(".")) reader.index++;
  if (reader.take("(")) {
    const last = reader.index + longestSearch;
    for (let depth = 1; depth > 0 && reader.peek() !== undefined && reader.index < last; reader.index++) {
      const text = reader.peek()?.text;
      if (text === "(") depth++;
      if (text === ")") depth--;
    }
  }
  return reader.take("=");
}
