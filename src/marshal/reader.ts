import { bufferOf, latin1Of } from "./encodings";
import { MarshalError, type MarshalErrorCode } from "./errors";
import { FLOAT_TEXT, IDENTITY_CLASS, Type } from "./format";
import { DEFAULT_LIMITS, MAX_INTEGER_BYTES, type MarshalLimits } from "./limits";
import { FALSE, NIL, TRUE, symbolKey, type Mutable } from "./nodes";
import type {
  InstanceVariable,
  RubyArray,
  RubyHash,
  RubyModule,
  RubyObject,
  RubyString,
  RubyStruct,
  RubySymbol,
  RubyUserMarshal,
  RubyValue,
} from "./values";

/**
 * Reads a Marshal 4.8 stream into a tree. Bytes after the value are ignored, as `Marshal.load` ignores them. Byte arrays
 * in the tree are views of `bytes`, which must not change while the tree is in use.
 *
 * Forms that Ruby would load but never writes, and that the tree cannot hold apart from the usual form (a length in more
 * bytes than it needs, a symbol spelt out twice, an empty list of variables around a value), are refused as `invalid`.
 *
 * @throws MarshalError for anything that is not such a stream, or that is beyond the limits.
 */
export function readMarshal(bytes: Uint8Array, limits?: Partial<MarshalLimits>): RubyValue {
  return new Reader(bytes, limits).document();
}

/**
 * The bytes from `start` up to, not including, `end` of each element, where the root of the stream is an Array without
 * class, modules or variables of its own; null where it is something else. An element can be replaced by other bytes
 * in place only while neither it nor its replacement takes a place in the tables of links and symbols (nil, true, false and
 * fixnums take none).
 *
 * @throws MarshalError as `readMarshal` does.
 */
export function arrayElementSpans(
  bytes: Uint8Array,
  limits?: Partial<MarshalLimits>,
): { start: number; end: number }[] | null {
  return new Reader(bytes, limits).elementSpans();
}

const NONE: readonly never[] = [];
const NO_BYTES = Buffer.alloc(0);

/** What stands before a value's type byte. */
interface Prefix {
  /** Whether an `I` opens the value, so that instance variables follow it. */
  readonly wrapped: boolean;
  readonly extendedBy: readonly RubySymbol[];
  readonly userClass: RubySymbol | null;
}
const NO_PREFIX: Prefix = { wrapped: false, extendedBy: NONE, userClass: null };
const WRAPPED: Prefix = { ...NO_PREFIX, wrapped: true };

class Reader {
  readonly #bytes: Buffer;
  readonly #maxDepth: number;
  readonly #maxValues: number;
  #at = 0;
  #values = 0;
  readonly #symbols: RubySymbol[] = [];
  readonly #symbolKeys = new Set<string>();
  readonly #objects: RubyValue[] = [];
  /** The variables of a UTF-8 string, one list for all of them. */
  #utf8Variables: readonly InstanceVariable[] | null = null;
  #spans: { start: number; end: number }[] | null = null;

  constructor(bytes: Uint8Array, limits: Partial<MarshalLimits> = {}) {
    this.#bytes = bufferOf(bytes);
    this.#maxDepth = Math.min(limits.maxDepth ?? DEFAULT_LIMITS.maxDepth, DEFAULT_LIMITS.maxDepth);
    this.#maxValues = limits.maxValues ?? DEFAULT_LIMITS.maxValues;
  }

  document(): RubyValue {
    const major = this.#byte();
    const minor = this.#byte();
    if (major !== 4 || minor > 8) this.#fail("version", `this is version ${major}.${minor}, and 4.8 is understood`, 0);
    // Ruby reads older minor versions; the tree would be written back as 4.8.
    if (minor !== 8) this.#fail("version", `version 4.${minor} is too old, and 4.8 is understood`, 0);
    return this.#value(1);
  }

