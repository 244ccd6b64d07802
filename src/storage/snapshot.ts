import { constants } from "node:fs";
import { yieldToOthers } from "./clock";
import { StorageError } from "./errors";
import { openIfPresent, type FileStat, type FileSystem } from "./fileSystem";
import { endOfLastLine, readLines, type Line } from "./lines";
import type { ShortLock } from "./shortLock";

/** An open data file and the end of its last complete line at the time of opening. */
export interface Snapshot {
  readonly descriptor: number;
  /** Everything before this offset stays as it is, in this descriptor, for as long as it is open. */
  readonly end: number;
  readonly stat: FileStat;
}

/**
 * Opens the data file under the lock, for the time that finding its last newline takes. Null where there is no file. The
 * caller closes the descriptor. For `changing` the lock is a must: where it cannot be had, nothing has been begun yet.
 */
export async function openSnapshot(
  fileSystem: FileSystem,
  lock: ShortLock,
  dataFile: string,
  purpose: "reading" | "changing",
): Promise<Snapshot | null> {
  const open = (): Snapshot | null => {
    const descriptor = openIfPresent(fileSystem, dataFile, constants.O_RDONLY);
    if (descriptor === null) return null;
    try {
      const stat = fileSystem.fstat(descriptor);
      return { descriptor, end: endOfLastLine(fileSystem, descriptor, stat.size), stat };
    } catch (error) {
      fileSystem.close(descriptor);
      throw error;
    }
  };
  return await (purpose === "reading" ? lock.runForReading(open) : lock.run(open));
}

// How much is read before others on this thread get their turn.
const bytesBetweenPauses = 4 << 20;

/** Calls `visit` for each complete line from `start`; lets others run in between and stops at an abort. */
export async function visitLines(
  fileSystem: FileSystem,
  snapshot: Snapshot,
  start: number,
  visit: (line: Line) => void,
  options: { readonly signal?: AbortSignal | undefined; readonly onPause?: (position: number) => void } = {},
): Promise<void> {
  let nextPause = start + bytesBetweenPauses;
  for (const line of readLines(fileSystem, snapshot.descriptor, start, snapshot.end)) {
    visit(line);
    if (line.offset >= nextPause) {
      nextPause = line.offset + bytesBetweenPauses;
      options.onPause?.(line.offset);
      await yieldToOthers();
      throwIfCancelled(options.signal);
    }
  }
}

export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new StorageError("cancelled", "Cancelled. Nothing was changed.");
}
