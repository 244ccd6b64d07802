import type { FileSystem } from "./fileSystem";

const newline = 0x0a;
const chunkBytes = 1 << 20;
const backwardChunkBytes = 1 << 16;

/** One complete line of a file. `bytes` is without the newline and is valid only until the next line is asked for. */
export interface Line {
  readonly offset: number;
  readonly bytes: Buffer;
}

/**
 * The complete lines of an open file between two offsets, in order. Reads in chunks of a megabyte, so memory follows the
 * longest line, not the file. Bytes after the last newline before `end` are not a line and are left out.
 */
export function* readLines(fileSystem: FileSystem, descriptor: number, start: number, end: number): Generator<Line> {
  let buffer = Buffer.allocUnsafe(chunkBytes);
  let bufferOffset = start;
  let filled = 0;
  let position = start;
  while (position < end) {
    if (filled === buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2);
      buffer.copy(larger, 0, 0, filled);
      buffer = larger;
    }
    const read = fileSystem.read(
      descriptor,
      buffer,
      filled,
      Math.min(buffer.length - filled, end - position),
      position,
    );
    if (read === 0) return;
    const searchFrom = filled;
    filled += read;
    position += read;
    let lineStart = 0;
    let lineEnd = indexOfNewline(buffer, searchFrom, filled);
    while (lineEnd >= 0) {
      yield { offset: bufferOffset + lineStart, bytes: buffer.subarray(lineStart, lineEnd) };
      lineStart = lineEnd + 1;
      lineEnd = indexOfNewline(buffer, lineStart, filled);
    }
    buffer.copyWithin(0, lineStart, filled);
    bufferOffset += lineStart;
    filled -= lineStart;
  }
}

function indexOfNewline(buffer: Buffer, from: number, to: number): number {
  const index = buffer.indexOf(newline, from);
  return index >= to ? -1 : index;
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
