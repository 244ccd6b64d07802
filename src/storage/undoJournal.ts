import { constants } from "node:fs";
import { join } from "node:path";
import type { StorageEnvironment } from "./environment";
import { StorageError, asStorageError } from "./errors";
import {
  fsyncDirectory,
  makeDirectory,
  namesIn,
  openIfPresent,
  statIfPresent,
  unlinkIfPresent,
  writeFully,
  type FileSystem,
} from "./fileSystem";
import { firstOfJson, jsonLine, parseJsonLine } from "./jsonLines";
import { endOfLastLine, readLines, type Line } from "./lines";
import { areReplayedTasks, type ReplayedTask } from "./replayJournal";
import { StagingFile } from "./stagingFile";

/*
 * What was deleted or retried, for as long as it can be undone: one file for each operation, in a directory of ours outside the
 * store. The first line, a frame of JSON, says what was done where; of a retry more such lines follow, with the tasks and their
 * new ids; then come the removed lines byte for byte, in the file's order.
 *
 * An entry is durable before what it keeps leaves the store. Where a process dies between the two, entry and tasks are both
 * there, and restoring it adds nothing.
 */

/** What an entry is about. */
export interface UndoHeader {
  /** What was done, for people to read: `Deleted PaymentTask`. */
  readonly title: string;
  /** Unix seconds. */
  readonly at: number;
  /** The store: its directory, and the prefix with its dash. */
  readonly directory: string;
  readonly prefix: string;
  /** Of a retry the log's bare name; null for a deletion. */
  readonly log: string | null;
  /** Of what was sent to another store: how, and where to. The log is there; of copies the tasks have no new ids. */
  readonly elsewhere?: { readonly way: "copy" | "retry" | "move"; readonly directory: string; readonly prefix: string };
}

export interface UndoEntry extends UndoHeader {
  /** A bare file name. */
  readonly name: string;
  /** Of the file, in bytes. */
  readonly bytes: number;
}

/** How much is kept, and for how long. */
export interface UndoLimits {
  /** Bytes of all entries. */
  readonly bytes: number;
  /** Seconds. */
  readonly age: number;
}

/** The lines that an operation takes out of a store, on their way into the journal. */
export interface KeptLines {
  readonly name: string;
  /** Takes bytes of removed lines, newlines included, in the file's order. */
  append(bytes: Uint8Array): void;
  /** What was added is durable when it returns. More may be added afterwards, and kept by another call. */
  keep(): void;
  /** Forgets it all: the lines have stayed in the store. */
  discard(): void;
}

const suffix = ".undo";
const stagingSuffix = ".part";
const largestHeader = 1 << 20;
const tasksInLine = 1_000;
const openBracket = 0x5b;

export class UndoJournal {
  readonly #environment: StorageEnvironment;
  readonly #directory: string;

  /** `directory`: absolute; made when the first entry is. */
  constructor(environment: StorageEnvironment, directory: string) {
    this.#environment = environment;
    this.#directory = directory;
  }

  /** Begins an entry; `tasks` are those of a retry. Its methods throw StorageErrors that name the journal. */
  begin(header: UndoHeader, tasks: readonly ReplayedTask[] = []): KeptLines {
    return this.#doing("write", () => {
      const { fileSystem, processId, random, clock } = this.#environment;
      makeDirectory(fileSystem, this.#directory);
      const name = `${clock.now()}-${processId}-${Math.floor(random() * 0x100000000).toString(36)}${suffix}`;
      const entry = new EntryInTheMaking(fileSystem, this.#directory, name);
      try {
        entry.append(jsonLine({ version: versionOf(header), ...header }));
        for (let start = 0; start < tasks.length; start += tasksInLine) {
          entry.append(jsonLine(tasks.slice(start, start + tasksInLine)));
        }
      } catch (error) {
        entry.discard();
        throw error;
      }
      const named = (work: () => void): void => {
        this.#doing("write", work);
      };
      return {
        name,
        append: (bytes) => {
          named(() => {
            entry.append(bytes);
          });
        },
        keep: () => {
          named(() => {
            entry.keep();
          });
        },
        discard: () => {
          named(() => {
            entry.discard();
          });
        },
      };
    });
  }

  /** Newest first. Files that are no entries of this version are passed over. */
  entries(): UndoEntry[] {
    return this.#doing("read", () =>
      this.#names()
        .map((name) => this.#entry(name))
        .filter((entry) => entry !== null)
        .sort((left, right) => right.at - left.at || (right.name < left.name ? -1 : 1)),
    );
  }

