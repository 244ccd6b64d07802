import { textOf, type RubyArray, type RubyHash, type RubyValue } from "../marshal";
import { childrenOf } from "../marshal/children";
import { limits } from "./limits";
import { isPlainContainer, leafLiteral } from "./literals";
import { Placeholders, hasIdentity, type IsMasked } from "./placeholders";
import type { EditedCall, EditedEntry, EditedValue, Placeholder } from "./protocol";

/** A call as it is in a store. */
export interface CallToEdit {
  readonly call: EditedCall;
  /** In the order in which the call uses them. */
  readonly placeholders: readonly Placeholder[];
  /** What the placeholders stand for, by name. */
  readonly values: ReadonlyMap<string, RubyValue>;
}

type Container = RubyArray | RubyHash;

/** `args` and `kwargs`: plain containers, or null. `references`: see `referencesWithin`. */
export function callOf(
  taskClass: string,
  args: RubyArray | null,
  kwargs: RubyHash | null,
  references: ReadonlyMap<RubyValue, number>,
  isMasked: IsMasked,
): CallToEdit {
  const roots = [args, kwargs].filter((root) => root !== null);
  const writer = new CallWriter(roots, references, isMasked);
  const call = {
    taskClass,
    args: (args?.elements ?? []).map((element) => writer.value(element)),
    kwargs: kwargs === null ? [] : writer.entries(kwargs),
  };
  return { call, placeholders: writer.placeholders.all, values: writer.placeholders.values };
}

/**
 * How often each value that has an identity is referred to within a root, which counts as once. What refers to a String as
 * the key of a Hash does not count: Ruby makes a frozen one of its own of it.
 */
export function referencesWithin(root: RubyValue): ReadonlyMap<RubyValue, number> {
  const counts = new Map<RubyValue, number>();
  const stack = [root];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    if (!hasIdentity(value)) continue;
    const count = counts.get(value) ?? 0;
    counts.set(value, count + 1);
    if (count > 0) continue;
    const keys = value.type === "hash" && !value.comparesByIdentity ? 2 * value.entries.length : 0;
    for (const [index, child] of childrenOf(value).entries()) {
      const isStringKey = child.type === "string" && index < keys && index % 2 === 0;
      if (!isStringKey) stack.push(child);
    }
  }
  return counts;
}

class CallWriter {
  readonly placeholders: Placeholders;
  readonly #references: ReadonlyMap<RubyValue, number>;
  readonly #isMasked: IsMasked;
  /** Containers that are written out. */
  readonly #open = new Set<RubyValue>();
  /** Values that stand under a masked name somewhere, which hides them wherever else they stand. */
  readonly #secrets = new Set<RubyValue>();

  constructor(roots: readonly Container[], references: ReadonlyMap<RubyValue, number>, isMasked: IsMasked) {
    this.placeholders = new Placeholders(isMasked);
    this.#references = references;
    this.#isMasked = isMasked;
    this.#choose(roots);
  }

  value(value: RubyValue): EditedValue {
    if (hasIdentity(value) && this.#secrets.has(value)) return this.#placeholder(value, "secret");
    if (this.#isShared(value)) return this.#placeholder(value, "value");
    if (value.type === "array" || value.type === "hash") {
      if (!this.#open.has(value)) return this.#placeholder(value, "value");
      return value.type === "array"
        ? { kind: "array", elements: value.elements.map((element) => this.value(element)) }
        : { kind: "hash", entries: this.entries(value) };
    }
    // A Range is a literal, and what it goes from and to may be there more than once.
    const holdsShared = value.type === "object" && childrenOf(value).some((child) => this.#isShared(child));
    return (holdsShared ? null : leafLiteral(value)) ?? this.#placeholder(value, "value");
  }

  entries(hash: RubyHash): EditedEntry[] {
    return hash.entries.map(([key, value]) => [
      this.#key(key),
      isMaskedKey(key, this.#isMasked) ? this.#placeholder(value, "secret") : this.value(value),
    ]);
  }

  #key(key: RubyValue): EditedValue {
    return (key.type === "string" ? leafLiteral(key) : null) ?? this.value(key);
  }

  #placeholder(value: RubyValue, kind: Placeholder["kind"]): EditedValue {
    return { kind: "placeholder", name: this.placeholders.nameOf(value, kind) };
  }

  #isShared(value: RubyValue): boolean {
    return (this.#references.get(value) ?? 0) > 1;
  }

  /** Goes from level to level, so that what is left out where there is too much is what lies deepest. */
  #choose(roots: readonly Container[]): void {
    let left: number = limits.values;
    let level: readonly RubyValue[] = roots;
    for (let depth = 0; level.length > 0 && depth <= limits.depth; depth++) {
      const next: RubyValue[] = [];
      for (const value of level) {
        if (!isPlainContainer(value) || (depth > 0 && this.#isShared(value))) continue;
        const parts = childrenOf(value);
        const count = value.type === "hash" ? parts.length / 2 : parts.length;
        if (count > limits.entries || parts.length > left) continue;
        left -= parts.length;
        this.#open.add(value);
        next.push(...this.#shownIn(value));
      }
      level = next;
    }
  }

  #shownIn(value: RubyValue): readonly RubyValue[] {
    if (value.type !== "hash") return childrenOf(value);
    return value.entries.flatMap(([key, entry]) => {
      if (!isMaskedKey(key, this.#isMasked)) return [key, entry];
      this.#secrets.add(entry);
      return [key];
    });
  }
}

function isMaskedKey(key: RubyValue, isMasked: IsMasked): boolean {
  return (key.type === "symbol" || key.type === "string") && isMasked(textOf(key.bytes));
}