  elementSpans(): { start: number; end: number }[] | null {
    if (this.#bytes[2] === Type.Array) this.#spans = [];
    const spans = this.#spans;
    this.document();
    return spans;
  }

  #value(depth: number): RubyValue {
    if (++this.#values > this.#maxValues) this.#fail("too-many", `more than ${this.#maxValues} values`);
    if (depth > this.#maxDepth) this.#fail("too-deep", `nested more than ${this.#maxDepth} levels deep`);
    const start = this.#at;
    const type = this.#byte();
    switch (type) {
      case Type.Nil:
        return NIL;
      case Type.True:
        return TRUE;
      case Type.False:
        return FALSE;
      case Type.Fixnum:
        return {
          type: "integer",
          value: BigInt(this.#long()),
          encoding: "fixnum",
          instanceVariables: NONE,
          extendedBy: NONE,
          userClass: null,
        };
      case Type.Symbol:
        return this.#newSymbol(false, depth);
      case Type.SymbolLink:
        return this.#linkedSymbol();
      case Type.Link: {
        const index = this.#long();
        const value = this.#objects[index];
        if (value === undefined)
          this.#fail("bad-link", `a link to object ${index}, which there is none of so far`, start);
        return value;
      }
      case Type.InstanceVariables:
        return this.#wrappedValue(depth);
      case Type.Extended:
      case Type.UserClass:
        return this.#prefixedValue(type, false, depth);
      default:
        return this.#object(type, NO_PREFIX, depth);
    }
  }

  /** After an `I`. */
  #wrappedValue(depth: number): RubyValue {
    const type = this.#byte();
    if (type === Type.Symbol) return this.#newSymbol(true, depth);
    if (type === Type.Extended || type === Type.UserClass) return this.#prefixedValue(type, true, depth);
    return this.#object(type, WRAPPED, depth);
  }

  /** Modules, then a class, then the value: the one order in which Ruby writes them. */
  #prefixedValue(first: number, wrapped: boolean, depth: number): RubyValue {
    let type = first;
    const extendedBy: RubySymbol[] = [];
    while (type === Type.Extended) {
      extendedBy.push(this.#symbol(depth));
      type = this.#byte();
    }
    if (type !== Type.UserClass) return this.#object(type, { wrapped, extendedBy, userClass: null }, depth);
    const userClass = this.#symbol(depth);
    type = this.#byte();
    const isHash = type === Type.Hash || type === Type.HashWithDefault;
    if (isHash && isIdentityClass(userClass)) {
      return this.#hash(type, { wrapped, extendedBy, userClass: null }, true, depth);
    }
    if (type === Type.UserClass) {
      if (!isIdentityClass(this.#symbol(depth))) this.#refuse("a value of two classes");
      type = this.#byte();
      if (type !== Type.Hash && type !== Type.HashWithDefault) this.#refuse("a value of two classes");
      return this.#hash(type, { wrapped, extendedBy, userClass }, true, depth);
    }
    return this.#object(type, { wrapped, extendedBy, userClass }, depth);
  }

  /** A value that takes a place in the table of links. */
  #object(type: number, prefix: Prefix, depth: number): RubyValue {
    switch (type) {
      case Type.String: {
        const node: Mutable<RubyString> = {
          type: "string",
          bytes: this.#byteString(),
          instanceVariables: NONE,
          extendedBy: prefix.extendedBy,
          userClass: prefix.userClass,
        };
        return this.#finish(this.#register(node), prefix, depth);
      }
      case Type.Array:
        return this.#array(prefix, depth);
      case Type.Hash:
      case Type.HashWithDefault:
        return this.#hash(type, prefix, false, depth);
      case Type.Object:
        return this.#plainObject(prefix, depth);
      case Type.Struct:
        return this.#struct(prefix, depth);
      case Type.Float:
        return this.#float(prefix, depth);
      case Type.Bignum:
        return this.#bignum(prefix, depth);
      case Type.UserDefined: {
        const className = this.#symbol(depth);
        const bytes = this.#byteString();
        const { extendedBy, userClass } = prefix;
        const instanceVariables = prefix.wrapped ? this.#wrapperVariables(depth) : NONE;
        // Only now: such an object comes into being from its bytes and their variables.
        return this.#register({ type: "user-defined", className, bytes, instanceVariables, extendedBy, userClass });
      }
      case Type.UserMarshal:
      case Type.Data:
        return this.#userMarshal(type, prefix, depth);
      case Type.Regexp: {
        const bytes = this.#byteString();
        const options = this.#byte();
        const { extendedBy, userClass } = prefix;
        const node = { type: "regexp", bytes, options, instanceVariables: NONE, extendedBy, userClass } as const;
        return this.#finish(this.#register(node), prefix, depth);
      }
      case Type.Class:
      case Type.Module:
      case Type.ClassOrModule:
        return this.#module(type, prefix, depth);
      case Type.Nil:
      case Type.True:
      case Type.False:
      case Type.Fixnum:
      case Type.Symbol:
      case Type.SymbolLink:
      case Type.Link:
      case Type.InstanceVariables:
      case Type.Extended:
        return this.#refuse("a class, a module or instance variables around a value that cannot have them");
      default: {
        const name = type > 0x20 && type < 0x7f ? `"${String.fromCharCode(type)}"` : `0x${type.toString(16)}`;
        return this.#fail("unknown-type", `no type of value is written as ${name}`, this.#at - 1);
      }
    }
  }

  #array(prefix: Prefix, depth: number): RubyArray {
    const count = this.#length(1);
    const elements: RubyValue[] = [];
    const { extendedBy, userClass } = prefix;
    const node: RubyArray = { type: "array", elements, instanceVariables: NONE, extendedBy, userClass };
    this.#register(node);
    const spans = depth === 1 ? this.#spans : null;
    for (let index = 0; index < count; index++) {
      const start = this.#at;
      elements.push(this.#value(depth + 1));
      spans?.push({ start, end: this.#at });
    }
    return this.#finish(node, prefix, depth);
  }

  #hash(type: number, prefix: Prefix, comparesByIdentity: boolean, depth: number): RubyHash {
    const count = this.#length(2);
    const entries: [RubyValue, RubyValue][] = [];
    const node: Mutable<RubyHash> = {
      type: "hash",
      entries,
      defaultValue: null,
      comparesByIdentity,
      instanceVariables: NONE,
      extendedBy: prefix.extendedBy,
      userClass: prefix.userClass,
    };
    this.#register(node);
    for (let index = 0; index < count; index++) entries.push([this.#value(depth + 1), this.#value(depth + 1)]);
    if (type === Type.HashWithDefault) node.defaultValue = this.#value(depth + 1);
    return this.#finish(node, prefix, depth);
  }

  #plainObject(prefix: Prefix, depth: number): RubyObject {
    // The place in the table comes before the name, whose encoding can take a place of its own.
    const index = this.#objects.push(NIL) - 1;
    const node: Mutable<RubyObject> = {
      type: "object",
      className: this.#symbol(depth),
      wrapperVariables: null,
      instanceVariables: NONE,
      extendedBy: prefix.extendedBy,
      userClass: prefix.userClass,
    };
    this.#objects[index] = node;
    node.instanceVariables = this.#variables(depth);
    if (prefix.wrapped) node.wrapperVariables = this.#wrapperVariables(depth);
    return node;
  }

  #struct(prefix: Prefix, depth: number): RubyStruct {
    const index = this.#objects.push(NIL) - 1;
    const node: Mutable<RubyStruct> = {
      type: "struct",
      className: this.#symbol(depth),
      members: NONE,
      instanceVariables: NONE,
      extendedBy: prefix.extendedBy,
      userClass: prefix.userClass,
    };
    this.#objects[index] = node;
    node.members = this.#variables(depth);
    return this.#finish(node, prefix, depth);
  }

  #userMarshal(type: number, prefix: Prefix, depth: number): RubyUserMarshal {
    const node: Mutable<RubyUserMarshal> = {
      type: "user-marshal",
      form: type === Type.Data ? "data" : "marshal_dump",
      className: this.#symbol(depth),
      value: NIL,
      instanceVariables: NONE,
      extendedBy: prefix.extendedBy,
      userClass: prefix.userClass,
    };
    this.#register(node);
    node.value = this.#value(depth + 1);
    return this.#finish(node, prefix, depth);
  }

  #module(type: number, prefix: Prefix, depth: number): RubyModule {
    const node: RubyModule = {
      type: "module",
      kind: type === Type.Class ? "class" : type === Type.Module ? "module" : "either",
      name: this.#byteString(),
      instanceVariables: NONE,
      extendedBy: prefix.extendedBy,
      userClass: prefix.userClass,
    };
    return this.#finish(this.#register(node), prefix, depth);
  }

  #float(prefix: Prefix, depth: number): RubyValue {
    const start = this.#at;
    const text = latin1Of(this.#byteString());
    if (!FLOAT_TEXT.test(text)) this.#fail("invalid", "a Float in digits that Ruby does not write", start);
    const value = text === "nan" ? NaN : text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text);
    const { extendedBy, userClass } = prefix;
    const node = { type: "float", value, text, instanceVariables: NONE, extendedBy, userClass } as const;
    return this.#finish(this.#register(node), prefix, depth);
  }

  #bignum(prefix: Prefix, depth: number): RubyValue {
    const start = this.#at;
    const sign = this.#byte();
    if (sign !== 0x2b && sign !== 0x2d) this.#fail("invalid", "an Integer without a sign", start);
    const length = this.#length(2) * 2;
    if (length > MAX_INTEGER_BYTES) this.#fail("too-many", `an Integer of more than ${MAX_INTEGER_BYTES} bytes`, start);
    const digits = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    const isPadded = length > 0 && digits[length - 1] === 0 && digits[length - 2] === 0;
    if (isPadded || (length === 0 && sign === 0x2d)) this.#refuse("an Integer in more digits than it has", start);
    const magnitude = length === 0 ? 0n : BigInt(`0x${Buffer.from(digits).reverse().toString("hex")}`);
    const { extendedBy, userClass } = prefix;
    const value = sign === 0x2d ? -magnitude : magnitude;
    const node = {
      type: "integer",
      value,
      encoding: "bignum",
      instanceVariables: NONE,
      extendedBy,
      userClass,
    } as const;
    return this.#finish(this.#register(node), prefix, depth);
  }

