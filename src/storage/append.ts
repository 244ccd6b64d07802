import { constants } from "node:fs";
import { dirname } from "node:path";
import { fsyncDirectory, statIfPresent, writeFully, type FileSystem } from "./fileSystem";
import { endOfLastLine } from "./lines";
import type { StoreNames } from "./naming";
import { adoptOwnerOfNew } from "./ownership";

/**
 * Appends whole lines, given in pieces, to the data file, which it makes where it is missing. Runs under the application's
 * lock: first mends an unfinished last line, then writes, then makes the bytes and the file's name durable. A failure leaves
 * none of the lines, as far as the operating system lets it.
 */
export function appendLines(
  fileSystem: FileSystem,
  { dataFile, directory }: StoreNames,
  pieces: Iterable<Uint8Array>,
): void {
  const isNew = statIfPresent(fileSystem, dataFile) === null;
  const descriptor = fileSystem.open(dataFile, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o644);
  try {
    if (isNew) adoptOwnerOfNew(fileSystem, descriptor, fileSystem.stat(directory), dataFile);
    const { size } = fileSystem.fstat(descriptor);
    // Whoever made the file, or put it in the place of another, may have died, or failed, before its name was durable.
    fsyncDirectory(fileSystem, directory);
    // The same goes for the directory itself, as long as nothing was ever stored in it.
    if (size === 0) fsyncDirectory(fileSystem, dirname(directory));
    const end = endOfLastLine(fileSystem, descriptor, size);
    if (end < size) fileSystem.ftruncate(descriptor, end);
    try {
      for (const piece of pieces) writeFully(fileSystem, descriptor, piece);
      fileSystem.fsync(descriptor);
    } catch (error) {
      takeBack(fileSystem, descriptor, end);
      throw error;
    }
  } finally {
    fileSystem.close(descriptor);
  }
}

/** A line that could not be made durable must not surface after its writer was told that it was not added. */
function takeBack(fileSystem: FileSystem, descriptor: number, end: number): void {
  try {
    fileSystem.ftruncate(descriptor, end);
  } catch {
    // The write's own error is the one to report. What stays behind is at worst a task listed that was called not added,
    // or an unfinished line, which the next append mends.
  }
}
