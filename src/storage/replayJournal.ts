import { join } from "node:path";
import type { FinishedReplay } from "./backend";
import { removeFromDataFile } from "./compaction";
import type { StorageEnvironment } from "./environment";
import { fsyncDirectory, namesIn, statIfPresent, unlinkIfPresent, type FileStat, type FileSystem } from "./fileSystem";
import { jsonLine, parseJsonLine } from "./jsonLines";
import type { LongLockGuard } from "./longLock";
import { isJournalName, isLogName, isStagingName, journalName, stagingName, type StoreNames } from "./naming";
import { RecordIndex } from "./recordIndex";
import type { ShortLock } from "./shortLock";
import { openSnapshot, visitLines } from "./snapshot";
import { StagingFile } from "./stagingFile";

/*
 * What makes an interrupted replay known: a file beside the store that lists, before the new log gets its name, which lines it
 * replays. Ids and checksums alone, none of the tasks' data.
 *
 * The order of a replay. Each step is durable before the next, and before each rename the long lock is looked at:
 *
 *   1. the log and the journal, content and names, both under staging names
 *   2. the journal's own name (a rename)
 *   3. the log's own name (a rename)
 *   4. the removal of the dead tasks
 *   5. the journal is unlinked, which need not last
 *
 * Since the log's staging name was durable before the journal's own was, and goes only by the rename, or after the journal has
 * gone durably, these two names tell what happened. Whoever holds the long lock next, and before anything else:
 *
 *   journal   staging file   so it stopped        the tasks are    to do
 *   none      none           before 1, after 5    where they are   nothing
 *   none      there          in 1, 2              dead             remove what has a staging name
 *   there     there          in 2, 3              dead             unlink the journal, sync, then as above
 *   there     none           in 3, 4, 5           in the log, or   sync the directory, for the rename; remove what is still
 *                                                 run already      there of the replayed lines; then unlink the journal
 *
 * Whether the log is there says nothing: a starting worker merges it into its own and unlinks it. A dead task counts as the
 * replayed one when the line that stands for its id has the checksum of the replayed line; one that died anew under its id
 * has another and stays. A journal that cannot be understood says nothing either, and no task is removed for it.
 *
 * A process that is stopped for so long that another takes the lock over wakes up in the middle of a step: the other has
 * removed everything with a staging name by then, so that each of its renames fails.
 */

/** A dead task that was enqueued under a new id. `checksum`: of the line that was replayed. */
export interface ReplayedTask {
  readonly id: string;
  readonly checksum: number;
  readonly newId: string;
}

interface Replay {
  /** Bare names: that of the staging file, and the one which that is to get. */
  readonly staging: string;
  readonly log: string;
  readonly tasks: readonly ReplayedTask[];
}

/** The journal of one replay, until `publish` under a staging name. */
export class ReplayJournal {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #path: string;
  readonly #staging: StagingFile;

  /** `like`: as for a log. */
  constructor(environment: StorageEnvironment, { directory, prefix }: StoreNames, like: FileStat) {
    const { fileSystem, processId, random } = environment;
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    this.#path = join(directory, journalName(prefix, processId, random()));
    const name = stagingName(prefix, "journal", processId, random());
    this.#staging = new StagingFile(fileSystem, directory, name, like, "new");
  }

