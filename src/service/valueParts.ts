import {
  dateOf,
  exceptionMessage,
  inspect,
  inspectComplex,
  inspectMemberName,
  inspectRational,
  inspectSymbolKey,
  isEncodingVariable,
  rangeOf,
  setOf,
  textOf,
  type InstanceVariable,
  type RubyHash,
  type RubyObject,
  type RubyString,
  type RubySymbol,
  type RubyValue,
} from "../marshal";
import type { Mask } from "./masking";

/** An entry of a hash whose key is something to be opened, too. */
export interface HashEntry {
  readonly type: "entry";
  readonly entry: readonly [key: RubyValue, value: RubyValue];
}

/** What a line of the tree is about. */
export type Place = RubyValue | HashEntry;

/** A place within another, with what stands before it. */
export interface Part {
  readonly place: Place;
  /** What the place is named by, for masking; null where it has no name. */
  readonly name: RubyString | RubySymbol | null;
  /** The entry or variable that has the name. */
  readonly holder: object | null;
  /** Whether it is known by its position alone. */
  readonly isElement: boolean;
  readonly label: (mask: Mask) => string;
  /** How it is reached in Ruby text: `[0]`, `[:locale]`, `.@id`. */
  readonly step: (mask: Mask) => string;
}

/** The parts of a place by position: nothing is made of a million of them until one is asked for. */
export interface Parts {
  readonly count: number;
  at(index: number): Part | null;
}

const noParts: Parts = { count: 0, at: () => null };

/** Characters of a key before its value. One that is longer, or holds others, is a part of its own. */
const longestKey = 80;

export function partsOf(place: Place): Parts {
  switch (place.type) {
    case "nil":
    case "boolean":
    case "symbol":
      return noParts;
    case "entry": {
      const { entry } = place;
      return list([named("key", entry[0]), { ...named("value", entry[1]), ...nameOf(entry[0], entry) }]);
    }
    case "array":
      return joined(elements(place.elements), variables(place.instanceVariables));
    case "hash":
      return joined(entries(place), defaultValue(place), variables(place.instanceVariables));
    case "struct":
      return joined(members(place.members), variables(place.instanceVariables));
    case "object":
      return objectParts(place);
    case "user-marshal":
      if (dateOf(place) ?? inspectRational(place) ?? inspectComplex(place)) return noParts;
      return joined(list([named(place.form, place.value)]), variables(place.instanceVariables));
    case "user-defined":
      // Those of a Time are its zone and its fraction, which the time itself shows.
      return textOf(place.className.bytes) === "Time" ? noParts : variables(place.instanceVariables);
    default:
      return variables(place.instanceVariables);
  }
}

function objectParts(object: RubyObject): Parts {
  const wrapper = variables(object.wrapperVariables ?? []);
  const range = rangeOf(object);
  if (range) return joined(list([named("begin", range.begin), named("end", range.end)]), wrapper);
  const set = setOf(object);
  if (set) return joined(elements(set.entries.map(([element]) => element)), wrapper);
  const rubysOwn: Record<string, string> =
    exceptionMessage(object) === null ? {} : { mesg: "message", bt: "backtrace" };
  return joined(variables(object.instanceVariables, rubysOwn), wrapper);
}

function list(parts: readonly Part[]): Parts {
  return parts.length === 0 ? noParts : { count: parts.length, at: (index) => parts[index] ?? null };
}

function joined(...all: readonly Parts[]): Parts {
  const full = all.filter(({ count }) => count > 0);
  if (full.length <= 1) return full[0] ?? noParts;
  return {
    count: full.reduce((sum, { count }) => sum + count, 0),
    at(index) {
      let left = index;
      for (const parts of full) {
        if (left < parts.count) return parts.at(left);
        left -= parts.count;
      }
      return null;
    },
  };
}

function elements(values: readonly RubyValue[]): Parts {
  return {
    count: values.length,
    at(index) {
      const value = values[index];
      if (value === undefined) return null;
      const label = (): string => `[${index}]`;
      return { place: value, name: null, holder: null, isElement: true, label, step: label };
    },
  };
}

function entries(hash: RubyHash): Parts {
  return {
    count: hash.entries.length,
    at(index) {
      const entry = hash.entries[index];
      return entry === undefined ? null : entryPart(entry, index);
    },
  };
}

function entryPart(entry: readonly [RubyValue, RubyValue], index: number): Part {
  const [key, value] = entry;
  const step = (mask: Mask): string => `[${keyText(key, mask)}]`;
  if (isLongKey(key)) {
    return {
      ...unnamed,
      place: { type: "entry", entry },
      label: () => `entry ${index}`,
      step,
    };
  }
  const label = (mask: Mask): string =>
    key.type === "symbol" ? inspectSymbolKey(key).trimEnd() : `${keyText(key, mask)} =>`;
  return { ...nameOf(key, entry), place: value, label, step };
}

function keyText(key: RubyValue, mask: Mask): string {
  return inspect(key, { maxLength: longestKey, isMasked: mask.asOption });
}

function isLongKey(key: RubyValue): boolean {
  if (key.type === "string" || key.type === "symbol" || key.type === "regexp") return key.bytes.length > longestKey;
  return partsOf(key).count > 0;
}

function defaultValue({ defaultValue: value }: RubyHash): Parts {
  return value === null ? noParts : list([named("default", value)]);
}

function members(all: readonly InstanceVariable[]): Parts {
  return {
    count: all.length,
    at(index) {
      const member = all[index];
      if (member === undefined) return null;
      const label = (): string => inspectMemberName(member.name, longestKey);
      return { ...nameOf(member.name, member), place: member.value, label, step: () => `.${label()}` };
    },
  };
}

/** Variables but those that say an encoding, which the type has. */
function variables(all: readonly InstanceVariable[], labels: Readonly<Record<string, string>> = {}): Parts {
  if (all.every(isEncodingVariable)) return noParts;
  return list(
    all
      .filter((variable) => !isEncodingVariable(variable))
      .map((variable): Part => {
        const label = (): string => {
          const name = textOf(variable.name.bytes.subarray(0, 4 * longestKey));
          return labels[name] ?? name;
        };
        return { ...nameOf(variable.name, variable), place: variable.value, label, step: () => `.${label()}` };
      }),
  );
}

const unnamed = { name: null, holder: null, isElement: false } as const;

function nameOf(key: RubyValue, holder: object): Pick<Part, "name" | "holder" | "isElement"> {
  return key.type === "symbol" || key.type === "string" ? { name: key, holder, isElement: false } : unnamed;
}

function named(label: string, place: RubyValue): Part {
  return { ...unnamed, place, label: () => label, step: () => `.${label}` };
}

/** Whether a part is hidden behind its name. */
export function isHidden({ name, holder }: Part, mask: Mask): boolean {
  return name !== null && mask.covers(textOf(name.bytes), holder ?? undefined);
}

/** Whether its name is a masked one, be it shown or not. */
export function isSecret({ name }: Part, mask: Mask): boolean {
  return name !== null && mask.isSecret(textOf(name.bytes));
}
