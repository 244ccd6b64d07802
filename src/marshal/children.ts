import { isEncodingVariable } from "./encodings";
import type { ObjectParts, RubyValue } from "./values";

/** The values within a value. Those that say a string's encoding are none, for a literal has them of itself. */
export function childrenOf(value: RubyValue): readonly RubyValue[] {
  if (value.type === "nil" || value.type === "boolean" || value.type === "symbol") return [];
  if (value.type === "string" && hasOnlyEncoding(value)) return [];
  const variables = value.instanceVariables.map((variable) => variable.value);
  switch (value.type) {
    case "array":
      return variables.length === 0 ? value.elements : [...value.elements, ...variables];
    case "hash":
      return [...value.entries.flat(), ...(value.defaultValue ? [value.defaultValue] : []), ...variables];
    case "struct":
      return [...value.members.map((member) => member.value), ...variables];
    case "object":
      return [...variables, ...(value.wrapperVariables ?? []).map((variable) => variable.value)];
    case "user-marshal":
      return [value.value, ...variables];
    default:
      return variables;
  }
}

/** Whether a value has no variables but the one that says its encoding. */
export function hasOnlyEncoding(parts: ObjectParts): boolean {
  return parts.instanceVariables.length <= 1 && parts.instanceVariables.every(isEncodingVariable);
}