  /** Durable when it returns, and so are all staging names in the directory: the log's, too. */
  write(replay: Replay): void {
    writeJournal(this.#staging, replay);
    fsyncDirectory(this.#fileSystem, this.#directory);
  }

  /** Gives it its own name, durably. */
  publish(): void {
    this.#staging.publish(this.#path);
  }

  /** Removes it where it still has its staging name. */
  discard(): void {
    this.#staging.discard();
  }

  /** Before the log was published. Returns whether the log may go now: only once the journal is gone for good. */
  withdraw(): boolean {
    try {
      unlinkIfPresent(this.#fileSystem, this.#path);
      fsyncDirectory(this.#fileSystem, this.#directory);
      return true;
    } catch {
      // What made the caller withdraw is the error to report. Journal and staging file together say that nothing was
      // published, and the next operation removes both.
      return false;
    }
  }

  /** After the removal. */
  remove(): void {
    try {
      unlinkIfPresent(this.#fileSystem, this.#path);
    } catch {
      // All that was asked for is done, durably. The next operation finds nothing left to remove, and tries again.
    }
  }
}

/**
 * Finishes, or undoes, the replays that were interrupted; returns the finished ones by the dead task's id. Runs under the long
 * lock, so no journal that is there is a live one.
 */
export async function finishInterruptedReplays(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
): Promise<ReadonlyMap<string, FinishedReplay>> {
  const { fileSystem } = environment;
  const { directory, prefix } = names;
  const finished = new Map<string, FinishedReplay>();
  for (const name of namesIn(fileSystem, directory).filter((name) => isJournalName(prefix, name))) {
    const path = join(directory, name);
    const content = readJournal(fileSystem.readFile(path));
    const replay = isReplay(content, prefix) ? content : null;
    guard.check();
    if (replay === null || isThere(fileSystem, directory, replay.staging)) {
      unlinkIfPresent(fileSystem, path);
      // Before anyone removes the staging file: a journal that came back without it would say that the log was published.
      fsyncDirectory(fileSystem, directory);
      continue;
    }
    fsyncDirectory(fileSystem, directory);
    const tasks = await removeReplayed(environment, names, lock, replay.tasks, guard);
    guard.check();
    unlinkIfPresent(fileSystem, path);
    const log = isThere(fileSystem, directory, replay.log) ? replay.log : null;
    for (const { id, newId } of tasks) finished.set(id, { id, newId, log });
  }
  return finished;
}

function isThere(fileSystem: FileSystem, directory: string, name: string): boolean {
  return statIfPresent(fileSystem, join(directory, name)) !== null;
}

/** Removes the lines that were replayed, where they are still there. Returns the tasks without those that died anew. */
export async function removeReplayed<Task extends Pick<ReplayedTask, "id" | "checksum">>(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  tasks: readonly Task[],
  guard: LongLockGuard,
): Promise<readonly Task[]> {
  const { fileSystem } = environment;
  const index = new RecordIndex({ only: new Set(tasks.map(({ id }) => id)) });
  const snapshot = await openSnapshot(fileSystem, lock, names.dataFile, "changing");
  if (snapshot === null) return tasks;
  try {
    await visitLines(fileSystem, snapshot, 0, (line) => index.take(line), { onPause: guard.check });
  } finally {
    fileSystem.close(snapshot.descriptor);
  }
  const left = tasks.filter(({ id, checksum }) => index.records.get(id)?.checksum === checksum);
  if (left.length > 0) {
    await removeFromDataFile(environment, names, lock, new Set(left.map(({ id }) => id)), guard);
  }
  const stillReplayed = new Set(left);
  return tasks.filter((task) => stillReplayed.has(task) || !index.records.has(task.id));
}

/** Synced when it returns. */
export function writeJournal(staging: StagingFile, content: unknown): void {
  staging.append(jsonLine(content));
  staging.sync();
}

/** Null for a journal that was not completed, or that is none of ours. */
export function readJournal(bytes: Buffer): unknown {
  return bytes.at(-1) === 0x0a ? parseJsonLine(bytes.subarray(0, -1)) : null;
}

function isReplay(content: unknown, prefix: string): content is Replay {
  if (!isObject(content)) return false;
  const { staging, log, tasks } = content;
  return (
    typeof staging === "string" &&
    isStagingName(prefix, staging) &&
    typeof log === "string" &&
    isLogName(prefix, log) &&
    areReplayedTasks(tasks)
  );
}

export function areReplayedTasks(value: unknown): value is readonly ReplayedTask[] {
  return (
    Array.isArray(value) &&
    value.every(
      (task: unknown) =>
        isObject(task) &&
        typeof task["id"] === "string" &&
        typeof task["checksum"] === "number" &&
        typeof task["newId"] === "string",
    )
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
