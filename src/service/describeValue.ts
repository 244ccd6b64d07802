import { dateOf, encodingOf, inspect, setOf, textOf, timeOf, variableOf, type RubyValue } from "../marshal";
import { counted, formatCount } from "../text/labels";
import { maskText, type Mask } from "./masking";
import { contentSize, previewLength } from "./valueContent";
import { partsOf, type Place } from "./valueParts";
import type { ContentSize, ValueKind, ValueNode } from "./valueProtocol";

/** What a line says of a value itself, wherever it stands. */
export type Description = Pick<ValueNode, "kind" | "type" | "preview" | "notes" | "parts" | "content">;

/** What a line says of a value that is hidden: nothing. */
export const hiddenDescription: Description = {
  kind: "masked",
  type: "",
  preview: maskText,
  notes: [],
  parts: 0,
  content: null,
};

export function describe(place: Place, mask: Mask): Description {
  const content = contentSize(place);
  return {
    kind: kindOf(place),
    type: typeOf(place),
    preview: previewOf(place, mask),
    notes: notesOf(place, content),
    parts: partsOf(place).count,
    content,
  };
}

function previewOf(place: Place, mask: Mask): string {
  const options = { maxLength: previewLength, isMasked: mask.asOption };
  if (place.type !== "entry") return inspect(place, options);
  const [key, value] = place.entry;
  const isNamed = key.type === "string" || key.type === "symbol";
  const isHidden = isNamed && mask.covers(textOf(key.bytes), place.entry);
  const half = { ...options, maxLength: previewLength / 2 };
  return `${inspect(key, half)} => ${isHidden ? maskText : inspect(value, half)}`;
}

const kinds: Record<Place["type"], ValueKind> = {
  nil: "nil",
  boolean: "boolean",
  symbol: "symbol",
  integer: "number",
  float: "number",
  string: "string",
  regexp: "string",
  array: "collection",
  hash: "collection",
  struct: "object",
  object: "object",
  "user-defined": "object",
  "user-marshal": "object",
  module: "module",
  entry: "collection",
};

function kindOf(place: Place): ValueKind {
  if (place.type === "user-defined") {
    if (timeOf(place)) return "time";
    return textOf(place.className.bytes) === "BigDecimal" ? "number" : "object";
  }
  if (place.type === "user-marshal") {
    if (dateOf(place)) return "time";
    return partsOf(place).count === 0 ? "number" : "object";
  }
  return kinds[place.type];
}

/** Characters of a class's name. */
const longestName = 120;

function nameOf(bytes: Uint8Array): string {
  const name = textOf(bytes.subarray(0, 4 * longestName));
  return name.length <= longestName ? name : `${name.slice(0, longestName)}…`;
}

function typeOf(place: Place): string {
  if (place.type === "nil" || place.type === "boolean" || place.type === "entry") return "";
  const type = ownType(place);
  if (place.type === "symbol" || place.userClass === null) return type;
  return `${nameOf(place.userClass.bytes)} < ${type}`;
}

/** The type without the name of a subclass. */
export function ownType(value: Exclude<RubyValue, { type: "nil" | "boolean" }>): string {
  switch (value.type) {
    case "symbol":
      return withEncoding("Symbol", encodingOf(value), ["UTF-8", "US-ASCII"]);
    case "string":
      return withEncoding("String", encodingOf(value), ["UTF-8"]);
    case "regexp":
      return withEncoding("Regexp", encodingOf(value), ["UTF-8", "US-ASCII"]);
    case "integer":
      return "Integer";
    case "float":
      return "Float";
    case "array":
      return `Array(${formatCount(value.elements.length)})`;
    case "hash":
      return `Hash(${formatCount(value.entries.length)})`;
    case "module":
      return { class: "Class", module: "Module", either: "Class or Module" }[value.kind];
    case "object": {
      const set = setOf(value);
      const name = nameOf(value.className.bytes);
      return set === null ? name : `${name}(${formatCount(set.entries.length)})`;
    }
    case "struct":
    case "user-defined":
    case "user-marshal":
      return nameOf(value.className.bytes);
  }
}

function withEncoding(type: string, encoding: string, usual: readonly string[]): string {
  if (usual.includes(encoding)) return type;
  return `${type} (${encoding === "ASCII-8BIT" ? "binary" : encoding})`;
}

function notesOf(place: Place, content: ContentSize | null): string[] {
  if (place.type === "nil" || place.type === "boolean" || place.type === "symbol" || place.type === "entry") return [];
  const notes: string[] = [];
  if (place.type === "hash" && place.comparesByIdentity) notes.push("compares by identity");
  // Ruby writes the two alike.
  if (place.type === "struct") notes.push("Struct or Data");
  if (place.type === "user-defined") {
    const zone = timeOf(place) === null ? undefined : variableOf(place.instanceVariables, "zone");
    if (zone?.type === "string") notes.push(`zone ${nameOf(zone.bytes)}`);
    if (content !== null) notes.push("by its own _dump");
  }
  if (content !== null) {
    notes.push(counted(content.size, content.kind === "bytes" ? "byte" : "character"));
  }
  for (const { bytes } of place.extendedBy.slice(0, 5)) notes.push(`extended by ${nameOf(bytes)}`);
  return notes;
}
