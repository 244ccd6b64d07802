import {
  ArrayNode,
  AssocNode,
  CallNode,
  ConstantPathNode,
  FalseNode,
  FloatNode,
  HashNode,
  ImplicitNode,
  IntegerNode,
  InterpolatedStringNode,
  InterpolatedSymbolNode,
  KeywordHashNode,
  LocalVariableReadNode,
  NilNode,
  ParenthesesNode,
  RangeNode,
  SplatNode,
  StatementsNode,
  StringNode,
  SymbolNode,
  TrueNode,
  type Node,
} from "@ruby/prism/src/nodes.js";
import type { Positions } from "../ruby/positions";
import type { Parse } from "../ruby/prism";
import { keyText } from "./keys";
import { canBound, floatDigits } from "./bounds";
import type { EditedBytes, EditedEntry, EditedValue, PlaceholderUse } from "./protocol";
import { quotesOf, stringBytes, type Quotes } from "./stringBytes";
import { whyNoLiteral } from "./whyNoLiteral";

/** Told where something cannot be kept. */
export type Refuse = (node: { readonly location: Node["location"] }, message: string) => void;

const deepest = 100;

/** The names that `force_encoding` may be given. */
const encodings = new Map<string, EditedBytes["encoding"]>([
  ["UTF-8", "UTF-8"],
  ["US-ASCII", "US-ASCII"],
  ["ASCII-8BIT", "ASCII-8BIT"],
  ["BINARY", "ASCII-8BIT"],
]);

/** Reads literals and the names of placeholders. What is neither is refused at its place, and its value is null. */
export class ValueReader {
  readonly uses: PlaceholderUse[] = [];
  readonly #positions: Positions;
  readonly #parse: Parse;
  readonly #placeholders: ReadonlySet<string>;
  readonly #refuse: Refuse;

  constructor(positions: Positions, parse: Parse, placeholders: ReadonlySet<string>, refuse: Refuse) {
    this.#positions = positions;
    this.#parse = parse;
    this.#placeholders = placeholders;
    this.#refuse = refuse;
  }

  value(node: Node, depth = 0): EditedValue | null {
    if (depth > deepest) return this.#no(node, `Values cannot be nested more than ${deepest} levels deep.`);
    if (node instanceof NilNode) return { kind: "nil" };
    if (node instanceof TrueNode) return { kind: "boolean", value: true };
    if (node instanceof FalseNode) return { kind: "boolean", value: false };
    if (node instanceof IntegerNode) return { kind: "integer", digits: integerDigits(this.#slice(node)) };
    if (node instanceof FloatNode) return this.#float(node);
    if (node instanceof StringNode || node instanceof InterpolatedStringNode) {
      const bytes = this.#text(node, null);
      return bytes === null ? null : { kind: "string", bytes, encoding: "UTF-8" };
    }
    if (node instanceof SymbolNode || node instanceof InterpolatedSymbolNode) return this.#symbol(node, null);
    if (node instanceof ArrayNode) return this.#array(node, depth);
    if (node instanceof HashNode || node instanceof KeywordHashNode) {
      const entries = this.entries(node.elements, depth);
      return entries === null ? null : { kind: "hash", entries };
    }
    if (node instanceof RangeNode) return this.#range(node, depth);
    if (node instanceof ParenthesesNode) return this.#parentheses(node, depth);
    if (node instanceof CallNode) return this.#call(node);
    if (node instanceof ConstantPathNode) return this.#constant(node);
    if (node instanceof LocalVariableReadNode) return this.#placeholder(node);
    return this.#no(node, whyNoLiteral(node, this.#placeholders));
  }

  /** Entries of a hash, or the keywords of a call. Null where one of them is refused. */
  entries(elements: readonly Node[], depth = 0): EditedEntry[] | null {
    const entries: EditedEntry[] = [];
    const met = new Set<string>();
    for (const element of elements) {
      const entry = this.#entry(element, depth);
      if (entry === null) continue;
      entries.push(entry);
      const text = keyText(entry[0]);
      if (met.has(text) && element instanceof AssocNode) {
        this.#refuse(element.key, "This key is here twice, and Ruby would keep the last value alone.");
      }
      met.add(text);
    }
    return entries.length === elements.length ? entries : null;
  }

  #entry(element: Node, depth: number): EditedEntry | null {
    if (!(element instanceof AssocNode)) {
      // Nothing but `**` can stand here beside.
      return this.#no(element, "Write the entries themselves instead of `**`.");
    }
    if (element.value instanceof ImplicitNode) {
      return this.#no(element, "A key needs its value written after it.");
    }
    const key = this.value(element.key, depth + 1);
    const value = this.value(element.value, depth + 1);
    return key === null || value === null ? null : [key, value];
  }

  #array(node: ArrayNode, depth: number): EditedValue | null {
    const opening = node.openingLoc === null ? "" : this.#positions.slice(node.openingLoc);
    const quotes = opening.startsWith("%") ? quotesOf(node, this.#positions) : null;
    const elements = node.elements.map((element) => {
      if (quotes !== null && element instanceof StringNode) {
        const bytes = this.#text(element, quotes);
        return bytes === null ? null : ({ kind: "string", bytes, encoding: "UTF-8" } as const);
      }
      if (quotes !== null && element instanceof SymbolNode) return this.#symbol(element, quotes);
      if (element instanceof SplatNode) return this.#no(element, "Write the elements themselves instead of `*`.");
      return this.value(element, depth + 1);
    });
    const known = elements.filter((element) => element !== null);
    return known.length === elements.length ? { kind: "array", elements: known } : null;
  }

  #float(node: FloatNode): EditedValue | null {
    const text = this.#slice(node).replaceAll("_", "");
    const value = Number(text);
    const isLost = value === 0 && /[1-9]/.test(text.replace(/e.*/i, ""));
    if (!Number.isFinite(value) || isLost) return this.#no(node, "This number is out of the range of a Float.");
    return { kind: "float", digits: floatDigits(value) };
  }

