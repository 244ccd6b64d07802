import type { DeadTaskRecord } from "./record";

/** What a list shows of a record. Text that is not UTF-8 has U+FFFD in place of the bytes that are not. */
export type RecordFront = Pick<
  DeadTaskRecord,
  "taskClass" | "attempts" | "enqueuedAt" | "failedAt" | "exceptionClass" | "exceptionMessage"
>;

const quote = 0x22;
const backslash = 0x5c;
const hexMark = 0x78;

/** By letter after a backslash: the byte that it stands for; 0 where String#dump writes no such escape. */
const escapedBytes = (() => {
  const table = new Uint8Array(256);
  const letters = 'abtnvfre"\\#';
  const bytes = [0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b, 0x22, 0x5c, 0x23];
  bytes.forEach((byte, index) => (table[letters.charCodeAt(index)] = byte));
  return table;
})();

const hexValues = (() => {
  const table = new Uint8Array(256).fill(255);
  for (let value = 0; value < 16; value++) {
    table["0123456789ABCDEF".charCodeAt(value)] = value;
    table["0123456789abcdef".charCodeAt(value)] = value;
  }
  return table;
})();

// Marshal's type bytes, as marshal.c names them.
const typeNil = 0x30;
const typeFixnum = 0x69;
const typeBignum = 0x6c;
const typeInstanceVariables = 0x49;
const typeString = 0x22;
const typeSymbol = 0x3a;
const typeSymbolLink = 0x3b;
const typeHash = 0x7b;
const typeArray = 0x5b;
const trueByte = 0x54;
const falseByte = 0x46;

/** How many keys a record of Rage has. */
const fields = 9;

/** Thrown inside, never out: the record is not of the shape that Rage writes. */
const unusual = new Error("unusual record");

/**
 * Reads what a list shows of a record straight from its dumped text, without building a tree of it. It knows only the shape
 * that Rage writes and says null to anything else; the full decoder, `decodeRecord`, then decides. One reader serves any number
 * of records, one after the other.
 */
export class RecordReader {
  #bytes = Buffer.allocUnsafe(4096);
  /** How many bytes of the stream have been undumped, and how many of those were read. */
  #filled = 0;
  #at = 0;
  #source: Buffer = this.#bytes;
  #sourceAt = 0;
  #symbols = 0;

  /**
   * Undumps and reads no further than the exception's message: backtrace and context are nine tenths of a record. So it vouches
   * for the front alone; what follows may still turn out to be unreadable.
   */
  front(dumped: Buffer): RecordFront | null {
    return this.#attempt(dumped, () => this.#front());
  }

