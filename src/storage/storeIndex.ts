import type { Damage, DeadTask, UnreadableTask } from "./backend";
import { yieldToOthers } from "./clock";
import type { DeadTaskStore } from "./deadTaskStore";
import { StorageError, asStorageError } from "./errors";
import type { FileSystem } from "./fileSystem";
import { parseDeadTaskLine } from "./frames";
import { endOfLastLine, readLines, readRange, type Line } from "./lines";
import { readTask } from "./listing";
import { UnreadableRecordError } from "./record";
import { RecordIndex, frontByDecoding, type IndexedRecord } from "./recordIndex";
import { RecordReader, type RecordFront } from "./recordReader";
import { visitLines, type Snapshot } from "./snapshot";

/** What `StoreIndex` tells while it reads. */
export interface IndexListener {
  /** A task that is new or whose winning line changed. */
  task(id: string, front: RecordFront): void;
  /** Ids of which no task is listed any more, be it that its line is gone or that what is left of it is unreadable. */
  gone(ids: readonly string[]): void;
  /** Called now and then while a long read goes on. */
  progress(bytesRead: number, bytesTotal: number): void;
  /** Before a long first read: the newest tasks, newest first. All are told again, as tasks, when their turn comes. */
  newest(tasks: readonly { readonly id: string; readonly front: RecordFront }[]): void;
}

interface Indexed {
  readonly identity: string;
  /** Everything before this offset has been taken. */
  readonly end: number;
  /** The last line taken, without its newline: proof that the file is still the one that was read. */
  readonly lastLine: { readonly offset: number; readonly bytes: Buffer } | null;
}

// Enough of a line to hold its checksum, and small enough to keep.
const proofBytes = 64;
// A first read of more bytes than this begins with a look at the newest tasks.
const longRead = 4 << 20;
const newestBytes = 1 << 20;
// What one call of `verifyNext` reads at most, give or take a line.
const verifiedAtOnce = 4 << 20;
// Records that `records` decodes before others on this thread get their turn.
const recordsAtOnce = 50;

/** One pass over new lines. */
interface Reading {
  readonly index: RecordIndex;
  readonly snapshot: Snapshot;
  readonly start: number;
  readonly depth: "whole" | "front";
  readonly listener: IndexListener;
  readonly signal: AbortSignal | undefined;
}

/** How far the records of a file have been read to their ends, and which could not be. */
interface Verification {
  verifiedTo: number;
  /** By the offset of the line: why its record cannot be read. */
  readonly unreadable: Map<number, string>;
}

/**
 * A store's index, kept up to date by reading only what is new: the same file and longer means the new tail, anything else
 * means reading it anew and telling the differences. Memory follows the number of tasks, not their size.
 *
 * A file read anew is read at the front of its records, for speed; `verifyNext` reads them to their ends afterwards.
 */
export class StoreIndex {
  readonly #store: DeadTaskStore;
  readonly #fileSystem: FileSystem;
  #index = new RecordIndex();
  #indexed: Indexed | null = null;
  #verification: Verification | null = null;
  /** The newest tasks, for as long as the first read of a long file goes on; null otherwise. */
  #newestIndex: RecordIndex | null = null;
  #tornTailBytes = 0;
  /** Null before the first look. */
  #exists: boolean | null = null;

  constructor(store: DeadTaskStore, fileSystem: FileSystem) {
    this.#store = store;
    this.#fileSystem = fileSystem;
  }

  get exists(): boolean {
    return this.#exists === true;
  }

  get damage(): Damage {
    return this.#index.damage(this.#tornTailBytes);
  }

  get taskCount(): number {
    return this.#index.taskCount;
  }

  get unreadable(): UnreadableTask[] {
    return this.#index.unreadable;
  }

  get(id: string): IndexedRecord | undefined {
    return this.#index.records.get(id);
  }

