import { constants } from "node:fs";
import { join } from "node:path";
import type { StorageEnvironment } from "./environment";
import { StorageError } from "./errors";
import { fsyncDirectory, namesIn, openIfPresent, statIfPresent, unlinkIfPresent, writeFully } from "./fileSystem";
import { logRemoveLine, parseLogLine } from "./frames";
import { endOfLastLine, readLines, type Line } from "./lines";
import type { LongLockGuard } from "./longLock";
import { isLogName, isTakeBackName, stagingName, takeBackName, type StoreNames } from "./naming";
import { pendingIds } from "./pendingTasks";
import { areReplayedTasks, readJournal, removeReplayed, writeJournal, type ReplayedTask } from "./replayJournal";
import { planRestore, plannedLines, restoreLines, type RestorePlan, type RestoreResult } from "./restore";
import type { ShortLock } from "./shortLock";
import { StagingFile } from "./stagingFile";

/*
 * Taking a replay back: the dead tasks return, byte for byte, and the log gets a `rem` for each, all of it while we hold the
 * log's own lock. A worker that starts meanwhile passes the log over, and one that starts later finds nothing to run in it. The
 * file itself stays: whoever has just opened it must not find that it is no longer the one of that name.
 *
 * A journal of its own makes an interruption known. The order, each step durable before the next:
 *
 *   1. the journal: which lines are restored for which pending tasks
 *   2. the dead tasks are restored
 *   3. the log's `rem` lines
 *   4. the journal is unlinked
 *
 * Whoever holds the long lock next, and before anything else, looks for each task of a journal that is there whether it is
 * pending, in any log. If it is, step 3 was not reached: what was restored of it is removed again. If it is not, the task is
 * dead and stays so; had a worker taken the log in the moment after the interruption and run it since, it would be run and dead,
 * which is the one side on which a crash may err.
 */

/** A replay as the journal of deletions and retries keeps it. */
export interface Replayed {
  /** Bare name. */
  readonly log: string;
  readonly tasks: readonly ReplayedTask[];
}

/**
 * Takes a replay back as long as no worker has claimed its log. `read` gives the removed lines of the dead tasks, three times. Durable
 * when it returns. Throws a `claimed` StorageError, with nothing changed, once the tasks are a worker's.
 */
export async function takeBackReplay(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
  { log, tasks }: Replayed,
  read: () => Iterable<Line>,
): Promise<RestoreResult> {
  const claimed = claimLog(environment, join(names.directory, log));
  try {
    const size = claimed.sizeIfUntouched(tasks);
    guard.check();
    const plan = await planRestore(environment, names, lock, guard, read());
    guard.check();
    const journal = begin(environment, names, { log, tasks: linesToRestore(tasks, plan, read()) });
    guard.check();
    const result = await returnTasks(environment, names, lock, guard, { claimed, tasks, size }, plan, read());
    unlinkIfPresent(environment.fileSystem, journal);
    fsyncDirectory(environment.fileSystem, names.directory);
    return result;
  } finally {
    claimed.release();
  }
}

/**
 * Brings the dead tasks back, and then has the log say that it has them no more: nobody runs them in between, since the log is ours.
 * `size`: of the log when it was looked at.
 */
export async function returnTasks(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
  { claimed, tasks, size }: { readonly claimed: ClaimedLog; readonly tasks: Replayed["tasks"]; readonly size: number },
  plan: RestorePlan,
  lines: Iterable<Line>,
): Promise<RestoreResult> {
  const result = await restoreLines(environment, names, lock, guard, plan, lines);
  guard.check();
  claimed.append(
    tasks.map(({ newId }) => logRemoveLine(newId)),
    size,
  );
  return result;
}

/** Undoes or leaves, as the table above says, what was interrupted. Runs under the long lock. */
export async function settleTakeBacks(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
): Promise<void> {
  const { fileSystem } = environment;
  const { directory, prefix } = names;
  for (const name of namesIn(fileSystem, directory).filter((name) => isTakeBackName(prefix, name))) {
    const path = join(directory, name);
    const content = readJournal(fileSystem.readFile(path));
    guard.check();
    // One that was not completed was not acted upon.
    const { log, tasks } = isReplayed(content, prefix) ? content : { log: null, tasks: [] };
    if (log !== null) settleLog(environment, join(directory, log));
    const pending = pendingIds(fileSystem, names);
    const notTakenBack = tasks.filter(({ newId }) => pending.has(newId));
    if (notTakenBack.length > 0) await removeReplayed(environment, names, lock, notTakenBack, guard);
    guard.check();
    unlinkIfPresent(fileSystem, path);
    fsyncDirectory(fileSystem, directory);
  }
}

/**
 * Each line that may stand for a task once it is restored, the older ones of an id among them. Not one that is there already: it is
 * none of ours to remove where this is interrupted.
 */
