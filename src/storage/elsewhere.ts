import { join } from "node:path";
import type { FailedTask, OperationOptions, ReplayResult } from "./backend";
import { removeFromDataFile } from "./compaction";
import { contextForReplay } from "./context";
import type { DeadTaskStore, StoreChange } from "./deadTaskStore";
import type { StorageEnvironment } from "./environment";
import { StorageError, asStorageError, reasonOf } from "./errors";
import { fsyncDirectory, makeDirectory, statIfPresent, type FileStat, type FileSystem } from "./fileSystem";
import { readLines, type Line } from "./lines";
import { readTask } from "./listing";
import type { StoreNames } from "./naming";
import { NewLog } from "./pendingTasks";
import type { RecordIndex } from "./recordIndex";
import { addReplays, findRecords, leftBehind, type ContextFor, type Followed } from "./replay";
import { removeReplayed, type ReplayedTask } from "./replayJournal";
import { planRestore, restoreLines, type RestoreResult } from "./restore";
import { SendJournal } from "./sendJournal";
import { withoutInterrupted, withEarlier, type Settled } from "./settleSends";
import { openSnapshot, throwIfCancelled, type Snapshot } from "./snapshot";
import { claimLog, linesToRestore, returnTasks, type Replayed } from "./takeBack";

/** A line that was appended to another store. */
export type CopiedLine = Pick<ReplayedTask, "id" | "checksum">;

/** What was found of the tasks that are to be sent. */
interface Records {
  readonly snapshot: Snapshot;
  readonly index: RecordIndex;
  readonly missing: readonly string[];
}

export interface CopyResult {
  readonly copied: readonly CopiedLine[];
  /** Ids that stand there already, with this line or another. */
  readonly present: readonly string[];
  readonly missing: readonly string[];
}

/**
 * Copies dead tasks to another store, byte for byte, the line that stands for each id, also where its record cannot be read.
 * Durable when it returns; nothing changes here. The other store's directory is made where it is missing.
 */
export async function copyElsewhere(
  source: DeadTaskStore,
  target: DeadTaskStore,
  ids: Iterable<string>,
  options: Followed = {},
): Promise<CopyResult> {
  const { signal, onProgress } = options;
  const requested = new Set(ids);
  const copy = async (change: StoreChange): Promise<CopyResult | null> => {
    const { environment, names, lock, guard } = change;
    const { fileSystem } = environment;
    refuseSame(environment, source.names, names);
    const open = source.openSnapshot();
    return await withRecords(open, change, requested, options, async ({ snapshot, index, missing }) => {
      const read = function* (): Generator<Line> {
        for (const { offset, length } of index.records.values()) {
          yield* readLines(fileSystem, snapshot.descriptor, offset, offset + length);
        }
      };
      const plan = await planRestore(environment, names, lock, guard, read());
      throwIfCancelled(signal);
      const { restored, present } = await restoreLines(environment, names, lock, guard, plan, read(), (count) => {
        onProgress?.({ step: "enqueue", fraction: 0.5 + count / index.records.size / 2 });
      });
      const copied = restored.map((id) => ({ id, checksum: index.records.get(id)?.checksum ?? 0 }));
      return { copied, present, missing };
    });
  };
  const copied = await target.change(`copy tasks to ${target.names.dataFile}`, copy, "makes directory", signal);
  return copied ?? { copied: [], present: [], missing: [...requested] };
}

/**
 * Removes copies from the store that they went to, where they are still the same lines. Returns the ids that are gone. `forget` is
 * called then, before any other of ours can change the store.
 */
export async function removeCopies(
  target: DeadTaskStore,
  copied: readonly CopiedLine[],
  forget?: () => void,
): Promise<readonly string[]> {
  const doing = `remove copies from ${target.names.dataFile}`;
  return await target.change(doing, async ({ environment, names, lock, guard }) => {
    const gone = await removeReplayed(environment, names, lock, copied, guard);
    forget?.();
    return gone.map(({ id }) => id);
  });
}

/**
 * Enqueues tasks in another store, in one new log, as a replay does. Durable when it returns; nothing changes here. `keepReplayed`
 * is called before the log gets its name, to keep which tasks are in it.
 */
