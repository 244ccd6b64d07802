import type { EditedBytes, EditedValue } from "./protocol";

/** Equal for values that are one and the same key to a Ruby Hash. */
export function keyText(value: EditedValue): string {
  switch (value.kind) {
    case "nil":
      return "nil";
    case "boolean":
      return String(value.value);
    case "integer":
      return `i${BigInt(value.digits)}`;
    case "float":
      // Zero is one key, whatever its sign.
      return `f${Number(value.digits)}`;
    case "string":
      return `"${bytesText(value)}`;
    case "symbol":
      return `:${bytesText(value)}`;
    case "array":
      return `[${value.elements.map(sized).join("")}]`;
    case "hash":
      return `{${value.entries
        .map(([key, entry]) => sized(key) + sized(entry))
        .sort()
        .join("")}}`;
    case "range":
      return `${value.excludesEnd ? "..." : ".."}${sized(value.begin)}${sized(value.end)}`;
    case "placeholder":
      return `p${value.name}`;
  }
}

/** Strings of ASCII alone are equal whatever their encodings. */
function bytesText({ bytes, encoding }: EditedBytes): string {
  return `${/[^\0-\x7f]/.test(bytes) ? encoding : ""}:${bytes}`;
}

function sized(value: EditedValue): string {
  const text = keyText(value);
  return `${text.length}:${text}`;
}
