/** What is wrong with a Marshal stream or a dumped string. */
export type MarshalErrorCode =
  "truncated" | "version" | "unknown-type" | "bad-link" | "too-deep" | "too-many" | "trailing-bytes" | "invalid";

/** Bytes that cannot be read as what they claim to be. The message is one clause, fit to follow "cannot be read:". */
export class MarshalError extends Error {
  constructor(
    readonly code: MarshalErrorCode,
    message: string,
    /** Byte offset in the stream (or, for a tree that cannot be written, in the output) where it was noticed. */
    readonly offset: number,
  ) {
    super(message);
    this.name = "MarshalError";
  }
}
