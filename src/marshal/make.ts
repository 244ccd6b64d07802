import { bufferOf, isAscii } from "./encodings";
import { FALSE, NIL, NONE, TRUE } from "./nodes";
import type {
  InstanceVariable,
  RubyArray,
  RubyFloat,
  RubyHash,
  RubyInteger,
  RubyObject,
  RubyString,
  RubySymbol,
  RubyValue,
} from "./values";

/** Values as Ruby itself would write them, where no stream had them. */

const NO_PARTS = { instanceVariables: NONE, extendedBy: NONE, userClass: null };
const ENCODING = asciiSymbol("E");
const UTF8: readonly InstanceVariable[] = [{ name: ENCODING, value: TRUE }];
const US_ASCII: readonly InstanceVariable[] = [{ name: ENCODING, value: FALSE }];

export function makeNil(): RubyValue {
  return NIL;
}

export function makeBoolean(value: boolean): RubyValue {
  return value ? TRUE : FALSE;
}

/** Marshal keeps 31 bits as a fixnum, whatever the machine. */
export function makeInteger(value: bigint): RubyInteger {
  const encoding = value >= -(2n ** 30n) && value < 2n ** 30n ? "fixnum" : "bignum";
  return { type: "integer", value, encoding, ...NO_PARTS };
}

export function makeFloat(value: number): RubyFloat {
  return { type: "float", value, text: floatText(value), ...NO_PARTS };
}

/** The digits that Ruby's `w_float` writes. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (!Number.isFinite(value)) return `${sign}inf`;
  if (value === 0) return `${sign}0`;
  const [mantissa = "", power = ""] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  /** Where the point is among the digits. */
  const point = Number(power) + 1;
  if (point < -3 || point > digits.length) return `${sign}${mantissa}e${point - 1}`;
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  const fraction = digits.slice(point);
  return `${sign}${digits.slice(0, point)}${fraction === "" ? "" : `.${fraction}`}`;
}

export function makeString(bytes: Uint8Array, encoding: "UTF-8" | "US-ASCII" | "ASCII-8BIT"): RubyString {
  const instanceVariables = encoding === "UTF-8" ? UTF8 : encoding === "US-ASCII" ? US_ASCII : NONE;
  return { type: "string", bytes, ...NO_PARTS, instanceVariables };
}

/** `bytes`: valid UTF-8. */
export function makeSymbol(bytes: Uint8Array): RubySymbol {
  return { type: "symbol", bytes, instanceVariables: isAscii(bufferOf(bytes)) ? NONE : UTF8 };
}

export function makeArray(elements: readonly RubyValue[]): RubyArray {
  return { type: "array", elements, ...NO_PARTS };
}

export function makeHash(entries: RubyHash["entries"]): RubyHash {
  return { type: "hash", entries, defaultValue: null, comparesByIdentity: false, ...NO_PARTS };
}

export function makeRange(begin: RubyValue, end: RubyValue, excludesEnd: boolean): RubyObject {
  const instanceVariables: InstanceVariable[] = [
    { name: asciiSymbol("excl"), value: makeBoolean(excludesEnd) },
    { name: asciiSymbol("begin"), value: begin },
    { name: asciiSymbol("end"), value: end },
  ];
  return {
    type: "object",
    className: asciiSymbol("Range"),
    wrapperVariables: null,
    ...NO_PARTS,
    instanceVariables,
  };
}

function asciiSymbol(name: string): RubySymbol {
  return { type: "symbol", bytes: Buffer.from(name, "latin1"), instanceVariables: NONE };
}