export function linesToRestore(
  tasks: readonly ReplayedTask[],
  plan: RestorePlan,
  lines: Iterable<Line>,
): ReplayedTask[] {
  const newIds = new Map(tasks.map(({ id, newId }) => [id, newId]));
  const journaled: ReplayedTask[] = [];
  for (const { id, checksum } of plannedLines(plan, lines)) {
    const newId = newIds.get(id);
    if (newId !== undefined) journaled.push({ id, checksum, newId });
  }
  return journaled;
}

/**
 * Makes durable what the log says now, since it is about to be acted upon. Cuts off an unfinished line of ours, so that a
 * worker that claims the log appends to whole lines.
 */
export function settleLog(environment: StorageEnvironment, path: string): void {
  const { fileSystem } = environment;
  const descriptor = openIfPresent(fileSystem, path, constants.O_RDONLY);
  if (descriptor === null) return;
  try {
    fileSystem.fsync(descriptor);
  } finally {
    fileSystem.close(descriptor);
  }
  let claimed: ClaimedLog;
  try {
    claimed = claimLog(environment, path);
  } catch (error) {
    if (error instanceof StorageError && error.code === "claimed") return;
    throw error;
  }
  try {
    claimed.mend();
  } finally {
    claimed.release();
  }
}

function isReplayed(content: unknown, prefix: string): content is Replayed {
  if (typeof content !== "object" || content === null) return false;
  const { log, tasks } = content as Readonly<Record<string, unknown>>;
  return typeof log === "string" && isLogName(prefix, log) && areReplayedTasks(tasks);
}

function begin(environment: StorageEnvironment, names: StoreNames, content: Replayed): string {
  const { fileSystem, processId, random } = environment;
  const path = join(names.directory, takeBackName(names.prefix, processId, random()));
  const staging = new StagingFile(
    fileSystem,
    names.directory,
    stagingName(names.prefix, "journal", processId, random()),
    fileSystem.stat(names.directory),
    "new",
  );
  try {
    writeJournal(staging, content);
    staging.publish(path);
    return path;
  } finally {
    staging.discard();
  }
}

/** A log that no worker holds, and none can have while we do. */
export class ClaimedLog {
  readonly #environment: StorageEnvironment;
  readonly #descriptor: number;

  constructor(environment: StorageEnvironment, descriptor: number) {
    this.#environment = environment;
    this.#descriptor = descriptor;
  }

  /** Bytes of the log, where it holds these tasks as they were enqueued and nothing else; throws where a worker has been at it. */
  sizeIfUntouched(tasks: readonly ReplayedTask[]): number {
    const { fileSystem } = this.#environment;
    const { size } = fileSystem.fstat(this.#descriptor);
    const enqueued = new Set(tasks.map(({ newId }) => newId));
    let isUntouched = endOfLastLine(fileSystem, this.#descriptor, size) === size;
    for (const line of readLines(fileSystem, this.#descriptor, 0, size)) {
      const frame = parseLogLine(line.bytes, line.rest?.payloadChecksum);
      // Taken out as it is met: a second line of a task is a worker's retry of it.
      isUntouched &&= frame?.operation === "add" && enqueued.delete(frame.id);
    }
    if (!isUntouched || enqueued.size > 0) throw alreadyClaimed();
    return size;
  }

  /** Durable when it returns. A failure leaves none of the lines, as far as the operating system lets it. */
  append(lines: readonly Uint8Array[], size: number): void {
    const { fileSystem } = this.#environment;
    try {
      writeFully(fileSystem, this.#descriptor, Buffer.concat(lines));
      fileSystem.fsync(this.#descriptor);
    } catch (error) {
      try {
        fileSystem.ftruncate(this.#descriptor, size);
      } catch {
        // The first error is the one to report; the journal settles each task by what the log says of it.
      }
      throw error;
    }
  }

  mend(): void {
    const { fileSystem } = this.#environment;
    const { size } = fileSystem.fstat(this.#descriptor);
    const end = endOfLastLine(fileSystem, this.#descriptor, size);
    if (end === size) return;
    fileSystem.ftruncate(this.#descriptor, end);
    fileSystem.fsync(this.#descriptor);
  }

  release(): void {
    // Closing gives the lock up, too.
    this.#environment.fileSystem.close(this.#descriptor);
  }
}

export function claimLog(environment: StorageEnvironment, path: string): ClaimedLog {
  const { fileSystem, flock } = environment;
  if (flock.flock === null) throw new StorageError("read-only", `Nothing can be changed here: ${flock.unavailable}.`);
  const descriptor = openIfPresent(fileSystem, path, constants.O_RDWR | constants.O_APPEND);
  if (descriptor === null) throw alreadyClaimed();
  try {
    const isOurs =
      flock.flock.tryLock(descriptor) &&
      statIfPresent(fileSystem, path)?.identity === fileSystem.fstat(descriptor).identity;
    if (!isOurs) throw alreadyClaimed();
    return new ClaimedLog(environment, descriptor);
  } catch (error) {
    fileSystem.close(descriptor);
    throw error;
  }
}

function alreadyClaimed(): StorageError {
  return new StorageError(
    "claimed",
    "A Rage worker has taken the retried tasks already, so the retry cannot be undone. Nothing was changed.",
  );
}