export async function retryElsewhere(
  source: DeadTaskStore,
  target: DeadTaskStore,
  ids: Iterable<string>,
  publishAt: number | null,
  options: OperationOptions = {},
): Promise<ReplayResult> {
  const { signal, keepReplayed, onFinished } = options;
  const interrupted = await settledIfWritable(source);
  if (interrupted.finished.size > 0) onFinished?.([...interrupted.finished.values()]);
  const parted = withoutInterrupted(new Set(ids), target.names, interrupted);
  const retry = async (change: StoreChange): Promise<ReplayResult | null> => {
    const { environment, names, guard } = change;
    refuseSame(environment, source.names, names);
    const open = source.openSnapshot();
    return await withRecords(open, change, parted.wanted, options, async ({ snapshot, index, missing }) => {
      if (index.records.size === 0) return nothingSent(missing);
      const log = new NewLog(environment, names, ownerOf(environment.fileSystem, names));
      let kept: ReturnType<NonNullable<typeof keepReplayed>> | null = null;
      try {
        const contextFor = contextsOf(environment, snapshot);
        const { tasks, failed } = await addReplays(contextFor, index, publishAt, log, guard, options);
        if (tasks.length === 0) return { ...nothingSent(missing), failed };
        log.sync();
        const name = log.freeName();
        kept = keepReplayed?.({ log: name, tasks }) ?? null;
        kept?.keep();
        throwIfCancelled(signal);
        guard.check();
        const failure = log.publish(name);
        const retried = tasks.map(({ id, newId }) => ({ id, newId }));
        if (failure === null) return { retried, missing, failed, log: name };
        const unsure = notSurelyDurable(tasks, name, failure.problem);
        return { retried: [], missing, failed: [...failed, ...unsure], log: name };
      } finally {
        log.close();
        if (log.isStaged()) {
          log.discard();
          kept?.discard();
        }
      }
    });
  };
  const result = await target.change(`retry in ${target.names.directory}`, retry, "makes directory", signal);
  return withEarlier(result ?? nothingSent([...parted.wanted]), parted);
}

/**
 * Enqueues tasks in another store and removes them here: durable there first. `sendJournal.ts` says what becomes of an
 * interruption. A task that an interrupted retry had enqueued there is not enqueued again.
 */
export async function moveElsewhere(
  source: DeadTaskStore,
  target: DeadTaskStore,
  ids: Iterable<string>,
  publishAt: number | null,
  options: OperationOptions = {},
): Promise<ReplayResult> {
  const doing = `retry tasks of ${source.names.dataFile} in ${target.names.directory}`;
  const moving = async (change: StoreChange): Promise<ReplayResult> => {
    const { environment, names, lock, finished } = change;
    refuseSame(environment, names, target.names);
    if (finished.size > 0) options.onFinished?.([...finished.values()]);
    const parted = withoutInterrupted(new Set(ids), target.names, change);
    const obstacle = target.readOnlyReason();
    if (obstacle !== null) throw new StorageError("read-only", `Could not ${doing}: ${obstacle}.`);
    const open = openSnapshot(environment.fileSystem, lock, names.dataFile, "changing");
    const moved = await withRecords(open, change, parted.wanted, options, (records) =>
      move(change, target.names, records, publishAt, options),
    );
    return withEarlier(moved ?? nothingSent([...parted.wanted]), parted);
  };
  return await source.change(doing, moving, null, options.signal);
}

async function move(
  { environment, names, lock, guard }: StoreChange,
  other: StoreNames,
  { snapshot, index, missing }: Records,
  publishAt: number | null,
  options: OperationOptions,
): Promise<ReplayResult> {
  const { signal, keepReplayed, onProgress } = options;
  if (index.records.size === 0) return nothingSent(missing);
  const { fileSystem } = environment;
  makeDirectory(fileSystem, other.directory);
  guard.check();
  const journal = SendJournal.begin(environment, names, other, snapshot.stat);
  let log: NewLog | null = null;
  let isRemoved = false;
  try {
    const owner = ownerOf(fileSystem, other);
    journal.mark(owner);
    log = new NewLog(environment, other, owner, journal.stagedName);
    const contextFor = contextsOf(environment, snapshot);
    const { tasks, failed } = await addReplays(contextFor, index, publishAt, log, guard, options);
    if (tasks.length === 0) return { ...nothingSent(missing), failed };
    log.sync();
    fsyncDirectory(fileSystem, other.directory);
    throwIfCancelled(signal);
    // Asked after each sync, since that can take long.
    guard.check();
    const name = log.freeName();
    journal.decide({ kind: "retry", log: name, tasks });
    guard.check();
    const failure = log.publish(name);
    const retried = tasks.map(({ id, newId }) => ({ id, newId }));
    const result = { retried, missing, failed, log: name };
    if (failure !== null) return leftBehind(result, failure.problem);
    const ids = new Set(tasks.map(({ id }) => id));
    const keep = keepReplayed === undefined ? {} : { keep: () => keepReplayed({ log: name, tasks }) };
    const told = onProgress === undefined ? {} : { onProgress };
    onProgress?.({ step: "remove", fraction: 0 });
    try {
      // Past the point of no return: what was enqueued is removed, cancelled or not.
      await removeFromDataFile(environment, names, lock, ids, guard, { ...keep, ...told });
    } catch (error) {
      return leftBehind(result, error);
    }
    isRemoved = true;
    return result;
  } finally {
    log?.close();
    // What was enqueued and is still dead stays decided, for the next operation.
    if (isRemoved || log === null || log.isStaged()) journal.end();
  }
}

