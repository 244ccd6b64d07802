import type { Damage, LinePosition } from "./backend";
import { idFromBytes } from "./naming";
import { parseDeadTaskLine } from "./frames";
import type { Line } from "./lines";
import { UnreadableRecordError, decodeRecord, type DeadTaskRecord } from "./record";

/** Where the line that stands for an id is. `checksum` tells whether a line is still the same after a compaction. */
export interface IndexedRecord extends LinePosition {
  readonly checksum: string;
  /** Why the record cannot be read; null where it can. */
  readonly unreadable: string | null;
}

/**
 * Which line stands for each id, fed with lines in file order. The newest readable line of an id wins, and its position is
 * the task's; an id without a readable line is kept as unreadable. Iterates in natural order, oldest winner first.
 */
export class RecordIndex {
  readonly records = new Map<string, IndexedRecord>();
  #damagedLines = 0;
  #damagedBytes = 0;

  damage(tornTailBytes: number): Damage {
    return { lines: this.#damagedLines, bytes: this.#damagedBytes, tornTailBytes };
  }

  /** Takes one line; returns the record where it is the new winner of its id. With `only`, other ids are passed over. */
  take(line: Line, only?: ReadonlySet<string>): { readonly id: string; readonly record: DeadTaskRecord } | null {
    const frame = parseDeadTaskLine(line.bytes);
    if (frame === null) {
      this.#damagedLines += 1;
      this.#damagedBytes += line.bytes.length + 1;
      return null;
    }
    const id = idFromBytes(frame.id);
    if (only !== undefined && !only.has(id)) return null;
    const position = {
      offset: line.offset,
      length: line.bytes.length + 1,
      checksum: line.bytes.toString("latin1", 0, 8),
    };
    let record: DeadTaskRecord;
    try {
      record = decodeRecord(frame.dumped);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      if (this.records.get(id)?.unreadable !== null) this.#win(id, { ...position, unreadable: error.reason });
      return null;
    }
    this.#win(id, { ...position, unreadable: null });
    return { id, record };
  }

  // Deleting first moves the id to the end of the Map's order, which is the winner's place in the file.
  #win(id: string, record: IndexedRecord): void {
    this.records.delete(id);
    this.records.set(id, record);
  }
}
