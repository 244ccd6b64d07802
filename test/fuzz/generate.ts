import { long } from "./marshalTokens";
import type { Random } from "./random";

/** What stands under a name that is masked, and nowhere else. */
export const secret = "s3cr3t";
/** The names under which values are masked in these tests. */
export const maskedNames = ["password", "token"];

// Names that mean something to JavaScript, to Ruby's own classes, or to the mask.
const names =
  "a b @a @b @hash E encoding excl begin end mesg bt zone offset nano_num nano_den submicro __proto__ constructor prototype toString hasOwnProperty then length key? x= [] + $1 @@c A::B \xe9 \xff".split(
    " ",
  );
const classNames =
  "Object Hash Set Range Time Date DateTime Rational Complex BigDecimal NameError::message Struct::P __proto__ constructor A::B Exception \xe9".split(
    " ",
  );
const texts = [
  "",
  "a",
  "plain",
  "caf\xc3\xa9",
  "\xe9\xff",
  '#{x} #$y "\\\n\t\x1b\0',
  "\xf0\x9f\x99\x82",
  "\xed\xa0\x80",
  "18:0.125e1",
];
const encodings = [
  "UTF-16LE",
  "UTF-32BE",
  "Shift_JIS",
  "EUC-JP",
  "GB18030",
  "Big5",
  "ISO-2022-JP",
  "ISO-8859-1",
  "UTF-7",
  "nothing",
  "",
];
const floats = [
  "0",
  "-0",
  "1.5",
  "inf",
  "-inf",
  "nan",
  "1e300",
  "-2.5e-7",
  "1e999",
  "2299161",
  "1.",
  "0x1",
  "1_0",
  " 1",
];

/**
 * Marshal streams from scratch: well-formed for the most part, of every type. No links to objects, so that a secret is shown
 * in one place alone; mutation makes those.
 */
export class StreamGenerator {
  readonly #random: Random;
  #pieces: Buffer[] = [];
  #symbols: string[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  stream(): Buffer {
    this.#pieces = [];
    this.#symbols = [];
    this.#text("\x04\x08");
    this.#value(0);
    return Buffer.concat(this.#pieces);
  }

  /** A stream whose root is an Array of these elements, each written by what it says. */
  array(elements: readonly ((write: StreamWriter) => void)[]): Buffer {
    this.#pieces = [];
    this.#symbols = [];
    this.#text("\x04\x08[");
    this.#long(elements.length);
    const writer: StreamWriter = {
      raw: (text) => {
        this.#text(text);
      },
      class: (name) => {
        this.#text("c");
        this.#bytes(name);
      },
      value: (depth) => {
        this.#value(depth);
      },
    };
    for (const element of elements) element(writer);
    return Buffer.concat(this.#pieces);
  }

  #text(text: string): void {
    this.#pieces.push(Buffer.from(text, "latin1"));
  }

