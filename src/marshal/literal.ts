import { encodingOf, isAscii, latin1Of, textOf } from "./encodings";
import { childrenOf, hasOnlyEncoding } from "./children";
import { dumpString } from "./dump";
import { rangeOf, setOf } from "./known";
import { inspectFloat, inspectRational, pairOf } from "./numbers";
import { inspectSymbol, inspectSymbolKey, quote, regexpLetters } from "./strings";
import { dateOf, timeOf, zoneText, type TimeParts } from "./times";
import type {
  RubyArray,
  RubyFloat,
  RubyHash,
  RubyModule,
  RubyObject,
  RubyRegexp,
  RubyString,
  RubySymbol,
  RubyUserDefined,
  RubyUserMarshal,
  RubyValue,
} from "./values";
import { writeMarshal } from "./writer";

/**
 * An expression that evaluates to an equal value in a console of the application: a literal as one would type it, or
 * `Marshal.load("…")` for what has none (objects, structs, subclasses of the core classes, hashes with a default, …),
 * which needs the classes that the application has. Two references to one String become two Strings. A value with a
 * cycle, or with two references to one array, hash or object, is loaded as a whole, so that they stay one; so is one
 * too deep or too large to read. The text is at most some ten times as long as the value's Marshal stream.
 *
 * With `isMasked`, the value of a hash entry of such a name is the String "[FILTERED]" instead, and so is a whole
 * `Marshal.load` that would hold a value of such a name.
 */
export function toRubyLiteral(value: RubyValue, { isMasked }: LiteralOptions = {}): string {
  return isTree(value) ? treeLiteral(value, isMasked) : loading(value, isMasked);
}

/** `Marshal.load("…")`; masked as a whole where it would hold a value of a masked name. */
function loading(opaque: RubyValue, isMasked: LiteralOptions["isMasked"]): string {
  return isMasked !== undefined && holdsName(opaque, isMasked) ? MASKED : marshalLoad(opaque);
}

function treeLiteral(value: RubyValue, isMasked: LiteralOptions["isMasked"]): string {
  let text = "";
  // Last in, first out: the pieces of a value are put on it in reverse.
  const stack: Piece[] = [value];
  for (let piece = stack.pop(); piece !== undefined; piece = stack.pop()) {
    if (typeof piece === "string") {
      text += piece;
      continue;
    }
    const pieces = literalOf(piece, isMasked) ?? loading(piece, isMasked);
    if (typeof pieces === "string") text += pieces;
    else for (const part of pieces.toReversed()) stack.push(part);
  }
  return text;
}

/**
 * The elements of an Array as the arguments of a call, `1, "a"`; each as `toRubyLiteral` has it. Many that share something
 * or are too much to read are one `*Marshal.load("…")`.
 */
export function toRubyArguments(array: RubyArray, options: LiteralOptions = {}): string {
  if (isManyInOne(array, array.elements)) return `*${loading(array, options.isMasked)}`;
  return array.elements.map((element) => toRubyLiteral(element, options)).join(", ");
}

/** The entries of a Hash as the keyword arguments of a call, `locale: :en, "key" => 1`; many as `**Marshal.load("…")`. */
export function toRubyKeywords(hash: RubyHash, options: LiteralOptions = {}): string {
  if (isManyInOne(hash, hash.entries)) return `**${loading(hash, options.isMasked)}`;
  const text = (piece: Piece): string => (typeof piece === "string" ? piece : toRubyLiteral(piece, options));
  return hash.entries.map((entry) => entryLiteral(entry, options.isMasked).map(text).join("")).join(", ");
}

/** Arguments that may share something and still be written one by one, each anew. */
const FEW_ARGUMENTS = 8;

function isManyInOne(root: RubyArray | RubyHash, items: readonly unknown[]): boolean {
  return items.length > FEW_ARGUMENTS && !isTree(root);
}

export interface LiteralOptions {
  /** By the text of a hash key, a struct member or an instance variable (with its `@`). */
  readonly isMasked?: (name: string) => boolean;
}

const MASKED = '"[FILTERED]"';

type Piece = string | RubyValue;
/** What stands for a value in Ruby source; null where only loading it would do. */
type Literal = string | readonly Piece[] | null;

/** Ruby's parser has a stack of its own, and nobody reads a literal as deep as this. */
const MAX_DEPTH = 100;

function marshalLoad(value: RubyValue): string {
  return `Marshal.load(${latin1Of(dumpString(writeMarshal(value)))})`;
}

/** Nobody reads more, and loading takes a fraction of the time. */
const MAX_WRITTEN_VALUES = 50_000;

/** Bytes that may be written out again and again because more than one place refers to them. */
const MAX_REPEATED_BYTES = 10_000;

/** Hexadecimal digits of all Integers: to print them in decimal takes more than its share of time when they are many. */
const MAX_DIGITS = 50_000;

/** Bytes. A longer String is written with an escape for each byte that is not ASCII, which takes a fraction of the time. */
const LONG_STRING = 100_000;

/**
 * Whether the value can be written out: no array, hash or object in it is met twice, none lies too deep, what strings and names
 * are met twice are short, and all of it is not too much.
 */
