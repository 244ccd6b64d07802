import { textOf } from "./encodings";
import { inspect, type InspectOptions } from "./inspect";
import { exceptionMessage, rangeOf, setOf } from "./known";
import { inspectComplex, inspectRational } from "./numbers";
import { inspectMemberName, inspectSymbolKey } from "./strings";
import { dateOf } from "./times";
import type { InstanceVariable, RubyHash, RubyStruct, RubySymbol, RubyValue } from "./values";

/** A part of a container: `before` is its key or name. `value` is null where it is masked. */
interface Item {
  readonly before: string;
  readonly value: RubyValue | null;
}

/** Items are made when their turn comes: one long name may stand before a great many. `room`: characters that are left. */
type MakeItem = (room: number) => Item;

interface Container {
  readonly opening: string;
  readonly closing: string;
  readonly items: readonly MakeItem[];
}

type Piece =
  | { readonly kind: "item"; readonly depth: number; readonly make: MakeItem }
  | { readonly kind: "end"; readonly depth: number; readonly text: string; readonly value: RubyValue };

/**
 * The value as `inspect` prints it, but with each part of a container on a line of its own, indented by two spaces and
 * followed by a comma, so that two values can be compared line by line. Ends in no newline. What is longer than `maxLength` is
 * cut near it, after a whole line.
 */
export function inspectLines(value: RubyValue, options: InspectOptions = {}): string {
  const isMasked = options.isMasked ?? ((): boolean => false);
  let room = options.maxLength ?? 500_000;
  const lines: string[] = [];
  const open = new Set<RubyValue>();
  const write = (depth: number, text: string): void => {
    const line = "  ".repeat(Math.min(depth, Math.max(0, room))) + text;
    lines.push(line);
    room -= line.length + 1;
  };
  const stack: Piece[] = [{ kind: "item", depth: 0, make: plain(value) }];
  for (let piece = stack.pop(); piece !== undefined; piece = stack.pop()) {
    if (room <= 0) {
      lines.push("…");
      break;
    }
    const { depth } = piece;
    const comma = depth === 0 ? "" : ",";
    if (piece.kind === "end") {
      open.delete(piece.value);
      write(depth, piece.text + comma);
      continue;
    }
    const { before, value: part } = piece.make(room);
    const container = part === null || open.has(part) ? null : containerOf(part, isMasked);
    if (part === null) {
      write(depth, `${before}[FILTERED]${comma}`);
    } else if (open.has(part)) {
      write(depth, before + withinItself(part) + comma);
    } else if (container === null || container.items.length === 0) {
      write(depth, before + inspect(part, { maxLength: room, isMasked }) + comma);
    } else {
      open.add(part);
      write(depth, before + container.opening);
      stack.push({ kind: "end", depth, text: container.closing, value: part });
      // Each item takes a character, a comma and a newline at least.
      const items = container.items.slice(0, Math.max(0, Math.ceil(room / 3)) + 1);
      for (const make of items.toReversed()) stack.push({ kind: "item", depth: depth + 1, make });
    }
  }
  return lines.join("\n");
}

type IsMasked = NonNullable<InspectOptions["isMasked"]>;

/** Null for what has no parts, or is printed on one line all the same. */
function containerOf(value: RubyValue, isMasked: IsMasked): Container | null {
  switch (value.type) {
    case "array":
      return { opening: "[", closing: "]", items: value.elements.map(plain) };
    case "hash":
      return { opening: "{", closing: "}", items: hashItems(value, isMasked) };
    case "struct":
      return structContainer(value, isMasked);
    case "object": {
      if (rangeOf(value) !== null || exceptionMessage(value) !== null) return null;
      const opening = `#<${textOf(value.className.bytes)}`;
      const set = setOf(value);
      if (set !== null)
        return { opening: `${opening}: {`, closing: "}>", items: set.entries.map(([one]) => plain(one)) };
      // Variables without `@` are Ruby's own, and it does not print them.
      const variables = value.instanceVariables.filter(({ name }) => name.bytes[0] === 0x40);
      return { opening, closing: ">", items: variables.map((one) => named(one, variableName, isMasked)) };
    }
    case "user-marshal":
      if (inspectRational(value) !== null || inspectComplex(value) !== null || dateOf(value) !== null) return null;
      return { opening: `#<${textOf(value.className.bytes)}`, closing: ">", items: [plain(value.value)] };
    default:
      return null;
  }
}

function structContainer({ className, members }: RubyStruct, isMasked: IsMasked): Container {
  return {
    opening: `#<struct ${textOf(className.bytes)}`,
    closing: ">",
    items: members.map((member) => named(member, inspectMemberName, isMasked)),
  };
}

function plain(value: RubyValue): MakeItem {
  return () => ({ before: "", value });
}

type PrintName = (name: RubySymbol, room: number) => string;

function named({ name, value }: InstanceVariable, print: PrintName, isMasked: IsMasked): MakeItem {
  return (room) => ({ before: `${print(name, room)}=`, value: isMasked(textOf(name.bytes)) ? null : value });
}

function variableName({ bytes }: RubySymbol, room: number): string {
  return textOf(bytes.subarray(0, 4 * room));
}

function hashItems({ entries }: RubyHash, isMasked: IsMasked): MakeItem[] {
  return entries.map(([key, value]) => (room) => {
    const before =
      key.type === "symbol" ? inspectSymbolKey(key, room) : `${inspect(key, { maxLength: room, isMasked })} => `;
    const isNamed = key.type === "symbol" || key.type === "string";
    return { before, value: isNamed && isMasked(textOf(key.bytes)) ? null : value };
  });
}

/** What stands for a container within itself. */
function withinItself(value: RubyValue): string {
  if (value.type === "array") return "[...]";
  return "className" in value ? `#<${textOf(value.className.bytes)} ...>` : "{...}";
}
