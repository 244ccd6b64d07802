import type { UndoRequest } from "./protocol";

/** What the editor and the storage worker say to each other about sending dead tasks to another store. */

/** `copy`: dead there, too. `retry`: enqueued there and still dead here. `move`: enqueued there and removed here. */
export type SendWay = "copy" | "retry" | "move";

/** Any store, open or not. */
export interface SendTarget {
  /** Absolute path of the storage directory. It need not exist yet. */
  readonly path: string;
  readonly prefix: string;
}

export interface SendOutcome {
  readonly sent: readonly string[];
  /** Copies: ids that stand there already, which is left as it is. */
  readonly present: readonly string[];
  readonly missing: readonly string[];
  readonly failed: readonly { readonly id: string; readonly error: string }[];
  /** The log there that the tasks wait in, as a file name; null for copies, and where none was written. */
  readonly log: string | null;
  /** The name under which it is kept for undoing; absent where it is not. */
  readonly undo?: string;
}

/** What can be said of a store before anything is sent there. */
export interface TargetLook {
  /** Why nothing can be sent there; null where it can. */
  readonly readOnly: string | null;
  /** The name of the network file system that it is on; null for a local one. */
  readonly networkFileSystem: string | null;
  /** Whether there is a file of this store. */
  readonly exists: boolean;
}

export interface SendRequests {
  /** Durable there when it answers, and before anything leaves the store that it is sent from. `operation` as for a retry. */
  send(
    key: string,
    ids: readonly string[],
    target: SendTarget,
    way: SendWay,
    undo?: UndoRequest,
    operation?: string,
  ): SendOutcome;
  lookAtTarget(target: SendTarget): TargetLook;
  /** The prefixes of the stores in a directory. */
  prefixesIn(directory: string): readonly string[];
}
