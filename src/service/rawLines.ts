import { constants } from "node:fs";
import { basename } from "node:path";
import { StorageError, type FileSystem } from "../storage";
import { asStorageError } from "../storage/errors";
import { checksumOf } from "../storage/frames";
import { longestLine, readLines, type Line } from "../storage/lines";
import type { IndexedRecord } from "../storage/recordIndex";

/** A record's line as it stands in the file, without its newline. Throws where the file was replaced since the index was read. */
export function rawRecord(
  fileSystem: FileSystem,
  file: string,
  { offset, length, checksum }: Pick<IndexedRecord, "offset" | "length" | "checksum">,
): string {
  let descriptor: number | null = null;
  try {
    descriptor = fileSystem.open(file, constants.O_RDONLY);
    const [line] = readLines(fileSystem, descriptor, offset, offset + length);
    if (line === undefined || checksumOf(line.bytes, line.rest?.payloadChecksum) !== checksum) {
      throw new StorageError("io", `${basename(file)} was just rewritten by another process; try again.`);
    }
    return textOf(line);
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
