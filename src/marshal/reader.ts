import { Cursor } from "./cursor";
import { bufferOf, isEncodingVariable, latin1Of } from "./encodings";
import { FLOAT_TEXT, IDENTITY_CLASS, Type } from "./format";
import {
  ContentFrame,
  ElementsFrame,
  EntriesFrame,
  type Frame,
  MembersFrame,
  roomFor,
  type Unfinished,
  WrapperFrame,
} from "./frames";
import { DEFAULT_LIMITS, MAX_INTEGER_BYTES, type MarshalLimits } from "./limits";
import { FALSE, NIL, NONE, TRUE, symbolKey, type Mutable } from "./nodes";
import type {
  InstanceVariable,
  RubyHash,
  RubyObject,
  RubyStruct,
  RubySymbol,
  RubyUserMarshal,
  RubyValue,
} from "./values";

/**
 * Reads a Marshal 4.8 stream into a tree. Bytes after the value are ignored, as `Marshal.load` ignores them. Byte
 * arrays in the tree are views of `bytes`, which must not change while the tree is in use.
 *
 * Forms that Ruby would load but never writes, and that the tree cannot hold apart from the usual form (a length in
 * more bytes than it needs, a symbol spelt out twice, an empty list of variables around a value), are refused as
 * `invalid`.
 *
 * @throws MarshalError for anything that is not such a stream, or that is beyond the limits.
 */
export function readMarshal(bytes: Uint8Array, limits?: Partial<MarshalLimits>): RubyValue {
  return new Reader(bytes, limits).document();
}

/**
 * The bytes from `start` up to, not including, `end` of each element, where the root of the stream is an Array without
 * class, modules or variables of its own; null where it is something else. An element can be replaced by other bytes
 * in place only while neither it nor its replacement takes a place in the tables of links and symbols (nil, true, false
 * and fixnums take none).
 *
 * @throws MarshalError as `readMarshal` does.
 */
export function arrayElementSpans(
  bytes: Uint8Array,
  limits?: Partial<MarshalLimits>,
): { start: number; end: number }[] | null {
  return new Reader(bytes, limits).elementSpans();
}

/** What stands before a value's type byte. */
interface Prefix {
  /** Whether an `I` opens the value, so that instance variables follow it. */
  readonly isWrapped: boolean;
  readonly extendedBy: readonly RubySymbol[];
  readonly userClass: RubySymbol | null;
}
const NO_PREFIX: Prefix = { isWrapped: false, extendedBy: NONE, userClass: null };
const WRAPPED: Prefix = { ...NO_PREFIX, isWrapped: true };

class Reader {
  readonly #input: Cursor;
  readonly #maxDepth: number;
  readonly #maxValues: number;
  #values = 0;
  readonly #symbols: RubySymbol[] = [];
  readonly #symbolKeys = new Set<string>();
  readonly #objects: RubyValue[] = [];
  /** The variables of a UTF-8 string, one list for all of them. */
  #utf8Variables: readonly InstanceVariable[] = NONE;
  /** What is still to be read of the value that was last begun; null where it is complete. */
  #begun: Frame | null = null;
  #spans: { start: number; end: number }[] | null = null;

  constructor(bytes: Uint8Array, limits: Partial<MarshalLimits> = {}) {
    this.#input = new Cursor(bufferOf(bytes));
    this.#maxDepth = limits.maxDepth ?? DEFAULT_LIMITS.maxDepth;
    this.#maxValues = limits.maxValues ?? DEFAULT_LIMITS.maxValues;
  }

  document(): RubyValue {
    const major = this.#input.byte();
    const minor = this.#input.byte();
    // Ruby reads older minor versions, too; but the tree would be written back as 4.8.
    if (major !== 4 || minor !== 8) {
      this.#input.fail("version", `this is version ${major}.${minor}, and 4.8 is understood`, 0);
    }
    return this.#value();
  }