function isTree(root: RubyValue): boolean {
  /** Of each value met so far, whether it holds others. */
  const met = new Map<RubyValue, boolean>();
  let repeatedBytes = 0;
  let digits = 0;
  const stack: (readonly [value: RubyValue, depth: number])[] = [[root, 0]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [value, depth] = next;
    const holdsOthers = met.get(value);
    if (holdsOthers === true || depth > MAX_DEPTH) return false;
    if (holdsOthers === false) {
      repeatedBytes += sizeOf(value);
      if (repeatedBytes > MAX_REPEATED_BYTES) return false;
      continue;
    }
    if (value.type === "integer") digits += sizeOf(value);
    const children = childrenOf(value);
    met.set(value, children.length > 0);
    if (digits > MAX_DIGITS || stack.length + children.length > MAX_WRITTEN_VALUES || met.size > MAX_WRITTEN_VALUES) {
      return false;
    }
    for (const child of children) stack.push([child, depth + 1]);
  }
  return true;
}

/** Whether anything within a value, however deep, has such a name. */
function holdsName(root: RubyValue, isMasked: (name: string) => boolean): boolean {
  const met = new Set<RubyValue>();
  const metNames = new Set<RubyValue>();
  const stack = [root];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    if (met.has(value)) continue;
    met.add(value);
    for (const name of namesIn(value)) {
      if (metNames.has(name)) continue;
      metNames.add(name);
      if (isMasked(textOf(name.bytes))) return true;
    }
    for (const child of childrenOf(value)) stack.push(child);
  }
  return false;
}

function namesIn(value: RubyValue): readonly (RubySymbol | RubyString)[] {
  if (value.type === "nil" || value.type === "boolean" || value.type === "symbol") return [];
  const variables = value.instanceVariables.map(({ name }) => name);
  switch (value.type) {
    case "struct":
      return [...variables, ...value.members.map(({ name }) => name)];
    case "object":
      return [...variables, ...(value.wrapperVariables ?? []).map(({ name }) => name)];
    case "hash": {
      const keys = value.entries.map(([key]) => key);
      return [...variables, ...keys.filter((key) => key.type === "symbol" || key.type === "string")];
    }
    default:
      return variables;
  }
}

function sizeOf(value: RubyValue): number {
  if (value.type === "integer") return value.value.toString(16).length;
  if (value.type === "module") return value.name.length;
  return "bytes" in value ? value.bytes.length : 0;
}

function literalOf(value: RubyValue, isMasked: LiteralOptions["isMasked"]): Literal {
  switch (value.type) {
    case "nil":
      return "nil";
    case "boolean":
      return value.value ? "true" : "false";
    case "symbol":
      return symbolLiteral(value) === null ? null : inspectSymbol(value);
    default:
  }
  if (value.extendedBy.length > 0 || value.userClass) return null;
  switch (value.type) {
    case "string":
      return stringLiteral(value);
    case "regexp":
      return regexpLiteral(value);
    case "user-defined":
      return userDefinedLiteral(value);
    default:
  }
  if (value.instanceVariables.length > 0 && value.type !== "object") return null;
  switch (value.type) {
    case "integer":
      return value.value.toString();
    case "float":
      return floatLiteral(value);
    case "module":
      return moduleLiteral(value);
    case "array":
      return ["[", ...separated(value.elements, (element) => [element]), "]"];
    case "hash":
      if (value.comparesByIdentity || value.defaultValue) return null;
      return ["{", ...separated(value.entries, (entry) => entryLiteral(entry, isMasked)), "}"];
    case "object":
      return objectLiteral(value);
    case "user-marshal":
      return userMarshalLiteral(value);
    case "struct":
      return null;
  }
}

function separated<Item>(items: readonly Item[], pieces: (item: Item) => readonly Piece[]): Piece[] {
  return items.flatMap((item, index) => (index === 0 ? pieces(item) : [", ", ...pieces(item)]));
}

function entryLiteral(
  [key, value]: readonly [RubyValue, RubyValue],
  isMasked: LiteralOptions["isMasked"],
): readonly Piece[] {
  const isNamed = key.type === "symbol" || key.type === "string";
  const shown = isNamed && isMasked?.(textOf(key.bytes)) === true ? MASKED : value;
  if (key.type === "symbol" && symbolLiteral(key) !== null) return [inspectSymbolKey(key), shown];
  return [key, " => ", shown];
}

/** A symbol in the encoding that a literal of it has: ASCII, or valid UTF-8. */
function symbolLiteral(symbol: RubySymbol): string | null {
  return isAscii(symbol.bytes) || encodingOf(symbol) === "UTF-8" ? inspectSymbol(symbol) : null;
}

function stringLiteral(string: RubyString): string | null {
  if (!hasOnlyEncoding(string)) return null;
  const encoding = encodingOf(string);
  if (encoding === "UTF-8" && string.bytes.length <= LONG_STRING) return quote(string.bytes, encoding);
  const literal = latin1Of(dumpString(string.bytes));
  if (encoding === "ASCII-8BIT") return `${literal}.b`;
  return /^[\w-]+$/.test(encoding) ? `${literal}.dup.force_encoding("${encoding}")` : null;
}

