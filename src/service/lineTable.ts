import { parseDeadTaskLine } from "../storage/frames";
import type { Line } from "../storage/lines";
import { frontByDecoding } from "../storage/recordIndex";
import { RecordReader } from "../storage/recordReader";
import { IdTable } from "./idTable";
import { lineStates, type LineState } from "./rawProtocol";

/** Where the id begins in a line: after `{crc}:dead_task:`. */
export const idStart = 19;
const firstCapacity = 1024;
const [current, superseded, unreadable, corrupt] = [0, 1, 2, 3];
/** States that lines of the file can have; a torn tail is not a line. */
const stored = lineStates.slice(0, 4);

/** Whether the line with this index has these bytes for an id. */
export type HasId = (index: number, id: Buffer) => boolean;

/**
 * Which lines a data file has and what each of them is, in some 25 bytes a line whatever their length; fed with lines in file order.
 * Of ids it keeps a number each, so whether two lines have one id is asked of `hasId`. Lines are told by their index, from 0 on.
 */
export class LineTable {
  /** Where each line begins. One ends where the next begins, the last one at `end`. */
  #offsets = new Float64Array(firstCapacity);
  #states = new Uint8Array(firstCapacity);
  /** For a line that another stands for: the index of that line, or of one from which this leads to it. Its own else. */
  #successors = new Uint32Array(firstCapacity);
  readonly #ids = new IdTable();
  readonly #reader = new RecordReader();
  readonly #counts = [0, 0, 0, 0];
  #count = 0;
  #end = 0;
  #corruptBytes = 0;

  get count(): number {
    return this.#count;
  }

  /** Everything before this offset has been taken. */
  get end(): number {
    return this.#end;
  }

  get corruptBytes(): number {
    return this.#corruptBytes;
  }

  countOf(state: LineState): number {
    return this.#counts[lineStates.indexOf(state)] ?? 0;
  }

  take(line: Line, hasId: HasId): void {
    if (this.#count === this.#offsets.length) this.#grow();
    const index = this.#count++;
    this.#offsets[index] = line.offset;
    this.#successors[index] = index;
    this.#end = line.offset + line.length + 1;
    const frame = parseDeadTaskLine(line.bytes, line.rest?.payloadChecksum);
    if (frame === null) {
      this.#corruptBytes += line.length + 1;
      this.#enter(index, corrupt);
      return;
    }
    const id = line.bytes.subarray(idStart, frame.dumpedAt - 1);
    const readable = line.rest === null && this.#isReadable(line.bytes, frame.dumpedAt);
    const before = this.#ids.find(id, (known) => hasId(known, id));
    this.#enter(index, readable ? current : unreadable);
    if (before === null) {
      this.#ids.add(index);
    } else if (readable || this.#states[before] === unreadable) {
      this.#ids.replace(index);
      this.#successors[before] = index;
      if (this.#states[before] === current) this.#change(before, superseded);
    } else {
      // The newest line of an id that can be read stands for it, also before newer ones that cannot.
      this.#successors[index] = before;
    }
  }

  #isReadable(bytes: Buffer, dumpedAt: number): boolean {
    return (
      this.#reader.whole(bytes, dumpedAt) !== null || typeof frontByDecoding(bytes.subarray(dumpedAt)) !== "string"
    );
  }

  #enter(index: number, state: number): void {
    this.#states[index] = state;
    this.#counts[state] = (this.#counts[state] ?? 0) + 1;
  }

  #change(index: number, state: number): void {
    const before = this.#states[index] ?? 0;
    this.#counts[before] = (this.#counts[before] ?? 0) - 1;
    this.#enter(index, state);
  }

  #grow(): void {
    const capacity = this.#offsets.length * 2;
    const offsets = new Float64Array(capacity);
    const states = new Uint8Array(capacity);
    const successors = new Uint32Array(capacity);
    offsets.set(this.#offsets);
    states.set(this.#states);
    successors.set(this.#successors);
    this.#offsets = offsets;
    this.#states = states;
    this.#successors = successors;
  }

  offset(index: number): number {
    return this.#offsets[index] ?? this.#end;
  }

  /** Bytes, the newline included. */
  length(index: number): number {
    return (index + 1 < this.#count ? this.offset(index + 1) : this.#end) - this.offset(index);
  }

  state(index: number): LineState {
    return stored[this.#states[index] ?? corrupt] ?? "corrupt";
  }

  /** The line that stands for this line's id: it may be this one. */
  standing(index: number): number {
    const successors = this.#successors;
    let last = index;
    while (successors[last] !== last) last = successors[last] ?? last;
    // A task that died a thousand times has a chain of a thousand lines: the next look at any of them is short.
    for (let at = index; at !== last;) {
      const next = successors[at] ?? last;
      successors[at] = last;
      at = next;
    }
    return last;
  }

  /** The line that stands for this id; null where no line has it. */
  find(id: Buffer, hasId: HasId): number | null {
    return this.#ids.find(id, (index) => hasId(index, id));
  }

  /** Lines of these states, in order: `count` from the one with the number `start` among them. */
  select(states: readonly LineState[], start: number, count: number): number[] {
    const wanted = wantedStates(states);
    const isEvery = wanted.every((one) => one === 1);
    const found: number[] = [];
    let passed = isEvery ? start : 0;
    for (let index = passed; index < this.#count && found.length < count; index++) {
      if (wanted[this.#states[index] ?? corrupt] !== 1) continue;
      if (passed++ >= start) found.push(index);
    }
    return found;
  }

  /** How many lines of these states stand before this one. */
  rank(states: readonly LineState[], index: number): number {
    const wanted = wantedStates(states);
    if (wanted.every((one) => one === 1)) return index;
    let rank = 0;
    for (let at = 0; at < index; at++) rank += wanted[this.#states[at] ?? corrupt] ?? 0;
    return rank;
  }

  /** The nearest corrupt line after or before this index; null where there is none. */
  nearestCorrupt(from: number, direction: "next" | "previous"): number | null {
    const found =
      direction === "next"
        ? this.#states.subarray(0, this.#count).indexOf(corrupt, Math.max(0, from + 1))
        : from <= 0
          ? -1
          : this.#states.subarray(0, Math.min(from, this.#count)).lastIndexOf(corrupt);
    return found < 0 ? null : found;
  }
}

function wantedStates(states: readonly LineState[]): Uint8Array {
  return Uint8Array.from(stored, (state) => (states.includes(state) ? 1 : 0));
}
