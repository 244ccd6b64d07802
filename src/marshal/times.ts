import { spells } from "./encodings";
import type { InstanceVariable, RubyUserDefined, RubyUserMarshal, RubyValue } from "./values";

/** The Time at the zone's clock, without loss. Sources: `time_mdump` and `time_inspect` of Ruby's `time.c`. */
export interface TimeParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** The part of a second, as a fraction of one. */
  readonly fraction: readonly [numerator: bigint, denominator: bigint];
  readonly isUtc: boolean;
  /** Seconds east of Greenwich. */
  readonly offset: number;
  /** Whether the zone's abbreviation was stored. */
  readonly hasZone: boolean;
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The day number of 1970-01-01 in the count of Julian days. */
const UNIX_EPOCH_DAY = 2440588;
/**
 * Julian days in what Date counts as one period (`CM_PERIOD` of `date_core.c`): a multiple of both calendars' cycles.
 */
const PERIOD_DAYS = 213447717;
/** Far beyond any year that a Time or Date has in earnest, and well within exact arithmetic. */
const MAX_DAYS = 1e12;
/** Fractions of larger numbers take noticeable time to reduce, and no clock gives them. */
const MAX_FRACTION = 1n << 512n;

/** Null where the value is no Time of a known form. A Time without zone or offset is taken for UTC. */
export function timeOf(value: RubyValue): TimeParts | null {
  if (value.type !== "user-defined" || !spells(value.className.bytes, "Time") || value.bytes.length < 8) return null;
  const view = new DataView(value.bytes.buffer, value.bytes.byteOffset, value.bytes.length);
  const high = view.getUint32(0, true);
  const low = view.getUint32(4, true);
  const nanoseconds = fractionOfMicrosecond(value.instanceVariables);
  const offset = integerOf(variableOf(value.instanceVariables, "offset")) ?? 0;
  const year = 1900 + ((high >>> 14) & 0xffff) + yearExtension(value, (high >>> 14) & 0xffff);
  if (high >>> 31 === 0 || !nanoseconds || Math.abs(offset) > 86400 || !Number.isSafeInteger(year)) return null;

  const microsecond = BigInt(low & 0xfffff);
  const [numerator, denominator] = nanoseconds;
  const fraction = reduce(microsecond * 1000n * denominator + numerator, denominator * 1_000_000_000n);
  const days = dayNumber(year, ((high >>> 10) & 0xf) + 1, (high >>> 5) & 0x1f);
  if (Math.abs(days) > MAX_DAYS) return null;
  const seconds = (high & 0x1f) * 3600 + (low >>> 26) * 60 + ((low >>> 20) & 0x3f) + offset;
  return {
    ...gregorianDay(days + Math.floor(seconds / 86400)),
    ...clock(modulo(seconds, 86400)),
    fraction,
    isUtc: ((high >>> 30) & 1) === 1,
    offset,
    hasZone: variableOf(value.instanceVariables, "zone")?.type === "string",
  };
}

/** What of a year does not fit into its 16 bits: a length and that many bytes after the first eight. */
function yearExtension(value: RubyUserDefined, stored: number): number {
  if (value.bytes.length <= 8) return 0;
  const size = (value.bytes[8] ?? 0) - 5;
  const bytes = value.bytes.subarray(9, 9 + size);
  if (size < 1 || size > 6 || bytes.length < size) return NaN;
  const distance = bytes.reduceRight((sum, byte) => sum * 256 + byte, 0);
  return stored === 0 ? -distance : distance;
}

/** Nanoseconds beside the microseconds, as a fraction; null where the variables make no sense. */
function fractionOfMicrosecond(variables: readonly InstanceVariable[]): readonly [bigint, bigint] | null {
  const numerator = variableOf(variables, "nano_num");
  const denominator = variableOf(variables, "nano_den");
  if (numerator?.type === "integer" && denominator?.type === "integer") {
    const isKnown = numerator.value >= 0n && denominator.value > 0n;
    const isShort = numerator.value < MAX_FRACTION && denominator.value < MAX_FRACTION;
    return isKnown && isShort ? [numerator.value, denominator.value] : null;
  }
  // Releases before 1.9.2 wrote three decimal digits instead, one a nibble.
  const digits = variableOf(variables, "submicro");
  if (digits?.type !== "string") return [0n, 1n];
  const [first = 0, second = 0] = digits.bytes;
  return [BigInt((first >> 4) * 100 + (first & 15) * 10 + (second >> 4)), 1n];
}

/** `2026-01-17 15:33:30.469594818 +0900`. */
export function inspectTime(time: TimeParts): string {
  const [numerator, denominator] = time.fraction;
  const nanoseconds = (numerator * 1_000_000_000n) / denominator;
  const isExact = nanoseconds * denominator === numerator * 1_000_000_000n;
  let fraction = "";
  if (!isExact) fraction = ` ${numerator}/${denominator}`;
  else if (numerator > 0n) fraction = `.${nanoseconds.toString().padStart(9, "0").replace(/0+$/, "")}`;
  return `${dateText(time)} ${clockText(time)}${fraction} ${time.isUtc ? "UTC" : zoneText(time.offset, "")}`;
}

