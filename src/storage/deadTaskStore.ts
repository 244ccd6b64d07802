import { resolve } from "node:path";
import { dumpString } from "../marshal";
import type {
  DeadTask,
  DeadTaskBackend,
  FinishedReplay,
  Listing,
  OperationOptions,
  RemovalResult,
  ReplayResult,
  UnreadableTask,
} from "./backend";
import { appendLines } from "./append";
import { linesOfExpected, removeFromDataFile } from "./compaction";
import type { StorageEnvironment } from "./environment";
import { StorageError, asStorageError } from "./errors";
import { makeDirectory, namesIn, statIfPresent, unlinkIfPresent } from "./fileSystem";
import { deadTaskLine } from "./frames";
import { emptyListing, listSnapshot, readTask } from "./listing";
import type { Line } from "./lines";
import { LongLock, type LongLockGuard } from "./longLock";
import { isJournalName, isSendingName, isStagingName, isTakeBackName, storeNames, type StoreNames } from "./naming";
import { readPendingTasks, type PendingTasks } from "./pendingTasks";
import { OperationQueue } from "./queue";
import { encodeRecord, type NewDeadTask } from "./record";
import { RecordIndex } from "./recordIndex";
import { enqueueReplays, leftBehind } from "./replay";
import { finishInterruptedReplays } from "./replayJournal";
import { planRestore, restoreLines, type RestoreResult } from "./restore";
import { settleSends, withEarlier, withoutInterrupted, type Settled } from "./settleSends";
import { ShortLock } from "./shortLock";
import { openSnapshot, visitLines, type Snapshot } from "./snapshot";
import { settleTakeBacks, takeBackReplay, type Replayed } from "./takeBack";
import { writeObstacle } from "./writeObstacle";

/** Where a store is. `path` relative to the working directory; `prefix` as configured. */
export interface StoreLocation {
  readonly path: string;
  readonly prefix: string;
}

/** What an operation under the long lock works with, and what had been interrupted before. */
export interface StoreChange extends Settled {
  readonly environment: StorageEnvironment;
  readonly names: StoreNames;
  readonly lock: ShortLock;
  readonly guard: LongLockGuard;
}

type ChangeUnderLongLock<Result> = (change: StoreChange) => Promise<Result>;

// Shared by all stores of this process: two of them may be the same one.
const queue = new OperationQueue();

/** The store of a Rage application on disk, shared with its live workers. */
export class DeadTaskStore implements DeadTaskBackend {
  readonly names: StoreNames;
  readonly #environment: StorageEnvironment;
  readonly #lock: ShortLock;
  readonly #longLock: LongLock;

  constructor({ path, prefix }: StoreLocation, environment: StorageEnvironment) {
    const { fileSystem, clock, flock } = environment;
    this.names = storeNames(resolve(path), prefix);
    this.#environment = environment;
    this.#lock = new ShortLock(this.names.lockFile, fileSystem, clock, flock);
    this.#longLock = new LongLock(this.names.longLock, fileSystem, clock);
  }

  readOnlyReason(): string | null {
    return this.#lock.unavailable ?? writeObstacle(this.#environment.fileSystem, this.names);
  }

