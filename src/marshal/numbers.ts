import { spells } from "./encodings";
import type { RubyUserMarshal, RubyValue } from "./values";

/** `Float#inspect`: digits from 0.0001 up to 15 before the point, else with an exponent. */
export function inspectFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (value === 0) return `${sign}0.0`;
  const [mantissa = "", power = ""] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const exponent = Number(power);
  if (exponent < -4 || exponent > 14) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${digits[0] ?? ""}.${digits.slice(1) || "0"}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

/** The two numbers that a Rational or a Complex was made of; null for anything else. */
export function pairOf(value: RubyValue, className: "Rational" | "Complex"): readonly [RubyValue, RubyValue] | null {
  if (value.type !== "user-marshal" || !spells(value.className.bytes, className)) return null;
  const parts = value.value;
  if (parts.type !== "array" || parts.elements.length !== 2) return null;
  const [first, second] = parts.elements;
  return first && second ? [first, second] : null;
}

/** `(1/3)`, or null where it is no Rational of two Integers. */
export function inspectRational(value: RubyValue): string | null {
  const pair = pairOf(value, "Rational");
  if (pair?.[0].type !== "integer" || pair[1].type !== "integer") return null;
  return `(${pair[0].value}/${pair[1].value})`;
}

/** `(1-2i)`, or null where it is no Complex of two real numbers. */
export function inspectComplex(value: RubyUserMarshal): string | null {
  const pair = pairOf(value, "Complex");
  if (!pair) return null;
  const real = inspectReal(pair[0]);
  const imaginary = inspectReal(pair[1]);
  if (real === null || imaginary === null) return null;
  const isNegative = /^\(?-/.test(imaginary);
  const size = isNegative ? imaginary.replace("-", "") : imaginary;
  return `(${real}${isNegative ? "-" : "+"}${size}${/\d$/.test(size) ? "" : "*"}i)`;
}

/** An Integer, a Float or a Rational; null for any other value. */
export function inspectReal(value: RubyValue): string | null {
  if (value.type === "integer") return value.value.toString();
  if (value.type === "float") return inspectFloat(value.value);
  return inspectRational(value);
}
