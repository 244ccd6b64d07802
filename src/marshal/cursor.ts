import { MarshalError, type MarshalErrorCode } from "./errors";

const NO_BYTES = Buffer.alloc(0);

/** A place in a stream, and the units that everything in it is made of. */
export class Cursor {
  at = 0;

  constructor(readonly bytes: Buffer) {}

  byte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined) return this.fail("truncated", "the stream ends in the middle of a value");
    this.at++;
    return byte;
  }

  /** The next byte, which is not passed; undefined at the end. */
  peek(): number | undefined {
    return this.bytes[this.at];
  }

  /** Bytes after their number. A view of the stream. */
  byteString(): Buffer {
    return this.take(this.length(1));
  }

  take(length: number): Buffer {
    if (length === 0) return NO_BYTES;
    const bytes = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return bytes;
  }

  /** A count of things that take at least `size` bytes each, so that no claim outgrows the stream. */
  length(size: number): number {
    const start = this.at;
    const length = this.long();
    const rest = this.bytes.length - this.at;
    if (length < 0) this.fail("invalid", "a length below zero", start);
    if (length * size > rest) this.fail("truncated", `a length of ${length}, and only ${rest} bytes follow`, start);
    return length;
  }

  /** A number of up to four bytes (`w_long`). */
  long(): number {
    const start = this.at;
    const first = (this.byte() << 24) >> 24;
    if (first === 0) return 0;
    if (first === 5 || first === -5) this.refuse("a zero in another form", start);
    if (first > 5) return first - 5;
    if (first < -5) return first + 5;
    const size = Math.abs(first);
    let value = 0;
    for (let index = 0; index < size; index++) value += this.byte() * 256 ** index;
    // What a shorter form holds: one byte less of digits, or no digits at all.
    const shorter = size === 1 ? 122 : 256 ** (size - 1) - 1;
    if (first < 0) value -= 256 ** size;
    const isMinimal = first > 0 ? value > shorter : value < -shorter - 1;
    if (!isMinimal) this.refuse("a number in more bytes than it needs", start);
    return value;
  }

  /** For what Ruby would load but never writes, and what the tree could not give back as it was. */
  refuse(what: string, offset = this.at - 1): never {
    return this.fail("invalid", `${what}, which Ruby never writes`, offset);
  }

  fail(code: MarshalErrorCode, message: string, offset = this.at): never {
    throw new MarshalError(code, message, offset);
  }
}
