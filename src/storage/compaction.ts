import { constants } from "node:fs";
import type { StorageEnvironment } from "./environment";
import { statIfPresent } from "./fileSystem";
import { parseDeadTaskLine } from "./frames";
import { endOfLastLine, readLines, type Line } from "./lines";
import type { LongLockGuard } from "./longLock";
import { stagingName, type StoreNames } from "./naming";
import type { ShortLock } from "./shortLock";
import { openSnapshot, throwIfCancelled, visitLines, type Snapshot } from "./snapshot";
import { StagingFile } from "./stagingFile";

// How often someone else's compaction may overtake ours before we do all of it under the lock, as Rage does.
const attemptsWithoutLock = 3;
const newline = Buffer.from("\n");

/**
 * Removes every line of the requested ids, and corrupt lines with them, and returns those ids that were there. The slow part,
 * copying the survivors, needs no lock since the file only grows; under the lock only what was appended meanwhile is copied
 * and the file replaced. Where no requested id is found, the data file stays as it is, byte for byte.
 */
export async function removeFromDataFile(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  ids: ReadonlySet<string>,
  guard: LongLockGuard,
  signal?: AbortSignal,
): Promise<Set<string>> {
  for (let attempt = 1; attempt <= attemptsWithoutLock; attempt++) {
    const snapshot = await openSnapshot(environment.fileSystem, lock, names.dataFile, "changing");
    if (snapshot === null) return new Set();
    try {
      const found = await removeBeside(environment, names, lock, ids, snapshot, guard, signal);
      if (found !== null) return found;
    } finally {
      environment.fileSystem.close(snapshot.descriptor);
    }
  }
  return await removeUnderLock(environment, names, lock, ids, guard);
}

/** Null where someone else replaced the data file meanwhile. */
async function removeBeside(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  ids: ReadonlySet<string>,
  snapshot: Snapshot,
  guard: LongLockGuard,
  signal: AbortSignal | undefined,
): Promise<Set<string> | null> {
  const { fileSystem } = environment;
  const copy = new SurvivorCopy(environment, names, snapshot, ids, guard);
  try {
    await visitLines(
      fileSystem,
      snapshot,
      0,
      (line) => {
        copy.take(line);
      },
      { signal, onPause: guard.check },
    );
    if (copy.found.size === 0) return copy.found;
    copy.staging.sync();
    throwIfCancelled(signal);
    return await lock.run(() => {
      if (statIfPresent(fileSystem, names.dataFile)?.identity !== snapshot.stat.identity) return null;
      const { size } = fileSystem.fstat(snapshot.descriptor);
      const end = endOfLastLine(fileSystem, snapshot.descriptor, size);
      copy.finish(readLines(fileSystem, snapshot.descriptor, snapshot.end, end));
      return copy.found;
    });
  } finally {
    copy.staging.discard();
  }
}

/** All of it under the lock, for a store that others compact faster than we can copy it. */
async function removeUnderLock(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  ids: ReadonlySet<string>,
  guard: LongLockGuard,
): Promise<Set<string>> {
  const { fileSystem } = environment;
  return await lock.run(() => {
    if (statIfPresent(fileSystem, names.dataFile) === null) return new Set();
    const descriptor = fileSystem.open(names.dataFile, constants.O_RDONLY);
    try {
      const stat = fileSystem.fstat(descriptor);
      const current = { descriptor, stat, end: endOfLastLine(fileSystem, descriptor, stat.size) };
      const copy = new SurvivorCopy(environment, names, current, ids, guard);
      try {
        copy.finish(readLines(fileSystem, descriptor, 0, current.end));
        return copy.found;
      } finally {
        copy.staging.discard();
      }
    } finally {
      fileSystem.close(descriptor);
    }
  });
}

/** The staging file of a compaction and the requested ids seen so far. */
class SurvivorCopy {
  readonly found = new Set<string>();
  readonly staging: StagingFile;
  readonly #ids: ReadonlySet<string>;
  readonly #guard: LongLockGuard;
  readonly #dataFile: string;

  constructor(
    { fileSystem, processId, random }: StorageEnvironment,
    names: StoreNames,
    { stat }: Snapshot,
    ids: ReadonlySet<string>,
    guard: LongLockGuard,
  ) {
    guard.check();
    const name = stagingName(names.prefix, "compaction", processId, random());
    this.staging = new StagingFile(fileSystem, names.directory, name, stat, "replacement");
    this.#ids = ids;
    this.#guard = guard;
    this.#dataFile = names.dataFile;
  }

  take({ bytes, rest }: Line): void {
    const frame = parseDeadTaskLine(bytes, rest?.payloadChecksum);
    if (frame === null) return;
    if (this.#ids.has(frame.id)) {
      this.found.add(frame.id);
      return;
    }
    this.staging.append(bytes);
    for (const piece of rest?.pieces() ?? []) this.staging.append(piece);
    this.staging.append(newline);
  }

  /** Copies the last lines and, where anything was found, puts the copy in the data file's place, durably. */
  finish(lines: Iterable<Line>): void {
    for (const line of lines) this.take(line);
    if (this.found.size === 0) return;
    this.staging.sync();
    this.#guard.check();
    this.staging.publish(this.#dataFile);
  }
}
