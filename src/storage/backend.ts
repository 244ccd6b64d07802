import type { PendingTasks } from "./pendingTasks";
import type { DeadTaskRecord, NewDeadTask } from "./record";
import type { RecordFront } from "./recordReader";
import type { Replayed } from "./takeBack";
import type { KeptLines } from "./undoJournal";

/** Where a record's line stands in the data file. */
export interface LinePosition {
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Bytes, the newline included. */
  readonly length: number;
}

/** A task as listed: the newest readable line of its id. */
export interface DeadTask extends DeadTaskRecord, LinePosition {
  readonly kind: "task";
  readonly id: string;
  /** Of its line, wherever in the file that comes to stand. */
  readonly checksum: number;
}

/** What a list shows of a task. */
export interface TaskFront extends RecordFront, LinePosition {
  readonly id: string;
}

export type ListOrder = "newest" | "oldest";

/** Valid lines of an id of which none can be read. They can be shown raw and deleted, not retried. */
export interface UnreadableTask extends LinePosition {
  readonly kind: "unreadable";
  readonly id: string;
  readonly reason: string;
}

/** What was skipped in a data file or in logs. */
export interface Damage {
  /** Complete lines that are not valid frames. */
  readonly lines: number;
  /** Their bytes, newlines included. */
  readonly bytes: number;
  /** Bytes after the last newline. */
  readonly tornTailBytes: number;
}

export const noDamage: Damage = { lines: 0, bytes: 0, tornTailBytes: 0 };

/**
 * A stable view of a store: what it held when it was opened, whatever is appended or removed meanwhile. Holds a descriptor
 * until it is iterated to the end or closed.
 */
export interface Listing {
  readonly damage: Damage;
  /** All listed ids, the unreadable ones included, in natural order (oldest first). */
  readonly ids: readonly string[];
  readonly unreadable: readonly UnreadableTask[];
  /** What a list shows of each task. Safe to remove tasks from the store while iterating. */
  fronts(order: ListOrder): AsyncIterableIterator<TaskFront>;
  /** The same with all of each record decoded, one at a time. */
  tasks(order: ListOrder): AsyncIterableIterator<DeadTask>;
  close(): void;
}

export interface FailedTask {
  readonly id: string;
  /** Fit for a user. */
  readonly error: string;
}

export interface RemovalResult {
  /** Distinct ids of which at least one line was there, in the order asked for. */
  readonly removed: readonly string[];
  readonly missing: readonly string[];
}

export interface ReplayResult {
  readonly retried: readonly { readonly id: string; readonly newId: string }[];
  readonly missing: readonly string[];
  readonly failed: readonly FailedTask[];
  /** Bare name of the log that carries the replayed tasks; null where none was written. */
  readonly log: string | null;
}

/** A replay that was interrupted after the task had been enqueued; the dead task has been removed now. */
export interface FinishedReplay {
  readonly id: string;
  readonly newId: string;
  /** Bare name of the log; null where a worker has taken it since. */
  readonly log: string | null;
  /** The other store that it was enqueued in; absent where it was this one. */
  readonly elsewhere?: { readonly directory: string; readonly prefix: string };
}

/** A context with which a task is replayed instead of its own. */
export interface EditedContext {
  /** Of the line that was edited. The task is replayed only while that is the one that stands for it. */
  readonly checksum: number;
  readonly context: Uint8Array;
}

/** How far an operation has come. */
export interface OperationProgress {
  /**
   * `enqueue`: a replay's new log is being written, or copies to another store. `remove`: what stays of the data file is being copied;
   * of a replay that is after the log has its name, from which on it cannot be cancelled any more.
   */
  readonly step: "enqueue" | "remove";
  /** Of this step, from 0 to 1. */
  readonly fraction: number;
}

export interface OperationOptions {
  /** Stops with a `cancelled` StorageError as long as nothing has been changed. */
  readonly signal?: AbortSignal;
  /** Told from time to time; of a replay always when `remove` begins. */
  readonly onProgress?: (progress: OperationProgress) => void;
  /** Begins to keep what a removal takes out, anew for each attempt at it. What was kept is durable before it leaves the store. */
  readonly keep?: () => KeptLines;
  /**
   * Of a removal the checksum of the line that must stand for each id. An id for which another one stands is left as it is and
   * counts as missing; so is what is appended of it meanwhile.
   */
  readonly expected?: ReadonlyMap<string, number>;
  /** The same as `keep` for a replay, whose tasks are enqueued by then. */
  readonly keepReplayed?: (replayed: Replayed) => KeptLines;
  /** For a replay: other contexts for some of its tasks, by their ids. */
  readonly edited?: ReadonlyMap<string, EditedContext>;
  /** Told what an earlier operation had left unfinished in this store and this one has finished before its own work. */
  readonly onFinished?: (finished: readonly FinishedReplay[]) => void;
}

/** One store of dead tasks, whatever keeps it. Failures are StorageErrors. */
export interface DeadTaskBackend {
  /** Why nothing can be changed here; null where it can. */
  readOnlyReason(): string | null;
  /** Durable when it returns: the line, and the data file's name where it was made. */
  add(task: NewDeadTask): Promise<void>;
  list(options?: OperationOptions): Promise<Listing>;
  find(id: string): Promise<DeadTask | UnreadableTask | null>;
  /** Durable when it returns; what it removed does not come back. Ids that are not there change nothing. */
  remove(ids: Iterable<string>, options?: OperationOptions): Promise<RemovalResult>;
  /**
   * Enqueues durably, then removes. `publishAt`: whole Unix seconds, null for at once. Goes on past tasks that cannot be
   * replayed and names them. One log and one removal for any number of tasks. A task of which the replay had been interrupted
   * after it was enqueued is not enqueued again: it is among `retried` with the id that it got then; one that was edited since
   * is among `failed`, since it was enqueued as it had been before.
   */
  replay(ids: Iterable<string>, publishAt: number | null, options?: OperationOptions): Promise<ReplayResult>;
  pending(): Promise<PendingTasks>;
}
