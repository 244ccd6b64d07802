/**
 * Ruby values as data: what a Marshal 4.8 stream holds, without loss, and without ever running anything.
 *
 * The tree is a graph: two references to one Ruby object are two references to one JavaScript object, so that the
 * writer can emit the links (`@`) that the reader resolved, and a cycle is a cycle. Nodes are never mutated after
 * reading.
 *
 * Source of every rule: Ruby's `marshal.c`, format version 4.8.
 */

/** A Ruby Symbol. One node for each distinct symbol of a document; its bytes and its encoding make its identity. */
export interface RubySymbol {
  readonly type: "symbol";
  readonly bytes: Uint8Array;
  /** Instance variables as the stream has them, which for a symbol is its encoding alone. */
  readonly instanceVariables: readonly InstanceVariable[];
}

/** A name and a value: an instance variable, the `E` or `encoding` of a string, or a member of a struct. */
export interface InstanceVariable {
  readonly name: RubySymbol;
  readonly value: RubyValue;
}

/** What any object but an immediate can carry besides its own content. */
export interface ObjectParts {
  /** Instance variables in stream order, encodings (`E`, `encoding`) included. */
  readonly instanceVariables: readonly InstanceVariable[];
  /** Modules that extend the object's singleton (`e`), outermost first. */
  readonly extendedBy: readonly RubySymbol[];
  /** The class, where the value is of a subclass of String, Array, Hash or Regexp (`C`). */
  readonly userClass: RubySymbol | null;
}

export interface RubyNil {
  readonly type: "nil";
}
export interface RubyBoolean {
  readonly type: "boolean";
  readonly value: boolean;
}
/** `encoding` keeps the form in the stream: a `bignum` takes a place in the table of links, a `fixnum` does not. */
export interface RubyInteger extends ObjectParts {
  readonly type: "integer";
  readonly value: bigint;
  readonly encoding: "fixnum" | "bignum";
}
export interface RubyFloat extends ObjectParts {
  readonly type: "float";
  readonly value: number;
  /** The digits as the stream has them, for example `1.5`, `inf`, `-0`. */
  readonly text: string;
}
export interface RubyString extends ObjectParts {
  readonly type: "string";
  readonly bytes: Uint8Array;
}
export interface RubyRegexp extends ObjectParts {
  readonly type: "regexp";
  readonly bytes: Uint8Array;
  /** Ruby's option bits: 1 ignore case, 2 extended, 4 multiline, 16 fixed encoding, 32 no encoding. */
  readonly options: number;
}
export interface RubyArray extends ObjectParts {
  readonly type: "array";
  readonly elements: readonly RubyValue[];
}
export interface RubyHash extends ObjectParts {
  readonly type: "hash";
  readonly entries: readonly (readonly [RubyValue, RubyValue])[];
  /** The default value of a Hash that was made with one (`}`). */
  readonly defaultValue: RubyValue | null;
  /** Whether `compare_by_identity` was set. */
  readonly comparesByIdentity: boolean;
}
export interface RubyStruct extends ObjectParts {
  readonly type: "struct";
  readonly className: RubySymbol;
  readonly members: readonly InstanceVariable[];
}
export interface RubyObject extends ObjectParts {
  readonly type: "object";
  readonly className: RubySymbol;
  /**
   * Variables of an `I` around the object, as Ruby writes them for a Range subclass whose instance has variables of its
   * own beside `excl`, `begin` and `end`. Null where there is no `I`.
   */
  readonly wrapperVariables: readonly InstanceVariable[] | null;
}
/**
 * An object with a `_dump` of its own (`u`): bytes that only its class understands. Time is one whose form is known.
 */
export interface RubyUserDefined extends ObjectParts {
  readonly type: "user-defined";
  readonly className: RubySymbol;
  readonly bytes: Uint8Array;
}
/** An object with a `marshal_dump` of its own (`U`), or a data object (`d`): one value in place of its content. */
export interface RubyUserMarshal extends ObjectParts {
  readonly type: "user-marshal";
  readonly form: "marshal_dump" | "data";
  readonly className: RubySymbol;
  readonly value: RubyValue;
}
/** A reference to a class or module by name. `either` is the old form (`M`) that does not say which. */
export interface RubyModule extends ObjectParts {
  readonly type: "module";
  readonly kind: "class" | "module" | "either";
  readonly name: Uint8Array;
}

export type RubyValue =
  | RubyNil
  | RubyBoolean
  | RubySymbol
  | RubyInteger
  | RubyFloat
  | RubyString
  | RubyRegexp
  | RubyArray
  | RubyHash
  | RubyStruct
  | RubyObject
  | RubyUserDefined
  | RubyUserMarshal
  | RubyModule;
