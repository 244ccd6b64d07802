import type { EditedContext, FailedTask, FinishedReplay, OperationOptions, ReplayResult } from "./backend";
import { yieldToOthers } from "./clock";
import { contextForReplay } from "./context";
import type { StorageEnvironment } from "./environment";
import { StorageError, reasonOf } from "./errors";
import type { FileSystem } from "./fileSystem";
import { readTask } from "./listing";
import type { LongLockGuard } from "./longLock";
import type { StoreNames } from "./naming";
import { NewLog } from "./pendingTasks";
import { RecordIndex, type IndexedRecord } from "./recordIndex";
import { ReplayJournal, type ReplayedTask } from "./replayJournal";
import type { ShortLock } from "./shortLock";
import { openSnapshot, throwIfCancelled, visitLines, type Snapshot } from "./snapshot";

/** How an operation is followed and cancelled. */
export type Followed = Pick<OperationOptions, "signal" | "onProgress">;

/** What `enqueueReplays` did. */
export interface Enqueued {
  readonly result: ReplayResult;
  /** The journal of tasks that are enqueued and now to be removed; null where there are none. */
  readonly journal: ReplayJournal | null;
  /** Those tasks. */
  readonly tasks: readonly ReplayedTask[];
}

/**
 * Writes one new log with a pending task for each of the ids that can be replayed, in natural order, and before it a journal of
 * them. Both are durable when it returns; the dead tasks are still where they were.
 */
export async function enqueueReplays(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  ids: ReadonlySet<string>,
  publishAt: number | null,
  guard: LongLockGuard,
  options: Followed & Pick<OperationOptions, "edited">,
): Promise<Enqueued> {
  const { fileSystem } = environment;
  const snapshot = await openSnapshot(fileSystem, lock, names.dataFile, "changing");
  if (snapshot === null) return nothing({ missing: [...ids] });
  try {
    const index = await findRecords(fileSystem, snapshot, ids, guard, options);
    const missing = [...ids].filter((id) => !index.records.has(id));
    if (index.records.size === 0) return nothing({ missing });
    guard.check();
    const log = new NewLog(environment, names, snapshot.stat);
    let journal: ReplayJournal | null = null;
    try {
      const contextFor: ContextFor = (id, record) => {
        const own = (): Uint8Array => readTask(fileSystem, snapshot, id, record).context;
        return contextForReplay(editedContext(options.edited?.get(id), record) ?? own());
      };
      const { tasks, failed } = await addReplays(contextFor, index, publishAt, log, guard, options);
      if (tasks.length === 0) return nothing({ missing, failed });
      log.sync();
      // Asked after each sync, since that can take long.
      guard.check();
      const name = log.freeName();
      journal = new ReplayJournal(environment, names, snapshot.stat);
      journal.write({ staging: log.stagingName, log: name, tasks });
      guard.check();
      journal.publish();
      guard.check();
      const failure = log.publish(name);
      const retried = tasks.map(({ id, newId }) => ({ id, newId }));
      const result = { retried, missing, failed, log: name };
      if (failure !== null) return { result: leftBehind(result, failure.problem), journal: null, tasks };
      return { result, journal, tasks };
    } finally {
      log.close();
      journal?.discard();
      // What was published stays, and its journal, too.
      if (log.isStaged() && (journal?.withdraw() ?? true)) log.discard();
    }
  } finally {
    fileSystem.close(snapshot.descriptor);
  }
}

// Records between two turns for others on this thread, the timer that keeps the long lock fresh among them.
const recordsBetweenPauses = 500;

/** The context to enqueue a task with. Throws a `not-retryable` StorageError where there is none. */
export type ContextFor = (id: string, record: IndexedRecord) => Uint8Array;

/** Null where the task was not edited. */
function editedContext(edited: EditedContext | undefined, { checksum }: IndexedRecord): Uint8Array | null {
  if (edited === undefined) return null;
  if (edited.checksum === checksum) return edited.context;
  throw new StorageError(
    "not-retryable",
    "It has died anew since it was opened for editing, so it was left as it is. Open it again to edit what it is now.",
  );
}

