import { appendLines } from "./append";
import { yieldToOthers } from "./clock";
import type { StorageEnvironment } from "./environment";
import { parseDeadTaskLine } from "./frames";
import type { Line } from "./lines";
import type { LongLockGuard } from "./longLock";
import type { StoreNames } from "./naming";
import { RecordIndex } from "./recordIndex";
import type { ShortLock } from "./shortLock";
import { openSnapshot, visitLines } from "./snapshot";

/** What `DeadTaskStore.restore` did, by id. */
export interface RestoreResult {
  readonly restored: readonly string[];
  /** Ids that stand in the store already: the tasks were never removed, are restored already, or have died anew since. */
  readonly present: readonly string[];
}

// Bytes that are written in one hold of the workers' lock, but for a single line that has more.
const bytesAtOnce = 256 << 10;
const newline = Buffer.from("\n");

/**
 * Appends removed lines again, byte for byte. `read` gives them, twice. Durable when it returns. Where it is interrupted, the
 * same call again adds the rest: what stands there already is known by its checksum. An id that has got another line
 * since is left as it is, for the newest line wins, and an old one must not stand for the task that died later. `onWritten` is told
 * from time to time which part of the ids has been gone through, from 0 to 1.
 */
export async function restoreLines(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
  read: () => Iterable<Line>,
  onWritten?: (fraction: number) => void,
): Promise<RestoreResult> {
  const kept = new Map<string, number[]>();
  for (const { id, checksum } of framesOf(read())) {
    const checksums = kept.get(id);
    if (checksums === undefined) kept.set(id, [checksum]);
    else checksums.push(checksum);
  }
  if (kept.size === 0) return { restored: [], present: [] };
  const first = await firstToRestore(environment, names, lock, guard, kept);
  const seen = new Map<string, number>();
  const write = async (pieces: Iterable<Uint8Array>): Promise<void> => {
    await yieldToOthers();
    guard.check();
    await lock.run(() => {
      appendLines(environment.fileSystem, names, pieces);
    });
    onWritten?.(seen.size / kept.size);
  };
  let batch: Uint8Array[] = [];
  let bytes = 0;
  for (const { id, line } of framesOf(read())) {
    const number = seen.get(id) ?? 0;
    seen.set(id, number + 1);
    if (number < (first.get(id) ?? 0)) continue;
    // Read while the lock is held, since it is too long to be held in memory; written on its own.
    if (line.rest !== null) {
      if (batch.length > 0) await write(batch);
      await write(piecesOf(line));
      batch = [];
      bytes = 0;
      continue;
    }
    batch.push(Buffer.from(line.bytes), newline);
    bytes += line.length + 1;
    if (bytes < bytesAtOnce) continue;
    await write(batch);
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) await write(batch);
  const ids = [...kept];
  return {
    restored: ids.filter(([id, { length }]) => (first.get(id) ?? 0) < length).map(([id]) => id),
    present: ids.filter(([id, { length }]) => (first.get(id) ?? 0) >= length).map(([id]) => id),
  };
}

/** By id: how many of its kept lines are not to be written. */
async function firstToRestore(
  { fileSystem }: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
  kept: ReadonlyMap<string, readonly number[]>,
): Promise<Map<string, number>> {
  const index = new RecordIndex({ only: new Set(kept.keys()) });
  const snapshot = await openSnapshot(fileSystem, lock, names.dataFile, "changing");
  if (snapshot !== null) {
    try {
      await visitLines(fileSystem, snapshot, 0, (line) => index.take(line), { onPause: guard.check });
    } finally {
      fileSystem.close(snapshot.descriptor);
    }
  }
  return new Map(
    [...index.records].map(([id, { checksum }]) => {
      const checksums = kept.get(id) ?? [];
      const last = checksums.lastIndexOf(checksum);
      return [id, last < 0 ? checksums.length : last + 1];
    }),
  );
}

/** The valid frames among kept lines. */
export function* framesOf(
  lines: Iterable<Line>,
): Generator<{ readonly id: string; readonly checksum: number; readonly line: Line }> {
  for (const line of lines) {
    const frame = parseDeadTaskLine(line.bytes, line.rest?.payloadChecksum);
    // What is kept was valid when it was taken; what is not any more would only be damage in the store.
    if (frame !== null) yield { id: frame.id, checksum: frame.checksum, line };
  }
}

function* piecesOf({ bytes, rest }: Line): Generator<Uint8Array> {
  yield bytes;
  yield* rest?.pieces() ?? [];
  yield newline;
}
