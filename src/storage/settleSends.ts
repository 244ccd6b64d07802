import { join } from "node:path";
import type { FailedTask, FinishedReplay, OperationOptions, ReplayResult } from "./backend";
import type { StorageEnvironment } from "./environment";
import { reasonOf } from "./errors";
import { fsyncDirectory, namesIn, statIfPresent, unlinkIfPresent } from "./fileSystem";
import type { LongLockGuard } from "./longLock";
import { isSendingName, storeNames, type StoreNames } from "./naming";
import { pendingIds } from "./pendingTasks";
import { withFinished } from "./replay";
import { removeReplayed } from "./replayJournal";
import { SendJournal, type SendDecision } from "./sendJournal";
import type { ShortLock } from "./shortLock";
import { settleLog } from "./takeBack";

/** What was found of interruptions, by the dead task's id. */
export interface Settled {
  /** Enqueued, and removed from the dead tasks now. */
  readonly finished: ReadonlyMap<string, FinishedReplay>;
  /** Must not be enqueued, since nobody can tell yet whether it waits in another store: why. */
  readonly undecided: ReadonlyMap<string, string>;
}

/** What is asked to be enqueued, parted by what an interruption says of it. */
export interface Enqueueable {
  readonly wanted: ReadonlySet<string>;
  /** Enqueued where it was to be enqueued now. */
  readonly already: readonly FinishedReplay[];
  readonly refused: readonly FailedTask[];
}

/** What was enqueued, or may have been, must not be enqueued a second time. `other`: where it is to be now, null for this store. */
export function withoutInterrupted(
  ids: ReadonlySet<string>,
  other: StoreNames | null,
  { finished, undecided }: Settled,
): Enqueueable {
  const wanted = new Set<string>();
  const already: FinishedReplay[] = [];
  const refused: FailedTask[] = [];
  for (const id of ids) {
    const before = finished.get(id);
    const reason = undecided.get(id);
    if (reason !== undefined) refused.push({ id, error: reason });
    else if (before === undefined) wanted.add(id);
    else if (isSame(before, other)) already.push(before);
    else {
      const where = before.elsewhere === undefined ? "this store" : before.elsewhere.directory;
      const error = `It had been enqueued in ${where} by a retry that was interrupted, and is removed here now.`;
      refused.push({ id, error });
    }
  }
  return { wanted, already, refused };
}

/** What came of the wanted, with what `withoutInterrupted` says of the others. */
export function withEarlier(
  result: ReplayResult,
  { already, refused }: Enqueueable,
  edited?: OperationOptions["edited"],
): ReplayResult {
  const all = withFinished(result, already, edited);
  return { ...all, failed: [...refused, ...all.failed] };
}

function isSame({ elsewhere }: FinishedReplay, other: StoreNames | null): boolean {
  return elsewhere?.directory === other?.directory && elsewhere?.prefix === other?.prefix;
}

/** Finishes, or undoes, what was interrupted, as the table in `sendJournal.ts` says. Runs under the long lock. */
export async function settleSends(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
): Promise<Settled> {
  const { fileSystem } = environment;
  const { directory, prefix } = names;
  const finished = new Map<string, FinishedReplay>();
  const undecided = new Map<string, string>();
  for (const name of namesIn(fileSystem, directory).filter((name) => isSendingName(prefix, name))) {
    const path = join(directory, name);
    const found = SendJournal.read(environment, path);
    guard.check();
    if (found === null) {
      unlinkIfPresent(fileSystem, path);
      continue;
    }
    const { journal, decision } = found;
    if (decision !== null) {
      const obstacle = obstacleOf(journal);
      if (obstacle !== null) {
        const reason = `Whether it waits in ${journal.destination.directory} cannot be told: ${obstacle}. Make that directory reachable and try again; where it is gone for good, remove ${path} to have the task counted as not sent.`;
        for (const { id } of decision.tasks) undecided.set(id, reason);
        continue;
      }
      const settle = decision.kind === "retry" ? finishRetry : settleTakeBack;
      for (const task of await settle(environment, names, lock, guard, journal, decision)) finished.set(task.id, task);
      guard.check();
      journal.undecide();
    }
    tryToCleanUp(journal);
  }
  return { finished, undecided };
}

/** Why the other store does not say what happened; null where it does. */
function obstacleOf(journal: SendJournal): string | null {
  try {
    return journal.isMarked() ? null : "it is not there, or another one stands in its place";
  } catch (error) {
    return reasonOf(error);
  }
}

/** Returns those that were enqueued. */
async function finishRetry(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
  journal: SendJournal,
  { log, tasks }: SendDecision,
): Promise<FinishedReplay[]> {
  if (journal.isStaged()) return [];
  const { fileSystem } = environment;
  const { directory, prefix } = journal.destination;
  fsyncDirectory(fileSystem, directory);
  const removed = await removeReplayed(environment, names, lock, tasks, guard);
  const isThere = statIfPresent(fileSystem, join(directory, log)) !== null;
  const elsewhere = { directory, prefix };
  return removed.map(({ id, newId }) => ({ id, newId, log: isThere ? log : null, elsewhere }));
}

/** What waits in the other store's logs is dead here no longer. */
async function settleTakeBack(
  environment: StorageEnvironment,
  names: StoreNames,
  lock: ShortLock,
  guard: LongLockGuard,
  { destination }: SendJournal,
  { log, tasks }: SendDecision,
): Promise<readonly never[]> {
  const other = storeNames(destination.directory, destination.prefix);
  settleLog(environment, join(other.directory, log));
  const pending = pendingIds(environment.fileSystem, other);
  const notTakenBack = tasks.filter(({ newId }) => pending.has(newId));
  if (notTakenBack.length > 0) await removeReplayed(environment, names, lock, notTakenBack, guard);
  return [];
}

function tryToCleanUp(journal: SendJournal): void {
  try {
    journal.cleanUp();
  } catch {
    // It decides nothing any more, so it is in nobody's way. The next operation tries again.
  }
}
