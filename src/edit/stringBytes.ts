import { ArrayNode, StringNode, SymbolNode, type Node } from "@ruby/prism/src/nodes.js";
import type { Positions } from "../ruby/positions";
import type { Parse } from "../ruby/prism";

type Location = Node["location"];
type Unescaped = StringNode["unescaped"];

/** What stands around a text. Null where that is not on the same stretch of source, as with a heredoc. */
export interface Quotes {
  readonly opening: string;
  readonly closing: string;
}

/** What a byte order mark at the beginning of a text can be written as. */
const mayBeginWithMark = /^\s*(?:\ufeff|\\(?:[ux0-7MCc]|\n))/;
const sentinel = "_";

/**
 * The bytes that a text stands for, one character each; null where they cannot be had. The parser's JavaScript side hands texts
 * over as decoded, which takes a byte order mark off their beginning: such a text is parsed again, with something before it.
 */
export function stringBytes(
  node: StringNode | SymbolNode,
  quotes: Quotes | null,
  positions: Positions,
  parse: Parse,
): string | null {
  const location = node instanceof StringNode ? node.contentLoc : node.valueLoc;
  const content = location === null ? "" : positions.slice(location);
  if (!node.unescaped.validEncoding || !mayBeginWithMark.test(content)) return bytesOf(node.unescaped);
  if (quotes === null) return null;
  const { value } = parse(`${quotes.opening}${sentinel}${content}${quotes.closing}`);
  const again = textIn(value.statements.body[0]);
  return again?.value.startsWith(sentinel) === true ? bytesOf(again).slice(sentinel.length) : null;
}

/** The quotes of a text that has its own. */
export function quotesOf(
  { openingLoc, closingLoc }: { readonly openingLoc: Location | null; readonly closingLoc: Location | null },
  positions: Positions,
): Quotes | null {
  const opening = openingLoc === null ? "" : positions.slice(openingLoc);
  if (opening.startsWith("<<")) return null;
  // A character, a name or a key: with what stands there, quotes make it mean the same.
  if (opening === "" || opening === "?" || opening === ":") return { opening: '"', closing: '"' };
  return { opening, closing: closingLoc === null ? "" : positions.slice(closingLoc).replace(/:$/, "") };
}

function textIn(node: Node | undefined): Unescaped | null {
  const text = node instanceof ArrayNode ? node.elements[0] : node;
  return text instanceof StringNode || text instanceof SymbolNode ? text.unescaped : null;
}

function bytesOf({ value, validEncoding }: Unescaped): string {
  if (validEncoding) return Buffer.from(value, "utf8").toString("latin1");
  return value.replace(/[^\0-\xff]/g, (character) => windows1252.get(character) ?? character);
}

/** What is not valid UTF-8 is decoded as what the web calls ASCII, which has letters for most of 0x80 to 0x9f. */
const windows1252 = new Map(
  Array.from({ length: 32 }, (_, index) => 0x80 + index).map((byte) => [
    new TextDecoder("ascii").decode(Uint8Array.of(byte)),
    String.fromCharCode(byte),
  ]),
);
