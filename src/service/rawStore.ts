import { constants } from "node:fs";
import { asStorageError } from "../storage/errors";
import { openIfPresent, type FileSystem } from "../storage/fileSystem";
import { readFully, readLines, readRange } from "../storage/lines";
import { OperationQueue } from "../storage/queue";
import type { Snapshot } from "../storage/snapshot";
import { yieldToOthers } from "../storage/clock";
import type { DetailOptions } from "./protocol";
import type { LineState, RawLine, RawPlace, RawRow, RawTable, RawTarget } from "./rawProtocol";
import { idStart, LineTable } from "./lineTable";
import { RowReader, bytesOfId } from "./rawRows";

/** What a `RawStore` needs of a store; a `DeadTaskStore` has it. */
export interface RawSource {
  readonly names: { readonly dataFile: string };
  openSnapshot(): Promise<Snapshot | null>;
}

// How much is read before others on this thread get their turn.
const bytesBetweenPauses = 2 << 20;
// Enough of a line to hold its checksum, and small enough to keep.
const proofBytes = 64;
const mostRows = 200;
const mostBytes = 1 << 20;

/** Over all stores, so that no answer about one file is ever taken for one about another. */
let generations = 0;

/** A data file as a document: which lines it has, and what each of them holds. Failures are StorageErrors. */
export class RawStore {
  readonly #source: RawSource;
  readonly #fileSystem: FileSystem;
  readonly #turns = new OperationQueue();
  #table = new LineTable();
  #generation = ++generations;
  #version = 0;
  #identity: string | null = null;
  /** The beginning of the last line taken: an inode's number can come back with another file after two compactions. */
  #proof: { readonly offset: number; readonly bytes: Buffer } | null = null;
  #bytesTotal = 0;
  #complete = false;
  #tornBytes = 0;
  #seen = "";

  constructor(source: RawSource, fileSystem: FileSystem) {
    this.#source = source;
    this.#fileSystem = fileSystem;
  }

  /** Reads on for about so many milliseconds; a single line is always read to its end. */
  async read(milliseconds: number): Promise<RawTable> {
    return await this.#turns.run("", () => this.#guard(() => this.#read(performance.now() + milliseconds)));
  }

  async #read(until: number): Promise<RawTable> {
    const snapshot = await this.#source.openSnapshot();
    try {
      if (this.#table.count > 0 && (snapshot === null || !this.#continues(snapshot))) this.#begin();
      this.#identity = snapshot?.stat.identity ?? null;
      this.#bytesTotal = snapshot?.stat.size ?? 0;
      this.#complete = snapshot === null || (await this.#take(snapshot, until));
      this.#tornBytes = this.#complete ? this.#bytesTotal - this.#table.end : 0;
    } finally {
      if (snapshot !== null) this.#fileSystem.close(snapshot.descriptor);
    }
    return this.#told();
  }

