import type { EditRequests } from "../edit/protocol";
import type { HistoryRequests } from "./historyProtocol";
import type { RawRequests } from "./rawProtocol";
import type { RunRequests } from "./runProtocol";
import type { SendRequests, SendTarget, SendWay } from "./sendProtocol";
import type { ValuePath, ValueRequests } from "./valueProtocol";

/**
 * What the editor and the storage worker say to each other. The worker owns every store file: the extension host's main
 * thread never reads, locks or writes one, so that neither a busy host can hold a lock that the application's workers
 * want, nor a large store can block the host.
 */

/** A store to work on. `key` is the caller's name for it and unique among the open ones. */
export interface StoreTarget {
  readonly key: string;
  /** Absolute path of the storage directory. It need not exist yet. */
  readonly path: string;
  /** As configured; a missing final `-` is appended as Rage does. */
  readonly prefix: string;
  /** `nil`: the application keeps no tasks (`config.deferred.backend = nil`). */
  readonly backend: "disk" | "nil";
}

/** Where a store is. */
export interface StorePlace {
  /** Absolute path of the storage directory. */
  readonly directory: string;
  /** With its dash. */
  readonly prefix: string;
}

/** What a list shows of a task. Bytes that are not UTF-8 stand as U+FFFD. */
export interface TaskSummary {
  readonly id: string;
  readonly taskClass: string;
  readonly attempts: number;
  /** Unix seconds; null where the id does not say. */
  readonly enqueuedAt: number | null;
  /** Unix seconds. */
  readonly failedAt: number;
  /** Null for an anonymous exception class. */
  readonly exceptionClass: string | null;
  /** Cut to 500 characters. */
  readonly exceptionMessage: string;
}

/** A line with a valid checksum whose record cannot be read and of which there is no readable older copy. */
export interface UnreadableRecord {
  readonly id: string;
  readonly reason: string;
}

/** What was skipped in a data file: whole lines that are not valid frames, their bytes, and an unfinished last line. */
export interface Damage {
  readonly lines: number;
  readonly bytes: number;
  readonly tornTailBytes: number;
}

/** An error as it crosses a thread or reaches a user: what happened, to which file or task, and what to do. */
export interface Problem {
  readonly code: string;
  readonly message: string;
}

export interface StoreStatus {
  /** `stopped`: a long read was stopped on request; only the newest tasks may be known. */
  readonly phase: "indexing" | "ready" | "failed" | "stopped";
  /** Whether the data file exists. A store that has never had a dead task has none. */
  readonly exists: boolean;
  readonly bytesRead: number;
  readonly bytesTotal: number;
  readonly taskCount: number;
  readonly unreadable: readonly UnreadableRecord[];
  readonly damage: Damage;
  /** Why nothing can be changed here (no flock, no write permission); null where it can. */
  readonly readOnly: string | null;
  /** Names of data files of storage versions that this program does not understand. They are left alone. */
  readonly otherVersions: readonly string[];
  /** Name of the network file system that the store is on, where the guarantees do not hold; null on a local one. */
  readonly networkFileSystem: string | null;
  /** Set when `phase` is `failed`. */
  readonly problem: Problem | null;
}

/** One change to what is known of a store. `tasks` come in natural order (oldest first): each is new or replaces its id. */
export type StoreUpdate =
  | { readonly type: "tasks"; readonly tasks: readonly TaskSummary[] }
  /** Early in a long first read: the newest tasks, newest first, so that there is something to see. All come again as `tasks`. */
  | { readonly type: "newest"; readonly tasks: readonly TaskSummary[] }
  | { readonly type: "gone"; readonly ids: readonly string[] }
  | { readonly type: "status"; readonly status: StoreStatus };

/** A context as Ruby text, decoded and masked. */
export interface ContextText {
  readonly args: string;
  readonly kwargs: string;
  readonly logTags: string;
  readonly logContext: string;
  readonly userContext: string;
  /** `SendWelcomeEmail.enqueue("user@example.com", locale: :en)`; a secret stands as "[FILTERED]" in it. */
  readonly enqueueCall: string;
  /** The same in parts. Null where it is too large to be written, or the class has no name that Ruby could read. */
  readonly call: TaskCall | null;
}

/** What is called to perform a task, as Ruby text; a secret stands as "[FILTERED]" in it. */
export interface TaskCall {
  readonly taskClass: string;
  /** Without parentheses. */
  readonly arguments: string;
}

export interface TaskDetail extends TaskSummary {
  /** Of one of more than 1 MiB the front, with `…` after it. */
  readonly fullMessage: string;
  readonly backtrace: readonly string[];
  /** Null where the context cannot be decoded. */
  readonly context: ContextText | null;
  readonly contextError: string | null;
  /** Whether any value in `context` stands as `[FILTERED]`. */
  readonly masked: boolean;
  /** Keys of the record beyond the known ones, as Ruby text. */
  readonly extra: readonly { readonly name: string; readonly value: string }[];
}

