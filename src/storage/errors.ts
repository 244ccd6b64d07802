/**
 * What can go wrong with a store, for callers that decide by kind:
 *
 * - `lock-timeout`: a worker held the application's lock for all of Rage's schedule.
 * - `busy`: another window or command line is retrying or deleting in this store.
 * - `compromised`: our own lock was lost in the middle; the operation stopped before its next write.
 * - `read-only`: nothing can be changed here; the message says why.
 * - `not-retryable`: the record or its context does not say how to replay it.
 * - `left-behind`: replayed, but the removal failed, so the task stands in both places.
 * - `io`: the operating system refused; the message names the file and the reason.
 * - `invalid`: the caller asked for what the format cannot hold; nothing was changed.
 * - `claimed`: a worker has taken what was to be taken back; nothing was changed.
 * - `cancelled`: the caller asked to stop; nothing had been changed.
 */
export type StorageErrorCode =
  | "lock-timeout"
  | "busy"
  | "compromised"
  | "read-only"
  | "not-retryable"
  | "left-behind"
  | "io"
  | "invalid"
  | "claimed"
  | "cancelled";

/** A failure of the storage. `message` is fit for a user: what happened, to which file or task, and what to do. */
export class StorageError extends Error {
  constructor(
    readonly code: StorageErrorCode,
    message: string,
    options?: { cause: unknown },
  ) {
    super(message, options);
    this.name = "StorageError";
  }
}

/** The application's lock could not be had within Rage's own schedule of 1.45 seconds. Named as Rage names it. */
export class DeadTasksLockTimeout extends StorageError {
  constructor(lockFile: string) {
    super(
      "lock-timeout",
      `${lockFile} stayed locked by another process for 1.45 seconds. Nothing was changed; try again, and if it persists, see which process holds the file.`,
    );
    this.name = "DeadTasksLockTimeout";
  }
}

/** Why an operating-system call failed, without a stack: `EACCES: permission denied`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's message ends in the call and the path (", open '/x'"), which the callers name in their own words.
  return "syscall" in error ? error.message.replace(/, \w+( '.*')*$/s, "") : error.message;
}

/**
 * A failure of the operating system as a StorageError; `doing` completes "Could not …". Anything else passes unchanged: a
 * StorageError says all there is, and a defect of ours must not look like a full disk.
 */
export function asStorageError(error: unknown, doing: string): unknown {
  const isSystemError = error instanceof Error && "code" in error && /^E[A-Z]/.test(String(error.code));
  if (!isSystemError) return error;
  return new StorageError("io", `Could not ${doing}: ${reasonOf(error)}.`, { cause: error });
}