/**
 * Finds the lines that stand for these ids, which is half of the work of an enqueue or a copy: the other half is to write them. Throws a
 * `cancelled` StorageError.
 */
export async function findRecords(
  fileSystem: FileSystem,
  snapshot: Snapshot,
  ids: ReadonlySet<string>,
  guard: LongLockGuard,
  { signal, onProgress }: Followed,
): Promise<RecordIndex> {
  const index = new RecordIndex({ only: ids });
  const onPause = (position: number): void => {
    guard.check();
    onProgress?.({ step: "enqueue", fraction: position / snapshot.end / 2 });
  };
  await visitLines(fileSystem, snapshot, 0, (line) => index.take(line), { signal, onPause });
  throwIfCancelled(signal);
  return index;
}

/** Adds a pending task for each record that can be replayed, in the index's order. Names the others with the reason. */
export async function addReplays(
  contextFor: ContextFor,
  index: RecordIndex,
  publishAt: number | null,
  log: NewLog,
  guard: LongLockGuard,
  { signal, onProgress }: Followed,
): Promise<{ readonly tasks: readonly ReplayedTask[]; readonly failed: readonly FailedTask[] }> {
  const tasks: ReplayedTask[] = [];
  const failed: FailedTask[] = [];
  for (const [id, record] of index.records) {
    const count = tasks.length + failed.length + 1;
    if (count % recordsBetweenPauses === 0) {
      await yieldToOthers();
      guard.check();
      throwIfCancelled(signal);
      onProgress?.({ step: "enqueue", fraction: 0.5 + count / index.records.size / 2 });
    }
    if (record.unreadable !== null) {
      failed.push({ id, error: `Its record cannot be read (${record.unreadable}), so it can only be deleted.` });
      continue;
    }
    let context: Uint8Array;
    try {
      context = contextFor(id, record);
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== "not-retryable") throw error;
      failed.push({ id, error: error.message });
      continue;
    }
    tasks.push({ id, checksum: record.checksum, newId: log.add(publishAt, context) });
  }
  return { tasks, failed };
}

function nothing({ missing, failed = [] }: Pick<ReplayResult, "missing"> & Partial<ReplayResult>): Enqueued {
  return { result: { retried: [], missing, failed, log: null }, journal: null, tasks: [] };
}

/** The result with the tasks whose replay had been interrupted after they were enqueued, as they were before they were edited. */
export function withFinished(
  result: ReplayResult,
  finished: readonly FinishedReplay[],
  edited: OperationOptions["edited"],
): ReplayResult {
  const tooLate = finished.filter(({ id }) => edited?.has(id) === true);
  const retried = finished.filter(({ id }) => edited?.has(id) !== true);
  const failed = tooLate.map(({ id, newId }) => ({
    id,
    error: `An earlier retry of it had been interrupted after it was enqueued as ${newId}, and was finished now. What was edited since was not enqueued.`,
  }));
  return {
    ...result,
    retried: [...retried.map(({ id, newId }) => ({ id, newId })), ...result.retried],
    failed: [...failed, ...result.failed],
    log: result.log ?? retried[0]?.log ?? null,
  };
}

/**
 * The result where the log was written and what had to follow failed: every replayed task stands in both places, until the
 * next operation finds the journal.
 */
export function leftBehind(enqueued: ReplayResult, removalError: unknown): ReplayResult {
  // Only what happened: what a StorageError says to do next is for a removal that stands alone.
  const reason = removalError instanceof StorageError ? firstSentence(removalError.message) : reasonOf(removalError);
  return {
    ...enqueued,
    retried: [],
    failed: [
      ...enqueued.failed,
      ...enqueued.retried.map(({ id, newId }) => ({
        id,
        error: `It was enqueued as ${newId} in ${enqueued.log ?? "a log"}, but could not be removed from the dead tasks (${reason}). The next retry or deletion in this store makes up for that.`,
      })),
    ],
  };
}

function firstSentence(message: string): string {
  return message.split(/\.(?: |$)/, 1)[0] ?? message;
}