  async add(task: NewDeadTask): Promise<void> {
    if (!/^[^:\n]+$/.test(task.id)) {
      throw new StorageError(
        "invalid",
        `A task's id must be text without colon or newline, not ${JSON.stringify(task.id)}.`,
      );
    }
    const line = deadTaskLine(task.id, dumpString(encodeRecord(task)));
    await this.#change(`add task ${task.id} to ${this.names.dataFile}`, async () => {
      makeDirectory(this.#environment.fileSystem, this.names.directory);
      await this.#lock.run(() => {
        appendLines(this.#environment.fileSystem, this.names, [line]);
      });
    });
  }

  async list({ signal }: OperationOptions = {}): Promise<Listing> {
    return await this.#read(async () => {
      const snapshot = await this.openSnapshot();
      return snapshot === null ? emptyListing : await listSnapshot(this.#environment.fileSystem, snapshot, signal);
    });
  }

  async find(id: string): Promise<DeadTask | UnreadableTask | null> {
    return await this.#read(async () => {
      const { fileSystem } = this.#environment;
      const snapshot = await this.openSnapshot();
      if (snapshot === null) return null;
      try {
        const index = new RecordIndex({ only: new Set([id]) });
        await visitLines(fileSystem, snapshot, 0, (line) => index.take(line));
        const record = index.records.get(id);
        if (record === undefined) return null;
        const { offset, length, unreadable } = record;
        if (unreadable !== null) return { kind: "unreadable", id, reason: unreadable, offset, length };
        return readTask(fileSystem, snapshot, id, record);
      } finally {
        fileSystem.close(snapshot.descriptor);
      }
    });
  }

  async remove(ids: Iterable<string>, options: OperationOptions = {}): Promise<RemovalResult> {
    const requested = new Set(ids);
    const doing = `delete from ${this.names.dataFile}`;
    const removed = await this.#changeExisting(doing, requested, options, async ({ guard, finished }) => {
      const found = await this.#remove(requested, guard, options);
      return new Set([...found, ...finished.keys()]);
    });
    return {
      removed: [...requested].filter((id) => removed?.has(id) === true),
      missing: [...requested].filter((id) => removed?.has(id) !== true),
    };
  }

  async #remove(
    ids: ReadonlySet<string>,
    guard: LongLockGuard,
    options: OperationOptions,
  ): Promise<ReadonlySet<string>> {
    const { expected } = options;
    const [environment, names, lock] = [this.#environment, this.names, this.#lock];
    const requested = expected === undefined ? ids : await linesOfExpected(environment, names, lock, expected, guard);
    return requested === null
      ? new Set()
      : await removeFromDataFile(environment, names, lock, requested, guard, options);
  }

  async replay(ids: Iterable<string>, publishAt: number | null, options: OperationOptions = {}): Promise<ReplayResult> {
    if (publishAt !== null && !(Number.isSafeInteger(publishAt) && publishAt >= 0)) {
      throw new StorageError("invalid", `The time of a retry must be whole Unix seconds, not ${publishAt}.`);
    }
    const requested = new Set(ids);
    const doing = `retry from ${this.names.dataFile}`;
    const result = await this.#changeExisting(doing, requested, options, async (change) => {
      const parted = withoutInterrupted(requested, null, change);
      const result = await this.#replay(parted.wanted, publishAt, change.guard, options);
      return withEarlier(result, parted, options.edited);
    });
    return result ?? { retried: [], missing: [...requested], failed: [], log: null };
  }

  async #replay(
    ids: ReadonlySet<string>,
    publishAt: number | null,
    guard: LongLockGuard,
    options: OperationOptions,
  ): Promise<ReplayResult> {
    if (ids.size === 0) return { retried: [], missing: [], failed: [], log: null };
    const { names } = this;
    const lock = this.#lock;
    const enqueued = await enqueueReplays(this.#environment, names, lock, ids, publishAt, guard, options);
    const { result, journal, tasks } = enqueued;
    const { log } = result;
    if (journal === null || log === null) return result;
    const replayed = new Set(result.retried.map(({ id }) => id));
    const { keepReplayed, onProgress } = options;
    const keep = keepReplayed === undefined ? {} : { keep: () => keepReplayed({ log, tasks }) };
    const told = onProgress === undefined ? {} : { onProgress };
    onProgress?.({ step: "remove", fraction: 0 });
    try {
      // Past the point of no return: what was enqueued is removed, cancelled or not.
      await removeFromDataFile(this.#environment, names, lock, replayed, guard, { ...keep, ...told });
    } catch (error) {
      return leftBehind(result, error);
    }
    journal.remove();
    return result;
  }

  /**
   * Puts removed lines back; `read` gives them, twice. Durable when it returns. `forget` is called then, before any other of ours
   * can change the store: nobody may find the lines to restore once more when the tasks have been retried since. See `restoreLines`.
   */
  async restore(read: () => Iterable<Line>, forget?: () => void): Promise<RestoreResult> {
    return await this.change(`restore deleted tasks to ${this.names.dataFile}`, async ({ guard }) => {
      const [environment, names, lock] = [this.#environment, this.names, this.#lock];
      const plan = await planRestore(environment, names, lock, guard, read());
      const result = await restoreLines(environment, names, lock, guard, plan, read());
      forget?.();
      return result;
    });
  }

  /** Takes a replay back while no worker has claimed its log; the rest as `restore` has it. See `takeBackReplay`. */
  async takeBack(replayed: Replayed, read: () => Iterable<Line>, forget?: () => void): Promise<RestoreResult> {
    const doing = `take back what was retried from ${this.names.dataFile}`;
    return await this.change(doing, async ({ guard }) => {
      const result = await takeBackReplay(this.#environment, this.names, this.#lock, guard, replayed, read);
      forget?.();
      return result;
    });
  }

  async finishInterrupted(): Promise<readonly FinishedReplay[]> {
    return [...(await this.settle()).finished.values()];
  }

  /** Does away with what was interrupted, before something that no other operation here goes before. */
  async settle(): Promise<Settled> {
    const { directory, prefix } = this.names;
    const isThere = (): boolean =>
      namesIn(this.#environment.fileSystem, directory).some(
        (name) => isJournalName(prefix, name) || isTakeBackName(prefix, name) || isSendingName(prefix, name),
      );
    const found = await this.#read(() => Promise.resolve(isThere()), directory);
    if (!found) return { finished: new Map(), undecided: new Map() };
    return await this.change(`finish what was interrupted in ${directory}`, (settled) => Promise.resolve(settled));
  }

  async pending(): Promise<PendingTasks> {
    const read = (): Promise<PendingTasks> =>
      Promise.resolve(readPendingTasks(this.#environment.fileSystem, this.names));
    return await this.#read(read, this.names.directory);
  }

  /** A stable view of the data file's complete lines; the caller closes its descriptor. Null where there is no file. */
  async openSnapshot(): Promise<Snapshot | null> {
    return await openSnapshot(this.#environment.fileSystem, this.#lock, this.names.dataFile, "reading");
  }

  async #read<Result>(operation: () => Promise<Result>, path = this.names.dataFile): Promise<Result> {
    try {
      return await operation();
    } catch (error) {
      throw asStorageError(error, `read ${path}`);
    }
  }

  async #change<Result>(doing: string, operation: () => Promise<Result>): Promise<Result> {
    try {
      const obstacle = this.readOnlyReason();
      if (obstacle !== null) throw new StorageError("read-only", `Could not ${doing}: ${obstacle}.`);
      return await queue.run(this.names.dataFile, operation);
    } catch (error) {
      throw asStorageError(error, doing);
    }
  }

  /** Null, and nothing made, where no ids are asked for or there is no data file. */
  async #changeExisting<Result>(
    doing: string,
    ids: ReadonlySet<string>,
    { onFinished, signal }: OperationOptions,
    operation: ChangeUnderLongLock<Result>,
  ): Promise<Result | null> {
    if (ids.size === 0 || !this.#hasDataFile(doing)) return null;
    const changing: ChangeUnderLongLock<Result> = async (change) => {
      const { finished } = change;
      if (finished.size > 0) onFinished?.([...finished.values()]);
      return await operation(change);
    };
    return await this.change(doing, changing, null, signal);
  }

  /**
   * Runs an operation under the long lock. First does away with what a process that was killed, or failed, has left. `doing`
   * completes "Could not …".
   */
  async change<Result>(
    doing: string,
    operation: ChangeUnderLongLock<Result>,
    makes: "makes directory" | null = null,
    signal?: AbortSignal,
  ): Promise<Result> {
    return await this.#change(doing, async () => {
      if (makes !== null) makeDirectory(this.#environment.fileSystem, this.names.directory);
      return await this.#longLock.run(async (guard) => {
        const [environment, names, lock] = [this.#environment, this.names, this.#lock];
        await settleTakeBacks(environment, names, lock, guard);
        const { finished: sent, undecided } = await settleSends(environment, names, lock, guard);
        const replayed = await finishInterruptedReplays(environment, names, lock, guard);
        const finished = new Map([...sent, ...replayed]);
        this.#removeOrphans(guard);
        return await operation({ environment, names, lock, guard, finished, undecided });
      }, signal);
    });
  }

  #hasDataFile(doing: string): boolean {
    try {
      return statIfPresent(this.#environment.fileSystem, this.names.dataFile) !== null;
    } catch (error) {
      throw asStorageError(error, doing);
    }
  }

  /** Staging files of a process that was killed: under the long lock nobody else can be writing one. */
  #removeOrphans(guard: LongLockGuard): void {
    const { fileSystem } = this.#environment;
    const { directory, prefix } = this.names;
    const orphans = namesIn(fileSystem, directory).filter((name) => isStagingName(prefix, name));
    // Asked after looking: what was there while the lock was ours is not another's work, however late we come to remove it.
    if (orphans.length > 0) guard.check();
    for (const name of orphans) unlinkIfPresent(fileSystem, resolve(directory, name));
  }
}
