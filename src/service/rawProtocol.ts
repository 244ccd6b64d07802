import type { DetailOptions, TaskDetail } from "./protocol";

/**
 * What a line of a data file is. `current`: it stands for its id. `superseded`: a newer readable line of its id does.
 * `unreadable`: its checksum holds and its record cannot be read. `corrupt`: no valid frame. `torn`: the bytes after the last newline.
 */
export const lineStates = ["current", "superseded", "unreadable", "corrupt", "torn"] as const;
export type LineState = (typeof lineStates)[number];

/** How far the lines of a data file are known, and what they are. */
export interface RawTable {
  /** Absolute path. */
  readonly file: string;
  readonly exists: boolean;
  /** Another number than before: the file was replaced, so that line numbers and offsets are those of other lines. */
  readonly generation: number;
  /** Grows with each change of what is known. */
  readonly version: number;
  readonly bytesRead: number;
  readonly bytesTotal: number;
  /** Whether the file has been read to its end. */
  readonly complete: boolean;
  /** Lines by state, as far as the file has been read; a torn tail counts once it has been read to its end. */
  readonly counts: Readonly<Record<LineState, number>>;
  /** Bytes of the corrupt lines, newlines included. */
  readonly corruptBytes: number;
  /** Where the bytes after the last newline are; null where there are none, or the file has not been read so far. */
  readonly tornTail: { readonly offset: number; readonly length: number } | null;
}

/** A line as a row of a table. Texts are cut for display. */
export interface RawRow {
  /** 1-based, damaged lines included. */
  readonly line: number;
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Bytes, the newline included. */
  readonly length: number;
  readonly state: LineState;
  /** Null for damage. */
  readonly id: string | null;
  /** The line that stands for the id, where it is another one. */
  readonly standing: number | null;
  /** What is wrong with the line; null where nothing is. */
  readonly reason: string | null;
  /** Null where the record cannot be read, or is too large to be read for a list. */
  readonly record: RawRecordFront | null;
}

export interface RawRecordFront {
  readonly taskClass: string;
  /** Unix seconds. */
  readonly failedAt: number;
  readonly exceptionClass: string | null;
  readonly exceptionMessage: string;
}

/** A line that is looked for: the one that stands for an id, one by its number, or the next damaged one from a line on. */
export type RawTarget =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "line"; readonly line: number }
  | { readonly by: "damage"; readonly from: number; readonly direction: "next" | "previous" };

export interface RawPlace {
  readonly line: number;
  /** Its index among the lines of the states asked for; null where it is not among them. */
  readonly index: number | null;
}

/** A line with its record decoded. */
export interface RawLine {
  readonly row: RawRow;
  /** The whole id: `row` has it cut. */
  readonly id: string | null;
  /** Null where the record cannot be read. */
  readonly task: TaskDetail | null;
}

/**
 * The calls for a data file as a document. Those that take a `generation` answer null once the file is another: whoever asks
 * then begins again with `readRawLines`.
 */
export interface RawRequests {
  /**
   * Reads on where the last call stopped, for at most about `milliseconds`, and tells how far it came. Nothing is read between
   * the calls, so a reader stops by not calling again.
   */
  readRawLines(key: string, milliseconds: number): RawTable;
  /** At most 200 rows of these states in file order, from the index `start` among them. */
  rawRows(
    key: string,
    generation: number,
    states: readonly LineState[],
    start: number,
    count: number,
  ): readonly RawRow[] | null;
  /** Null, too, where there is no such line as far as the file has been read. */
  findRawLine(key: string, generation: number, target: RawTarget, states: readonly LineState[]): RawPlace | null;
  rawLine(key: string, generation: number, line: number, options: DetailOptions): RawLine | null;
  /** At most 1 MiB of a line from its byte `start` on, the newline included. */
  rawBytes(key: string, generation: number, line: number, start: number, count: number): Uint8Array | null;
  /** Forgets what is known of the lines. */
  closeRawLines(key: string): void;
}
