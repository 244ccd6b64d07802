import { isUtf8 } from "node:buffer";
import { encodingOf, isAscii, latin1Of, rangeOf, type RubyObject, type RubyString, type RubyValue } from "../marshal";
import { hasOnlyEncoding } from "../marshal/children";
import { canBound, floatDigits } from "./bounds";
import { limits } from "./limits";
import type { EditedBytes, EditedValue } from "./protocol";

/** A value that holds no others as a literal; null where it has none that keeps all of it, or none that anyone would edit. */
export function leafLiteral(value: RubyValue): EditedValue | null {
  switch (value.type) {
    case "nil":
      return { kind: "nil" };
    case "boolean":
      return { kind: "boolean", value: value.value };
    case "symbol":
      return isLiteralSymbol(value.bytes, encodingOf(value))
        ? { kind: "symbol", bytes: latin1Of(value.bytes), encoding: isAscii(value.bytes) ? "US-ASCII" : "UTF-8" }
        : null;
    case "string":
      return isPlain(value) ? stringLiteral(value) : null;
    case "integer": {
      if (!isBare(value)) return null;
      const digits = value.value.toString();
      return digits.length > limits.digits ? null : { kind: "integer", digits };
    }
    case "float":
      return isBare(value) ? { kind: "float", digits: floatDigits(value.value) } : null;
    case "object":
      return rangeLiteral(value);
    default:
      return null;
  }
}

/** An Array or Hash with nothing about it but what it holds. */
export function isPlainContainer(value: RubyValue): boolean {
  if (value.type === "array") return isBare(value);
  return value.type === "hash" && isBare(value) && value.defaultValue === null && !value.comparesByIdentity;
}

type Parts = Exclude<RubyValue, { type: "nil" | "boolean" | "symbol" }>;

function isPlain(value: Parts): boolean {
  return value.extendedBy.length === 0 && value.userClass === null;
}

function isBare(value: Parts): boolean {
  return isPlain(value) && value.instanceVariables.length === 0;
}

function isLiteralSymbol(bytes: Uint8Array, encoding: string): boolean {
  if (bytes.length > limits.stringBytes) return false;
  return isAscii(bytes) || (encoding === "UTF-8" && isUtf8(bytes));
}

const encodings: readonly string[] = ["UTF-8", "US-ASCII", "ASCII-8BIT"] satisfies readonly EditedBytes["encoding"][];

function isWritten(encoding: string): encoding is EditedBytes["encoding"] {
  return encodings.includes(encoding);
}

function stringLiteral(value: RubyString): EditedValue | null {
  const encoding = encodingOf(value);
  if (!hasOnlyEncoding(value) || !isWritten(encoding) || value.bytes.length > limits.stringBytes) return null;
  const isReadable = encoding === "UTF-8" ? isUtf8(value.bytes) : isAscii(value.bytes);
  if (!isReadable && value.bytes.length > limits.escapedBytes) return null;
  return { kind: "string", bytes: latin1Of(value.bytes), encoding };
}

/** Of bounds that Ruby's parser takes. */
function rangeLiteral(object: RubyObject): EditedValue | null {
  if (latin1Of(object.className.bytes) !== "Range" || !isPlain(object) || object.wrapperVariables !== null) return null;
  const range = rangeOf(object);
  if (range === null) return null;
  const [begin, end] = [leafLiteral(range.begin), leafLiteral(range.end)];
  if (begin === null || end === null || !canBound(begin, end)) return null;
  return { kind: "range", begin, end, excludesEnd: range.excludesEnd };
}