export type RecordDetail =
  | { readonly kind: "task"; readonly task: TaskDetail }
  | { readonly kind: "unreadable"; readonly id: string; readonly reason: string; readonly bytes: number }
  | { readonly kind: "gone"; readonly id: string };

export interface DetailOptions {
  /** Show secrets as they are. */
  readonly reveal: boolean;
  /** Hash keys, struct members and instance variables whose value is masked: case-insensitive substrings of the name. */
  readonly maskedNames: readonly string[];
  /** Values of the context that are shown although their name is masked. What is masked within them stays so. */
  readonly revealed?: readonly ValuePath[];
}

/** Where a task failed: the lines of its backtrace, the innermost first, at most 200 of them. */
export interface TaskBacktrace {
  readonly id: string;
  readonly backtrace: readonly string[];
}

/** What a call of `perform` passes, without any of its values. */
export interface ArgumentShape {
  /** As the context names it: the class that would run. */
  readonly taskClass: string;
  /** How many positional arguments. */
  readonly positional: number;
  /** The names of keywords that are symbols. */
  readonly keywords: readonly string[];
  /** Whether there are keywords that are no symbols. */
  readonly otherKeys: boolean;
  /** Whether the last positional argument is a Hash. */
  readonly lastIsHash: boolean;
}

export interface TaskShape {
  readonly id: string;
  /** Null where the context cannot be decoded, or does not say. */
  readonly shape: ArgumentShape | null;
}

export interface RetryOutcome {
  readonly retried: readonly { readonly id: string; readonly newId: string }[];
  readonly missing: readonly string[];
  readonly failed: readonly { readonly id: string; readonly error: string }[];
  /** The log that carries the replayed tasks, as a file name; null where none was written. */
  readonly log: string | null;
  /** The name under which the retry is kept for undoing; absent where it is not. */
  readonly undo?: string;
}

export interface DeleteOutcome {
  readonly deleted: readonly string[];
  readonly missing: readonly string[];
  readonly failed: readonly { readonly id: string; readonly error: string }[];
  /** The name under which what was deleted is kept; absent where it is not. */
  readonly undo?: string;
}

/** A task that waits in a log. */
export interface PendingSummary {
  readonly id: string;
  /** Null where its context cannot be read. */
  readonly taskClass: string | null;
  /** Null before its first failure. */
  readonly attempts: number | null;
  /** Unix seconds; null where the id does not say. */
  readonly enqueuedAt: number | null;
  /** Not before this time, in Unix seconds; null for at once. */
  readonly publishAt: number | null;
}

/** A log in which tasks wait. */
export interface PendingLog {
  /** Bare file name. */
  readonly name: string;
  /** The worker that holds it; `none` where none does, as far as this machine knows; `unknown` where that cannot be told. */
  readonly worker: "none" | "unknown" | { readonly processId: number };
  /** In the order in which they were enqueued; not all where there are very many. */
  readonly tasks: readonly PendingSummary[];
  readonly count: number;
}

export interface PendingLogs {
  /** To be given with the next question. */
  readonly fingerprint: string;
  /** Null where nothing changed since `known`. */
  readonly logs: readonly PendingLog[] | null;
}

/** What has become of a task that was enqueued. */
export interface PendingTaskLook {
  /** To be given with the next question. */
  readonly fingerprint: string;
  /** Null where it waits in no log; undefined where no log changed since `known`. */
  readonly task?: PendingSummary | null;
}

/** How far a change of a store has come. */
export interface ChangeProgress {
  /** `enqueue`: the new log of a retry is being written. `remove`: the dead tasks are being removed. */
  readonly step: "enqueue" | "remove";
  /** Of this step, from 0 to 1. */
  readonly fraction: number;
}

/** How much is kept for undoing, and for how long. */
export interface UndoLimits {
  /** Bytes, of all changes. */
  readonly bytes: number;
  /** Seconds. */
  readonly age: number;
}

/** Asks to keep what is deleted or retried, so that it can be undone. It is durable before it leaves the store. */
export interface UndoRequest {
  /** Absolute path of the directory that keeps it, outside of every workspace. Made where it is missing. */
  readonly directory: string;
  /** What was done, for people to read. */
  readonly title: string;
  readonly limits: UndoLimits;
}

/** A deletion or a retry that can be undone. */
export interface UndoableChange extends StorePlace {
  readonly name: string;
  readonly title: string;
  /** Unix seconds. */
  readonly at: number;
  /** Of a retry the log that the tasks wait in; null for a deletion. */
  readonly log: string | null;
  readonly bytes: number;
  /** Of what was sent to another store: how, and where to. The log is there. */
  readonly elsewhere?: StorePlace & { readonly way: SendWay };
}

