import { isAscii, encodingOf, latin1Of, writeMarshal, type RubyValue } from "../marshal";
import {
  makeArray,
  makeBoolean,
  makeFloat,
  makeHash,
  makeInteger,
  makeNil,
  makeRange,
  makeString,
  makeSymbol,
} from "../marshal/make";
import type { EditedEntry, EditedValue } from "./protocol";

/** What of an edit cannot be kept; the message is a sentence for a user. */
export class EditError extends Error {}

/** Makes the values that an edited call says. A placeholder becomes the very value that it stands for. */
export class ValueBuilder {
  readonly #values: ReadonlyMap<string, RubyValue>;

  constructor(values: ReadonlyMap<string, RubyValue>) {
    this.#values = values;
  }

  /** @throws EditError */
  array(elements: readonly EditedValue[]): RubyValue {
    return makeArray(elements.map((element) => this.#value(element)));
  }

  /** @throws EditError */
  hash(entries: readonly EditedEntry[]): RubyValue {
    const made = entries.map(([key, value]) => [this.#value(key), this.#value(value)] as const);
    if (entries.some(([key]) => usesPlaceholder(key))) refuseEqualKeys(made.map(([key]) => key));
    return makeHash(made);
  }

  #value(value: EditedValue): RubyValue {
    switch (value.kind) {
      case "nil":
        return makeNil();
      case "boolean":
        return makeBoolean(value.value);
      case "integer":
        return makeInteger(BigInt(value.digits));
      case "float":
        return makeFloat(Number(value.digits));
      case "string":
        return makeString(Buffer.from(value.bytes, "latin1"), value.encoding);
      case "symbol":
        return makeSymbol(Buffer.from(value.bytes, "latin1"));
      case "array":
        return this.array(value.elements);
      case "hash":
        return this.hash(value.entries);
      case "range":
        return makeRange(this.#value(value.begin), this.#value(value.end), value.excludesEnd);
      case "placeholder": {
        const known = this.#values.get(value.name);
        if (known === undefined) throw new EditError(`No value is known as ${value.name}.`);
        return known;
      }
    }
  }
}

function usesPlaceholder(key: EditedValue): boolean {
  switch (key.kind) {
    case "placeholder":
      return true;
    case "array":
      return key.elements.some(usesPlaceholder);
    case "hash":
      return key.entries.some(([first, second]) => usesPlaceholder(first) || usesPlaceholder(second));
    default:
      return false;
  }
}

/** Two keys of one hash may be equal although their names differ: of those, Ruby would keep the last alone. */
function refuseEqualKeys(keys: readonly RubyValue[]): void {
  const met = new Set<string>();
  for (const key of keys) {
    const text = comparable(key);
    if (text === null) continue;
    if (met.has(text))
      throw new EditError("A hash has two keys that are equal, of which Ruby would keep the last alone.");
    met.add(text);
  }
}

/** Equal for values that are one key to a Hash; null for an object, which is a key of its own, as far as anyone can tell. */
function comparable(key: RubyValue): string | null {
  if (key.type === "object") return null;
  if (key.type !== "string") return latin1Of(writeMarshal(key));
  return `"${isAscii(key.bytes) ? "" : encodingOf(key)}"${latin1Of(key.bytes)}`;
}
