import { MarshalError } from "./errors";
import { IDENTITY_CLASS, Type } from "./format";
import { symbolKey } from "./nodes";
import type { InstanceVariable, ObjectParts, RubySymbol, RubyValue } from "./values";

/**
 * The Marshal 4.8 stream of a tree, header included: byte for byte what the tree was read from. Any node that is met
 * a second time, floats and large integers too, is written as a link; symbols are linked when they are equal. Nesting
 * costs no stack.
 *
 * @throws MarshalError `invalid` for a fixnum or a count beyond what the format holds; its offset is that in the
 * output.
 */
export function writeMarshal(value: RubyValue): Uint8Array {
  return new Writer().document(value);
}

/** A value that takes a place in the table of links. */
type Registered = Extract<RubyValue, ObjectParts>;

/** What is still to be written: a value or a name, a count, or a place to take in the table of links. */
type Step = RubyValue | number | Place;

class Place {
  constructor(readonly value: Registered) {}
}

const IDENTITY_SYMBOL: RubySymbol = {
  type: "symbol",
  bytes: Buffer.from(IDENTITY_CLASS, "latin1"),
  instanceVariables: [],
};

class Writer {
  #output = Buffer.allocUnsafe(1024);
  #at = 0;
  /** By node and by content: the second is slow for long names, and the first is not enough for trees made by hand. */
  readonly #symbols = new Map<RubySymbol | string, number>();
  #symbolCount = 0;
  readonly #objects = new Map<RubyValue, number>();

  document(value: RubyValue): Uint8Array {
    this.#byte(4);
    this.#byte(8);
    this.#run([value]);
    return this.#output.subarray(0, this.#at);
  }