  /** The same, and vouches for all of the record: `decodeRecord` would read it. */
  whole(dumped: Buffer): RecordFront | null {
    return this.#attempt(dumped, () => {
      const front = this.#front();
      this.#rest();
      return front;
    });
  }

  #attempt(dumped: Buffer, read: () => RecordFront): RecordFront | null {
    if (dumped.length < 2 || dumped[0] !== quote || dumped[dumped.length - 1] !== quote) return null;
    this.#source = dumped;
    this.#sourceAt = 1;
    this.#filled = 0;
    this.#at = 0;
    this.#symbols = 0;
    try {
      return read();
    } catch (error) {
      if (error === unusual) return null;
      throw error;
    }
  }

  #front(): RecordFront {
    this.#expect(4);
    this.#expect(8);
    this.#expect(typeHash);
    if (this.#long() !== fields) throw unusual;
    this.#key("id");
    this.#skipString();
    this.#key("task_class");
    const taskClass = this.#string();
    this.#key("attempts");
    const attempts = this.#integer();
    this.#key("enqueued_at");
    const enqueuedAt = this.#integer();
    this.#key("failed_at");
    const failedAt = this.#integer();
    this.#key("exception_class");
    const exceptionClass = this.#stringOrNil();
    this.#key("exception_message");
    const exceptionMessage = this.#string();
    return { taskClass, attempts, enqueuedAt, failedAt, exceptionClass, exceptionMessage };
  }

  #rest(): void {
    this.#key("backtrace");
    this.#expect(typeArray);
    for (let lines = this.#length(); lines > 0; lines--) this.#skipString();
    this.#key("context");
    this.#expect(typeString);
    this.#skip(this.#length());
    // What is left is the closing quote alone.
    if (this.#at !== this.#filled || this.#sourceAt !== this.#source.length - 1) throw unusual;
  }

  #key(name: string): void {
    this.#expect(typeSymbol);
    const length = this.#length();
    this.#need(length);
    if (length !== name.length || this.#bytes.toString("latin1", this.#at, this.#at + length) !== name) throw unusual;
    this.#at += length;
    this.#symbols += 1;
  }

  #stringOrNil(): string | null {
    this.#need(1);
    if (this.#bytes[this.#at] !== typeNil) return this.#string();
    this.#at += 1;
    return null;
  }

  /** A String with its encoding and nothing else. */
  #string(): string {
    this.#expect(typeInstanceVariables);
    this.#expect(typeString);
    const length = this.#length();
    this.#need(length);
    const text = this.#bytes.toString("utf8", this.#at, this.#at + length);
    this.#at += length;
    this.#encoding();
    return text;
  }

  #skipString(): void {
    this.#expect(typeInstanceVariables);
    this.#expect(typeString);
    this.#skip(this.#length());
    this.#encoding();
  }

  #skip(count: number): void {
    this.#need(count);
    this.#at += count;
  }

  #encoding(): void {
    if (this.#long() !== 1) throw unusual;
    const type = this.#byte();
    if (type === typeSymbol) {
      if (this.#length() !== 1 || this.#byte() !== 0x45) throw unusual;
      this.#symbols += 1;
    } else if (type !== typeSymbolLink || this.#length() >= this.#symbols) {
      throw unusual;
    }
    const encoding = this.#byte();
    if (encoding !== trueByte && encoding !== falseByte) throw unusual;
  }

  #integer(): number {
    const type = this.#byte();
    if (type === typeFixnum) return this.#long();
    if (type !== typeBignum || this.#byte() !== 0x2b) throw unusual;
    const shorts = this.#long();
    if (shorts < 1 || shorts > 3) throw unusual;
    let value = 0;
    for (let index = 0; index < shorts * 2; index++) value += this.#byte() * 2 ** (8 * index);
    return value;
  }

  /** A length or count, which is never negative. */
  #length(): number {
    const value = this.#long();
    if (value < 0 || value > this.#source.length) throw unusual;
    return value;
  }

  /** Marshal's variable-length integer, `w_long` in marshal.c. */
  #long(): number {
    const first = (this.#byte() << 24) >> 24;
    if (first === 0) return 0;
    if (first > 4) return first - 5;
    if (first < -4) return first + 5;
    const width = Math.abs(first);
    let value = first > 0 ? 0 : -1;
    for (let index = 0; index < width; index++) {
      value = (value & ~(0xff << (8 * index))) | (this.#byte() << (8 * index));
    }
    // Ruby writes no number in more bytes than it needs; the decoder refuses one that is.
    const distance = first > 0 ? value : -1 - value;
    if (distance < (width === 1 ? 123 : 2 ** (8 * (width - 1)))) throw unusual;
    return value;
  }

  #expect(byte: number): void {
    if (this.#byte() !== byte) throw unusual;
  }

  #byte(): number {
    if (this.#at === this.#filled) this.#need(1);
    return this.#bytes[this.#at++] ?? 0;
  }

  /** Undumps until `count` more bytes can be read. */
  #need(count: number): void {
    const wanted = this.#at + count;
    if (wanted <= this.#filled) return;
    if (wanted > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(wanted * 2);
      this.#bytes.copy(larger, 0, 0, this.#filled);
      this.#bytes = larger;
    }
    // Some more than asked for: the next fields are wanted, too.
    const until = Math.min(this.#bytes.length, Math.max(wanted, this.#filled + 256));
    const source = this.#source;
    const output = this.#bytes;
    const last = source.length - 1;
    let from = this.#sourceAt;
    let to = this.#filled;
    while (to < until && from < last) {
      const byte = source[from] ?? 0;
      if (byte === backslash) {
        const letter = source[from + 1] ?? 0;
        if (letter === hexMark) {
          const high = hexValues[source[from + 2] ?? 0] ?? 255;
          const low = hexValues[source[from + 3] ?? 0] ?? 255;
          if (high > 15 || low > 15) throw unusual;
          output[to++] = high * 16 + low;
          from += 4;
        } else {
          const escaped = escapedBytes[letter] ?? 0;
          if (escaped === 0) throw unusual;
          output[to++] = escaped;
          from += 2;
        }
      } else {
        if (byte === quote || byte === 0 || byte > 0x7f) throw unusual;
        output[to++] = byte;
        from += 1;
      }
    }
    this.#sourceAt = from;
    this.#filled = to;
    if (wanted > to) throw unusual;
  }
}