export interface UndoneChange {
  /** False where it is not kept any more. */
  readonly found: boolean;
  readonly restored: readonly string[];
  /** Ids that are among the dead tasks already. */
  readonly present: readonly string[];
  /** Of what was sent to another store and left here: where, how many are gone from there, and how many are not, for they have changed. */
  readonly elsewhere?: SendTarget & { readonly gone: readonly string[]; readonly changed: readonly string[] };
}

/** A store that the text of a folder's files points to. */
export interface DiscoveredStore {
  /** Absolute path of the storage directory. It need not exist yet. */
  readonly path: string;
  readonly prefix: string;
  readonly backend: "disk" | "nil";
  /** Where it was found: `config/application.rb:12`, `default`, `files`. For people to read. */
  readonly source: string;
  /** Why `path` or `prefix` is a guess (it depends on what only the running application knows); null where it is not. */
  readonly problem: string | null;
}

/** The calls that the worker answers, by name. */
export interface StoreRequests
  extends EditRequests, HistoryRequests, RawRequests, RunRequests, SendRequests, ValueRequests {
  /** Stores of a workspace folder: of its application, of applications in direct sub-folders, and by data files. */
  discover(folder: string): readonly DiscoveredStore[];
  open(target: StoreTarget): void;
  close(key: string): void;
  /** Reads what changed now, without waiting for the watcher; goes on with a read that was stopped. */
  refresh(key: string): void;
  /** Stops a read that is under way. The store is read no further until `refresh`. */
  stopReading(key: string): void;
  /** Removes the dead tasks of replays that were interrupted after their log was written. Changes files, so only where that is allowed. */
  finishInterrupted(key: string): void;
  detail(key: string, id: string, options: DetailOptions): RecordDetail;
  /** Tasks that are gone or cannot be read are left out; while a long first read goes on, all but the newest are, too. */
  backtraces(key: string, ids: readonly string[]): readonly TaskBacktrace[];
  /** Leaves out what `backtraces` does. */
  argumentShapes(key: string, ids: readonly string[]): readonly TaskShape[];
  /** Which of these tasks failed at the same place of the application's code as this backtrace says; gone ones are left out. */
  failedAtSamePlace(key: string, backtrace: readonly string[], candidates: readonly string[]): readonly string[];
  /** A record as a text to compare with another's, always masked by `maskedNames`; null where it is gone. */
  recordText(key: string, id: string, maskedNames: readonly string[]): string | null;
  /** `publishAt`: Unix seconds, null for at once. `operation`: a name of the caller's, by which it is followed and cancelled. */
  retry(
    key: string,
    ids: readonly string[],
    publishAt: number | null,
    undo?: UndoRequest,
    operation?: string,
  ): RetryOutcome;
  delete(key: string, ids: readonly string[], undo?: UndoRequest, operation?: string): DeleteOutcome;
  /** Has the operation end with the code `cancelled`, nothing being changed, where it has not come too far for that. */
  cancel(operation: string): void;
  /** `known`: the fingerprint of the last answer, null for none. */
  pendingLogs(key: string, known: string | null): PendingLogs;
  /** `known`: as for `pendingLogs`. */
  pendingTask(key: string, id: string, known: string | null): PendingTaskLook;
  /** Bytes of the lines of these tasks, as far as they are known. */
  lineBytes(key: string, ids: readonly string[]): number;
  /** Newest first. */
  undoableChanges(directory: string): readonly UndoableChange[];
  /**
   * Durable when it answers. Where it is interrupted, undoing it again does the rest. A retry can be undone until a worker
   * takes its log; then it is refused with the code `claimed`.
   */
  undoChange(directory: string, name: string): UndoneChange;
  /** Forgets what is older, or more, than the limits. */
  pruneUndo(directory: string, limits: UndoLimits): void;
  /** The line that stands for an id, exactly as it stands in the file: Latin-1 for stray bytes, without the newline. */
  rawRecord(key: string, id: string): string | null;
}

export type RequestName = keyof StoreRequests;

/** Host to worker. */
export interface RequestMessage {
  readonly sequence: number;
  readonly name: RequestName;
  readonly parameters: readonly unknown[];
}

/** Worker to host. */
export type WorkerMessage =
  | { readonly type: "reply"; readonly sequence: number; readonly ok: true; readonly value: unknown }
  | { readonly type: "reply"; readonly sequence: number; readonly ok: false; readonly problem: Problem }
  | { readonly type: "update"; readonly key: string; readonly update: StoreUpdate }
  | { readonly type: "progress"; readonly operation: string; readonly progress: ChangeProgress }
  | { readonly type: "log"; readonly level: "info" | "warn" | "error"; readonly text: string };