  elementSpans(): { start: number; end: number }[] | null {
    if (this.#input.bytes[2] === Type.Array) this.#spans = [];
    const spans = this.#spans;
    this.document();
    return spans;
  }

  /** One value with all that belongs to it. Keeps a stack of its own, so that nesting is bounded by the limit alone. */
  #value(): RubyValue {
    const frames: Frame[] = [];
    let start = this.#input.at;
    let elementStart = start;
    let value = this.#begin();
    for (;;) {
      let frame = this.#begun;
      if (frame) {
        if (frames.push(frame) > this.#maxDepth) {
          this.#input.fail("too-deep", `nested more than ${this.#maxDepth} levels deep`, start);
        }
      } else {
        frame = frames.at(-1) ?? null;
        if (!frame) return value;
        frame.add(value);
        if (frames.length === 1 && frame instanceof ElementsFrame) {
          this.#spans?.push({ start: elementStart, end: this.#input.at });
        }
      }
      if (frame.remaining > 0) {
        if (frame.isNamed) frame.name ??= this.#symbol();
        start = this.#input.at;
        if (frames.length === 1) elementStart = start;
        value = this.#begin();
        continue;
      }
      frames.pop();
      value = frame.node;
      this.#begun = frame.isWrapped ? this.#wrapper(frame.node) : null;
      if (!this.#begun) this.#complete(frame.node);
    }
  }

  /** Reads up to the first value within; what is left to read goes into `#begun`. */
  #begin(): RubyValue {
    this.#begun = null;
    this.#count();
    const type = this.#input.byte();
    switch (type) {
      case Type.Nil:
        return NIL;
      case Type.True:
        return TRUE;
      case Type.False:
        return FALSE;
      case Type.Fixnum: {
        const value = BigInt(this.#input.long());
        return {
          type: "integer",
          value,
          encoding: "fixnum",
          instanceVariables: NONE,
          extendedBy: NONE,
          userClass: null,
        };
      }
      case Type.Symbol:
        return this.#newSymbol(false);
      case Type.SymbolLink:
        return this.#linkedSymbol();
      case Type.Link:
        return this.#link();
      case Type.InstanceVariables: {
        const wrapped = this.#input.byte();
        if (wrapped === Type.Symbol) return this.#newSymbol(true);
        if (wrapped === Type.Extended || wrapped === Type.UserClass) return this.#prefixed(wrapped, true);
        return this.#object(wrapped, WRAPPED);
      }
      case Type.Extended:
      case Type.UserClass:
        return this.#prefixed(type, false);
      default:
        return this.#object(type, NO_PREFIX);
    }
  }

  #link(): RubyValue {
    const start = this.#input.at - 1;
    const index = this.#input.long();
    const value = this.#objects[index];
    return value ?? this.#input.fail("bad-link", `a link to object ${index}, which there is none of so far`, start);
  }

