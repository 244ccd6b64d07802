import { constants } from "node:fs";
import { basename } from "node:path";
import { StorageError, type FileSystem } from "../storage";
import { asStorageError } from "../storage/errors";
import { checksumOf } from "../storage/frames";
import { longestLine, readLines, type Line } from "../storage/lines";
import type { IndexedRecord } from "../storage/recordIndex";
import type { RawLocation, RawRecord } from "./protocol";

type Position = Pick<IndexedRecord, "offset" | "length" | "checksum">;

const newline = 0x0a;
const chunkBytes = 1 << 20;

/** Where a record's line stands, by line number too. Throws where the file was replaced since the index was read. */
export function rawLocation(fileSystem: FileSystem, file: string, position: Position): RawLocation {
  return withRecord(fileSystem, file, position, (location) => location);
}

/** The same with the line itself, as it stands in the file. */
export function rawRecord(fileSystem: FileSystem, file: string, position: Position): RawRecord {
  return withRecord(fileSystem, file, position, (location, line) => ({ ...location, text: textOf(line) }));
}

function withRecord<Result>(
  fileSystem: FileSystem,
  file: string,
  { offset, length, checksum }: Position,
  use: (location: RawLocation, line: Line) => Result,
): Result {
  let descriptor: number | null = null;
  try {
    descriptor = fileSystem.open(file, constants.O_RDONLY);
    const [line] = readLines(fileSystem, descriptor, offset, offset + length);
    if (line === undefined || checksumOf(line.bytes, line.rest?.payloadChecksum) !== checksum) {
      throw new StorageError("io", `${basename(file)} was just rewritten by another process; try again.`);
    }
    const lineNumber = 1 + countNewlines(fileSystem, descriptor, offset);
    return use({ file, fileBytes: fileSystem.fstat(descriptor).size, lineNumber, offset, length }, line);
  } catch (error) {
    throw asStorageError(error, `read ${file}`);
  } finally {
    if (descriptor !== null) fileSystem.close(descriptor);
  }
}

// Of a line that is too long to be read, as much as an editor still opens with ease.
const shownOfOverlong = 1 << 20;

function textOf({ bytes, length, rest }: Line): string {
  if (rest === null) return bytes.toString("latin1");
  const left = length - shownOfOverlong;
  return `${bytes.toString("latin1", 0, shownOfOverlong)}… (${left} more bytes; larger than ${longestLine >> 20} MiB)`;
}

function countNewlines(fileSystem: FileSystem, descriptor: number, end: number): number {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let count = 0;
  for (let position = 0; position < end;) {
    const read = fileSystem.read(descriptor, buffer, 0, Math.min(chunkBytes, end - position), position);
    if (read === 0) break;
    const chunk = buffer.subarray(0, read);
    for (let index = chunk.indexOf(newline); index >= 0; index = chunk.indexOf(newline, index + 1)) count += 1;
    position += read;
  }
  return count;
}
