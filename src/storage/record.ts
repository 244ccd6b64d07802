import {
  MarshalError,
  inspect,
  readMarshal,
  textOf,
  undumpString,
  writeMarshal,
  type InstanceVariable,
  type RubyHash,
  type RubyString,
  type RubySymbol,
  type RubyValue,
} from "../marshal";

/** A dead task's record as Rage wrote it. Text that is not UTF-8 has U+FFFD in place of the bytes that are not. */
export interface DeadTaskRecord {
  readonly taskClass: string;
  readonly attempts: number;
  /** Unix seconds as stored; Rage stores 0 where the id does not begin with a time. */
  readonly enqueuedAt: number;
  /** Unix seconds. */
  readonly failedAt: number;
  /** Null for an anonymous exception class. */
  readonly exceptionClass: string | null;
  /** Of one that is longer than `longestText` the front, with `…` after it. */
  readonly exceptionMessage: string;
  readonly backtrace: readonly string[];
  /** A Marshal stream of its own; see `context.ts`. Kept as bytes so that a replay can keep every one. */
  readonly context: Uint8Array;
  /** Keys beyond the known ones; see `extraTexts`. */
  readonly extra: readonly { readonly name: string; readonly value: RubyValue }[];
}

/** A record that cannot be read, with a reason fit for a user. Its line can be shown raw and deleted, not retried. */
export class UnreadableRecordError extends Error {
  constructor(readonly reason: string) {
    super(reason);
    this.name = "UnreadableRecordError";
  }
}

const knownKeys = new Set([
  "id",
  "task_class",
  "attempts",
  "enqueued_at",
  "failed_at",
  "exception_class",
  "exception_message",
  "backtrace",
  "context",
]);

/** Decodes the dumped part of a dead-task frame. Throws `UnreadableRecordError`; evaluates nothing. */
export function decodeRecord(dumped: Uint8Array): DeadTaskRecord {
  let value: RubyValue;
  try {
    value = readMarshal(undumpString(dumped));
  } catch (error) {
    if (error instanceof MarshalError) throw new UnreadableRecordError(`not a readable Marshal dump: ${error.message}`);
    throw error;
  }
  if (value.type !== "hash") throw new UnreadableRecordError("the record is not a Hash");
  const fields = symbolKeys(value);
  return {
    taskClass: text(fields, "task_class"),
    attempts: integer(fields, "attempts"),
    enqueuedAt: integer(fields, "enqueued_at"),
    failedAt: integer(fields, "failed_at"),
    exceptionClass: optionalText(fields, "exception_class"),
    exceptionMessage: optionalText(fields, "exception_message") ?? "",
    backtrace: backtrace(fields),
    context: bytes(fields, "context"),
    extra: extra(fields),
  };
}

function extra(fields: Map<string, RubyValue>): DeadTaskRecord["extra"] {
  return [...fields].filter(([name]) => !knownKeys.has(name)).map(([name, value]) => ({ name, value }));
}

function symbolKeys(hash: RubyHash): Map<string, RubyValue> {
  const fields = new Map<string, RubyValue>();
  for (const [key, value] of hash.entries) {
    if (key.type === "symbol") fields.set(textOf(key.bytes), value);
  }
  return fields;
}

function stringField(fields: Map<string, RubyValue>, name: string): RubyString {
  const value = fields.get(name);
  if (value?.type !== "string") throw new UnreadableRecordError(`the record has no ${name}`);
  return value;
}

/** Bytes of a text as it is shown. More is not read by anybody, and as text it would take several times the room. */
export const longestText = 1 << 20;

function text(fields: Map<string, RubyValue>, name: string): string {
  return textUpTo(longestText, stringField(fields, name).bytes);
}

function textUpTo(longest: number, bytes: Uint8Array): string {
  return bytes.length <= longest ? textOf(bytes) : `${textOf(bytes.subarray(0, longest))}…`;
}