  /** Modules, then a class, then the value: the one order in which Ruby writes them. */
  #prefixed(first: number, isWrapped: boolean): RubyValue {
    let type = first;
    const extendedBy: RubySymbol[] = [];
    while (type === Type.Extended) {
      extendedBy.push(this.#symbol());
      type = this.#input.byte();
    }
    if (type !== Type.UserClass) return this.#object(type, { isWrapped, extendedBy, userClass: null });
    let userClass: RubySymbol | null = this.#symbol();
    type = this.#input.byte();
    let comparesByIdentity = false;
    if (type === Type.UserClass) {
      if (!isIdentityClass(this.#symbol())) this.#input.refuse("a value of two classes");
      type = this.#input.byte();
      if (type !== Type.Hash && type !== Type.HashWithDefault) this.#input.refuse("a value of two classes");
      comparesByIdentity = true;
    } else if ((type === Type.Hash || type === Type.HashWithDefault) && isIdentityClass(userClass)) {
      comparesByIdentity = true;
      userClass = null;
    }
    const prefix: Prefix = { isWrapped, extendedBy, userClass };
    return comparesByIdentity ? this.#hash(type, prefix, true) : this.#object(type, prefix);
  }

  /** A value that takes a place in the table of links. */
  #object(type: number, prefix: Prefix): RubyValue {
    const { isWrapped, extendedBy, userClass } = prefix;
    switch (type) {
      case Type.String: {
        const bytes = this.#input.byteString();
        return this.#atom({ type: "string", bytes, instanceVariables: NONE, extendedBy, userClass }, isWrapped);
      }
      case Type.Array: {
        const count = this.#input.length(1);
        const elements = roomFor<RubyValue>(count);
        const node = { type: "array", elements, instanceVariables: NONE, extendedBy, userClass } as const;
        this.#objects.push(node);
        this.#begun = new ElementsFrame(node, elements, count, isWrapped);
        return node;
      }
      case Type.Hash:
      case Type.HashWithDefault:
        return this.#hash(type, prefix, false);
      case Type.Object:
      case Type.Struct:
        return this.#members(type, prefix);
      case Type.UserMarshal:
      case Type.Data: {
        const node: Mutable<RubyUserMarshal> = {
          type: "user-marshal",
          form: type === Type.Data ? "data" : "marshal_dump",
          className: this.#symbol(),
          value: NIL,
          instanceVariables: NONE,
          extendedBy,
          userClass,
        };
        this.#objects.push(node);
        this.#begun = new ContentFrame(node, isWrapped);
        return node;
      }
      case Type.UserDefined: {
        const className = this.#symbol();
        const bytes = this.#input.byteString();
        const node = {
          type: "user-defined",
          className,
          bytes,
          instanceVariables: NONE,
          extendedBy,
          userClass,
        } as const;
        this.#begun = isWrapped ? this.#wrapper(node) : null;
        if (!this.#begun) this.#complete(node);
        return node;
      }
      case Type.Float:
        return this.#atom(this.#float(prefix), isWrapped);
      case Type.Bignum:
        return this.#atom(this.#bignum(prefix), isWrapped);
      case Type.Regexp: {
        const bytes = this.#input.byteString();
        const options = this.#input.byte();
        return this.#atom(
          { type: "regexp", bytes, options, instanceVariables: NONE, extendedBy, userClass },
          isWrapped,
        );
      }
      case Type.Class:
      case Type.Module:
      case Type.ClassOrModule: {
        const kind = type === Type.Class ? "class" : type === Type.Module ? "module" : "either";
        const name = this.#input.byteString();
        return this.#atom({ type: "module", kind, name, instanceVariables: NONE, extendedBy, userClass }, isWrapped);
      }
      case Type.Nil:
      case Type.True:
      case Type.False:
      case Type.Fixnum:
      case Type.Symbol:
      case Type.SymbolLink:
      case Type.Link:
      case Type.InstanceVariables:
      case Type.Extended:
        return this.#input.refuse("a class, a module or instance variables around what cannot have them");
      default: {
        const name = type > 0x20 && type < 0x7f ? `"${String.fromCharCode(type)}"` : `0x${type.toString(16)}`;
        return this.#input.fail("unknown-type", `no type of value is written as ${name}`, this.#input.at - 1);
      }
    }
  }

  #hash(type: number, { isWrapped, extendedBy, userClass }: Prefix, comparesByIdentity: boolean): RubyHash {
    const count = this.#input.length(2);
    const entries = roomFor<[RubyValue, RubyValue]>(count);
    const node: Mutable<RubyHash> = {
      type: "hash",
      entries,
      defaultValue: null,
      comparesByIdentity,
      instanceVariables: NONE,
      extendedBy,
      userClass,
    };
    this.#objects.push(node);
    this.#begun = new EntriesFrame(node, entries, count, type === Type.HashWithDefault, isWrapped);
    return node;
  }

