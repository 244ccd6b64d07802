import type { FileSystem } from "../storage/fileSystem";
import { checksumOf, parseDeadTaskLine } from "../storage/frames";
import { longestLine, readRange } from "../storage/lines";
import { idFromBytes } from "../storage/naming";
import { decodeRecord, UnreadableRecordError, type DeadTaskRecord } from "../storage/record";
import { frontByDecoding } from "../storage/recordIndex";
import { RecordReader, type RecordFront } from "../storage/recordReader";
import { idStart, type LineTable } from "./lineTable";
import type { DetailOptions } from "./protocol";
import type { RawLine, RawRecordFront, RawRow } from "./rawProtocol";
import { detailOf } from "./taskDetail";

// Bytes. What all rows of one request read together, since a page of a store of huge records must not take seconds.
const budgetOfRows = 16 << 20;
/** What is read of a line that is too long for the budget: enough for its id, unless that is huge as well. */
const frontOfLine = 4 << 10;
// Characters of what a row shows.
const longestId = 200;
const longestName = 200;
const longestMessage = 300;

/** Reads lines of an open data file for display. For one request, whose rows share a budget of bytes. */
export class RowReader {
  readonly #fileSystem: FileSystem;
  readonly #descriptor: number;
  readonly #table: LineTable;
  readonly #reader = new RecordReader();
  #budget = budgetOfRows;

  constructor(fileSystem: FileSystem, descriptor: number, table: LineTable) {
    this.#fileSystem = fileSystem;
    this.#descriptor = descriptor;
    this.#table = table;
  }

  row(index: number): RawRow {
    const length = this.#table.length(index) - 1;
    const isWhole = length <= this.#budget && length < longestLine;
    const bytes = this.#read(index, isWhole ? length : frontOfLine);
    this.#budget -= bytes.length;
    return this.#row(index, bytes, isWhole);
  }

  /** One line with all of its record, whatever its length below the longest that is ever held. */
  line(index: number, options: DetailOptions): RawLine {
    const length = this.#table.length(index) - 1;
    const isWhole = length < longestLine;
    const bytes = this.#read(index, isWhole ? length : frontOfLine);
    const row = this.#row(index, bytes, isWhole);
    if (row.state === "corrupt") return { row, id: null, task: null };
    const { id, dumpedAt } = idIn(bytes);
    const record = isWhole && row.state !== "unreadable" ? decoded(bytes.subarray(dumpedAt)) : null;
    return { row, id, task: record === null ? null : detailOf({ id, ...record }, options) };
  }

  #read(index: number, length: number): Buffer {
    return readRange(this.#fileSystem, this.#descriptor, this.#table.offset(index), length);
  }

  #row(index: number, bytes: Buffer, isWhole: boolean): RawRow {
    const table = this.#table;
    const state = table.state(index);
    const base = { line: index + 1, offset: table.offset(index), length: table.length(index), state };
    if (state === "corrupt") {
      return { ...base, id: null, standing: null, reason: whyCorrupt(bytes, isWhole), record: null };
    }
    const { id, dumpedAt } = idIn(bytes);
    const standing = table.standing(index);
    const front = isWhole ? this.#front(bytes, dumpedAt) : whyNotRead(base.length);
    return {
      ...base,
      id: cut(id, longestId),
      standing: standing === index ? null : standing + 1,
      reason: typeof front === "string" ? front : null,
      record: typeof front === "string" ? null : shownFront(front),
    };
  }

  /** What the record shows, or why it cannot be read; to its end, as the table looked at it. */
  #front(bytes: Buffer, dumpedAt: number): RecordFront | string {
    return this.#reader.whole(bytes, dumpedAt) ?? frontByDecoding(bytes.subarray(dumpedAt));
  }
}

function decoded(dumped: Buffer): DeadTaskRecord | null {
  try {
    return decodeRecord(dumped);
  } catch (error) {
    if (error instanceof UnreadableRecordError) return null;
    throw error;
  }
}

/** The id of a line with a valid frame, of which this is at least the front. */
function idIn(bytes: Buffer): { readonly id: string; readonly dumpedAt: number } {
  const colon = bytes.indexOf(":", idStart);
  const end = colon < 0 ? bytes.length : colon;
  return { id: idFromBytes(bytes, idStart, end), dumpedAt: end + 1 };
}

/** Ids are bytes in the file: the reverse of `idFromBytes`. */
export function bytesOfId(id: string): Buffer {
  if (!/\p{Surrogate}/u.test(id)) return Buffer.from(id, "utf8");
  return Buffer.from(Array.from(id, (one) => one.charCodeAt(0) & 0xff));
}

function whyNotRead(length: number): string {
  return length > longestLine ? `larger than ${longestLine >> 20} MiB` : "too large for a list; select it to read it";
}

function whyCorrupt(bytes: Buffer, isWhole: boolean): string {
  if (bytes.length === 0) return "an empty line";
  if (!/^[0-9a-f]{8}:/.test(bytes.toString("latin1", 0, 9))) return "it does not begin with a checksum";
  if (!isWhole) return "not a valid frame";
  if (checksumOf(bytes) === null) return "its checksum does not match";
  if (bytes.toString("latin1", 9, idStart) !== "dead_task:") return "not a dead task's line";
  return parseDeadTaskLine(bytes) === null ? "it has no id" : "not a valid frame when it was read";
}

function shownFront({ taskClass, failedAt, exceptionClass, exceptionMessage }: RecordFront): RawRecordFront {
  return {
    taskClass: cut(taskClass, longestName),
    failedAt,
    exceptionClass: exceptionClass === null ? null : cut(exceptionClass, longestName),
    exceptionMessage: cut(exceptionMessage, longestMessage),
  };
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}
