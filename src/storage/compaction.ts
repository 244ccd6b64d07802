import { constants } from "node:fs";
import type { OperationOptions } from "./backend";
import type { StorageEnvironment } from "./environment";
import { openIfPresent, statIfPresent } from "./fileSystem";
import { parseDeadTaskLine } from "./frames";
import { endOfLastLine, readLines, type Line } from "./lines";
import type { LongLockGuard } from "./longLock";
import { stagingName, type StoreNames } from "./naming";
import { RecordIndex } from "./recordIndex";
import type { ShortLock } from "./shortLock";
import { openSnapshot, throwIfCancelled, visitLines, type Snapshot } from "./snapshot";
import { StagingFile } from "./stagingFile";
import type { KeptLines } from "./undoJournal";

// How often someone else's compaction may overtake ours before we do all of it under the lock, as Rage does.
const attemptsWithoutLock = 3;
const newline = Buffer.from("\n");

/** Which lines a removal takes: those of a set of ids, or of some ids certain lines. */
export interface RequestedLines {
  has(id: string, checksum: number): boolean;
}

/**
 * The lines of these ids for which the expected line stands, by its checksum: that line, and those that it superseded. What is
 * appended later is none of them. Null where the expected line stands for none of the ids.
 */
export async function linesOfExpected(
  { fileSystem }: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  expected: ReadonlyMap<string, number>,
  guard: LongLockGuard,
): Promise<RequestedLines | null> {
  const snapshot = await openSnapshot(fileSystem, lock, names.dataFile, "changing");
  if (snapshot === null) return null;
  const index = new RecordIndex();
  const checksums = new Map<string, Set<number>>();
  const take = (line: Line): void => {
    const frame = parseDeadTaskLine(line.bytes, line.rest?.payloadChecksum);
    if (frame === null || !expected.has(frame.id)) return;
    index.take(line);
    const seen = checksums.get(frame.id);
    if (seen === undefined) checksums.set(frame.id, new Set([frame.checksum]));
    else seen.add(frame.checksum);
  };
  try {
    await visitLines(fileSystem, snapshot, 0, take, { onPause: guard.check });
  } finally {
    fileSystem.close(snapshot.descriptor);
  }
  for (const [id, checksum] of expected) {
    if (index.records.get(id)?.checksum !== checksum) checksums.delete(id);
  }
  if (checksums.size === 0) return null;
  return { has: (id, checksum) => checksums.get(id)?.has(checksum) === true };
}

/**
 * Removes every line of the requested ids, and corrupt lines with them, and returns those ids that were there. The slow part,
 * copying the survivors, needs no lock since the file only grows; under the lock only what was appended meanwhile is copied
 * and the file replaced. Where no requested id is found, the data file stays as it is, byte for byte.
 *
 * `keep` begins anew to keep what is removed; it is kept durably before it leaves the data file.
 */
export async function removeFromDataFile(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  requested: RequestedLines,
  guard: LongLockGuard,
  { signal, keep, onProgress }: Pick<OperationOptions, "signal" | "keep" | "onProgress"> = {},
): Promise<Set<string>> {
  for (let attempt = 1; attempt <= attemptsWithoutLock; attempt++) {
    const snapshot = await openSnapshot(environment.fileSystem, lock, names.dataFile, "changing");
    if (snapshot === null) return new Set();
    try {
      const copy = new SurvivorCopy(environment, names, snapshot, requested, guard, keep);
      const { end } = snapshot;
      const onPause = (position: number): void => {
        guard.check();
        onProgress?.({ step: "remove", fraction: position / end });
      };
      const found = await removeBeside(environment, names, lock, snapshot, copy, { onPause, signal });
      if (found !== null) return found;
    } finally {
      environment.fileSystem.close(snapshot.descriptor);
    }
  }
  return await removeUnderLock(environment, names, lock, requested, guard, { signal, keep });
}

