import type { Damage, LinePosition, UnreadableTask } from "./backend";
import { parseDeadTaskLine } from "./frames";
import { longestLine, type Line } from "./lines";
import { UnreadableRecordError, decodeRecord, type DeadTaskRecord } from "./record";
import { RecordReader, type RecordFront } from "./recordReader";

/** Where the line that stands for an id is. `checksum` tells whether a line is still the same after a compaction. */
export interface IndexedRecord extends LinePosition {
  readonly checksum: number;
  /** Why the record cannot be read; null where it can. */
  readonly unreadable: string | null;
  /** Null where the record cannot be read, and of one that is very long or one of very many. */
  readonly taskClass: string | null;
}

// Many tasks are of few classes: each name is kept once, and what is kept of hostile ones is bounded.
const longestClassName = 200;
const mostClassNames = 10_000;

/** Which lines an index takes. */
export interface IndexOptions {
  /** Ids other than these are passed over; null for all. */
  readonly only?: ReadonlySet<string> | null;
  /** Offsets of lines that are known to be unreadable, with the reason. */
  readonly knownUnreadable?: ReadonlyMap<number, string>;
}

const nothingKnown: ReadonlyMap<number, string> = new Map();

/**
 * Which line stands for each id, fed with lines in file order. The newest readable line of an id wins, and its position is
 * the task's; an id without a readable line is kept as unreadable. Iterates in natural order, oldest winner first.
 */
export class RecordIndex {
  readonly records = new Map<string, IndexedRecord>();
  readonly #reader = new RecordReader();
  readonly #only: ReadonlySet<string> | null;
  readonly #knownUnreadable: ReadonlyMap<number, string>;
  readonly #classNames = new Map<string, string>();
  #damagedLines = 0;
  #damagedBytes = 0;
  #unreadableCount = 0;

  constructor({ only = null, knownUnreadable = nothingKnown }: IndexOptions = {}) {
    this.#only = only;
    this.#knownUnreadable = knownUnreadable;
  }

  /** How many ids have a readable line. */
  get taskCount(): number {
    return this.records.size - this.#unreadableCount;
  }

  get unreadable(): UnreadableTask[] {
    if (this.#unreadableCount === 0) return [];
    return [...this.records].flatMap(([id, { offset, length, unreadable }]) =>
      unreadable === null ? [] : [{ kind: "unreadable" as const, id, reason: unreadable, offset, length }],
    );
  }

  damage(tornTailBytes: number): Damage {
    return { lines: this.#damagedLines, bytes: this.#damagedBytes, tornTailBytes };
  }

  /**
   * Takes one line; returns what a list shows of it where it is the new winner of its id. With the depth `front` the record is
   * read no further than that, which takes a fraction of the time; what is wrong further back then goes unnoticed.
   */
  take(line: Line, depth: "whole" | "front" = "whole"): { readonly id: string; readonly front: RecordFront } | null {
    const frame = parseDeadTaskLine(line.bytes, line.rest?.payloadChecksum);
    if (frame === null) {
      this.#damagedLines += 1;
      this.#damagedBytes += line.length + 1;
      return null;
    }
    const { id, checksum, dumpedAt } = frame;
    if (this.#only?.has(id) === false) return null;
    const known = this.records.get(id);
    const front = this.#read(line, dumpedAt, depth);
    const unreadable = typeof front === "string" ? front : null;
    if (unreadable === null || known?.unreadable !== null) {
      const taskClass = typeof front === "string" ? null : this.#className(front.taskClass);
      this.#win(id, known, { offset: line.offset, length: line.length + 1, checksum, unreadable, taskClass });
    }
    return typeof front === "string" ? null : { id, front };
  }

  /** What the record shows, or why it cannot be read. */
  #read({ bytes, offset, rest }: Line, dumpedAt: number, depth: "whole" | "front"): RecordFront | string {
    if (rest !== null) return `larger than ${longestLine >> 20} MiB`;
    const known = this.#knownUnreadable.get(offset);
    if (known !== undefined) return known;
    return this.#reader[depth](bytes, dumpedAt) ?? frontByDecoding(bytes.subarray(dumpedAt));
  }

  #className(name: string): string | null {
    const known = this.#classNames.get(name);
    if (known !== undefined) return known;
    if (name.length > longestClassName || this.#classNames.size >= mostClassNames) return null;
    this.#classNames.set(name, name);
    return name;
  }

  #win(id: string, before: IndexedRecord | undefined, record: IndexedRecord): void {
    if (before !== undefined) {
      // Taken out first, since the id's place in the Map's order is that of its winner in the file.
      this.records.delete(id);
      if (before.unreadable !== null) this.#unreadableCount -= 1;
    }
    this.records.set(id, record);
    if (record.unreadable !== null) this.#unreadableCount += 1;
  }
}

/** What a list shows of a record, and nothing else of it. */
export function frontOf(record: DeadTaskRecord): RecordFront {
  const { taskClass, attempts, enqueuedAt, failedAt, exceptionClass, exceptionMessage } = record;
  return { taskClass, attempts, enqueuedAt, failedAt, exceptionClass, exceptionMessage };
}

/** What the full decoder makes of a record, or why it cannot be read. */
export function frontByDecoding(dumped: Buffer): RecordFront | string {
  try {
    return frontOf(decodeRecord(dumped));
  } catch (error) {
    if (error instanceof UnreadableRecordError) return error.reason;
    throw error;
  }
}