  #symbol(node: SymbolNode | InterpolatedSymbolNode, quotes: Quotes | null): EditedValue | null {
    const bytes = this.#text(node, quotes);
    if (bytes === null) return null;
    return { kind: "symbol", bytes, encoding: /[^\0-\x7f]/.test(bytes) ? "UTF-8" : "US-ASCII" };
  }

  /** `quotes`: of the list that the text stands in; null where it has its own. */
  #text(
    node: StringNode | SymbolNode | InterpolatedStringNode | InterpolatedSymbolNode,
    quotes: Quotes | null,
  ): string | null {
    if (node instanceof StringNode || node instanceof SymbolNode) {
      const bytes = stringBytes(node, quotes ?? quotesOf(node, this.#positions), this.#positions, this.#parse);
      return bytes ?? this.#no(node, "Write this as a text in double quotes: it begins with what cannot be read here.");
    }
    const isHeredoc = node.openingLoc !== null && this.#positions.slice(node.openingLoc).startsWith("<<");
    let text = "";
    for (const part of node.parts) {
      if (!(part instanceof StringNode || part instanceof InterpolatedStringNode)) {
        return this.#no(part, "Nothing is run here: write the text itself instead of an interpolation.");
      }
      const bytes =
        isHeredoc && part instanceof StringNode
          ? stringBytes(part, null, this.#positions, this.#parse)
          : this.#text(part, null);
      if (bytes === null) return isHeredoc ? this.#no(part, "Write this text in double quotes.") : null;
      text += bytes;
    }
    return text;
  }

  #range(node: RangeNode, depth: number): EditedValue | null {
    const [begin, end] = [node.left, node.right].map((bound): EditedValue | null =>
      bound === null ? { kind: "nil" } : this.value(bound, depth + 1),
    );
    if (!begin || !end) return null;
    if (!canBound(begin, end)) {
      return this.#no(node, "A range here goes from number to number, from string to string or from symbol to symbol.");
    }
    return { kind: "range", begin, end, excludesEnd: node.isExcludeEnd() };
  }

  #parentheses(node: ParenthesesNode, depth: number): EditedValue | null {
    const [only, ...more] = node.body instanceof StatementsNode ? node.body.body : [];
    if (only === undefined || more.length > 0) return this.#no(node, "One value can stand in parentheses here.");
    return this.value(only, depth + 1);
  }

  #constant(node: ConstantPathNode): EditedValue | null {
    const name = this.#constantName(node);
    if (name === "Float::NAN") return { kind: "float", digits: "NaN" };
    if (name === "Float::INFINITY") return { kind: "float", digits: "Infinity" };
    return this.#no(node, whyNoLiteral(node, this.#placeholders));
  }

  #call(node: CallNode): EditedValue | null {
    if (node.isVariableCall()) return this.#placeholder(node);
    return this.#negative(node) ?? this.#encoded(node) ?? this.#no(node, whyNoLiteral(node, this.#placeholders));
  }

  /** `-Float::INFINITY` */
  #negative({ name, receiver }: CallNode): EditedValue | null {
    if (name !== "-@" || !(receiver instanceof ConstantPathNode)) return null;
    return this.#constantName(receiver) === "Float::INFINITY" ? { kind: "float", digits: "-Infinity" } : null;
  }

  /** `"…".b` and `"…".force_encoding("US-ASCII")` */
  #encoded(node: CallNode): EditedValue | null {
    const { receiver, messageLoc, arguments_, block } = node;
    const name = messageLoc === null ? "" : this.#positions.slice(messageLoc);
    if (!(receiver instanceof StringNode || receiver instanceof InterpolatedStringNode)) return null;
    if (block !== null || node.isSafeNavigation()) return null;
    const [argument, ...more] = arguments_?.arguments_ ?? [];
    let encoding: EditedBytes["encoding"] | undefined;
    if (name === "b" && argument === undefined) encoding = "ASCII-8BIT";
    if (name === "force_encoding" && argument instanceof StringNode && more.length === 0) {
      encoding = encodings.get(argument.unescaped.value.toUpperCase());
    }
    const value = encoding === undefined ? null : this.value(receiver);
    return value?.kind === "string" && encoding !== undefined ? { ...value, encoding } : null;
  }

  #placeholder(node: CallNode | LocalVariableReadNode): EditedValue | null {
    // As written: the parser's JavaScript side takes a byte order mark off a name.
    const name = this.#slice(node);
    if (!this.#placeholders.has(name)) return this.#no(node, whyNoLiteral(node, this.#placeholders));
    this.uses.push({ name, range: this.#positions.range(node.location) });
    return { kind: "placeholder", name };
  }

  #constantName(node: ConstantPathNode): string {
    return this.#slice(node).replace(/[ \n]/g, "");
  }

  #no(node: { readonly location: Node["location"] }, message: string): null {
    this.#refuse(node, message);
    return null;
  }

  #slice(node: Node): string {
    return this.#positions.slice(node.location);
  }
}

/** An Integer's literal in decimal. */
function integerDigits(literal: string): string {
  const [, sign = "", digits = ""] = /^([+-]?)(.*)$/s.exec(literal.replaceAll("_", "").toLowerCase()) ?? [];
  // Without a letter, a zero before other digits means octal, too.
  const forJavaScript = digits.replace(/^0d/, "").replace(/^0(?=\d)/, "0o");
  const isDecimal = digits.startsWith("0d");
  const value = BigInt(isDecimal ? digits.slice(2) : forJavaScript);
  return String(sign === "-" ? -value : value);
}
