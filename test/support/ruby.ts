import type {
  InstanceVariable,
  RubyArray,
  RubyBoolean,
  RubyFloat,
  RubyHash,
  RubyInteger,
  RubyModule,
  RubyNil,
  RubyObject,
  RubyString,
  RubyStruct,
  RubySymbol,
  RubyUserDefined,
  RubyUserMarshal,
  RubyValue,
} from "../../src/marshal/values";

/**
 * Ruby values for tests, in the form in which Ruby itself would have written them with `Marshal.dump`. Strings and symbols are
 * UTF-8 unless named otherwise.
 */

const noParts = { instanceVariables: [], extendedBy: [], userClass: null } as const;
const symbols = new Map<string, RubySymbol>();
const floats = new Map<string, RubyFloat>();

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** The same node for the same name: a symbol has one identity in a document. */
export function sym(name: string): RubySymbol {
  const known = symbols.get(name);
  if (known !== undefined) return known;
  const instanceVariables = isAscii(name) ? [] : utf8();
  const made: RubySymbol = { type: "symbol", bytes: Buffer.from(name), instanceVariables };
  symbols.set(name, made);
  return made;
}

export function nil(): RubyNil {
  return { type: "nil" };
}

export function bool(value: boolean): RubyBoolean {
  return { type: "boolean", value };
}

function utf8(): InstanceVariable[] {
  return [{ name: sym("E"), value: bool(true) }];
}

/** A String in UTF-8. */
export function str(text: string): RubyString {
  return { type: "string", bytes: Buffer.from(text), ...noParts, instanceVariables: utf8() };
}

/** A String in US-ASCII. */
export function ascii(text: string): RubyString {
  const instanceVariables = [{ name: sym("E"), value: bool(false) }];
  return { type: "string", bytes: Buffer.from(text, "ascii"), ...noParts, instanceVariables };
}

/** A String in ASCII-8BIT. */
export function binary(bytes: Uint8Array): RubyString {
  return { type: "string", bytes, ...noParts };
}

/** An Integer. Marshal keeps 31 bits as a fixnum whatever the machine. */
export function int(value: number | bigint): RubyInteger {
  const exact = BigInt(value);
  const encoding = exact >= -(2n ** 30n) && exact < 2n ** 30n ? "fixnum" : "bignum";
  return { type: "integer", value: exact, encoding, ...noParts };
}

/** The same node for the same number: Ruby keeps ordinary floats in the reference itself, so equal ones are one object. */
export function float(value: number): RubyFloat {
  const text = Object.is(value, -0)
    ? "-0"
    : String(value).replace("Infinity", "inf").replace("NaN", "nan").replace("e+", "e");
  const made: RubyFloat = floats.get(text) ?? { type: "float", value, text, ...noParts };
  floats.set(text, made);
  return made;
}

export function array(...elements: RubyValue[]): RubyArray {
  return { type: "array", elements, ...noParts };
}

/** An Array that may contain itself. */
export function cyclicArray(contents: (itself: RubyArray) => RubyValue[]): RubyArray {
  const elements: RubyValue[] = [];
  const made: RubyArray = { type: "array", elements, ...noParts };
  elements.push(...contents(made));
  return made;
}

export function hash(...entries: [RubyValue, RubyValue][]): RubyHash {
  return { type: "hash", entries, defaultValue: null, comparesByIdentity: false, ...noParts };
}

/** A Hash with symbol keys: `symbolHash({ locale: sym("en") })`. */
export function symbolHash(values: Readonly<Record<string, RubyValue>>): RubyHash {
  return hash(...Object.entries(values).map(([name, value]): [RubyValue, RubyValue] => [sym(name), value]));
}

/** A symbol-keyed Hash that may contain itself. */
export function cyclicHash(contents: (itself: RubyHash) => Readonly<Record<string, RubyValue>>): RubyHash {
  const entries: [RubyValue, RubyValue][] = [];
  const made: RubyHash = { type: "hash", entries, defaultValue: null, comparesByIdentity: false, ...noParts };
  for (const [name, value] of Object.entries(contents(made))) entries.push([sym(name), value]);
  return made;
}

function named(values: Readonly<Record<string, RubyValue>>): InstanceVariable[] {
  return Object.entries(values).map(([name, value]) => ({ name: sym(name), value }));
}

export function struct(className: string, members: Readonly<Record<string, RubyValue>>): RubyStruct {
  return { type: "struct", className: sym(className), members: named(members), ...noParts };
}

/** An object with instance variables, `@` included: `object("Order", { "@id": int(7) })`. */
export function object(className: string, variables: Readonly<Record<string, RubyValue>>): RubyObject {
  return {
    type: "object",
    className: sym(className),
    ...noParts,
    instanceVariables: named(variables),
    wrapperVariables: null,
  };
}

export function userMarshal(className: string, value: RubyValue): RubyUserMarshal {
  return { type: "user-marshal", form: "marshal_dump", className: sym(className), value, ...noParts };
}

export function userDefined(className: string, bytes: Uint8Array): RubyUserDefined {
  return { type: "user-defined", className: sym(className), bytes, ...noParts };
}

export function classNamed(name: string): RubyModule {
  return { type: "module", kind: "class", name: Buffer.from(name), ...noParts };
}

export function range(first: RubyValue, last: RubyValue, excludesEnd = false): RubyObject {
  return object("Range", { excl: bool(excludesEnd), begin: first, end: last });
}

export function set(...members: RubyValue[]): RubyObject {
  const contents: RubyHash = {
    ...hash(...members.map((member): [RubyValue, RubyValue] => [member, bool(true)])),
    defaultValue: bool(false),
  };
  return object("Set", { "@hash": contents });
}

/** `BigDecimal("12.50")`. `significand` are the digits after the point, in the form `0.{digits}e{exponent}`. */
export function bigDecimal(digits: string, exponent: number): RubyUserDefined {
  return userDefined("BigDecimal", Buffer.from(`18:0.${digits}e${exponent}`));
}

/** A Date in the proleptic form that Ruby writes: Julian day number and the reform of 1582. */
export function date(year: number, month: number, day: number): RubyUserMarshal {
  const julianDay = Date.UTC(year, month - 1, day) / 86_400_000 + 2_440_588;
  return userMarshal("Date", array(int(0), int(julianDay), int(0), int(0), int(0), float(2_299_161)));
}

/**
 * A Time in whole microseconds.
 * @param seconds Unix time; its fraction counts down to the microsecond.
 * @param offset Seconds east of UTC, or null for a Time in UTC.
 */
export function time(seconds: number, offset: number | null = null): RubyUserDefined {
  const whole = Math.floor(seconds);
  const microseconds = Math.round((seconds - whole) * 1e6);
  const at = new Date(whole * 1000);
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(
    (0x8000_0000 +
      (offset === null ? 0x4000_0000 : 0) +
      ((at.getUTCFullYear() - 1900) << 14) +
      (at.getUTCMonth() << 10) +
      (at.getUTCDate() << 5) +
      at.getUTCHours()) >>>
      0,
  );
  bytes.writeUInt32LE(((at.getUTCMinutes() << 26) + (at.getUTCSeconds() << 20) + microseconds) >>> 0, 4);
  const zone = offset === null ? { zone: ascii("UTC") } : { offset: int(offset), zone: nil() };
  return { ...userDefined("Time", bytes), instanceVariables: named(zone) };
}
