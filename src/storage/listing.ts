import {
  noDamage,
  type Damage,
  type DeadTask,
  type LinePosition,
  type ListOrder,
  type Listing,
  type TaskFront,
  type UnreadableTask,
} from "./backend";
import { StorageError, asStorageError } from "./errors";
import type { FileSystem } from "./fileSystem";
import { parseDeadTaskLine } from "./frames";
import { readRange, type Line } from "./lines";
import { decodeRecord } from "./record";
import { RecordIndex, frontOf } from "./recordIndex";
import type { RecordFront } from "./recordReader";
import { visitLines, type Snapshot } from "./snapshot";

// Characters of a message. What a list shows of a task is kept from the one pass through the file, but for long messages:
// of those a store can hold more than memory can.
const longestKept = 400;

/** Reads a snapshot's index in one pass. The listing owns the snapshot's descriptor from here on. */
export async function listSnapshot(fileSystem: FileSystem, snapshot: Snapshot, signal?: AbortSignal): Promise<Listing> {
  const index = new RecordIndex();
  const kept = new Map<string, RecordFront>();
  const take = (line: Line): void => {
    const winner = index.take(line);
    if (winner === null) return;
    if (winner.front.exceptionMessage.length <= longestKept) kept.set(winner.id, winner.front);
    else kept.delete(winner.id);
  };
  try {
    await visitLines(fileSystem, snapshot, 0, take, { signal });
  } catch (error) {
    fileSystem.close(snapshot.descriptor);
    throw error;
  }
  return new SnapshotListing(fileSystem, snapshot, index, kept);
}

class SnapshotListing implements Listing {
  readonly damage: Damage;
  readonly #fileSystem: FileSystem;
  readonly #snapshot: Snapshot;
  readonly #index: RecordIndex;
  readonly #kept: ReadonlyMap<string, RecordFront>;
  #open = true;

  constructor(fileSystem: FileSystem, snapshot: Snapshot, index: RecordIndex, kept: ReadonlyMap<string, RecordFront>) {
    this.#fileSystem = fileSystem;
    this.#snapshot = snapshot;
    this.#index = index;
    this.#kept = kept;
    this.damage = index.damage(snapshot.stat.size - snapshot.end);
  }

  get ids(): readonly string[] {
    return [...this.#index.records.keys()];
  }

  get unreadable(): readonly UnreadableTask[] {
    return this.#index.unreadable;
  }

  fronts(order: ListOrder): AsyncIterableIterator<TaskFront> {
    return this.#each(order, (id, position) => {
      const { offset, length } = position;
      const front = this.#kept.get(id) ?? frontOf(readTask(this.#fileSystem, this.#snapshot, id, position));
      return { id, offset, length, ...front };
    });
  }

  tasks(order: ListOrder): AsyncIterableIterator<DeadTask> {
    return this.#each(order, (id, position) => readTask(this.#fileSystem, this.#snapshot, id, position));
  }

  // An async generator although nothing is waited for: callers iterate while other work goes on between two records.
  async *#each<Item>(
    order: ListOrder,
    read: (id: string, position: LinePosition) => Item,
  ): AsyncIterableIterator<Item> {
    try {
      const ids = this.ids.filter((id) => this.#index.records.get(id)?.unreadable === null);
      if (order === "newest") ids.reverse();
      for (const id of ids) {
        const position = this.#index.records.get(id);
        // The number of a closed descriptor can be another file's by now.
        if (!this.#open)
          throw new StorageError("io", "The list of tasks was closed while it was read; list them again.");
        if (position !== undefined) yield await Promise.resolve(this.#attempt(id, () => read(id, position)));
      }
    } finally {
      this.close();
    }
  }

  #attempt<Item>(id: string, read: () => Item): Item {
    try {
      return read();
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
  const line = readRange(fileSystem, snapshot.descriptor, offset, length - 1);
  const frame = parseDeadTaskLine(line);
  if (frame?.id === id) {
    const record = decodeRecord(line.subarray(frame.dumpedAt));
    return { kind: "task", id, checksum: frame.checksum, offset, length, ...record };
  }
  throw new StorageError(
    "io",
    `The line of task ${id} at byte ${offset} changed while it was read; refresh and try again.`,
  );
}

/** The listing of a store that is not there. */
export const emptyListing: Listing = {
  damage: noDamage,
  ids: [],
  unreadable: [],
  fronts: nothing,
  tasks: nothing,
  close: () => undefined,
};

// eslint-disable-next-line @typescript-eslint/require-await -- it has nothing to wait for, and an interface to keep
async function* nothing(): AsyncIterableIterator<never> {
  yield* [];
}