  /** Writes `steps` from first to last, and whatever each one brings along before the next. */
  #run(steps: readonly Step[]): void {
    const stack = steps.toReversed();
    for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
      if (typeof step === "number") this.#long(step);
      else if (step instanceof Place) this.#register(step.value);
      else {
        for (const following of this.#value(step).toReversed()) stack.push(following);
      }
    }
  }

  /** Writes what of a value can be written at once, and returns what must follow. */
  #value(value: RubyValue): readonly Step[] {
    switch (value.type) {
      case "nil":
        this.#byte(Type.Nil);
        return [];
      case "boolean":
        this.#byte(value.value ? Type.True : Type.False);
        return [];
      case "symbol":
        this.#symbol(value);
        return [];
      default:
        return this.#linked(value);
    }
  }

  #linked(value: Registered): readonly Step[] {
    if (value.type === "integer" && value.encoding === "fixnum") {
      this.#byte(Type.Fixnum);
      this.#long(Number(value.value));
      return [];
    }
    const index = this.#objects.get(value);
    if (index !== undefined) {
      this.#byte(Type.Link);
      this.#long(index);
      return [];
    }
    const wrapper = (value.type === "object" ? value.wrapperVariables : value.instanceVariables) ?? [];
    if (wrapper.length > 0) this.#byte(Type.InstanceVariables);
    for (const module of value.extendedBy) {
      this.#byte(Type.Extended);
      this.#symbol(module);
    }
    if (value.userClass) {
      this.#byte(Type.UserClass);
      this.#symbol(value.userClass);
    }
    const content = this.#content(value);
    if (value.type === "user-defined") return [...(wrapper.length > 0 ? listed(wrapper) : []), new Place(value)];
    return wrapper.length === 0 ? content : [...content, ...listed(wrapper)];
  }

  /** The type byte and what follows it, up to the instance variables of an `I`. */
  #content(value: Registered): readonly Step[] {
    switch (value.type) {
      case "string":
        this.#register(value);
        this.#byte(Type.String);
        this.#byteString(value.bytes);
        return [];
      case "regexp":
        this.#register(value);
        this.#byte(Type.Regexp);
        this.#byteString(value.bytes);
        this.#byte(value.options);
        return [];
      case "float":
        this.#register(value);
        this.#byte(Type.Float);
        this.#byteString(Buffer.from(value.text, "latin1"));
        return [];
      case "integer":
        this.#register(value);
        this.#bignum(value.value);
        return [];
      case "module":
        this.#register(value);
        this.#byte(value.kind === "class" ? Type.Class : value.kind === "module" ? Type.Module : Type.ClassOrModule);
        this.#byteString(value.name);
        return [];
      case "array":
        this.#register(value);
        this.#byte(Type.Array);
        this.#long(value.elements.length);
        return value.elements;
      case "hash":
        this.#register(value);
        if (value.comparesByIdentity) {
          this.#byte(Type.UserClass);
          this.#symbol(IDENTITY_SYMBOL);
        }
        this.#byte(value.defaultValue ? Type.HashWithDefault : Type.Hash);
        this.#long(value.entries.length);
        return value.defaultValue ? [...value.entries.flat(), value.defaultValue] : value.entries.flat();
      case "object":
        this.#register(value);
        this.#byte(Type.Object);
        this.#symbol(value.className);
        return listed(value.instanceVariables);
      case "struct":
        this.#register(value);
        this.#byte(Type.Struct);
        this.#symbol(value.className);
        return listed(value.members);
      case "user-marshal":
        this.#byte(value.form === "data" ? Type.Data : Type.UserMarshal);
        this.#symbol(value.className);
        this.#register(value);
        return [value.value];
      case "user-defined":
        this.#byte(Type.UserDefined);
        this.#symbol(value.className);
        this.#byteString(value.bytes);
        // It takes its place after its variables: it comes into being from its bytes and those.
        return [];
    }
  }

  #register(value: Registered): void {
    this.#objects.set(value, this.#objects.size);
  }

  /** A symbol, its encoding included: names are symbols, and each is complete before what it names goes on. */
  #symbol(symbol: RubySymbol): void {
    const known = this.#symbols.get(symbol);
    const key = known === undefined ? symbolKey(symbol) : symbol;
    const index = known ?? this.#symbols.get(key);
    if (index !== undefined) {
      this.#symbols.set(symbol, index);
      this.#byte(Type.SymbolLink);
      this.#long(index);
      return;
    }
    this.#symbols.set(symbol, this.#symbolCount);
    this.#symbols.set(key, this.#symbolCount++);
    const isWrapped = symbol.instanceVariables.length > 0;
    if (isWrapped) this.#byte(Type.InstanceVariables);
    this.#byte(Type.Symbol);
    this.#byteString(symbol.bytes);
    if (isWrapped) this.#run(listed(symbol.instanceVariables));
  }

  #bignum(value: bigint): void {
    this.#byte(Type.Bignum);
    this.#byte(value < 0n ? 0x2d : 0x2b);
    const hex = value === 0n ? "" : (value < 0n ? -value : value).toString(16);
    const digits = Buffer.from(hex.padStart(Math.ceil(hex.length / 4) * 4, "0"), "hex").reverse();
    this.#long(digits.length / 2);
    this.#raw(digits);
  }

  #byteString(bytes: Uint8Array): void {
    this.#long(bytes.length);
    this.#raw(bytes);
  }

  #raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#output.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** A number in as few bytes as `w_long` gives it. */
  #long(value: number): void {
    if (!Number.isInteger(value) || value >= 2 ** 32 || value < -(2 ** 32)) {
      throw new MarshalError("invalid", `${value} is beyond what the format holds in this place`, this.#at);
    }
    if (value === 0) this.#byte(0);
    else if (value > 0 && value < 123) this.#byte(value + 5);
    else if (value < 0 && value > -124) this.#byte((value - 5) & 0xff);
    else {
      const size = [1, 2, 3, 4].find((bytes) => (value < 0 ? value >= -(256 ** bytes) : value < 256 ** bytes)) ?? 4;
      this.#byte(value < 0 ? 256 - size : size);
      let rest = value;
      for (let index = 0; index < size; index++) {
        this.#byte(rest & 0xff);
        rest = Math.floor(rest / 256);
      }
    }
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#output[this.#at++] = byte;
  }

  #reserve(length: number): void {
    const needed = this.#at + length;
    if (needed <= this.#output.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#output.length * 2));
    this.#output.copy(larger, 0, 0, this.#at);
    this.#output = larger;
  }
}

/** A list of variables or members: their count, then each name and value. */
function listed(variables: readonly InstanceVariable[]): Step[] {
  const steps: Step[] = [variables.length];
  for (const { name, value } of variables) steps.push(name, value);
  return steps;
}
