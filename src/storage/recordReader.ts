import { ESCAPED, HEX_VALUES, PLAIN, dumpString } from "../marshal/dump";
import { longestText, type DeadTaskRecord } from "./record";

/** What a list shows of a record. Text that is not UTF-8 has U+FFFD in place of the bytes that are not. */
export type RecordFront = Pick<
  DeadTaskRecord,
  "taskClass" | "attempts" | "enqueuedAt" | "failedAt" | "exceptionClass" | "exceptionMessage"
>;

const quote = 0x22;
const backslash = 0x5c;
const hexMark = 0x78;

// Marshal's type bytes, as marshal.c names them.
const typeNil = 0x30;
const typeArray = 0x5b;
const typeBignum = 0x6c;
const typeFixnum = 0x69;
const typeSymbol = 0x3a;
const typeSymbolLink = 0x3b;
const trueByte = 0x54;
const falseByte = 0x46;

/** A piece of a Marshal stream as String#dump writes it, without the quotes. */
function asDumped(stream: string): Buffer {
  return Buffer.from(dumpString(Buffer.from(stream, "latin1"))).subarray(1, -1);
}

function symbolAsDumped(name: string): Buffer {
  return asDumped(`:${String.fromCharCode(name.length + 5)}${name}`);
}

/** A Hash of the nine keys that a record of Rage has. */
const opening = asDumped("\x04\b{\x0e");
const keys = {
  id: symbolAsDumped("id"),
  taskClass: symbolAsDumped("task_class"),
  attempts: symbolAsDumped("attempts"),
  enqueuedAt: symbolAsDumped("enqueued_at"),
  failedAt: symbolAsDumped("failed_at"),
  exceptionClass: symbolAsDumped("exception_class"),
  exceptionMessage: symbolAsDumped("exception_message"),
  backtrace: symbolAsDumped("backtrace"),
  context: symbolAsDumped("context"),
};
/** A String with instance variables, and one without. */
const encodedString = asDumped('I"');
const binaryString = asDumped('"');
/** One instance variable by a link to the second symbol, which in a record of Rage is `E`: how nearly all its Strings end. */
const linkedEncoding = asDumped("\x06;\x06");

const longestName = 200;
const mostNames = 16;

/** Thrown inside, never out: the record is not of the shape that Rage writes. */
const unusual = new Error("unusual record");

/**
 * Reads what a list shows of a record straight from its dumped text: it builds no tree, and undumps nothing but the texts that
 * it returns. It knows only the shape that Rage writes and says null to anything else; the full decoder, `decodeRecord`, then
 * decides. One reader serves any number of records, one after the other.
 */
export class RecordReader {
  #source: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Where the closing quote stands. */
  #end = 0;
  #symbols = 0;
  #knowsEncoding = false;
  #scratch = Buffer.allocUnsafe(1024);
  /** Names met before, as they stand in the dumped text from the String's type on to its last byte. */
  readonly #names: { readonly dumped: Buffer; readonly text: string }[] = [];

  /**
   * `dumpedAt`: where the dumped record begins in the line, to whose end it goes. Reads no further than the exception's message: backtrace and context are nine tenths of a record. So it vouches for the
   * front alone; what follows may still turn out to be unreadable.
   */
  front(line: Buffer, dumpedAt = 0): RecordFront | null {
    if (!this.#begin(line, dumpedAt)) return null;
    try {
      return this.#front();
    } catch (error) {
      if (error === unusual) return null;
      throw error;
    }
  }

  /** The same, and vouches for all of the record: `decodeRecord` would read it. */
  whole(line: Buffer, dumpedAt = 0): RecordFront | null {
    if (!this.#begin(line, dumpedAt)) return null;
    try {
      const front = this.#front();
      this.#rest();
      return front;
    } catch (error) {
      if (error === unusual) return null;
      throw error;
    }
  }

  #begin(line: Buffer, dumpedAt: number): boolean {
    this.#source = line;
    this.#at = dumpedAt + 1;
    this.#end = line.length - 1;
    this.#symbols = 0;
    this.#knowsEncoding = false;
    return this.#end > dumpedAt && line[dumpedAt] === quote && line[this.#end] === quote;
  }

  #front(): RecordFront {
    this.#expect(opening);
    this.#key(keys.id);
    this.#skipString();
    this.#key(keys.taskClass);
    const taskClass = this.#name();
    this.#key(keys.attempts);
    const attempts = this.#integer();
    this.#key(keys.enqueuedAt);
    const enqueuedAt = this.#integer();
    this.#key(keys.failedAt);
    const failedAt = this.#integer();
    this.#key(keys.exceptionClass);
    const exceptionClass = this.#nameOrNil();
    this.#key(keys.exceptionMessage);
    const exceptionMessage = this.#string();
    return { taskClass, attempts, enqueuedAt, failedAt, exceptionClass, exceptionMessage };
  }

  #rest(): void {
    this.#key(keys.backtrace);
    if (this.#byte() !== typeArray) throw unusual;
    for (let lines = this.#length(); lines > 0; lines--) this.#skipString();
    this.#key(keys.context);
    this.#expect(binaryString);
    this.#skip(this.#length());
    if (this.#at !== this.#end) throw unusual;
  }

  /** Passes over bytes that must stand here as String#dump writes them. */
  #expect(dumped: Buffer): void {
    if (!this.#stands(dumped)) throw unusual;
    this.#at += dumped.length;
  }

  #stands(dumped: Buffer): boolean {
    const source = this.#source;
    const at = this.#at;
    for (let index = 0; index < dumped.length; index++) {
      if (source[at + index] !== dumped[index]) return false;
    }
    return true;
  }

  #key(symbol: Buffer): void {
    this.#expect(symbol);
    this.#symbols += 1;
  }

