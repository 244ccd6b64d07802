import type { StorePlace, UndoLimits } from "./protocol";

/** What the editor and the storage worker say to each other about runs of dead tasks in their application. */

/** A run: one task at a time, in a process of the application's own. */
export interface RunInfo extends StorePlace {
  /** Names the run, and its directory. */
  readonly name: string;
  readonly id: string;
  readonly taskClass: string;
  /** Unix seconds. */
  readonly since: number;
}

export type RunStart =
  /** Kept durably. `directory`: where the process finds what it is to run, and leaves what became of it. */
  | { readonly kind: "begun"; readonly name: string; readonly directory: string }
  /** The task is no longer there. */
  | { readonly kind: "gone" }
  /** It is being run, or what became of an earlier run is not settled yet. */
  | { readonly kind: "running"; readonly since: number };

/** What was raised. */
export interface RunFailure {
  /** Null for an anonymous class. */
  readonly class: string | null;
  readonly message: string;
  readonly backtrace: readonly string[];
}

/** What became of a run. All but `running` and `settled` are told once: the run is forgotten then. */
export type RunEnd =
  /** Its process lives, or another window is about to settle it. */
  | { readonly kind: "running" }
  /** It is no longer known: another window has settled it. */
  | { readonly kind: "settled" }
  /**
   * `removed`: whether it was taken out of the dead tasks now; otherwise somebody else did so before, unless another death of it
   * `stands` there. `undo`: the name under which it is kept for undoing.
   */
  | { readonly kind: "succeeded"; readonly removed: boolean; readonly stands: boolean; readonly undo?: string }
  /** `failure`: null where the framework does not say. */
  | { readonly kind: "failed"; readonly failure: RunFailure | null }
  /** The application could not be booted, the task was another by then, or could not be loaded. */
  | { readonly kind: "notRun"; readonly reason: "boot" | "changed" | "unreadable"; readonly failure: RunFailure }
  /** The process ended before it came to the task, and does not say why. */
  | { readonly kind: "notBegun" }
  /** The process ended in the middle. */
  | { readonly kind: "unknown" };

/** Asks to keep what is removed after a success. */
export interface RunUndo {
  readonly directory: string;
  readonly limits: UndoLimits;
}

/** `runs`: the absolute path of the directory that keeps the runs of this user, outside of every workspace; made where missing. */
export interface RunRequests {
  /** Begins a run of what stands for the id now. As long as this process lives, other windows leave the run to it. */
  beginRun(runs: string, key: string, id: string): RunStart;
  /** Settles the run if its process has ended: after a success the task leaves the dead, if it still is the one that was run. */
  endRun(runs: string, name: string, undo: RunUndo | null): RunEnd;
  /** Oldest first. */
  runsUnderWay(runs: string): readonly RunInfo[];
  /** Runs whose window is gone, of this store; their process may live. */
  leftRuns(runs: string, key: string): readonly RunInfo[];
}
