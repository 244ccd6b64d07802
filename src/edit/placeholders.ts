import { inspect, latin1Of, textOf, type RubyValue } from "../marshal";
import { maskText } from "../service/masking";
import { oneLine } from "../text/labels";
import { visibleText } from "../text/visible";
import type { Placeholder } from "./protocol";

export type IsMasked = (name: string) => boolean;

/** Characters of a description. */
const longestDescription = 120;
/** Characters of a placeholder's name before its number. */
const longestName = 40;

/** Nobody can change these, so that it does not matter whether two of them are one. */
export function hasIdentity({ type }: RubyValue): boolean {
  return !["nil", "boolean", "symbol", "integer", "float"].includes(type);
}

/** Gives names to values that a text has no literals for: one name for one object, however often it is used. */
export class Placeholders {
  readonly all: Placeholder[] = [];
  readonly values = new Map<string, RubyValue>();
  readonly #isMasked: IsMasked;
  readonly #names = new Map<RubyValue, string>();
  readonly #counts = new Map<string, number>();

  constructor(isMasked: IsMasked) {
    this.#isMasked = isMasked;
  }

  nameOf(value: RubyValue, kind: Placeholder["kind"]): string {
    const known = hasIdentity(value) ? this.#names.get(value) : undefined;
    if (known !== undefined) return known;
    const base = kind === "secret" ? "secret" : baseOf(value);
    const count = (this.#counts.get(base) ?? 0) + 1;
    this.#counts.set(base, count);
    const name = `${base}_${count}`;
    this.#names.set(value, name);
    this.values.set(name, value);
    this.all.push({ name, description: kind === "secret" ? maskText : this.#describe(value), kind });
    return name;
  }

  #describe(value: RubyValue): string {
    const text = inspect(value, { maxLength: longestDescription, isMasked: this.#isMasked });
    return visibleText(oneLine(text, longestDescription));
  }
}

/** What a variable with this value would be called: the class's name in snake case, without the modules it is in. */
function baseOf(value: RubyValue): string {
  const words = classNameOf(value)
    .replace(/^.*::/, "")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase();
  // A number follows, so that no name is one of Ruby's own words.
  return /^[a-z_][a-z\d_]*$/.test(words) ? words.slice(0, longestName) : "value";
}

function classNameOf(value: RubyValue): string {
  if (value.type !== "nil" && value.type !== "boolean" && value.type !== "symbol" && value.userClass !== null) {
    return textOf(value.userClass.bytes);
  }
  switch (value.type) {
    case "object":
    case "struct":
    case "user-defined":
    case "user-marshal":
      return latin1Of(value.className.bytes);
    case "module":
      return value.kind === "module" ? "module" : "class";
    default:
      return value.type;
  }
}