  #long(value: number): void {
    this.#pieces.push(this.#random.oneIn(400) ? long(2 ** 30) : long(value));
  }

  #bytes(text: string): void {
    this.#long(text.length);
    this.#text(text);
  }

  #symbol(name: string): void {
    const known = this.#symbols.indexOf(name);
    if (known >= 0) {
      this.#text(";");
      this.#long(known);
      return;
    }
    this.#symbols.push(name);
    const isWrapped = /[^\0-\x7f]/.test(name) && !this.#random.oneIn(3);
    this.#text(isWrapped ? "I:" : ":");
    this.#bytes(name);
    if (isWrapped) this.#encoding();
  }

  /** A count of one and an encoding. */
  #encoding(): void {
    this.#long(1);
    if (!this.#random.oneIn(4)) {
      this.#symbol("E");
      this.#text(this.#random.pick(["T", "F"]));
      return;
    }
    this.#symbol("encoding");
    this.#text('"');
    this.#bytes(this.#random.pick(encodings));
  }

  /** Names and values. Under a masked name there stands a secret. */
  #named(depth: number, most = 4, from: readonly string[] = names): void {
    const count = this.#random.below(most);
    this.#long(count);
    for (let left = count; left > 0; left--) this.#pair(this.#random.pick(from), depth);
  }

  #pair(name: string, depth: number): void {
    if (this.#random.oneIn(8)) {
      this.#symbol(this.#random.oneIn(2) ? this.#random.pick(maskedNames) : `@${this.#random.pick(maskedNames)}`);
      this.#secret();
    } else {
      this.#symbol(name);
      this.#value(depth);
    }
  }

  #secret(): void {
    if (this.#random.oneIn(3)) {
      this.#text("[");
      this.#long(1);
    }
    this.#text('"');
    this.#bytes(secret);
  }

  #value(depth: number): void {
    const random = this.#random;
    const kinds = depth > 6 || random.oneIn(3) ? leaves : [...leaves, ...containers];
    const kind = random.pick(kinds);
    this.#write(kind, depth + 1);
  }

  #write(kind: Kind, depth: number): void {
    const random = this.#random;
    switch (kind) {
      case "0":
      case "T":
      case "F":
        this.#text(kind);
        return;
      case "i":
        this.#text("i");
        this.#long(random.pick([0, 1, -1, 122, 123, -124, 65_536, 2 ** 30 - 1, -(2 ** 30)]));
        return;
      case "l":
        this.#text(`l${random.pick(["+", "-"])}`);
        this.#bytesOfShorts(random.below(random.oneIn(20) ? 400 : 6));
        return;
      case ":":
        this.#symbol(random.pick(names));
        return;
      case "f":
      case "c":
      case "m":
      case "M":
        this.#text(kind);
        this.#bytes(random.pick(kind === "f" ? floats : classNames));
        return;
      case '"':
      case "/":
        this.#wrapped(depth, () => {
          this.#text(kind);
          this.#bytes(random.pick(texts));
          if (kind === "/") this.#pieces.push(random.bytes(1));
        });
        return;
      case "[":
        this.#text("[");
        this.#repeat(random.below(5), () => {
          this.#value(depth);
        });
        return;
      case "{":
      case "}":
        this.#text(kind);
        this.#repeat(random.below(4), () => {
          if (random.oneIn(2)) {
            this.#pair(random.pick(names), depth);
          } else {
            this.#value(depth);
            this.#value(depth);
          }
        });
        if (kind === "}") this.#value(depth);
        return;
      case "o":
      case "S":
        this.#text(kind);
        this.#symbol(random.pick(classNames));
        this.#named(depth);
        return;
      case "known":
        this.#known(depth);
        return;
      case "u":
        this.#wrapped(depth, () => {
          this.#text("u");
          this.#symbol(random.pick(classNames));
          this.#bytes(random.oneIn(2) ? random.bytes(8 + random.below(6)).toString("latin1") : random.pick(texts));
        });
        return;
      case "U":
      case "d":
        this.#text(kind);
        this.#symbol(random.pick(classNames));
        this.#value(depth);
        return;
      case "prefixed":
        this.#text(random.oneIn(2) ? "e" : "C");
        this.#symbol(random.pick(classNames));
        this.#value(depth);
        return;
    }
  }

  /** Objects of classes that print in a way of their own, their parts at random. */
  #known(depth: number): void {
    const random = this.#random;
    switch (random.below(4)) {
      case 0:
        this.#text("o");
        this.#symbol("Range");
        this.#long(3);
        for (const name of ["excl", "begin", "end"]) this.#pair(name, depth);
        return;
      case 1:
        this.#text("o");
        this.#symbol("Set");
        this.#long(1);
        this.#symbol("@hash");
        this.#text("}");
        this.#long(1);
        this.#value(depth);
        this.#text("TF");
        return;
      case 2:
        this.#text("U");
        this.#symbol(random.pick(["Rational", "Complex"]));
        this.#text("[");
        this.#long(2);
        this.#value(7);
        this.#value(7);
        return;
      default:
        this.#text("U");
        this.#symbol(random.pick(["Date", "DateTime"]));
        this.#text("[");
        this.#long(6);
        for (let left = 5; left > 0; left--) this.#write(random.oneIn(5) ? "l" : "i", depth);
        this.#write("f", depth);
    }
  }

  #wrapped(depth: number, write: () => void): void {
    const isWrapped = !this.#random.oneIn(3);
    if (isWrapped) this.#text("I");
    write();
    if (!isWrapped) return;
    if (this.#random.oneIn(3)) this.#named(depth);
    else this.#encoding();
  }

  #repeat(count: number, write: () => void): void {
    this.#long(count);
    for (let left = count; left > 0; left--) write();
  }

  #bytesOfShorts(count: number): void {
    this.#long(count);
    this.#pieces.push(this.#random.bytes(2 * count));
  }
}

/** What `StreamGenerator.array` lets its elements write. */
export interface StreamWriter {
  raw(text: string): void;
  class(name: string): void;
  value(depth: number): void;
}

type Kind = (typeof leaves)[number] | (typeof containers)[number];
const leaves = ["0", "T", "F", "i", "l", ":", "f", "c", "m", "M", '"', '"', '"', "/", "u"] as const;
const containers = ["[", "[", "{", "{", "}", "o", "o", "S", "known", "U", "d", "prefixed"] as const;
