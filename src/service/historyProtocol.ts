import type { StorePlace, UndoLimits } from "./protocol";

/** What the editor and the storage worker say to each other about what was done to dead tasks, for people to read afterwards. */

/**
 * What was done: `edit`: retried with other arguments; `undo`: brought back after a deletion; `takeBack`: the same after a
 * retry; `finish`: an interrupted retry was finished; `send` and `copy`: into another store; `run`: at once, in the application.
 */
export const historyKinds = ["retry", "edit", "delete", "undo", "takeBack", "finish", "send", "copy", "run"] as const;
export type HistoryKind = (typeof historyKinds)[number];

/** The window that did it. */
export interface HistoryWindow {
  /** What the window has open, for people to read. */
  readonly name: string;
  readonly processId: number;
}

export interface HistoryTask {
  readonly id: string;
  /** Null where it was not known. */
  readonly taskClass: string | null;
  /** Of the pending task that was made of it; null where none was. */
  readonly newId: string | null;
}

export interface HistoryFailure {
  readonly id: string;
  readonly taskClass: string | null;
  readonly error: string;
}

/** Arguments as Ruby text, masked. */
export interface HistoryEdit {
  readonly id: string;
  readonly before: string;
  readonly after: string;
}

/** What became of an operation, as it is told to the history. Text of any length, and any number of tasks. */
export interface HistoryNote {
  readonly kind: HistoryKind;
  readonly done: readonly { readonly id: string; readonly newId?: string }[];
  readonly missing?: readonly string[];
  readonly failed?: readonly { readonly id: string; readonly error: string }[];
  /** Unix seconds; null for at once. */
  readonly publishAt?: number | null;
  /** The log that the tasks wait in, as a bare file name. */
  readonly log?: string | null;
  /** The name under which it is kept for undoing. */
  readonly undo?: string;
  /** The change that was undone: its name among those kept for undoing, and its title. */
  readonly undone?: { readonly name: string; readonly title: string };
  readonly edits?: readonly HistoryEdit[];
  /** The other store. */
  readonly target?: StorePlace;
}

/** An operation as it is kept. Of very many tasks only the first are named. */
export interface HistoryEntry {
  /** Names this entry among all that are kept. */
  readonly key: string;
  /** Unix seconds, with a fraction. */
  readonly at: number;
  readonly window: HistoryWindow;
  /** Whether it was this window, since it was opened or reloaded. */
  readonly own: boolean;
  readonly kind: HistoryKind;
  readonly store: StorePlace;
  /** The key of that store where it is open here; null where not. */
  readonly storeKey: string | null;
  /** Of how many tasks it was done. */
  readonly count: number;
  readonly tasks: readonly HistoryTask[];
  /** How many of each class, most frequent first; of very many classes the first. A null class is one that was not known. */
  readonly classes: readonly { readonly taskClass: string | null; readonly count: number }[];
  /** How many were gone before. */
  readonly missing: number;
  readonly failures: readonly HistoryFailure[];
  readonly failureCount: number;
  readonly publishAt: number | null;
  readonly log: string | null;
  readonly undo: string | null;
  readonly undone: { readonly name: string; readonly title: string } | null;
  readonly edits: readonly HistoryEdit[];
  readonly target: StorePlace | null;
  /** The key of that store where it is open here; null where not, or where there is none. */
  readonly targetKey: string | null;
}

/** Where the history is kept, by which window, and how much of it. */
export interface HistoryOptions {
  /** Absolute path of a directory outside of every workspace. Made where it is missing. */
  readonly directory: string;
  readonly window: HistoryWindow;
  /** Null for nothing. */
  readonly limits: UndoLimits | null;
}

export interface HistoryQuery {
  /** The open stores whose entries are wanted, by key; null for those of all stores, open or not. */
  readonly stores: readonly string[] | null;
  /** The key of the entry after which to go on; null for the newest. */
  readonly after: string | null;
  readonly limit: number;
  /** The fingerprint of an earlier answer to the same question; null for none. */
  readonly known: string | null;
}

export interface HistoryPage {
  readonly fingerprint: string;
  /** Newest first; null where nothing changed since `known`. */
  readonly entries: readonly HistoryEntry[] | null;
  /** Whether older ones follow. */
  readonly more: boolean;
}

/** The calls that the worker answers, by name. */
export interface HistoryRequests {
  /** From now on. Forgets what is over the limits; all of it where nothing is to be kept. */
  keepHistory(options: HistoryOptions): void;
  /** Of what `keepHistory` named; nothing before. */
  history(query: HistoryQuery): HistoryPage;
  /** Forgets all of it, of all windows. */
  clearHistory(): void;
}
