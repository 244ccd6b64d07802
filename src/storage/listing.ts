import type { Damage, DeadTask, LinePosition, Listing, UnreadableTask } from "./backend";
import { StorageError, asStorageError } from "./errors";
import type { FileSystem } from "./fileSystem";
import { parseDeadTaskLine } from "./frames";
import { readRange } from "./lines";
import { decodeRecord } from "./record";
import { RecordIndex, type IndexedRecord } from "./recordIndex";
import { visitLines, type Snapshot } from "./snapshot";

/** Reads a snapshot's index in one pass. The listing owns the snapshot's descriptor from here on. */
export async function listSnapshot(fileSystem: FileSystem, snapshot: Snapshot, signal?: AbortSignal): Promise<Listing> {
  const index = new RecordIndex();
  try {
    await visitLines(fileSystem, snapshot, 0, (line) => index.take(line), { signal });
  } catch (error) {
    fileSystem.close(snapshot.descriptor);
    throw error;
  }
  return new SnapshotListing(fileSystem, snapshot, index);
}

class SnapshotListing implements Listing {
  readonly damage: Damage;
  readonly #fileSystem: FileSystem;
  readonly #snapshot: Snapshot;
  readonly #records: ReadonlyMap<string, IndexedRecord>;
  #open = true;

  constructor(fileSystem: FileSystem, snapshot: Snapshot, index: RecordIndex) {
    this.#fileSystem = fileSystem;
    this.#snapshot = snapshot;
    this.#records = index.records;
    this.damage = index.damage(snapshot.stat.size - snapshot.end);
  }

  get ids(): readonly string[] {
    return [...this.#records.keys()];
  }

  get unreadable(): readonly UnreadableTask[] {
    return [...this.#records].flatMap(([id, { offset, length, unreadable }]) =>
      unreadable === null ? [] : [{ kind: "unreadable" as const, id, reason: unreadable, offset, length }],
    );
  }

  // An async generator although nothing is awaited: callers iterate while other work goes on between two records.
  async *tasks(order: "newest" | "oldest"): AsyncIterableIterator<DeadTask> {
    try {
      const ids = this.ids.filter((id) => this.#records.get(id)?.unreadable === null);
      if (order === "newest") ids.reverse();
      for (const id of ids) {
        const position = this.#records.get(id);
        if (position === undefined) continue;
        yield await Promise.resolve(this.#read(id, position));
      }
    } finally {
      this.close();
    }
  }

  #read(id: string, position: LinePosition): DeadTask {
    // The number of a closed descriptor can be another file's by now.
    if (!this.#open) throw new StorageError("io", "The list of tasks was closed while it was read; list them again.");
    try {
      return readTask(this.#fileSystem, this.#snapshot, id, position);
    } catch (error) {
      throw asStorageError(error, `read task ${id}`);
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#fileSystem.close(this.#snapshot.descriptor);
  }
}

/** Decodes the record at a known position of a snapshot. */
export function readTask(fileSystem: FileSystem, snapshot: Snapshot, id: string, position: LinePosition): DeadTask {
  const { offset, length } = position;
  const frame = parseDeadTaskLine(readRange(fileSystem, snapshot.descriptor, offset, length - 1));
  if (frame === null) {
    throw new StorageError(
      "io",
      `The line of task ${id} at byte ${offset} changed while it was read; refresh and try again.`,
    );
  }
  return { kind: "task", id, offset, length, ...decodeRecord(frame.dumped) };
}

/** The listing of a store that is not there. */
export const emptyListing: Listing = {
  damage: { lines: 0, bytes: 0, tornTailBytes: 0 },
  ids: [],
  unreadable: [],
  // eslint-disable-next-line @typescript-eslint/require-await -- it has nothing to wait for, and an interface to keep
  tasks: async function* () {
    yield* [];
  },
  close: () => undefined,
};
