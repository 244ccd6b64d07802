import { MarshalError } from "../../src/marshal";
import { StorageError } from "../../src/storage";
import { UnreadableRecordError } from "../../src/storage/record";
import type { Random } from "./random";

/** One thing that is fed with hostile bytes. */
export interface Target {
  readonly name: string;
  /** Of how many operations on the input a check consists, where that is more than one: each has its own second. */
  readonly operations?: number;
  /** How many inputs it gets in the short and in the long form. */
  readonly runs: { readonly short: number; readonly long: number };
  make(random: Random): Buffer;
  /** Throws where a promise is broken. Returns whether the bytes were taken for what they claim to be. */
  check(input: Buffer): boolean | Promise<boolean>;
}

/** What `read` returns; null where it refuses in the way that its callers are told of. Anything else that it throws passes. */
export function readOrRefused<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    const isRefusal =
      error instanceof MarshalError ||
      error instanceof UnreadableRecordError ||
      (error instanceof StorageError && error.code === "not-retryable");
    if (isRefusal && error.message !== "") return null;
    throw error;
  }
}
