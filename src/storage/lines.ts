import { crc32 } from "node:zlib";
import type { FileSystem } from "./fileSystem";

const newline = 0x0a;
const chunkBytes = 1 << 20;
const backwardChunkBytes = 1 << 16;

/** Bytes. A line of as many or more is never held whole. */
export const longestLine = 32 << 20;
/** What stands before the payload that a line's checksum is of: eight digits and a colon. */
const checksumBytes = 9;

/** One complete line of a file, valid only until the next one is asked for. */
export interface Line {
  readonly offset: number;
  /** Bytes without the newline. */
  readonly length: number;
  /** The line without its newline; of an overlong one the first `longestLine` bytes. */
  readonly bytes: Buffer;
  /** What `bytes` lack; null where they are the whole line. */
  readonly rest: LineRest | null;
}

/** The rest of an overlong line, which stays in the file. */
export interface LineRest {
  /** CRC-32 of the whole line after its own checksum and colon. */
  readonly payloadChecksum: number;
  /** Reads the rest in pieces, each valid until the next one is asked for. */
  pieces(): Iterable<Buffer>;
}

/**
 * The complete lines of an open file between two offsets, in order. Reads in chunks of a megabyte, so memory follows the
 * longest line up to `longestLine`, not the file. Bytes after the last newline before `end` are not a line and are left out.
 */
export function* readLines(fileSystem: FileSystem, descriptor: number, start: number, end: number): Generator<Line> {
  let buffer = Buffer.allocUnsafe(chunkBytes);
  let bufferOffset = start;
  let filled = 0;
  let position = start;
  while (position < end) {
    if (filled === longestLine) {
      const line = overlongLine(fileSystem, descriptor, bufferOffset, buffer, end);
      if (line === null) return;
      yield line;
      buffer = Buffer.allocUnsafe(chunkBytes);
      filled = 0;
      position = bufferOffset = line.offset + line.length + 1;
      continue;
    }
    if (filled === buffer.length) {
      // In few steps: every buffer that is left behind stays for a while.
      const larger = Buffer.allocUnsafe(Math.min(buffer.length * 8, longestLine));
      buffer.copy(larger, 0, 0, filled);
      buffer = larger;
    }
    const wanted = Math.min(chunkBytes, buffer.length - filled, end - position);
    const read = fileSystem.read(descriptor, buffer, filled, wanted, position);
    if (read === 0) return;
    const searchFrom = filled;
    filled += read;
    position += read;
    const content = buffer.subarray(0, filled);
    let lineStart = 0;
    let lineEnd = content.indexOf(newline, searchFrom);
    while (lineEnd >= 0) {
      const bytes = content.subarray(lineStart, lineEnd);
      yield { offset: bufferOffset + lineStart, length: bytes.length, bytes, rest: null };
      lineStart = lineEnd + 1;
      lineEnd = content.indexOf(newline, lineStart);
    }
    buffer.copyWithin(0, lineStart, filled);
    bufferOffset += lineStart;
    filled -= lineStart;
  }
}

/** The line that begins with `front`, read to its end without keeping it; null where it does not end before `end`. */
function overlongLine(
  fileSystem: FileSystem,
  descriptor: number,
  offset: number,
  front: Buffer,
  end: number,
): Line | null {
  let payloadChecksum = crc32(front.subarray(checksumBytes));
  let length = front.length;
  for (const chunk of readChunks(fileSystem, descriptor, offset + length, end)) {
    const index = chunk.indexOf(newline);
    const part = index < 0 ? chunk : chunk.subarray(0, index);
    payloadChecksum = crc32(part, payloadChecksum);
    length += part.length;
    if (index < 0) continue;
    const lineEnd = offset + length;
    const pieces = (): Iterable<Buffer> => readChunks(fileSystem, descriptor, offset + front.length, lineEnd);
    return { offset, length, bytes: front, rest: { payloadChecksum, pieces } };
  }
  return null;
}

/** Every byte between two offsets, in order, in one buffer that is filled anew for each chunk. */
function* readChunks(fileSystem: FileSystem, descriptor: number, start: number, end: number): Generator<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (let position = start; position < end;) {
    const read = fileSystem.read(descriptor, buffer, 0, Math.min(chunkBytes, end - position), position);
    if (read === 0) return;
    position += read;
    yield buffer.subarray(0, read);
  }
}

/** The offset right after the last newline among the first `size` bytes; 0 where there is none. */
export function endOfLastLine(fileSystem: FileSystem, descriptor: number, size: number): number {
  const buffer = Buffer.allocUnsafe(Math.min(backwardChunkBytes, size));
  let end = size;
  while (end > 0) {
    const start = Math.max(0, end - buffer.length);
    const read = readFully(fileSystem, descriptor, buffer, end - start, start);
    const index = buffer.subarray(0, read).lastIndexOf(newline);
    if (index >= 0) return start + index + 1;
    end = start;
  }
  return 0;
}

/** Fills `buffer` with `length` bytes from `position`; returns fewer only at the end of the file. */
export function readFully(
  fileSystem: FileSystem,
  descriptor: number,
  buffer: Buffer,
  length: number,
  position: number,
): number {
  let total = 0;
  while (total < length) {
    const read = fileSystem.read(descriptor, buffer, total, length - total, position + total);
    if (read === 0) break;
    total += read;
  }
  return total;
}

/** A range of a file as bytes; shorter only where the file ends. */
export function readRange(fileSystem: FileSystem, descriptor: number, offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readFully(fileSystem, descriptor, buffer, length, offset));
}
