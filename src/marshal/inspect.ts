import { encodingOf, latin1Of, textOf } from "./encodings";
import { exceptionMessage, rangeOf, setOf, type Range } from "./known";
import { inspectComplex, inspectFloat, inspectRational } from "./numbers";
import { inspectMemberName, inspectRegexp, inspectSymbol, inspectSymbolKey, quote, quoteString } from "./strings";
import { dateOf, inspectDate, inspectTime, timeOf } from "./times";
import type {
  InstanceVariable,
  RubyHash,
  RubyObject,
  RubyRegexp,
  RubyString,
  RubyStruct,
  RubyUserDefined,
  RubyUserMarshal,
  RubyValue,
} from "./values";

export interface InspectOptions {
  /** Characters (UTF-16 units) of the text. A longer one is cut and ends in `…`. The default is 500,000. */
  readonly maxLength?: number;
  /**
   * Whether to print `[FILTERED]` in place of a value. Asked with the text of a hash's key (a String or a Symbol),
   * the name of a struct's member, or that of an instance variable, `@` included. The bytes of an object with a
   * `_dump` of its own have no names and are not asked about. `holder` is the entry of the hash or the variable that has the
   * name: one and the same object each time, so that one of many values of a name can be told from the others.
   */
  readonly isMasked?: (name: string, holder?: object) => boolean;
}

/** What stands in place of a masked value. */
const MASK = "[FILTERED]";

const DEFAULT_MAX_LENGTH = 500_000;

/**
 * The value as `inspect` of Ruby 3.4 prints it under UTF-8, with these differences: objects have no address; no class
 * is loaded, so a class's own `inspect` is not known and its instances print by their parts; an object with a
 * `marshal_dump` or a `_dump` prints as `#<Token {v: "t"}>` or `#<Blob "bytes">`, its content being what the methods
 * returned; an instance of `Data` prints as the struct that it is in the stream. Never fails: depth costs no stack,
 * and what grows beyond any use is cut.
 */
export function inspect(value: RubyValue, options: InspectOptions = {}): string {
  return new Inspector(options).text(value);
}

/** The end of a container: from here on it can be printed again. */
class End {
  constructor(readonly value: RubyValue) {}
}
/**
 * A function stands for a piece that is made only when its turn comes. What a turn costs is in proportion to what it
 * prints, or is done once for a node, so that the limit on the text is one on the time, too.
 */
type Piece = string | RubyValue | End | (() => Piece);

/** More variables than the values of honest programs have beside their content. */
const FEW_VARIABLES = 8;

class Inspector {
  readonly #maxLength: number;
  readonly #isMasked: InspectOptions["isMasked"] | null;
  #text = "";
  /** The containers around the place where we are. One that is met again within itself is cut. */
  readonly #open = new Set<RubyValue>();
  /** Texts of values with so many variables that they are not gone through a second time. */
  readonly #texts = new Map<RubyValue, string>();
  readonly #forms = new Map<RubyObject, ObjectForm>();

  constructor({ maxLength = DEFAULT_MAX_LENGTH, isMasked }: InspectOptions) {
    this.#maxLength = Math.max(1, maxLength);
    this.#isMasked = isMasked ?? null;
  }

  text(value: RubyValue): string {
    // Last in, first out: the pieces of a value are put on it in reverse.
    const stack: Piece[] = [value];
    for (let piece = stack.pop(); piece !== undefined; piece = stack.pop()) {
      while (typeof piece === "function") piece = piece();
      if (typeof piece === "string") this.#text += piece;
      else if (piece instanceof End) this.#open.delete(piece.value);
      else {
        const pieces = this.#pieces(piece);
        if (typeof pieces === "string") this.#text += pieces;
        else for (const part of pieces.toReversed()) stack.push(part);
      }
      if (this.#text.length > this.#maxLength) return this.#cut();
    }
    return this.#text;
  }

  #cut(): string {
    const end = this.#maxLength - 1;
    const last = this.#text.charCodeAt(end - 1);
    const splitsPair = last >= 0xd800 && last <= 0xdbff;
    return `${this.#text.slice(0, splitsPair ? end - 1 : end)}…`;
  }

