import { spells } from "./encodings";
import { variableOf } from "./times";
import type { RubyHash, RubyObject, RubyValue } from "./values";

export interface Range {
  readonly begin: RubyValue;
  readonly end: RubyValue;
  readonly excludesEnd: boolean;
}

/** A Range or an instance of a subclass: an object of exactly `excl`, `begin` and `end`. Null for any other. */
export function rangeOf(object: RubyObject): Range | null {
  if (object.instanceVariables.length !== 3) return null;
  const excludesEnd = variableOf(object.instanceVariables, "excl");
  const begin = variableOf(object.instanceVariables, "begin");
  const end = variableOf(object.instanceVariables, "end");
  return excludesEnd?.type === "boolean" && begin && end ? { begin, end, excludesEnd: excludesEnd.value } : null;
}

/**
 * The hash behind a Set or an instance of a subclass: an object of nothing but a `@hash` whose every value is `true`
 * and whose default is `false`. Null for any other.
 */
export function setOf(object: RubyObject): RubyHash | null {
  if (object.instanceVariables.length !== 1) return null;
  const hash = variableOf(object.instanceVariables, "@hash");
  if (hash?.type !== "hash" || hash.defaultValue?.type !== "boolean" || hash.defaultValue.value) return null;
  return hash.entries.every(([, mark]) => mark.type === "boolean" && mark.value) ? hash : null;
}

/**
 * The message of an exception, in UTF-8: of an object with `mesg` and `bt`, names that only Ruby itself gives. Null
 * for any other object, and where the message is something that only its class could print.
 */
export function exceptionMessage(object: RubyObject): Uint8Array | null {
  if (!variableOf(object.instanceVariables, "bt")) return null;
  const message = variableOf(object.instanceVariables, "mesg");
  switch (message?.type) {
    case "nil":
      return object.className.bytes;
    case "string":
    case "symbol":
      return message.bytes;
    case "user-defined":
      // The message of a NameError, made when it is asked for; its `_dump` is the text.
      return spells(message.className.bytes, "NameError::message") ? message.bytes : null;
    default:
      return null;
  }
}
