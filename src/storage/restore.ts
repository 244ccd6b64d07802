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

/** Which removed lines are to be added again: of an id all but the `first` ones, since that is how many need not be. */
export interface RestorePlan {
  /** Checksums of an id's lines, in their order. */
  readonly kept: ReadonlyMap<string, readonly number[]>;
  readonly first: ReadonlyMap<string, number>;
}

/**
 * Finds out which of these lines are to be added: not what stands there already, which is known by its checksum, and nothing of an
 * id that has got another line since, for the newest line wins, and an old one must not stand for the task that died later.
 */
export async function planRestore(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
  lines: Iterable<Line>,
): Promise<RestorePlan> {
  const kept = new Map<string, number[]>();
  for (const { id, checksum } of framesOf(lines)) {
    const checksums = kept.get(id);
    if (checksums === undefined) kept.set(id, [checksum]);
    else checksums.push(checksum);
  }
  if (kept.size === 0) return { kept, first: new Map() };
  return { kept, first: await firstToRestore(environment, names, lock, guard, kept) };
}

/** The lines of a plan that are to be added, among all of them. */
export function* plannedLines({ first }: RestorePlan, lines: Iterable<Line>): ReturnType<typeof framesOf> {
  const seen = new Map<string, number>();
  for (const frame of framesOf(lines)) {
    const number = seen.get(frame.id) ?? 0;
    seen.set(frame.id, number + 1);
    if (number >= (first.get(frame.id) ?? 0)) yield frame;
  }
}

/**
 * Appends removed lines again, byte for byte, those of the plan. `lines`: all that it was made of. Durable when it returns. Where it is
 * interrupted, the same with a new plan adds the rest. `onWritten` is told from time to time how many lines have been written.
 */
export async function restoreLines(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
  plan: RestorePlan,
  lines: Iterable<Line>,
  onWritten?: (count: number) => void,
): Promise<RestoreResult> {
  let count = 0;
  const write = async (pieces: Iterable<Uint8Array>): Promise<void> => {
    await yieldToOthers();
    guard.check();
    await lock.run(() => {
      appendLines(environment.fileSystem, names, pieces);
    });
    onWritten?.(count);
  };
  let batch: Uint8Array[] = [];
  let bytes = 0;
  for (const { line } of plannedLines(plan, lines)) {
    count++;
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
  const ids = [...plan.kept];
  const isThere = ([id, { length }]: readonly [string, readonly number[]]): boolean =>
    (plan.first.get(id) ?? 0) >= length;
  return {
    restored: ids.filter((one) => !isThere(one)).map(([id]) => id),
    present: ids.filter(isThere).map(([id]) => id),
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
