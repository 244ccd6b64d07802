import type { Damage, UnreadableTask } from "./backend";
import type { DeadTaskStore } from "./deadTaskStore";
import { asStorageError } from "./errors";
import type { FileSystem } from "./fileSystem";
import { readRange, type Line } from "./lines";
import type { DeadTaskRecord } from "./record";
import { RecordIndex, type IndexedRecord } from "./recordIndex";
import { visitLines, type Snapshot } from "./snapshot";

/** What `StoreIndex` tells while it reads. */
export interface IndexListener {
  /** A task that is new or whose winning line changed. */
  task(id: string, record: DeadTaskRecord): void;
  /** Ids of which no task is listed any more, be it that its line is gone or that what is left of it is unreadable. */
  gone(ids: readonly string[]): void;
  /** Called now and then while a long read goes on. */
  progress(bytesRead: number, bytesTotal: number): void;
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

/**
 * A store's index, kept up to date by reading only what is new: the same file and longer means the new tail, anything else
 * means reading it anew and telling the differences. Memory follows the number of tasks, not their size.
 */
export class StoreIndex {
  readonly #store: DeadTaskStore;
  readonly #fileSystem: FileSystem;
  #index = new RecordIndex();
  #indexed: Indexed | null = null;
  #tornTailBytes = 0;
  #exists = false;

  constructor(store: DeadTaskStore, fileSystem: FileSystem) {
    this.#store = store;
    this.#fileSystem = fileSystem;
  }

  get exists(): boolean {
    return this.#exists;
  }

  get damage(): Damage {
    return this.#index.damage(this.#tornTailBytes);
  }

  get taskCount(): number {
    return this.#index.records.size - this.unreadable.length;
  }

  get unreadable(): UnreadableTask[] {
    return [...this.#index.records].flatMap(([id, { offset, length, unreadable }]) =>
      unreadable === null ? [] : [{ kind: "unreadable" as const, id, reason: unreadable, offset, length }],
    );
  }

  get(id: string): IndexedRecord | undefined {
    return this.#index.records.get(id);
  }

  /** Brings the index up to date. Throws StorageErrors; what was known before stays known then. */
  async refresh(listener: IndexListener): Promise<void> {
    try {
      await this.#refresh(listener);
    } catch (error) {
      throw asStorageError(error, `read ${this.#store.names.dataFile}`);
    }
  }

  async #refresh(listener: IndexListener): Promise<void> {
    const snapshot = await this.#store.openSnapshot();
    this.#exists = snapshot !== null;
    if (snapshot === null) {
      const known = [...this.#index.records.keys()];
      this.#index = new RecordIndex();
      this.#indexed = null;
      this.#tornTailBytes = 0;
      if (known.length > 0) listener.gone(known);
      return;
    }
    try {
      const start = this.#continuesFrom(snapshot);
      if (start === null) await this.#readAnew(snapshot, listener);
      else await this.#readOn(snapshot, start, listener);
      this.#tornTailBytes = snapshot.stat.size - snapshot.end;
    } catch (error) {
      // Half of the new lines may have been taken: the next refresh starts from the beginning.
      this.#indexed = null;
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

  async #readOn(snapshot: Snapshot, start: number, listener: IndexListener): Promise<void> {
    await this.#visit(this.#index, snapshot, start, listener, (id, record) => {
      listener.task(id, record);
    });
  }

  async #readAnew(snapshot: Snapshot, listener: IndexListener): Promise<void> {
    const before = this.#index.records;
    if (before.size === 0) {
      this.#index = new RecordIndex();
      await this.#readOn(snapshot, 0, listener);
      return;
    }
    const index = new RecordIndex();
    // Told at the end: until then a line can still be superseded, and what did not change must not flicker.
    const changed = new Map<string, DeadTaskRecord>();
    await this.#visit(index, snapshot, 0, listener, (id, record) => {
      changed.delete(id);
      if (before.get(id)?.checksum !== index.records.get(id)?.checksum) changed.set(id, record);
    });
    this.#index = index;
    const gone = [...before]
      .filter(([id, { unreadable }]) => {
        const record = index.records.get(id);
        return record === undefined || (unreadable === null && record.unreadable !== null);
      })
      .map(([id]) => id);
    if (gone.length > 0) listener.gone(gone);
    for (const [id, record] of changed) listener.task(id, record);
  }

  async #visit(
    index: RecordIndex,
    snapshot: Snapshot,
    start: number,
    listener: IndexListener,
    won: (id: string, record: DeadTaskRecord) => void,
  ): Promise<void> {
    let lastLine = this.#indexed?.end === start ? this.#indexed.lastLine : null;
    const take = (line: Line): void => {
      const winner = index.take(line);
      if (winner !== null) won(winner.id, winner.record);
      if (line.offset + line.bytes.length + 1 === snapshot.end) {
        lastLine = { offset: line.offset, bytes: Buffer.from(line.bytes.subarray(0, proofBytes)) };
      }
    };
    const onPause = (position: number): void => {
      listener.progress(position, snapshot.end);
    };
    await visitLines(this.#fileSystem, snapshot, start, take, { onPause });
    this.#indexed = { identity: snapshot.stat.identity, end: snapshot.end, lastLine };
  }
}