  /** Characters, and so values too, that can still be shown: each prints as one at least. */
  get #room(): number {
    return this.#maxLength - this.#text.length + 1;
  }

  #pieces(value: RubyValue): string | readonly Piece[] {
    switch (value.type) {
      case "nil":
        return "nil";
      case "boolean":
        return value.value ? "true" : "false";
      case "integer":
        return value.value.toString();
      case "float":
        return inspectFloat(value.value);
      case "symbol":
        return inspectSymbol(value, this.#room);
      case "string":
        return this.#once(value, () => quoteString(value, this.#room));
      case "regexp":
        return this.#once(value, () => inspectRegexp(value, this.#room));
      case "module":
        return textOf(value.name);
      case "array":
        return this.#within(value, "[...]", () => [
          "[",
          ...this.#separated(value.elements, (element) => [element]),
          "]",
        ]);
      case "hash":
        return this.#hash(value);
      case "struct":
        return this.#struct(value);
      case "object":
        return this.#object(value);
      case "user-defined":
        return this.#once(value, () => this.#userDefined(value));
      case "user-marshal":
        return this.#userMarshal(value);
    }
  }

  #once(value: RubyString | RubyRegexp | RubyUserDefined, print: () => string): string {
    if (value.instanceVariables.length <= FEW_VARIABLES) return print();
    const text = this.#texts.get(value) ?? print();
    this.#texts.set(value, text);
    return text;
  }

  /** Pieces of a container, or `cycle` where it stands within itself. */
  #within(value: RubyValue, cycle: string, pieces: () => readonly Piece[]): string | readonly Piece[] {
    if (this.#open.has(value)) return cycle;
    this.#open.add(value);
    return [...pieces(), new End(value)];
  }

  #separated<Item>(items: readonly Item[], pieces: (item: Item) => readonly Piece[]): Piece[] {
    // Each prints as one character at least, and a comma and a space before it.
    const most = Math.ceil(this.#room / 3) + 1;
    const shown = items.length > most ? items.slice(0, most) : items;
    return shown.flatMap((item, index) => (index === 0 ? pieces(item) : [", ", ...pieces(item)]));
  }

  #hash(hash: RubyHash): string | readonly Piece[] {
    if (hash.entries.length === 0) return "{}";
    return this.#within(hash, "{...}", () => [
      "{",
      ...this.#separated(hash.entries, (entry) => {
        const [key, value] = entry;
        const shown = this.#masked(key, value, entry);
        return key.type === "symbol" ? [() => inspectSymbolKey(key, this.#room), shown] : [key, " => ", shown];
      }),
      "}",
    ]);
  }

  #masked(name: RubyValue, value: RubyValue, holder: object): Piece {
    if (!this.#isMasked || (name.type !== "symbol" && name.type !== "string")) return value;
    const isMasked = this.#isMasked;
    return () => (isMasked(textOf(name.bytes), holder) ? MASK : value);
  }

  #struct(struct: RubyStruct): string | readonly Piece[] {
    const opening = `#<struct ${textOf(struct.className.bytes)}`;
    return this.#within(struct, `${opening}:...>`, () => [
      `${opening} `,
      ...this.#separated(struct.members, (member) => [
        () => `${inspectMemberName(member.name, this.#room)}=`,
        this.#masked(member.name, member.value, member),
      ]),
      ">",
    ]);
  }

  #object(object: RubyObject): string | readonly Piece[] {
    const form = this.#forms.get(object) ?? formOf(object);
    this.#forms.set(object, form);
    // A Range prints without its class, whose name can be long.
    if (form.kind === "range") return this.#range(object, form.range);
    const className = textOf(object.className.bytes);
    switch (form.kind) {
      case "set":
        return this.#within(object, `#<${className}: {...}>`, () => [
          `#<${className}: {`,
          ...this.#separated(form.set.entries, ([element]) => [element]),
          "}>",
        ]);
      case "exception":
        return exceptionText(className, textOf(form.message.subarray(0, 4 * this.#room)));
      case "other":
        return this.#within(object, `#<${className} ...>`, () => [
          `#<${className}`,
          ...(form.variables.length === 0 ? [] : [" "]),
          ...this.#separated(form.variables, (variable) => [
            () => `${textOf(variable.name.bytes)}=`,
            this.#masked(variable.name, variable.value, variable),
          ]),
          ">",
        ]);
    }
  }

  #range(object: RubyObject, { begin, end, excludesEnd }: Range): string | readonly Piece[] {
    const dots = excludesEnd ? "..." : "..";
    const isEmpty = begin.type === "nil" && end.type === "nil";
    return this.#within(object, `(... ${dots} ...)`, () => [
      begin.type === "nil" && !isEmpty ? "" : begin,
      dots,
      end.type === "nil" && !isEmpty ? "" : end,
    ]);
  }

  #userDefined(object: RubyUserDefined): string {
    const className = textOf(object.className.bytes);
    const time = timeOf(object);
    if (time) return inspectTime(time);
    if (className === "BigDecimal") {
      const number = /^\d+:(-?[\w.+-]+)$/.exec(latin1Of(object.bytes.subarray(0, 4 * this.#room)))?.[1];
      if (number !== undefined) return number;
    }
    return `#<${className} ${quote(object.bytes, encodingOf(object), this.#room)}>`;
  }

  #userMarshal(object: RubyUserMarshal): string | readonly Piece[] {
    const known = inspectRational(object) ?? inspectComplex(object);
    if (known !== null) return known;
    const date = dateOf(object);
    if (date) return inspectDate(date);
    const className = textOf(object.className.bytes);
    return this.#within(object, `#<${className} ...>`, () => [`#<${className} `, object.value, ">"]);
  }
}

/** What an object turns out to be, by its variables. */
type ObjectForm =
  | { readonly kind: "range"; readonly range: Range }
  | { readonly kind: "set"; readonly set: RubyHash }
  | { readonly kind: "exception"; readonly message: Uint8Array }
  /** Variables without `@` are Ruby's own, and it does not print them. */
  | { readonly kind: "other"; readonly variables: readonly InstanceVariable[] };

function formOf(object: RubyObject): ObjectForm {
  const range = rangeOf(object);
  if (range) return { kind: "range", range };
  const set = setOf(object);
  if (set) return { kind: "set", set };
  const message = exceptionMessage(object);
  if (message) return { kind: "exception", message };
  return { kind: "other", variables: object.instanceVariables.filter(({ name }) => name.bytes[0] === 0x40) };
}

function exceptionText(className: string, message: string): string {
  if (message === "") return className;
  if (message.includes("\n")) return `#<${className}:${quote(Buffer.from(message), "UTF-8")}>`;
  return `#<${className}: ${message}>`;
}
