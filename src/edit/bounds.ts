import type { EditedValue } from "./protocol";

/** As `EditedValue` has the digits of a Float. */
export function floatDigits(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Whether Ruby makes a range of these two: it raises where they cannot be compared. */
export function canBound(begin: EditedValue, end: EditedValue): boolean {
  const [first, last] = [comparedAs(begin), comparedAs(end)];
  if (first === null || last === null) return false;
  return first === last || first === "nil" || last === "nil";
}

/** The kind of values that a bound can be compared with; null for what bounds no range here. */
function comparedAs(value: EditedValue): "nil" | "number" | "string" | "symbol" | null {
  switch (value.kind) {
    case "nil":
    case "string":
    case "symbol":
      return value.kind;
    case "integer":
      return "number";
    case "float":
      return value.digits === "NaN" ? null : "number";
    default:
      return null;
  }
}