/** A Date or DateTime, at its own offset. Source: `date_core.c`. */
export interface DateParts extends Day {
  readonly className: "Date" | "DateTime";
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Day number, seconds and nanoseconds of the moment in UTC. */
  readonly utc: readonly [day: number, seconds: number, nanoseconds: number];
  readonly offset: number;
  /** The first Julian day of the Gregorian calendar. */
  readonly start: number;
}

/** Null where the value is no Date or DateTime of a known form. */
export function dateOf(value: RubyUserMarshal): DateParts | null {
  const className = (["Date", "DateTime"] as const).find((name) => spells(value.className.bytes, name));
  if (className === undefined) return null;
  if (value.value.type !== "array" || value.value.elements.length !== 6) return null;
  const numbers = value.value.elements.slice(0, 5).map(integerOf);
  const start = value.value.elements[5];
  if (!numbers.every((number) => number !== null) || start?.type !== "float") return null;
  const [period = 0, day = 0, seconds = 0, nanoseconds = 0, offset = 0] = numbers;
  const utcDay = period * PERIOD_DAYS + day;
  if (Math.abs(utcDay) > MAX_DAYS || Math.abs(offset) > 86400 || seconds < 0 || seconds >= 86400) return null;
  const localDay = utcDay + Math.floor((seconds + offset) / 86400);
  const isGregorian = localDay >= start.value;
  return {
    className,
    ...(isGregorian ? gregorianDay(localDay - UNIX_EPOCH_DAY) : julianDay(localDay)),
    ...clock(modulo(seconds + offset, 86400)),
    utc: [utcDay, seconds, nanoseconds],
    offset,
    start: start.value,
  };
}

/** `#<Date: 2026-12-04 ((2461379j,0s,0n),+0s,2299161j)>`. */
export function inspectDate(date: DateParts): string {
  const [day, seconds, nanoseconds] = date.utc;
  const time = date.className === "Date" ? "" : `T${clockText(date)}${zoneText(date.offset, ":")}`;
  const start = Number.isFinite(date.start) ? date.start.toFixed(0) : date.start > 0 ? "Inf" : "-Inf";
  const offset = `${date.offset < 0 ? "-" : "+"}${Math.abs(date.offset)}`;
  return `#<${date.className}: ${dateText(date)}${time} ((${day}j,${seconds}s,${nanoseconds}n),${offset}s,${start}j)>`;
}

/** `+09:00`, with seconds where there are any (as `+090001`, the way Ruby prints them, where there is no separator). */
export function zoneText(offset: number, separator: ":" | ""): string {
  const { hour, minute, second } = clock(Math.abs(offset));
  const parts = [hour, minute, ...(second > 0 && separator === "" ? [second] : [])];
  return `${offset < 0 ? "-" : "+"}${parts.map(twoDigits).join(separator)}`;
}

/** The value of an instance variable by name. */
export function variableOf(variables: readonly InstanceVariable[], name: string): RubyValue | null {
  return variables.find((variable) => spells(variable.name.bytes, name))?.value ?? null;
}

function integerOf(value: RubyValue | null): number | null {
  if (value?.type !== "integer") return null;
  const number = Number(value.value);
  return Number.isSafeInteger(number) ? number : null;
}

function dateText({ year, month, day }: Day): string {
  return `${year < 0 ? "-" : ""}${String(Math.abs(year)).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(day)}`;
}

function clockText({ hour, minute, second }: ReturnType<typeof clock>): string {
  return [hour, minute, second].map(twoDigits).join(":");
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

function clock(seconds: number): { hour: number; minute: number; second: number } {
  return { hour: Math.floor(seconds / 3600), minute: Math.floor(seconds / 60) % 60, second: seconds % 60 };
}

function modulo(value: number, divisor: number): number {
  return value - Math.floor(value / divisor) * divisor;
}

function reduce(numerator: bigint, denominator: bigint): readonly [bigint, bigint] {
  let [larger, smaller] = [denominator, numerator];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return [numerator / larger, denominator / larger];
}

/** Days since 1970-01-01 in the Gregorian calendar, years counted from March so that the leap day comes last. */
function dayNumber(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const leapDays = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return shifted * 365 + leapDays + daysBefore(month) + day - 719469;
}

function daysBefore(month: number): number {
  return Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5);
}

/** The day that is `days` after 1970-01-01 in the Gregorian calendar. */
function gregorianDay(days: number): Day {
  const sinceEra = days + 719468;
  const era = Math.floor(sinceEra / 146097);
  const dayOfEra = sinceEra - era * 146097;
  const quarters = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36524) + Math.floor(dayOfEra / 146096);
  const yearOfEra = Math.floor((dayOfEra - quarters) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  return dayOfMarchYear(yearOfEra + era * 400, dayOfYear);
}

/** The day with a Julian day number in the Julian calendar. */
function julianDay(day: number): Day {
  const sinceMarch = day - 1721118;
  const cycle = Math.floor(sinceMarch / 1461);
  const dayOfCycle = sinceMarch - cycle * 1461;
  const yearOfCycle = Math.min(3, Math.floor(dayOfCycle / 365));
  return dayOfMarchYear(cycle * 4 + yearOfCycle, dayOfCycle - yearOfCycle * 365);
}

function dayOfMarchYear(year: number, dayOfYear: number): Day {
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  return {
    year: month < 10 ? year : year + 1,
    month: month < 10 ? month + 3 : month - 9,
    day: dayOfYear - Math.floor((153 * month + 2) / 5) + 1,
  };
}