/** Only such as read the same when they are typed: no escaped slash, nothing that would be an interpolation. */
function regexpLiteral(regexp: RubyRegexp): string | null {
  if (!hasOnlyEncoding(regexp)) return null;
  const text = textOf(regexp.bytes);
  if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(text) || /\\\/|#[{$@]/.test(text) || text.includes("\ufffd"))
    return null;
  const literal = `/${text.replaceAll("/", "\\/")}/${regexpLetters(regexp)}`;
  const fixed = regexp.options & 16;
  switch (encodingOf(regexp)) {
    case "US-ASCII":
      return fixed || !isAscii(regexp.bytes) ? null : literal;
    case "UTF-8":
      if (!fixed) return null;
      return isAscii(regexp.bytes) ? `${literal}u` : literal;
    default:
      return null;
  }
}

function floatLiteral({ value }: RubyFloat): string {
  if (Number.isNaN(value)) return "Float::NAN";
  return Number.isFinite(value) ? inspectFloat(value) : `${value < 0 ? "-" : ""}Float::INFINITY`;
}

function moduleLiteral(module: RubyModule): string | null {
  const name = latin1Of(module.name);
  return /^[A-Z]\w*(?:::[A-Z]\w*)*$/.test(name) ? name : null;
}

function objectLiteral(object: RubyObject): Literal {
  if (object.wrapperVariables) return null;
  const className = latin1Of(object.className.bytes);
  const range = className === "Range" ? rangeOf(object) : null;
  if (range && canBound(range.begin) && canBound(range.end)) {
    return ["(", range.begin, range.excludesEnd ? "..." : "..", range.end, ")"];
  }
  const set = className === "Set" ? setOf(object) : null;
  if (set?.instanceVariables.length === 0 && !set.comparesByIdentity && !set.userClass) {
    return ["Set.new([", ...separated(set.entries, ([element]) => [element]), "])"];
  }
  return null;
}

function canBound(value: RubyValue): boolean {
  return ["nil", "integer", "float", "string"].includes(value.type);
}

function userDefinedLiteral(object: RubyUserDefined): string | null {
  if (latin1Of(object.className.bytes) === "BigDecimal") {
    const number = /^\d+:(-?(?:0\.\d+(?:e-?\d+)?|Infinity)|NaN)$/.exec(latin1Of(object.bytes))?.[1];
    return number !== undefined && object.instanceVariables.length === 0 ? `BigDecimal("${number}")` : null;
  }
  const time = timeOf(object);
  return time ? timeLiteral(time, object) : null;
}

/** Times of UTC, or of an offset without a zone's name, to the nanosecond. A named zone is only known to the system. */
function timeLiteral(time: TimeParts, object: RubyUserDefined): string | null {
  const known = ["zone", "offset", "nano_num", "nano_den", "submicro"];
  if (!object.instanceVariables.every(({ name }) => known.includes(latin1Of(name.bytes)))) return null;
  const [numerator, denominator] = time.fraction;
  if (1_000_000_000n % denominator !== 0n || time.year < 1900 || time.year > 9999) return null;
  const nanoseconds = (numerator * 1_000_000_000n) / denominator;
  const fraction = nanoseconds === 0n ? "" : `.${nanoseconds.toString().padStart(9, "0").replace(/0+$/, "")}r`;
  const arguments_ = [time.year, time.month, time.day, time.hour, time.minute, `${time.second}${fraction}`].join(", ");
  if (time.isUtc) return `Time.utc(${arguments_})`;
  return !time.hasZone && time.offset % 60 === 0 ? `Time.new(${arguments_}, "${zoneText(time.offset, ":")}")` : null;
}

function userMarshalLiteral(object: RubyUserMarshal): string | null {
  const rational = realLiteral(object);
  if (rational !== null) return rational;
  const complex = pairOf(object, "Complex");
  if (complex) {
    const parts = complex.map(realLiteral);
    return parts.includes(null) ? null : `Complex(${parts.join(", ")})`;
  }
  const date = dateOf(object);
  // The usual start of the Gregorian calendar, and for a Date nothing but a day.
  if (date?.start !== 2299161 || date.utc[2] !== 0) return null;
  const day = [date.year, date.month, date.day];
  if (date.className === "Date") {
    return date.utc[1] === 0 && date.offset === 0 ? `Date.new(${day.join(", ")})` : null;
  }
  if (date.offset % 60 !== 0) return null;
  const zone = date.offset === 0 ? "" : `, "${zoneText(date.offset, ":")}"`;
  return `DateTime.new(${[...day, date.hour, date.minute, date.second].join(", ")}${zone})`;
}

function realLiteral(value: RubyValue): string | null {
  if (value.type === "integer") return value.value.toString();
  if (value.type === "float") return floatLiteral(value);
  return inspectRational(value)?.replace(/^\((.*)\/(.*)\)$/, "Rational($1, $2)") ?? null;
}
