import {
  MarshalError,
  arrayElementSpans,
  readMarshal,
  textOf,
  writeMarshal,
  type RubyArray,
  type RubyValue,
} from "../marshal";
import { StorageError } from "./errors";

/** A task's context: what the worker needs to run it. Values are data and were never evaluated. */
export interface TaskContext {
  readonly taskClass: string;
  /** nil or an Array. */
  readonly args: RubyValue;
  /** nil or a Hash. */
  readonly kwargs: RubyValue;
  /** Null before the first failure. */
  readonly attempts: number | null;
  /** An Array of tags; older releases of Rage kept a request id, a String, in its place. */
  readonly logTags: RubyValue;
  readonly logContext: RubyValue;
  readonly userContext: RubyValue;
}

const nil: RubyValue = { type: "nil" };
const attemptsIndex = 3;

/**
 * Decodes a context, the Marshal stream of `[task class, args, kwargs, attempts, log tags, log context, user context]`, of which
 * older releases wrote the first 4, 5 or 6. Throws a `not-retryable` StorageError that says what is wrong with it.
 */
export function decodeContext(bytes: Uint8Array): TaskContext {
  return contextOf(readContext(bytes));
}

/** The Array that a context is, as data. Throws as `decodeContext` does. */
export function readContext(bytes: Uint8Array): RubyArray {
  const value = readOrRefuse(() => readMarshal(bytes));
  if (value.type !== "array") refuse(`it is ${nameOf(value)} instead of an Array`);
  return value;
}

/** What the elements of a context are. Throws as `decodeContext` does. */
export function contextOf(root: RubyArray): TaskContext {
  const [taskClass, args, kwargs, attempts, logTags = nil, logContext = nil, userContext = nil] = root.elements;
  if (taskClass === undefined || args === undefined || kwargs === undefined || attempts === undefined) {
    refuse(`it has ${root.elements.length} elements instead of at least 4`);
  }
  if (taskClass.type !== "module") refuse(`its task class is ${nameOf(taskClass)} instead of a Class`);
  if (args.type !== "nil" && args.type !== "array") refuse(`its args are ${nameOf(args)} instead of an Array`);
  if (kwargs.type !== "nil" && kwargs.type !== "hash") refuse(`its kwargs are ${nameOf(kwargs)} instead of a Hash`);
  if (attempts.type !== "nil" && attempts.type !== "integer") {
    refuse(`its attempts are ${nameOf(attempts)} instead of an Integer`);
  }
  return {
    taskClass: textOf(taskClass.name),
    args,
    kwargs,
    attempts: attempts.type === "nil" ? null : Number(attempts.value),
    logTags,
    logContext,
    userContext,
  };
}

/**
 * The context with which a task is replayed: attempts set to nil, every other byte as it was. An outside process cannot run
 * the application's enqueue middleware, so what that once put into the context is kept. Throws as `decodeContext` does.
 */
export function contextForReplay(bytes: Uint8Array): Uint8Array {
  decodeContext(bytes);
  const span = readOrRefuse(() => arrayElementSpans(bytes))?.[attemptsIndex];
  if (span === undefined) refuse("its root is not a plain Array");
  const isImmediate = bytes[span.start] === "i".charCodeAt(0) || bytes[span.start] === "0".charCodeAt(0);
  // Anything larger than a fixnum has a number of its own among the stream's objects; taking it out would shift the others.
  if (!isImmediate) refuse("its attempts are not a small Integer");
  return Buffer.concat([bytes.subarray(0, span.start), Buffer.from("0", "latin1"), bytes.subarray(span.end)]);
}

/** The context with which a task is replayed with other arguments: all else as it was. `args`, `kwargs`: as `TaskContext` has them. */
export function contextWithArguments(root: RubyArray, args: RubyValue, kwargs: RubyValue): Uint8Array {
  const [taskClass = nil, , , , ...rest] = root.elements;
  return writeMarshal({ ...root, elements: [taskClass, args, kwargs, nil, ...rest] });
}

function readOrRefuse<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof MarshalError) refuse(error.message);
    throw error;
  }
}

function refuse(reason: string): never {
  throw new StorageError("not-retryable", `The task's context cannot be decoded: ${reason}.`);
}

const names: Record<RubyValue["type"], string> = {
  nil: "nil",
  boolean: "a boolean",
  symbol: "a Symbol",
  integer: "an Integer",
  float: "a Float",
  string: "a String",
  regexp: "a Regexp",
  array: "an Array",
  hash: "a Hash",
  struct: "a Struct",
  object: "an object",
  "user-defined": "an object",
  "user-marshal": "an object",
  module: "a Class",
};

function nameOf(value: RubyValue): string {
  return names[value.type];
}
