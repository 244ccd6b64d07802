import { encodingOf, latin1Of } from "./encodings";
import type { RubyBoolean, RubyNil, RubySymbol } from "./values";

export const NIL: RubyNil = { type: "nil" };
export const TRUE: RubyBoolean = { type: "boolean", value: true };
export const FALSE: RubyBoolean = { type: "boolean", value: false };

/** The variables, modules or members of what has none. */
export const NONE: readonly never[] = [];

/** A node while it is being built. */
export type Mutable<Node> = { -readonly [Key in keyof Node]: Node[Key] };

/** Equal for symbols that are one symbol in Ruby. */
export function symbolKey(symbol: RubySymbol): string {
  const text = latin1Of(symbol.bytes);
  return symbol.instanceVariables.length === 0 ? text : `${text}\0${encodingOf(symbol)}`;
}