  #register<Node extends RubyValue>(node: Node): Node {
    this.#objects.push(node);
    return node;
  }

  /** Reads the variables that an `I` announced, into a node that is already in the table and may refer to itself. */
  #finish<Node extends Mutable<RubyValue> & { instanceVariables: readonly InstanceVariable[] }>(
    node: Node,
    prefix: Prefix,
    depth: number,
  ): Node {
    if (prefix.wrapped) node.instanceVariables = this.#wrapperVariables(depth);
    return node;
  }

  #wrapperVariables(depth: number): readonly InstanceVariable[] {
    const start = this.#at;
    const variables = this.#variables(depth);
    if (variables.length === 0) this.#refuse("an empty list of instance variables", start);
    return variables;
  }

  #variables(depth: number): readonly InstanceVariable[] {
    const count = this.#length(3);
    if (count === 0) return NONE;
    const name = this.#symbol(depth);
    const value = this.#value(depth + 1);
    const first: InstanceVariable = { name, value };
    if (count === 1) {
      if (value !== TRUE) return [first];
      if (this.#utf8Variables?.[0]?.name !== name) this.#utf8Variables = [first];
      return this.#utf8Variables;
    }
    const variables = [first];
    for (let index = 1; index < count; index++) {
      variables.push({ name: this.#symbol(depth), value: this.#value(depth + 1) });
    }
    return variables;
  }

  /** A symbol where only a symbol may stand: the name of a class, a module, a variable or a member. */
  #symbol(depth: number): RubySymbol {
    const start = this.#at;
    const type = this.#byte();
    if (type === Type.SymbolLink) return this.#linkedSymbol();
    if (type === Type.Symbol) return this.#newSymbol(false, depth);
    if (type === Type.InstanceVariables && this.#byte() === Type.Symbol) return this.#newSymbol(true, depth);
    return this.#fail("invalid", "something else where a name must stand", start);
  }

  #linkedSymbol(): RubySymbol {
    const start = this.#at - 1;
    const index = this.#long();
    const symbol = this.#symbols[index];
    if (!symbol) this.#fail("bad-link", `a link to symbol ${index}, which there is none of so far`, start);
    return symbol;
  }

  #newSymbol(wrapped: boolean, depth: number): RubySymbol {
    const start = this.#at;
    const node: Mutable<RubySymbol> = { type: "symbol", bytes: this.#byteString(), instanceVariables: NONE };
    this.#symbols.push(node);
    if (wrapped) {
      if (depth >= this.#maxDepth) this.#fail("too-deep", `nested more than ${this.#maxDepth} levels deep`);
      node.instanceVariables = this.#wrapperVariables(depth + 1);
    }
    const key = symbolKey(node);
    if (this.#symbolKeys.has(key)) this.#refuse("a symbol spelt out a second time", start);
    this.#symbolKeys.add(key);
    return node;
  }

  #byteString(): Buffer {
    const length = this.#length(1);
    if (length === 0) return NO_BYTES;
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }

  /** A count of things that take at least `size` bytes each, so that no claim outgrows the stream. */
  #length(size: number): number {
    const start = this.#at;
    const length = this.#long();
    if (length < 0) this.#fail("invalid", "a length below zero", start);
    if (length * size > this.#bytes.length - this.#at) {
      this.#fail("truncated", `a length of ${length}, and only ${this.#bytes.length - this.#at} bytes follow`, start);
    }
    return length;
  }

  /** A number of up to four bytes (`w_long`). */
  #long(): number {
    const start = this.#at;
    const first = (this.#byte() << 24) >> 24;
    if (first === 0) return 0;
    if (first === 5 || first === -5) this.#refuse("a zero in another form", start);
    if (first > 5) return first - 5;
    if (first < -5) return first + 5;
    const size = Math.abs(first);
    let value = 0;
    for (let index = 0; index < size; index++) value += this.#byte() * 256 ** index;
    if (first < 0) value -= 256 ** size;
    const isMinimal =
      first > 0 ? value >= (size === 1 ? 123 : 256 ** (size - 1)) : value < -(size === 1 ? 123 : 256 ** (size - 1));
    if (!isMinimal) this.#refuse("a number in more bytes than it needs", start);
    return value;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) this.#fail("truncated", "the stream ends in the middle of a value");
    this.#at++;
    return byte;
  }

  /** For what Ruby would load but never writes, and what the tree could not give back as it was. */
  #refuse(what: string, offset = this.#at - 1): never {
    this.#fail("invalid", `${what}, which Ruby never writes`, offset);
  }

  #fail(code: MarshalErrorCode, message: string, offset = this.#at): never {
    throw new MarshalError(code, message, offset);
  }
}

function isIdentityClass(symbol: RubySymbol): boolean {
  return symbol.bytes.length === IDENTITY_CLASS.length && latin1Of(symbol.bytes) === IDENTITY_CLASS;
}
