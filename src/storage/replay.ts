import type { FailedTask, ReplayResult } from "./backend";
import { yieldToOthers } from "./clock";
import { contextForReplay } from "./context";
import type { StorageEnvironment } from "./environment";
import { StorageError, reasonOf } from "./errors";
import { readTask } from "./listing";
import type { LongLockGuard } from "./longLock";
import type { StoreNames } from "./naming";
import { NewLog } from "./pendingTasks";
import { RecordIndex } from "./recordIndex";
import type { ShortLock } from "./shortLock";
import { openSnapshot, throwIfCancelled, visitLines, type Snapshot } from "./snapshot";

/**
 * Writes one new log with a pending task for each of the ids that can be replayed, in natural order. The log is durable when
 * it returns; the dead tasks are still where they were.
 */
export async function enqueueReplays(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  ids: ReadonlySet<string>,
  publishAt: number | null,
  guard: LongLockGuard,
  signal?: AbortSignal,
): Promise<ReplayResult> {
  const { fileSystem } = environment;
  const snapshot = await openSnapshot(fileSystem, lock, names.dataFile, "changing");
  if (snapshot === null) return { retried: [], missing: [...ids], failed: [], log: null };
  try {
    const index = new RecordIndex({ only: ids });
    await visitLines(fileSystem, snapshot, 0, (line) => index.take(line), { signal, onPause: guard.check });
    throwIfCancelled(signal);
    const missing = [...ids].filter((id) => !index.records.has(id));
    if (index.records.size === 0) return { retried: [], missing, failed: [], log: null };
    guard.check();
    const log = new NewLog(environment, names, snapshot.stat);
    try {
      const { retried, failed } = await addReplays(environment, snapshot, index, publishAt, log, () => {
        guard.check();
        throwIfCancelled(signal);
      });
      if (retried.length === 0) return { retried, missing, failed, log: null };
      log.sync();
      // Asked last, since syncing can take long.
      guard.check();
      const { name, problem } = log.publish();
      const enqueued = { retried, missing, failed, log: name };
      return problem === null ? enqueued : leftBehind(enqueued, problem);
    } finally {
      log.discard();
    }
  } finally {
    fileSystem.close(snapshot.descriptor);
  }
}

// Records between two turns for others on this thread, the timer that keeps the long lock fresh among them.
const recordsBetweenPauses = 500;

async function addReplays(
  { fileSystem }: StorageEnvironment,
  snapshot: Snapshot,
  index: RecordIndex,
  publishAt: number | null,
  log: NewLog,
  onPause: () => void,
): Promise<Pick<ReplayResult, "retried" | "failed">> {
  const retried: { id: string; newId: string }[] = [];
  const failed: FailedTask[] = [];
  for (const [id, record] of index.records) {
    if ((retried.length + failed.length + 1) % recordsBetweenPauses === 0) {
      await yieldToOthers();
      onPause();
    }
    if (record.unreadable !== null) {
      failed.push({ id, error: `Its record cannot be read (${record.unreadable}), so it can only be deleted.` });
      continue;
    }
    let context: Uint8Array;
    try {
      context = contextForReplay(readTask(fileSystem, snapshot, id, record).context);
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== "not-retryable") throw error;
      failed.push({ id, error: error.message });
      continue;
    }
    retried.push({ id, newId: log.add(publishAt, context) });
  }
  return { retried, failed };
}

/** The result where the log was written and what had to follow failed: every replayed task stands in both places. */
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
        error: `It was enqueued as ${newId} in ${enqueued.log ?? "a log"}, but could not be removed from the dead tasks (${reason}). Do not retry it again: delete it.`,
      })),
    ],
  };
}

function firstSentence(message: string): string {
  return message.split(/\.(?: |$)/, 1)[0] ?? message;
}