  #members(type: number, { isWrapped, extendedBy, userClass }: Prefix): RubyObject | RubyStruct {
    // The place in the table comes before the name, whose encoding can take a place of its own.
    const index = this.#objects.push(NIL) - 1;
    const className = this.#symbol();
    const parts = { className, instanceVariables: NONE, extendedBy, userClass };
    const node: Mutable<RubyObject> | Mutable<RubyStruct> =
      type === Type.Object
        ? { type: "object", wrapperVariables: null, ...parts }
        : { type: "struct", members: NONE, ...parts };
    this.#objects[index] = node;
    this.#begun = new MembersFrame(node, this.#input.length(3), isWrapped);
    return node;
  }

  #float({ extendedBy, userClass }: Prefix): Unfinished {
    const start = this.#input.at;
    const text = latin1Of(this.#input.byteString());
    if (!FLOAT_TEXT.test(text)) this.#input.fail("invalid", "a Float in digits that Ruby does not write", start);
    const value = text === "nan" ? NaN : text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text);
    return { type: "float", value, text, instanceVariables: NONE, extendedBy, userClass };
  }

  #bignum({ extendedBy, userClass }: Prefix): Unfinished {
    const start = this.#input.at;
    const sign = this.#input.byte();
    if (sign !== 0x2b && sign !== 0x2d) this.#input.fail("invalid", "an Integer without a sign", start);
    const length = this.#input.length(2) * 2;
    if (length > MAX_INTEGER_BYTES)
      this.#input.fail("too-many", `an Integer of more than ${MAX_INTEGER_BYTES} bytes`, start);
    const digits = this.#input.take(length);
    const isPadded = length > 0 && digits[length - 1] === 0 && digits[length - 2] === 0;
    if (isPadded || (length === 0 && sign === 0x2d)) this.#input.refuse("an Integer in more digits than it has", start);
    // Up to six bytes a JavaScript number is exact, and much the quicker way.
    const magnitude =
      length <= 6
        ? BigInt(length === 0 ? 0 : digits.readUIntLE(0, length))
        : BigInt(`0x${Buffer.from(digits).reverse().toString("hex")}`);
    const value = sign === 0x2d ? -magnitude : magnitude;
    return { type: "integer", value, encoding: "bignum", instanceVariables: NONE, extendedBy, userClass };
  }

  /** A value that holds no others but its instance variables. */
  #atom(node: Unfinished, isWrapped: boolean): RubyValue {
    this.#objects.push(node);
    this.#begun = isWrapped ? this.#wrapper(node) : null;
    return node;
  }

  /**
   * The variables that an `I` announced. Nearly always there is one, and it says that the bytes are UTF-8 or ASCII:
   * that is read here, and null returned.
   */
  #wrapper(node: Unfinished): Frame | null {
    const start = this.#input.at;
    const count = this.#input.length(3);
    if (count === 0) this.#input.refuse("an empty list of instance variables", start);
    if (count > 1 || node.type === "object") return new WrapperFrame(node, count);
    const name = this.#symbol();
    const type = this.#input.peek();
    if (type !== Type.True && type !== Type.False) {
      const frame = new WrapperFrame(node, count);
      frame.name = name;
      return frame;
    }
    this.#count();
    this.#input.at++;
    if (type === Type.False) {
      node.instanceVariables = [{ name, value: FALSE }];
    } else {
      if (this.#utf8Variables[0]?.name !== name) this.#utf8Variables = [{ name, value: TRUE }];
      node.instanceVariables = this.#utf8Variables;
    }
    return null;
  }

  /** An object with a `_dump` takes its place only now: it comes into being from its bytes and their variables. */
  #complete(node: Unfinished): void {
    if (node.type === "user-defined") this.#objects.push(node);
  }

  /** A symbol where only a symbol may stand: the name of a class, a module, a variable or a member. */
  #symbol(): RubySymbol {
    const start = this.#input.at;
    const type = this.#input.byte();
    if (type === Type.SymbolLink) return this.#linkedSymbol();
    if (type === Type.Symbol) return this.#newSymbol(false);
    if (type === Type.InstanceVariables && this.#input.byte() === Type.Symbol) return this.#newSymbol(true);
    return this.#input.fail("invalid", "something else where a name must stand", start);
  }

  #linkedSymbol(): RubySymbol {
    const start = this.#input.at - 1;
    const index = this.#input.long();
    const symbol = this.#symbols[index];
    return symbol ?? this.#input.fail("bad-link", `a link to symbol ${index}, which there is none of so far`, start);
  }

  #newSymbol(isWrapped: boolean): RubySymbol {
    const start = this.#input.at;
    const node: Mutable<RubySymbol> = { type: "symbol", bytes: this.#input.byteString(), instanceVariables: NONE };
    this.#symbols.push(node);
    if (isWrapped) node.instanceVariables = [this.#symbolEncoding()];
    const key = symbolKey(node);
    if (this.#symbolKeys.has(key)) this.#input.refuse("a symbol spelt out a second time", start);
    this.#symbolKeys.add(key);
    return node;
  }

  /** The one variable that a symbol can have: its encoding, as a boolean or by name. */
  #symbolEncoding(): InstanceVariable {
    const start = this.#input.at;
    if (this.#input.long() === 1) {
      const nameType = this.#input.byte();
      if (nameType === Type.Symbol || nameType === Type.SymbolLink) {
        const name = nameType === Type.Symbol ? this.#newSymbol(false) : this.#linkedSymbol();
        const type = this.#input.peek();
        if (type === Type.True || type === Type.False || type === Type.String || type === Type.Link) {
          const variable: InstanceVariable = { name, value: this.#begin() };
          if (isEncodingVariable(variable)) return variable;
        }
      }
    }
    return this.#input.refuse("a symbol with variables other than its encoding", start);
  }

  #count(): void {
    if (++this.#values > this.#maxValues) this.#input.fail("too-many", `more than ${this.#maxValues} values`);
  }
}

function isIdentityClass(symbol: RubySymbol): boolean {
  return symbol.bytes.length === IDENTITY_CLASS.length && latin1Of(symbol.bytes) === IDENTITY_CLASS;
}
