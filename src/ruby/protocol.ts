import type { EditReadingRequests } from "../edit/protocol";

/**
 * What the editor asks of the thread that reads Ruby source, and what it answers. Source is parsed, never run. Places are
 * counted as the editor counts them: lines and characters from 0, characters in UTF-16 units, a byte order mark not counted.
 */

export interface SourcePosition {
  readonly line: number;
  readonly character: number;
}

/** `end` is exclusive. */
export interface SourceRange {
  readonly start: SourcePosition;
  readonly end: SourcePosition;
}

/**
 * A parameter, its kind in the words of Ruby's `Method#parameters`:
 * `req` required, before or after the optional ones; `opt` with a default; `rest` `*name`; `keyreq` required keyword; `key`
 * keyword with a default; `keyrest` `**name`; `nokey` `**nil`, which forbids keywords; `block` `&name`. `...` stands as `rest`,
 * `keyrest` and `block` without names.
 */
export interface Parameter {
  readonly kind: "req" | "opt" | "rest" | "keyreq" | "key" | "keyrest" | "nokey" | "block";
  /** Null for an anonymous one, and for one that takes an array apart, such as `(first, second)`. */
  readonly name: string | null;
}

export interface MethodDefinition {
  /** From `def` to `end`. */
  readonly range: SourceRange;
  readonly nameRange: SourceRange;
  /** In the order of Ruby's `Method#parameters`. Null where the text does not say: an alias, or a block made elsewhere. */
  readonly parameters: readonly Parameter[] | null;
}

export interface ClassDefinition {
  /** Fully qualified, without a leading `::`. */
  readonly name: string;
  /**
   * Other names that the definition may have: in `module A; class B::C`, only the running program knows whether `B` is `A::B`,
   * which `name` takes it for, or `::B`.
   */
  readonly otherNames: readonly string[];
  /** From `class` to `end`. */
  readonly range: SourceRange;
  /** The name as written, with the path before it. */
  readonly nameRange: SourceRange;
  /** As written; null where there is none. */
  readonly superclass: string | null;
  /** Whether its body has `include Rage::Deferred::Task`. One that does not can still inherit it. */
  readonly includesTask: boolean;
  /** The instance method `perform`, where the body defines it; the last of several, as in Ruby. */
  readonly perform: MethodDefinition | null;
}

export interface SyntaxProblem {
  readonly message: string;
  readonly position: SourcePosition;
}

/** What a source defines, in the order of the text. */
export interface SourceClasses {
  readonly classes: readonly ClassDefinition[];
  /** The first error of a source that Ruby would not load; `classes` then has what could be made out. Null where it is sound. */
  readonly problem: SyntaxProblem | null;
}

export interface FoundDefinition {
  readonly path: string;
  /** Whether Ruby would load the source. */
  readonly isSound: boolean;
  readonly definition: ClassDefinition;
}

export interface SkippedFile {
  readonly path: string;
  /** Fit for a user. */
  readonly reason: string;
}

export interface Definitions {
  readonly found: readonly FoundDefinition[];
  /** Files that could not be looked into. One that has gone meanwhile is not among them. */
  readonly skipped: readonly SkippedFile[];
}

/** A call without a receiver whose first argument is a literal String without interpolation: `require "rage"`. */
export interface LiteralCall {
  readonly name: string;
  readonly argument: string;
}

/** The calls that the thread answers, by name. */
export interface RubyRequests extends EditReadingRequests {
  classesInText(text: string): SourceClasses;
  /** Where these files define the class, in their order. A file is parsed only if its text names the class. */
  definitionsOf(name: string, paths: readonly string[]): Definitions;
  /** The calls of these names, wherever in the text they stand. */
  literalCalls(text: string, names: readonly string[]): readonly LiteralCall[];
}

export type RubyRequestName = keyof RubyRequests;

/** Editor to thread. */
export interface RubyRequestMessage {
  readonly sequence: number;
  readonly name: RubyRequestName;
  readonly parameters: readonly unknown[];
}

/** Thread to editor. */
export type RubyReplyMessage =
  | { readonly sequence: number; readonly ok: true; readonly value: unknown }
  | { readonly sequence: number; readonly ok: false; readonly message: string };

/** Larger sources are not read, in bytes: no one writes a task class in such a file, and parsing it would take seconds. */
export const largestSource = 2 * 1024 * 1024;