  /** As far as it is known: while a first read goes on, of the newest tasks and those that were read. */
  taskClass(id: string): string | null {
    return (this.#index.records.get(id) ?? this.#newestIndex?.records.get(id))?.taskClass ?? null;
  }

  /** Whether the file as it was last seen has been read, so that an id that is not here is not in it. */
  get isComplete(): boolean {
    return this.#indexed !== null || this.#exists === false;
  }

  /**
   * The records of these ids, read at the places where the index has them; while a first read goes on, those of the newest
   * tasks. An id is left out where the index does not have it, or where a look at all of the file must tell what stands for it.
   * Null where the file is not the one that was indexed any more. Throws StorageErrors.
   */
  async records(ids: readonly string[]): Promise<Map<string, DeadTask | UnreadableTask> | null> {
    const snapshot = await this.#store.openSnapshot();
    if (snapshot === null) return null;
    try {
      const index = this.isComplete ? this.#index : this.#newestIndex;
      if (index === null || (this.isComplete && this.#continuesFrom(snapshot) === null)) return null;
      const found = new Map<string, DeadTask | UnreadableTask>();
      for (const [count, id] of ids.entries()) {
        const position = index.records.get(id);
        const record = position === undefined ? null : this.#record(snapshot, id, position);
        if (record !== null) found.set(id, record);
        if ((count + 1) % recordsAtOnce === 0) await yieldToOthers();
      }
      return found;
    } catch (error) {
      throw asStorageError(error, `read ${this.#store.names.dataFile}`);
    } finally {
      this.#fileSystem.close(snapshot.descriptor);
    }
  }

  #record(snapshot: Snapshot, id: string, record: IndexedRecord): DeadTask | UnreadableTask | null {
    const { offset, length, unreadable } = record;
    if (unreadable !== null) return { kind: "unreadable", id, reason: unreadable, offset, length };
    try {
      return readTask(this.#fileSystem, snapshot, id, record);
    } catch (error) {
      // Read at its front alone so far, so that an older line may have to stand for it; or the file was just replaced.
      if (error instanceof UnreadableRecordError || error instanceof StorageError) return null;
      throw error;
    }
  }

  /** Whether every record was read to its end, so that what is listed as readable is. */
  get isVerified(): boolean {
    return this.#indexed === null || (this.#verification?.verifiedTo ?? 0) >= this.#indexed.end;
  }

  /**
   * Reads some more records to their ends, and corrects the index once all are and some cannot be read. To be called until
   * `isVerified`, with refreshes in between as they come. Returns false where it got no further, since the file is not the one
   * that was indexed any more: then it goes on after the refresh which that brings. Throws StorageErrors.
   */
  async verifyNext(listener: IndexListener): Promise<boolean> {
    const snapshot = await this.#store.openSnapshot();
    if (snapshot === null) return false;
    let outcome: "stays" | "advanced" | "corrects";
    try {
      outcome = this.#verifySome(snapshot);
    } catch (error) {
      throw asStorageError(error, `read ${this.#store.names.dataFile}`);
    } finally {
      this.#fileSystem.close(snapshot.descriptor);
    }
    if (outcome === "corrects") {
      this.#indexed = null;
      await this.refresh(listener);
    }
    return outcome !== "stays";
  }

  /** `corrects`: no record is left to verify, and one that is listed as readable turned out not to be. */
  #verifySome(snapshot: Snapshot): "stays" | "advanced" | "corrects" {
    const indexed = this.#indexed;
    const verification = this.#verification;
    if (indexed === null || verification === null || this.#continuesFrom(snapshot) === null) return "stays";
    const reader = new RecordReader();
    const until = verification.verifiedTo + verifiedAtOnce;
    for (const line of readLines(this.#fileSystem, snapshot.descriptor, verification.verifiedTo, indexed.end)) {
      // An overlong line is listed as unreadable from the first.
      const frame = line.rest === null ? parseDeadTaskLine(line.bytes) : null;
      if (frame !== null && reader.whole(line.bytes, frame.dumpedAt) === null) {
        const front = frontByDecoding(line.bytes.subarray(frame.dumpedAt));
        if (typeof front === "string") verification.unreadable.set(line.offset, front);
      }
      verification.verifiedTo = line.offset + line.length + 1;
      if (verification.verifiedTo >= until) break;
    }
    if (verification.verifiedTo < indexed.end) return "advanced";
    const isListed = ({ offset, unreadable }: IndexedRecord): boolean =>
      unreadable === null && verification.unreadable.has(offset);
    return [...this.#index.records.values()].some(isListed) ? "corrects" : "advanced";
  }

  /**
   * Brings the index up to date. Throws StorageErrors; what was known before stays known then. An abort of `signal` stops it
   * with the code `cancelled`.
   */
  async refresh(listener: IndexListener, signal?: AbortSignal): Promise<void> {
    try {
      await this.#refresh(listener, signal);
    } catch (error) {
      throw asStorageError(error, `read ${this.#store.names.dataFile}`);
    }
  }

  async #refresh(listener: IndexListener, signal: AbortSignal | undefined): Promise<void> {
    const snapshot = await this.#store.openSnapshot();
    this.#exists = snapshot !== null;
    if (snapshot === null) {
      const known = [...this.#index.records.keys()];
      this.#index = new RecordIndex();
      this.#indexed = null;
      this.#verification = null;
      this.#tornTailBytes = 0;
      if (known.length > 0) listener.gone(known);
      return;
    }
    try {
      const start = this.#continuesFrom(snapshot);
      if (start === null) await this.#readAnew(snapshot, listener, signal);
      else await this.#readOn(snapshot, start, listener, signal);
      this.#tornTailBytes = snapshot.stat.size - snapshot.end;
    } catch (error) {
      // Half of the new lines may have been taken: the next refresh starts from the beginning.
      this.#indexed = null;
      this.#verification = null;
      throw error;
    } finally {
      this.#fileSystem.close(snapshot.descriptor);
    }
  }

  /** The offset from which the snapshot only adds to what was read; null where it is another file. */
  #continuesFrom(snapshot: Snapshot): number | null {
    const indexed = this.#indexed;
    if (indexed === null) return null;
    if (indexed.identity !== snapshot.stat.identity || snapshot.end < indexed.end) return null;
    if (indexed.lastLine !== null) {
      // An inode's number can come back with another file after two compactions.
      const { offset, bytes } = indexed.lastLine;
      if (!readRange(this.#fileSystem, snapshot.descriptor, offset, bytes.length).equals(bytes)) return null;
    }
    return indexed.end;
  }

  /** The new lines of the file that is indexed: few, so they are read to their ends at once. */
  async #readOn(
    snapshot: Snapshot,
    start: number,
    listener: IndexListener,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const wasVerified = this.isVerified;
    const reading: Reading = { index: this.#index, snapshot, start, depth: "whole", listener, signal };
    await this.#visit(reading, (id, front) => {
      listener.task(id, front);
    });
    if (wasVerified && this.#verification !== null) this.#verification.verifiedTo = snapshot.end;
  }

  async #readAnew(snapshot: Snapshot, listener: IndexListener, signal: AbortSignal | undefined): Promise<void> {
    const before = this.#index.records;
    // Kept only when verifying found something: another file starts anew, even one with the number of the old one's inode.
    const known = this.#indexed === null ? this.#verification : null;
    const depth = snapshot.end > longRead ? "front" : "whole";
    this.#verification = known ?? { verifiedTo: depth === "whole" ? snapshot.end : 0, unreadable: new Map() };
    const index = new RecordIndex({ knownUnreadable: this.#verification.unreadable });
    const reading: Reading = { index, snapshot, start: 0, depth, listener, signal };
    if (before.size === 0) {
      this.#index = index;
      if (depth === "front") listener.newest(this.#newest(snapshot));
      try {
        await this.#visit(reading, (id, front) => {
          listener.task(id, front);
        });
      } finally {
        this.#newestIndex = null;
      }
      return;
    }
    // Told at the end: until then a line can still be superseded, and what did not change must not flicker.
    const changed = new Map<string, RecordFront>();
    await this.#visit(reading, (id, front) => {
      changed.delete(id);
      if (before.get(id)?.checksum !== index.records.get(id)?.checksum) changed.set(id, front);
    });
    this.#index = index;
    const gone = [...before]
      .filter(([id, { unreadable }]) => {
        const record = index.records.get(id);
        return record === undefined || (unreadable === null && record.unreadable !== null);
      })
      .map(([id]) => id);
    if (gone.length > 0) listener.gone(gone);
    for (const [id, front] of changed) listener.task(id, front);
  }

  /**
   * The winners among the last lines: whatever stands before them, no line after them can take their place. Read at the front
   * alone, since something is to be seen soon; the whole list follows.
   */
  #newest(snapshot: Snapshot): { id: string; front: RecordFront }[] {
    const index = new RecordIndex();
    this.#newestIndex = index;
    const fronts = new Map<string, RecordFront>();
    const start = endOfLastLine(this.#fileSystem, snapshot.descriptor, Math.max(0, snapshot.end - newestBytes));
    for (const line of readLines(this.#fileSystem, snapshot.descriptor, start, snapshot.end)) {
      const winner = index.take(line, "front");
      if (winner === null) continue;
      fronts.delete(winner.id);
      fronts.set(winner.id, winner.front);
    }
    return [...fronts].map(([id, front]) => ({ id, front })).reverse();
  }

  async #visit(
    { index, snapshot, start, depth, listener, signal }: Reading,
    won: (id: string, front: RecordFront) => void,
  ): Promise<void> {
    let lastLine = this.#indexed?.end === start ? this.#indexed.lastLine : null;
    const take = (line: Line): void => {
      const winner = index.take(line, depth);
      if (winner !== null) won(winner.id, winner.front);
      if (line.offset + line.length + 1 === snapshot.end) {
        lastLine = { offset: line.offset, bytes: Buffer.from(line.bytes.subarray(0, proofBytes)) };
      }
    };
    const onPause = (position: number): void => {
      listener.progress(position, snapshot.end);
    };
    await visitLines(this.#fileSystem, snapshot, start, take, { onPause, signal });
    this.#indexed = { identity: snapshot.stat.identity, end: snapshot.end, lastLine };
  }
}