  #nameOrNil(): string | null {
    if (this.#source[this.#at] !== typeNil) return this.#name();
    this.#at += 1;
    return null;
  }

  /** A String of which a store has few different ones: each is made once, so that a million tasks share it. */
  #name(): string {
    for (const { dumped, text } of this.#names) {
      if (!this.#stands(dumped)) continue;
      this.#at += dumped.length;
      this.#encoding();
      return text;
    }
    const start = this.#at;
    this.#expect(encodedString);
    this.#skip(this.#length());
    const dumped = Buffer.from(this.#source.subarray(start, this.#at));
    this.#at = start;
    const text = this.#string();
    if (dumped.length <= longestName) {
      if (this.#names.length >= mostNames) this.#names.shift();
      this.#names.push({ dumped, text });
    }
    return text;
  }

  /** A String with its encoding and nothing else. */
  #string(): string {
    this.#expect(encodedString);
    const length = this.#length();
    if (length > longestText) throw unusual;
    const start = this.#at;
    this.#skip(length);
    const end = this.#at;
    this.#encoding();
    // As many bytes as characters of the dumped text: none of them is escaped, and all are ASCII.
    if (end - start === length) return this.#source.toString("latin1", start, end);
    return this.#undumped(start, length);
  }

  #undumped(start: number, length: number): string {
    if (length > this.#scratch.length) this.#scratch = Buffer.allocUnsafe(length * 2);
    const after = this.#at;
    this.#at = start;
    for (let index = 0; index < length; index++) this.#scratch[index] = this.#byte();
    this.#at = after;
    return this.#scratch.toString("utf8", 0, length);
  }

  #skipString(): void {
    this.#expect(encodedString);
    this.#skip(this.#length());
    this.#encoding();
  }

  /** Passes over bytes of the stream, every escape checked. */
  #skip(count: number): void {
    const source = this.#source;
    let at = this.#at;
    for (let left = count; left > 0; left--) {
      const byte = source[at] ?? 0;
      if (PLAIN[byte] === 1) {
        at += 1;
        continue;
      }
      // The rest is what `#escaped` says. Nine tenths of a record are passed over here, and a call for each byte would show.
      if (byte !== backslash) throw unusual;
      const letter = source[at + 1] ?? 0;
      if (letter === hexMark) {
        if (((HEX_VALUES[source[at + 2] ?? 0] ?? 255) | (HEX_VALUES[source[at + 3] ?? 0] ?? 255)) > 15) throw unusual;
        at += 4;
      } else {
        if ((ESCAPED[letter] ?? 0) === 0) throw unusual;
        at += 2;
      }
    }
    this.#at = at;
    if (at > this.#end) throw unusual;
  }

  #encoding(): void {
    if (this.#symbols > 1 && this.#stands(linkedEncoding)) {
      this.#at += linkedEncoding.length;
    } else {
      this.#encodingName();
    }
    const encoding = this.#byte();
    if (encoding !== trueByte && encoding !== falseByte) throw unusual;
  }

  #encodingName(): void {
    if (this.#long() !== 1) throw unusual;
    const type = this.#byte();
    if (type === typeSymbol) {
      // Spelt out a second time it would be a stream that Ruby never writes.
      if (this.#knowsEncoding || this.#length() !== 1 || this.#byte() !== 0x45) throw unusual;
      this.#knowsEncoding = true;
      this.#symbols += 1;
    } else if (type !== typeSymbolLink || this.#length() >= this.#symbols) {
      throw unusual;
    }
  }

  #integer(): number {
    const type = this.#byte();
    if (type === typeFixnum) return this.#long();
    if (type !== typeBignum || this.#byte() !== 0x2b) throw unusual;
    const shorts = this.#long();
    if (shorts < 1 || shorts > 3) throw unusual;
    let value = 0;
    // Multiplied, not shifted: the value has more than 32 bits.
    for (let index = 0, factor = 1; index < shorts * 2; index++, factor *= 256) value += this.#byte() * factor;
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
    if (first > 5) return first - 5;
    if (first < -5) return first + 5;
    const width = Math.abs(first);
    // 5 would be a zero in another form.
    if (width === 5) throw unusual;
    let value = first > 0 ? 0 : -1;
    for (let index = 0; index < width; index++) {
      value = (value & ~(0xff << (8 * index))) | (this.#byte() << (8 * index));
    }
    // Ruby writes no number in more bytes than it needs; the decoder refuses one that is.
    const distance = first > 0 ? value : -1 - value;
    if (distance < (width === 1 ? 123 : 2 ** (8 * (width - 1)))) throw unusual;
    return value;
  }

  /** One byte of the stream. */
  #byte(): number {
    const byte = this.#source[this.#at] ?? 0;
    if (byte === backslash) return this.#escaped();
    if (PLAIN[byte] !== 1) throw unusual;
    this.#at += 1;
    return byte;
  }

  /** The byte that the escape at this place stands for. */
  #escaped(): number {
    const source = this.#source;
    const at = this.#at;
    const letter = source[at + 1] ?? 0;
    if (letter === hexMark) {
      const high = HEX_VALUES[source[at + 2] ?? 0] ?? 255;
      const low = HEX_VALUES[source[at + 3] ?? 0] ?? 255;
      if (high > 15 || low > 15) throw unusual;
      this.#at = at + 4;
      return high * 16 + low;
    }
    const byte = ESCAPED[letter] ?? 0;
    if (byte === 0) throw unusual;
    this.#at = at + 2;
    return byte;
  }
}