  /** The tasks of a retry, as they were enqueued. Throws a StorageError where the entry is gone. */
  replayedTasks(name: string): ReplayedTask[] {
    return this.#doing("read", () => {
      const tasks: ReplayedTask[] = [];
      for (const line of this.lines(name)) {
        const content =
          line.rest === null && line.bytes[firstOfJson] === openBracket ? parseJsonLine(line.bytes) : null;
        if (!areReplayedTasks(content)) break;
        tasks.push(...content);
      }
      return tasks;
    });
  }

  /** All lines of an entry but the first, each valid until the next one is asked for. Throws a StorageError where it is gone. */
  *lines(name: string): Generator<Line> {
    const { fileSystem } = this.#environment;
    const descriptor = this.#doing("read", () => this.#open(name));
    if (descriptor === null) throw new StorageError("invalid", "What was deleted is not kept any more.");
    try {
      const end = endOfLastLine(fileSystem, descriptor, fileSystem.fstat(descriptor).size);
      let isHeader = true;
      for (const line of readLines(fileSystem, descriptor, 0, end)) {
        if (!isHeader) yield line;
        isHeader = false;
      }
    } finally {
      fileSystem.close(descriptor);
    }
  }

  remove(name: string): void {
    this.#doing("write", () => {
      if (isEntryName(name)) unlinkIfPresent(this.#environment.fileSystem, join(this.#directory, name));
    });
  }

  /** Removes all entries, and what an interrupted one has left. */
  clear(): void {
    this.prune({ bytes: 0, age: 0 });
  }

  /** Removes what is older than the limit, and then the oldest until the rest keeps within the bytes. */
  prune(limits: UndoLimits): void {
    this.#doing("write", () => {
      const { fileSystem, clock } = this.#environment;
      const names = namesIn(fileSystem, this.#directory);
      const now = clock.now();
      let room = limits.bytes;
      for (const name of names.filter(isEntryName).sort(byTime).reverse()) {
        const path = join(this.#directory, name);
        const bytes = statIfPresent(fileSystem, path)?.size ?? 0;
        room -= bytes;
        if (room < 0 || now - timeOf(name) >= limits.age * 1000) unlinkIfPresent(fileSystem, path);
      }
      for (const name of names) {
        const isOrphan = name.endsWith(suffix + stagingSuffix) && now - timeOf(name) > abandonedAfter;
        if (isOrphan) unlinkIfPresent(fileSystem, join(this.#directory, name));
      }
    });
  }

  #names(): string[] {
    return namesIn(this.#environment.fileSystem, this.#directory).filter(isEntryName);
  }

  #open(name: string): number | null {
    const { fileSystem } = this.#environment;
    return isEntryName(name) ? openIfPresent(fileSystem, join(this.#directory, name), constants.O_RDONLY) : null;
  }

  /** Null where it is not kept, or is of another version. */
  entry(name: string): UndoEntry | null {
    return this.#doing("read", () => this.#entry(name));
  }

  #entry(name: string): UndoEntry | null {
    const { fileSystem } = this.#environment;
    const descriptor = this.#open(name);
    if (descriptor === null) return null;
    try {
      const { size } = fileSystem.fstat(descriptor);
      const [line] = readLines(fileSystem, descriptor, 0, Math.min(size, largestHeader));
      const header = line === undefined ? null : parseJsonLine(line.bytes);
      return isHeader(header) ? { ...header, name, bytes: size } : null;
    } finally {
      fileSystem.close(descriptor);
    }
  }

  #doing<Result>(verb: "read" | "write", work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw asStorageError(error, `${verb} what is kept for undoing in ${this.#directory}`);
    }
  }
}

// Milliseconds. An entry in the making is one of this machine, and none takes that long.
const abandonedAfter = 3_600_000;

/** A file under a staging name until it is kept for the first time, and afterwards one that only grows. */
class EntryInTheMaking {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #path: string;
  readonly #staging: StagingFile;
  #kept = false;
  #late: number | null = null;

  constructor(fileSystem: FileSystem, directory: string, name: string) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    this.#path = join(directory, name);
    this.#staging = new StagingFile(fileSystem, directory, name + stagingSuffix, null, "private");
  }

  append(bytes: Uint8Array): void {
    if (!this.#kept) {
      this.#staging.append(bytes);
      return;
    }
    this.#late ??= this.#fileSystem.open(this.#path, constants.O_WRONLY | constants.O_APPEND);
    writeFully(this.#fileSystem, this.#late, bytes);
  }

  keep(): void {
    if (!this.#kept) {
      this.#staging.sync();
      this.#staging.publish(this.#path);
      this.#kept = true;
    } else if (this.#late !== null) {
      this.#fileSystem.fsync(this.#late);
      this.#closeLate();
    }
  }

  discard(): void {
    this.#closeLate();
    this.#staging.discard();
    if (!this.#kept) return;
    unlinkIfPresent(this.#fileSystem, this.#path);
    fsyncDirectory(this.#fileSystem, this.#directory);
  }

  #closeLate(): void {
    if (this.#late !== null) this.#fileSystem.close(this.#late);
    this.#late = null;
  }
}

function isEntryName(name: string): boolean {
  return /^\d+-\d+-[0-9a-z]+\.undo$/.test(name);
}

/** Milliseconds since the Unix epoch. */
function timeOf(name: string): number {
  return Number.parseInt(name, 10);
}

function byTime(left: string, right: string): number {
  return timeOf(left) - timeOf(right);
}

/** An earlier version of this program must not take what was sent for what was deleted or retried in one store. */
function versionOf({ elsewhere }: UndoHeader): number {
  return elsewhere === undefined ? 1 : 2;
}

function isElsewhere(value: unknown): value is UndoHeader["elsewhere"] {
  if (value === undefined) return true;
  if (typeof value !== "object" || value === null) return false;
  const { way, directory, prefix } = value as Readonly<Record<string, unknown>>;
  return ["copy", "retry", "move"].includes(String(way)) && typeof directory === "string" && typeof prefix === "string";
}

function isHeader(value: unknown): value is UndoHeader {
  if (typeof value !== "object" || value === null) return false;
  const { version, title, at, directory, prefix, log, elsewhere } = value as Readonly<Record<string, unknown>>;
  return (
    isElsewhere(elsewhere) &&
    version === (elsewhere === undefined ? 1 : 2) &&
    typeof title === "string" &&
    typeof at === "number" &&
    typeof directory === "string" &&
    typeof prefix === "string" &&
    (log === null || typeof log === "string")
  );
}