  #begin(): void {
    this.#table = new LineTable();
    this.#generation = ++generations;
    this.#proof = null;
  }

  #continues(snapshot: Snapshot): boolean {
    if (this.#identity !== snapshot.stat.identity || snapshot.end < this.#table.end) return false;
    if (this.#proof === null) return true;
    const { offset, bytes } = this.#proof;
    return readRange(this.#fileSystem, snapshot.descriptor, offset, bytes.length).equals(bytes);
  }

  /** Takes lines until the time is over; true where none is left. */
  async #take({ descriptor, end }: Snapshot, until: number): Promise<boolean> {
    const table = this.#table;
    const known = Buffer.allocUnsafe(1 << 16);
    const hasId = this.#hasId(descriptor, known);
    let nextPause = table.end + bytesBetweenPauses;
    for (const line of readLines(this.#fileSystem, descriptor, table.end, end)) {
      table.take(line, hasId);
      if (performance.now() > until) break;
      if (table.end < nextPause) continue;
      nextPause = table.end + bytesBetweenPauses;
      await yieldToOthers();
    }
    const last = table.count - 1;
    if (last >= 0) {
      const offset = table.offset(last);
      const length = Math.min(proofBytes, table.length(last));
      this.#proof = { offset, bytes: readRange(this.#fileSystem, descriptor, offset, length) };
    }
    return table.end === end;
  }

  /** Compares an id with that of a line, which is read from the file: only lines with one hash are ever asked for. */
  #hasId(descriptor: number, buffer: Buffer): (index: number, id: Buffer) => boolean {
    return (index, id) => {
      const offset = this.#table.offset(index) + idStart;
      const target = id.length < buffer.length ? buffer : Buffer.allocUnsafe(id.length + 1);
      const read = readFully(this.#fileSystem, descriptor, target, id.length + 1, offset);
      return read === id.length + 1 && target[id.length] === colon && target.subarray(0, id.length).equals(id);
    };
  }

  #told(): RawTable {
    const table = this.#table;
    const torn = this.#tornBytes;
    const told = {
      file: this.#source.names.dataFile,
      exists: this.#identity !== null,
      generation: this.#generation,
      bytesRead: table.end + torn,
      bytesTotal: this.#bytesTotal,
      complete: this.#complete,
      counts: {
        current: table.countOf("current"),
        superseded: table.countOf("superseded"),
        unreadable: table.countOf("unreadable"),
        corrupt: table.countOf("corrupt"),
        torn: torn > 0 ? 1 : 0,
      },
      corruptBytes: table.corruptBytes,
      tornTail: torn > 0 ? { offset: table.end, length: torn } : null,
    };
    const seen = JSON.stringify(told);
    if (seen !== this.#seen) this.#version += 1;
    this.#seen = seen;
    return { ...told, version: this.#version };
  }

  rows(generation: number, states: readonly LineState[], start: number, count: number): Promise<RawRow[] | null> {
    return this.#withFile(generation, (descriptor) => {
      const reader = new RowReader(this.#fileSystem, descriptor, this.#table);
      const wanted = Math.min(count, mostRows);
      const rows = this.#table.select(states, start, wanted).map((index) => reader.row(index));
      const hasRoom = rows.length < wanted && start + rows.length === this.#table.rank(states, this.#table.count);
      if (hasRoom && this.#tornBytes > 0 && states.includes("torn")) rows.push(this.#tornRow());
      return rows;
    });
  }

  find(generation: number, target: RawTarget, states: readonly LineState[]): Promise<RawPlace | null> {
    return this.#withFile(generation, (descriptor) => {
      const index = this.#find(target, descriptor);
      if (index === null) return null;
      const isAmong = states.includes(this.#state(index));
      return { line: index + 1, index: isAmong ? this.#table.rank(states, index) : null };
    });
  }

  /** The index of a line; that of a torn tail is the number of lines. */
  #find(target: RawTarget, descriptor: number): number | null {
    const table = this.#table;
    const torn = this.#tornBytes > 0 ? table.count : null;
    switch (target.by) {
      case "id":
        // As long as lines are left, a newer one may stand for the id.
        return this.#complete
          ? table.find(bytesOfId(target.id), this.#hasId(descriptor, Buffer.allocUnsafe(1 << 16)))
          : null;
      case "line":
        return this.#has(target.line - 1) ? target.line - 1 : null;
      case "damage": {
        const from = target.from - 1;
        const corrupt = table.nearestCorrupt(from, target.direction);
        if (target.direction === "next") return corrupt ?? (torn !== null && torn > from ? torn : null);
        return torn !== null && torn < from ? torn : corrupt;
      }
    }
  }

  line(generation: number, line: number, options: DetailOptions): Promise<RawLine | null> {
    return this.#withFile(generation, (descriptor) => {
      const index = line - 1;
      if (!this.#has(index)) return null;
      if (index === this.#table.count) return { row: this.#tornRow(), id: null, task: null };
      return new RowReader(this.#fileSystem, descriptor, this.#table).line(index, options);
    });
  }

  bytes(generation: number, line: number, start: number, count: number): Promise<Uint8Array | null> {
    return this.#withFile(generation, (descriptor) => {
      const index = line - 1;
      if (!this.#has(index)) return null;
      const length = index === this.#table.count ? this.#tornBytes : this.#table.length(index);
      const from = Math.min(Math.max(0, start), length);
      const wanted = Math.min(Math.max(0, count), mostBytes, length - from);
      return new Uint8Array(readRange(this.#fileSystem, descriptor, this.#table.offset(index) + from, wanted));
    });
  }

  #has(index: number): boolean {
    return index >= 0 && index < this.#table.count + (this.#tornBytes > 0 ? 1 : 0);
  }

  #state(index: number): LineState {
    return index < this.#table.count ? this.#table.state(index) : "torn";
  }

  #tornRow(): RawRow {
    return {
      line: this.#table.count + 1,
      offset: this.#table.end,
      length: this.#tornBytes,
      state: "torn",
      id: null,
      standing: null,
      reason: "an unfinished write: no newline at its end; the next append removes it",
      record: null,
    };
  }

  /** With the file open, provided that it is still the one that the lines are of; null where it is not. */
  async #withFile<Result>(generation: number, use: (descriptor: number) => Result | null): Promise<Result | null> {
    return await this.#guard(() => {
      if (generation !== this.#generation || this.#identity === null) return Promise.resolve(null);
      const descriptor = openIfPresent(this.#fileSystem, this.#source.names.dataFile, constants.O_RDONLY);
      if (descriptor === null) return Promise.resolve(null);
      try {
        const isSame = this.#fileSystem.fstat(descriptor).identity === this.#identity;
        return Promise.resolve(isSame ? use(descriptor) : null);
      } finally {
        this.#fileSystem.close(descriptor);
      }
    });
  }

  async #guard<Result>(operation: () => Promise<Result>): Promise<Result> {
    try {
      return await operation();
    } catch (error) {
      throw asStorageError(error, `read ${this.#source.names.dataFile}`);
    }
  }
}

const colon = 0x3a;