/** Null where someone else replaced the data file meanwhile. */
async function removeBeside(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  snapshot: Snapshot,
  copy: SurvivorCopy,
  options: { readonly onPause: (position: number) => void; readonly signal: AbortSignal | undefined },
): Promise<Set<string> | null> {
  const { fileSystem } = environment;
  try {
    await visitLines(
      fileSystem,
      snapshot,
      0,
      (line) => {
        copy.take(line);
      },
      options,
    );
    if (copy.found.size === 0) return copy.found;
    // All that takes long is durable before the lock is asked for.
    copy.sync();
    throwIfCancelled(options.signal);
    return await lock.run(() => {
      throwIfCancelled(options.signal);
      if (statIfPresent(fileSystem, names.dataFile)?.identity !== snapshot.stat.identity) return null;
      const { size } = fileSystem.fstat(snapshot.descriptor);
      const end = endOfLastLine(fileSystem, snapshot.descriptor, size);
      copy.finish(readLines(fileSystem, snapshot.descriptor, snapshot.end, end));
      return copy.found;
    });
  } finally {
    copy.discard();
  }
}

/** All of it under the lock, for a store that others compact faster than we can copy it. */
async function removeUnderLock(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  requested: RequestedLines,
  guard: LongLockGuard,
  { signal, keep }: { readonly signal: AbortSignal | undefined; readonly keep: OperationOptions["keep"] },
): Promise<Set<string>> {
  const { fileSystem } = environment;
  return await lock.run(() => {
    throwIfCancelled(signal);
    const descriptor = openIfPresent(fileSystem, names.dataFile, constants.O_RDONLY);
    if (descriptor === null) return new Set();
    try {
      const stat = fileSystem.fstat(descriptor);
      const current = { descriptor, stat, end: endOfLastLine(fileSystem, descriptor, stat.size) };
      const copy = new SurvivorCopy(environment, names, current, requested, guard, keep);
      try {
        copy.finish(readLines(fileSystem, descriptor, 0, current.end));
        return copy.found;
      } finally {
        copy.discard();
      }
    } finally {
      fileSystem.close(descriptor);
    }
  });
}

/** The staging file of a compaction, the requested ids seen so far, and what is kept of their lines. */
class SurvivorCopy {
  readonly found = new Set<string>();
  readonly #staging: StagingFile;
  readonly #requested: RequestedLines;
  readonly #guard: LongLockGuard;
  readonly #dataFile: string;
  readonly #kept: KeptLines | null;

  constructor(
    { fileSystem, processId, random }: StorageEnvironment,
    names: StoreNames,
    { stat }: Snapshot,
    requested: RequestedLines,
    guard: LongLockGuard,
    keep: OperationOptions["keep"],
  ) {
    guard.check();
    this.#requested = requested;
    this.#guard = guard;
    this.#dataFile = names.dataFile;
    const name = stagingName(names.prefix, "compaction", processId, random());
    this.#staging = new StagingFile(fileSystem, names.directory, name, stat, "replacement");
    try {
      this.#kept = keep?.() ?? null;
    } catch (error) {
      this.#staging.discard();
      throw error;
    }
  }

  take(line: Line): void {
    const frame = parseDeadTaskLine(line.bytes, line.rest?.payloadChecksum);
    if (frame === null) return;
    if (!this.#requested.has(frame.id, frame.checksum)) {
      copyLine(line, this.#staging);
      return;
    }
    this.found.add(frame.id);
    if (this.#kept !== null) copyLine(line, this.#kept);
  }

  /** What was taken so far is durable when it returns. */
  sync(): void {
    this.#staging.sync();
    this.#kept?.keep();
  }

  /** Copies the last lines and, where anything was found, puts the copy in the data file's place, durably. */
  finish(lines: Iterable<Line>): void {
    for (const line of lines) this.take(line);
    if (this.found.size === 0) return;
    this.sync();
    this.#guard.check();
    this.#staging.publish(this.#dataFile);
  }

  /** Whatever has not taken its place goes; what is kept, too, where it surely has not left the data file. */
  discard(): void {
    try {
      if (this.#kept !== null && this.#staging.isStaged()) this.#kept.discard();
    } catch {
      // What the operation came to is what counts. To keep what is still in the store does no harm: restoring it adds nothing.
    }
    this.#staging.discard();
  }
}

function copyLine({ bytes, rest }: Line, target: { append(bytes: Uint8Array): void }): void {
  target.append(bytes);
  for (const piece of rest?.pieces() ?? []) target.append(piece);
  target.append(newline);
}
