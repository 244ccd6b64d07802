import type { Mutable } from "./nodes";
import type {
  InstanceVariable,
  ObjectParts,
  RubyArray,
  RubyHash,
  RubyObject,
  RubyStruct,
  RubySymbol,
  RubyUserMarshal,
  RubyValue,
} from "./values";

/** A value that can have instance variables, while it is being read. */
export type Unfinished = Mutable<Extract<RubyValue, ObjectParts>>;

/** What is still to be read of a value: some number of other values, each with a name before it or not. */
export abstract class Frame {
  /** The name of the value that comes next, where it has been read. */
  name: RubySymbol | null = null;

  constructor(
    readonly node: Unfinished,
    /** Values still to come. */
    public remaining: number,
    /** Whether instance variables follow after those. */
    readonly isWrapped: boolean,
    /** Whether each value has a name before it. */
    readonly isNamed: boolean,
  ) {}

  /** Takes the next value. */
  abstract add(value: RubyValue): void;
}

/**
 * Room for a list of so many. A list that grows takes room for sixteen at once, which a stream of a million short ones would
 * turn into much; and one that is long takes it only as it is filled, since its count is no more than a claim.
 */
export function roomFor<Item>(count: number): Item[] {
  return count <= 16 ? new Array<Item>(count) : [];
}

export class ElementsFrame extends Frame {
  readonly #elements: RubyValue[];
  #next = 0;

  constructor(node: Mutable<RubyArray>, elements: RubyValue[], count: number, isWrapped: boolean) {
    super(node, count, isWrapped, false);
    this.#elements = elements;
  }

  add(value: RubyValue): void {
    this.#elements[this.#next++] = value;
    this.remaining--;
  }
}

/** Keys and values in turn, and the default at the end where there is one. */
export class EntriesFrame extends Frame {
  readonly #hash: Mutable<RubyHash>;
  readonly #entries: [RubyValue, RubyValue][];
  #next = 0;
  readonly #hasDefault: boolean;
  #key: RubyValue | null = null;

  constructor(
    node: Mutable<RubyHash>,
    entries: [RubyValue, RubyValue][],
    count: number,
    hasDefault: boolean,
    isWrapped: boolean,
  ) {
    super(node, count * 2 + (hasDefault ? 1 : 0), isWrapped, false);
    this.#hash = node;
    this.#entries = entries;
    this.#hasDefault = hasDefault;
  }

  add(value: RubyValue): void {
    this.remaining--;
    if (this.#key !== null) {
      this.#entries[this.#next++] = [this.#key, value];
      this.#key = null;
    } else if (this.#hasDefault && this.remaining === 0) {
      this.#hash.defaultValue = value;
    } else {
      this.#key = value;
    }
  }
}

/** The one value in place of an object's content. */
export class ContentFrame extends Frame {
  readonly #object: Mutable<RubyUserMarshal>;

  constructor(node: Mutable<RubyUserMarshal>, isWrapped: boolean) {
    super(node, 1, isWrapped, false);
    this.#object = node;
  }

  add(value: RubyValue): void {
    this.#object.value = value;
    this.remaining--;
  }
}

/** Names and values: the members of a struct, the variables of an object. */
export class MembersFrame extends Frame {
  readonly #variables: InstanceVariable[];
  #next = 0;

  constructor(node: Mutable<RubyStruct> | Mutable<RubyObject>, count: number, isWrapped: boolean) {
    super(node, count, isWrapped, true);
    this.#variables = roomFor(count);
    if (node.type === "struct") node.members = this.#variables;
    else node.instanceVariables = this.#variables;
  }

  add(value: RubyValue): void {
    if (this.name) this.#variables[this.#next++] = { name: this.name, value };
    this.name = null;
    this.remaining--;
  }
}

/** The instance variables that an `I` announced, after everything else. */
export class WrapperFrame extends Frame {
  readonly #variables: InstanceVariable[];
  #next = 0;

  constructor(node: Unfinished, count: number) {
    super(node, count, false, true);
    this.#variables = roomFor(count);
    if (node.type === "object") node.wrapperVariables = this.#variables;
    else node.instanceVariables = this.#variables;
  }

  add(value: RubyValue): void {
    if (this.name) this.#variables[this.#next++] = { name: this.name, value };
    this.name = null;
    this.remaining--;
  }
}
