import { constants } from "node:fs";
import { join } from "node:path";
import type { StorageEnvironment, UndoLimits } from "../storage";
import { asStorageError } from "../storage/errors";
import {
  fsyncDirectory,
  makeDirectory,
  namesIn,
  openIfPresent,
  statIfPresent,
  unlinkIfPresent,
  writeFully,
} from "../storage/fileSystem";
import { jsonLine, parseJsonLine } from "../storage/jsonLines";
import { readLines } from "../storage/lines";
import { historyKinds, type HistoryEntry } from "./historyProtocol";

/*
 * What was done, a line for each operation: a frame of JSON. Each worker appends to files of its own, so that many windows never
 * write to one, and begins another one each day; what is over the limits goes by whole files, those first that were written to the
 * longest time ago.
 */

const suffix = ".history";
// Of the bytes that may be kept, since a file goes as a whole.
const largestPart = 8;
const day = 86_400_000;
const kinds: ReadonlySet<unknown> = new Set(historyKinds);

/** Where an entry stands: newest first by its time, then by its place. */
interface Place {
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly file: string;
  readonly offset: number;
}

/** What is kept of an entry. */
export type HistoryContent = Omit<HistoryEntry, "key" | "own" | "storeKey" | "targetKey">;

export class HistoryJournal {
  readonly #environment: StorageEnvironment;
  readonly #directory: string;
  /** The file that the next entry is appended to; null where it is to begin one. */
  #file: { readonly name: string; readonly begun: number } | null = null;
  /** The files that were begun here. */
  readonly #own = new Set<string>();

  /** `directory`: absolute; made when the first entry is. */
  constructor(environment: StorageEnvironment, directory: string) {
    this.#environment = environment;
    this.#directory = directory;
  }

  /** Durable when it returns. Forgets what is over the limits then. Throws StorageErrors. */
  append(content: HistoryContent, limits: UndoLimits): void {
    this.#doing("write", () => {
      try {
        this.#append(jsonLine({ version: 1, content }), limits);
      } catch (error) {
        // What was written of the line may stand there, and nothing may follow it.
        this.#file = null;
        throw error;
      }
      this.#prune(limits);
    });
  }

  #append(line: Buffer, limits: UndoLimits): void {
    const { fileSystem } = this.#environment;
    makeDirectory(fileSystem, this.#directory);
    const path = join(this.#directory, this.#nameForNext(limits));
    const isNew = statIfPresent(fileSystem, path) === null;
    const descriptor = fileSystem.open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
    try {
      writeFully(fileSystem, descriptor, line);
      fileSystem.fsync(descriptor);
    } finally {
      fileSystem.close(descriptor);
    }
    if (isNew) fsyncDirectory(fileSystem, this.#directory);
  }

  #nameForNext(limits: UndoLimits): string {
    const { clock, processId, random, fileSystem } = this.#environment;
    const now = clock.now();
    if (this.#file !== null) {
      const size = statIfPresent(fileSystem, join(this.#directory, this.#file.name))?.size ?? 0;
      const isFull = size * largestPart >= limits.bytes || Math.floor(now / day) !== Math.floor(this.#file.begun / day);
      if (!isFull) return this.#file.name;
    }
    const name = `${now}-${processId}-${Math.floor(random() * 0x100000000).toString(36)}${suffix}`;
    this.#file = { name, begun: now };
    this.#own.add(name);
    return name;
  }

  /** What changes whenever an entry is added or forgotten, by whichever window. */
  fingerprint(): string {
    return this.#doing("read", () =>
      this.#names()
        .map((name) => `${name}:${statIfPresent(this.#environment.fileSystem, join(this.#directory, name))?.size ?? 0}`)
        .join(" "),
    );
  }

  /** Newest first, those alone that are older than the one with the key `after`, if any. What is no entry is passed over. */
  *entries(after: string | null): Generator<Omit<HistoryEntry, "storeKey" | "targetKey">> {
    const end = after === null ? null : placeOf(after);
    const found: { readonly place: Place; readonly content: HistoryContent }[] = [];
    this.#doing("read", () => {
      for (const file of this.#names()) {
        for (const { offset, content } of this.#contents(file)) {
          const place = { time: Math.round(content.at * 1000), file, offset };
          if (end === null || newestFirst(end, place) < 0) found.push({ place, content });
        }
      }
    });
    found.sort((left, right) => newestFirst(left.place, right.place));
    for (const { place, content } of found) {
      yield { ...content, own: this.#own.has(place.file), key: `${place.time} ${place.file} ${place.offset}` };
    }
  }

  *#contents(file: string): Generator<{ readonly offset: number; readonly content: HistoryContent }> {
    const { fileSystem } = this.#environment;
    const descriptor = openIfPresent(fileSystem, join(this.#directory, file), constants.O_RDONLY);
    if (descriptor === null) return; // another window has forgotten it since
    try {
      for (const line of readLines(fileSystem, descriptor, 0, fileSystem.fstat(descriptor).size)) {
        const content = contentOf(line.rest === null ? parseJsonLine(line.bytes) : null);
        if (content !== null) yield { offset: line.offset, content };
      }
    } finally {
      fileSystem.close(descriptor);
    }
  }

  /** Removes the files that were last written to before the limit, and then the oldest until the rest keeps within the bytes. */
  prune(limits: UndoLimits): void {
    this.#doing("write", () => {
      this.#prune(limits);
    });
  }

  #prune(limits: UndoLimits): void {
    const { fileSystem, clock } = this.#environment;
    const files = this.#names().flatMap((name) => {
      const path = join(this.#directory, name);
      const stat = statIfPresent(fileSystem, path);
      return stat === null ? [] : [{ path, size: stat.size, time: stat.mtimeMs }];
    });
    let room = limits.bytes;
    for (const { path, size, time } of files.sort((left, right) => right.time - left.time)) {
      room -= size;
      if (room < 0 || clock.now() - time >= limits.age * 1000) unlinkIfPresent(fileSystem, path);
    }
  }

  clear(): void {
    this.#doing("write", () => {
      for (const name of this.#names()) unlinkIfPresent(this.#environment.fileSystem, join(this.#directory, name));
    });
  }

  #names(): string[] {
    return namesIn(this.#environment.fileSystem, this.#directory).filter((name) =>
      /^\d+-\d+-[0-9a-z]+\.history$/.test(name),
    );
  }

  #doing<Result>(verb: "read" | "write", work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw asStorageError(error, `${verb} the history in ${this.#directory}`);
    }
  }
}

function newestFirst(left: Place, right: Place): number {
  if (left.time !== right.time) return right.time - left.time;
  if (left.file !== right.file) return left.file < right.file ? 1 : -1;
  return right.offset - left.offset;
}

/** Of a key that is none, the end of all: nothing follows it. */
function placeOf(key: string): Place {
  const [time = "", file = "", offset = ""] = key.split(" ");
  return { time: Number(time), file, offset: Number(offset) };
}

/** Null for what is no entry of this version. */
function contentOf(value: unknown): HistoryContent | null {
  if (!isObject(value) || value["version"] !== 1) return null;
  const { content } = value;
  return isContent(content) ? content : null;
}

function isContent(value: unknown): value is HistoryContent {
  return (
    isObject(value) &&
    ["at", "count", "missing", "failureCount"].every((name) => typeof value[name] === "number") &&
    kinds.has(value["kind"]) &&
    ["window", "store"].every((name) => isObject(value[name])) &&
    ["tasks", "classes", "failures", "edits"].every((name) => Array.isArray(value[name]))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