/**
 * Takes back what `moveElsewhere` did, while no worker has claimed the log: the tasks are dead again here and wait no longer there.
 * `read` gives the removed lines, three times. Durable when it returns. Throws a `claimed` StorageError, with nothing changed, once the
 * tasks are a worker's. `forget` as for `removeCopies`.
 */
export async function takeBackElsewhere(
  source: DeadTaskStore,
  other: StoreNames,
  { log, tasks }: Replayed,
  read: () => Iterable<Line>,
  forget?: () => void,
): Promise<RestoreResult> {
  const doing = `take back what was retried in ${other.directory}`;
  return await source.change(doing, async ({ environment, names, lock, guard }) => {
    const { fileSystem } = environment;
    if (statIfPresent(fileSystem, other.directory) === null) {
      throw new StorageError("io", `Could not ${doing}: it is not there. Nothing was changed.`);
    }
    const claimed = claimLog(environment, join(other.directory, log));
    try {
      const size = claimed.sizeIfUntouched(tasks);
      const plan = await planRestore(environment, names, lock, guard, read());
      guard.check();
      const journal = SendJournal.begin(environment, names, other, fileSystem.stat(names.directory));
      let isDecided = false;
      try {
        journal.mark(ownerOf(fileSystem, other));
        fsyncDirectory(fileSystem, other.directory);
        guard.check();
        journal.decide({ kind: "takeBack", log, tasks: linesToRestore(tasks, plan, read()) });
        isDecided = true;
        guard.check();
        const result = await returnTasks(environment, names, lock, guard, { claimed, tasks, size }, plan, read());
        isDecided = false;
        forget?.();
        return result;
      } finally {
        // What was restored and still waits there stays decided: the next operation removes it again.
        if (!isDecided) journal.end();
      }
    } finally {
      claimed.release();
    }
  });
}

/** Of a store that cannot be changed nothing can be finished either. */
async function settledIfWritable(source: DeadTaskStore): Promise<Settled> {
  try {
    if (source.readOnlyReason() !== null) return { finished: new Map(), undecided: new Map() };
    return await source.settle();
  } catch (error) {
    throw asStorageError(error, `look into ${source.names.directory}`);
  }
}

/** Finds the lines that stand for these ids. `open` the snapshot of the store that is read from; null where that has no data file. */
async function withRecords<Result>(
  open: Promise<Snapshot | null>,
  { environment: { fileSystem }, guard }: StoreChange,
  ids: ReadonlySet<string>,
  followed: Followed,
  work: (records: Records) => Promise<Result>,
): Promise<Result | null> {
  const snapshot = await open;
  if (snapshot === null) return null;
  try {
    const index = await findRecords(fileSystem, snapshot, ids, guard, followed);
    return await work({ snapshot, index, missing: [...ids].filter((id) => !index.records.has(id)) });
  } finally {
    fileSystem.close(snapshot.descriptor);
  }
}

function contextsOf({ fileSystem }: StorageEnvironment, snapshot: Snapshot): ContextFor {
  return (id, record) => contextForReplay(readTask(fileSystem, snapshot, id, record).context);
}

/** Told by the directories themselves, since a path can have many names. */
function refuseSame({ fileSystem }: StorageEnvironment, source: StoreNames, target: StoreNames): void {
  const identity = ({ directory }: StoreNames): string | undefined => statIfPresent(fileSystem, directory)?.identity;
  if (source.prefix !== target.prefix || identity(source) !== identity(target)) return;
  throw new StorageError("invalid", `The tasks are in ${target.directory} already. Nothing was changed.`);
}

/** A file or directory of the other store's application. */
function ownerOf(fileSystem: FileSystem, { dataFile, directory }: StoreNames): FileStat {
  return statIfPresent(fileSystem, dataFile) ?? fileSystem.stat(directory);
}

function nothingSent(missing: readonly string[]): ReplayResult {
  return { retried: [], missing, failed: [], log: null };
}

function notSurelyDurable(tasks: readonly ReplayedTask[], log: string, problem: unknown): FailedTask[] {
  const reason = reasonOf(problem);
  return tasks.map(({ id, newId }) => ({
    id,
    error: `It was enqueued as ${newId} in ${log}, but that may not outlast a loss of power (${reason}).`,
  }));
}