function bytes(fields: Map<string, RubyValue>, name: string): Uint8Array {
  return stringField(fields, name).bytes;
}

function optionalText(fields: Map<string, RubyValue>, name: string): string | null {
  const value = fields.get(name);
  return value === undefined || value.type === "nil" ? null : text(fields, name);
}

function integer(fields: Map<string, RubyValue>, name: string): number {
  const value = fields.get(name);
  if (value?.type !== "integer") throw new UnreadableRecordError(`the record has no ${name}`);
  return Number(value.value);
}

function backtrace(fields: Map<string, RubyValue>): string[] {
  const value = fields.get("backtrace");
  if (value === undefined || value.type === "nil") return [];
  if (value.type !== "array") throw new UnreadableRecordError("the record's backtrace is not an Array");
  const lines = value.elements.slice(0, mostBacktraceLines).map(backtraceLine);
  const left = value.elements.length - lines.length;
  return left === 0 ? lines : [...lines, `… and ${left} more`];
}

// Rage keeps 20 lines; what is more has another origin, and many references to one long line would be a lot of text.
const mostBacktraceLines = 200;
const longestBacktraceLine = 10_000;

function backtraceLine(element: RubyValue): string {
  if (element.type !== "string") return inspect(element, { maxLength: 1_000 });
  return textUpTo(longestBacktraceLine, element.bytes);
}

/** What `encodeRecord` takes: the fields of a record before they are Ruby's. */
export interface NewDeadTask extends Omit<DeadTaskRecord, "extra"> {
  readonly id: string;
}

/** The Marshal stream of a record, with the keys, their order and the encodings that Rage gives them. */
export function encodeRecord(task: NewDeadTask): Uint8Array {
  const symbols = new Map<string, RubySymbol>();
  const symbol = (name: string): RubySymbol => {
    const known = symbols.get(name);
    if (known !== undefined) return known;
    const made: RubySymbol = { type: "symbol", bytes: Buffer.from(name, "utf8"), instanceVariables: [] };
    symbols.set(name, made);
    return made;
  };
  const plain = { extendedBy: [], userClass: null };
  const encoded = (value: string, isUtf8: boolean): RubyString => {
    const encoding: InstanceVariable = { name: symbol("E"), value: { type: "boolean", value: isUtf8 } };
    return { type: "string", bytes: Buffer.from(value, "utf8"), instanceVariables: [encoding], ...plain };
  };
  // A class's name is US-ASCII in Ruby as long as it is plain ASCII; everything else here is UTF-8.
  const className = (value: string): RubyString => encoded(value, /[^\0-\x7f]/.test(value));
  const number = (value: number): RubyValue => ({
    type: "integer",
    value: BigInt(value),
    // Marshal's small form holds 31 bits.
    encoding: value >= -(2 ** 30) && value < 2 ** 30 ? "fixnum" : "bignum",
    instanceVariables: [],
    ...plain,
  });
  const fields: [string, RubyValue][] = [
    ["id", encoded(task.id, true)],
    ["task_class", className(task.taskClass)],
    ["attempts", number(task.attempts)],
    ["enqueued_at", number(task.enqueuedAt)],
    ["failed_at", number(task.failedAt)],
    ["exception_class", task.exceptionClass === null ? { type: "nil" } : className(task.exceptionClass)],
    ["exception_message", encoded(task.exceptionMessage, true)],
    [
      "backtrace",
      {
        type: "array",
        elements: task.backtrace.slice(0, 20).map((line) => encoded(line, true)),
        instanceVariables: [],
        ...plain,
      },
    ],
    ["context", { type: "string", bytes: task.context, instanceVariables: [], ...plain }],
  ];
  return writeMarshal({
    type: "hash",
    entries: fields.map(([name, value]) => [symbol(name), value] as const),
    defaultValue: null,
    comparesByIdentity: false,
    instanceVariables: [],
    ...plain,
  });
}
