import { constants } from "node:fs";
import { join } from "node:path";
import { MarshalError, dumpString, undumpString } from "../marshal";
import type { Damage } from "./backend";
import { decodeContext, type TaskContext } from "./context";
import type { StorageEnvironment } from "./environment";
import { StorageError, asStorageError } from "./errors";
import { namesIn, openIfPresent, statIfPresent, type FileStat, type FileSystem } from "./fileSystem";
import { logAddLine, parseLogLine } from "./frames";
import { endOfLastLine, readLines, type Line } from "./lines";
import { isLogName, newLogName, stagingName, type StoreNames } from "./naming";
import { StagingFile } from "./stagingFile";

/** A task that waits in a log. */
export interface PendingTask {
  readonly id: string;
  /** Unix seconds; null for at once. */
  readonly publishAt: number | null;
  readonly context: TaskContext;
  /** Bare name of the log. */
  readonly log: string;
}

export interface PendingTasks {
  /** By log in name order, within a log in the order of their first `add`, as Rage loads them. */
  readonly tasks: readonly PendingTask[];
  /** A torn tail is normal in the log of a live worker, which buffers its writes. */
  readonly damage: Damage;
}

/** Reads the logs of all workers without locking or changing any. Damage is counted, never an error. */
export function readPendingTasks(fileSystem: FileSystem, names: StoreNames): PendingTasks {
  const tasks: PendingTask[] = [];
  let lines = 0;
  let bytes = 0;
  let tornTailBytes = 0;
  for (const name of logNames(fileSystem, names)) {
    const path = join(names.directory, name);
    const log = readLog(fileSystem, path, (lines, { tornTailBytes }) => collect(lines, name, tornTailBytes));
    if (log === null) continue;
    tasks.push(...log.tasks);
    lines += log.damage.lines;
    bytes += log.damage.bytes;
    tornTailBytes += log.damage.tornTailBytes;
  }
  return { tasks, damage: { lines, bytes, tornTailBytes } };
}

/** Ids of the tasks that wait in any log, whatever their contexts hold. */
export function pendingIds(fileSystem: FileSystem, names: StoreNames): Set<string> {
  const ids = new Set<string>();
  for (const name of logNames(fileSystem, names)) {
    for (const id of readLog(fileSystem, join(names.directory, name), idsAdded) ?? []) ids.add(id);
  }
  return ids;
}

/** Bare names of a store's logs, in the order in which Rage claims them. */
export function logNames(fileSystem: FileSystem, { directory, prefix }: StoreNames): string[] {
  return namesIn(fileSystem, directory).filter((name) => isLogName(prefix, name));
}

/**
 * Has the complete lines of a log read while it is open. Null where a starting worker merged the log into its own and removed it
 * between our listing and opening, and for a directory. Throws StorageErrors.
 */
export function readLog<Result>(
  fileSystem: FileSystem,
  path: string,
  read: (lines: Iterable<Line>, log: { readonly identity: string; readonly tornTailBytes: number }) => Result,
): Result | null {
  let descriptor: number | null;
  try {
    descriptor = openIfPresent(fileSystem, path, constants.O_RDONLY);
  } catch (error) {
    throw asStorageError(error, `read ${path}`);
  }
  if (descriptor === null) return null;
  try {
    const { identity, size, isDirectory } = fileSystem.fstat(descriptor);
    if (isDirectory) return null;
    const end = endOfLastLine(fileSystem, descriptor, size);
    return read(readLines(fileSystem, descriptor, 0, end), { identity, tornTailBytes: size - end });
  } catch (error) {
    throw asStorageError(error, `read ${path}`);
  } finally {
    fileSystem.close(descriptor);
  }
}

function idsAdded(lines: Iterable<Line>): Set<string> {
  const ids = new Set<string>();
  for (const line of lines) {
    const frame = parseLogLine(line.bytes, line.rest?.payloadChecksum);
    if (frame?.operation === "add") ids.add(frame.id);
    else if (frame !== null) ids.delete(frame.id);
  }
  return ids;
}

function collect(logLines: Iterable<Line>, log: string, tornTailBytes: number): PendingTasks {
  // As Rage's own Hash: a second `add` keeps the first one's place, a `rem` gives it up.
  const added = new Map<string, { publishAt: number | null; dumped: Buffer; lineBytes: number }>();
  let lines = 0;
  let bytes = 0;
  for (const line of logLines) {
    const frame = parseLogLine(line.bytes, line.rest?.payloadChecksum);
    const lineBytes = line.length + 1;
    if (frame === null) {
      lines += 1;
      bytes += lineBytes;
    } else if (frame.operation === "rem") {
      added.delete(frame.id);
    } else {
      const { publishAt } = frame;
      // What of an overlong line is there cannot be read; it is counted as such below.
      const dumped = line.rest === null ? Buffer.from(frame.dumped) : Buffer.alloc(0);
      added.set(frame.id, { publishAt, dumped, lineBytes });
    }
  }
  const tasks: PendingTask[] = [];
  for (const [id, { publishAt, dumped, lineBytes }] of added) {
    const context = contextOrNull(dumped);
    if (context === null) {
      lines += 1;
      bytes += lineBytes;
    } else {
      tasks.push({ id, publishAt, context, log });
    }
  }
  return { tasks, damage: { lines, bytes, tornTailBytes } };
}

/** The context of a pending task as it stands in a log; null where it cannot be decoded. */
export function contextOrNull(dumped: Uint8Array): TaskContext | null {
  try {
    return decodeContext(undumpString(dumped));
  } catch (error) {
    if (error instanceof MarshalError || error instanceof StorageError) return null;
    throw error;
  }
}

/**
 * A new log in the making: `add` lines under a staging name until `publish`. Nothing of it exists for a worker before, and all
 * of it is durable after.
 */
export class NewLog {
  readonly #environment: StorageEnvironment;
  readonly #names: StoreNames;
  readonly #staging: StagingFile;
  readonly #seed: number;
  #count: number;

  /** `like`: a file or directory of the application, for the owner of the log. `name`: until it is published, where that matters. */
  constructor(environment: StorageEnvironment, names: StoreNames, like: FileStat, name?: string) {
    const { fileSystem, clock, random, processId } = environment;
    this.#environment = environment;
    this.#names = names;
    name ??= stagingName(names.prefix, "log", processId, random());
    this.#staging = new StagingFile(fileSystem, names.directory, name, like, "new");
    this.#seed = Math.floor(clock.now() / 1000);
    // Ids count up from a random number: another machine or container that shares the store can have our process id, too.
    this.#count = Math.floor(random() * 0x100000000);
  }

  /** Adds one task under a fresh id, which it returns. `context` is a Marshal stream. */
  add(publishAt: number | null, context: Uint8Array): string {
    this.#count += 1;
    const id = `${this.#seed}-${this.#environment.processId}-${this.#count}`;
    this.#staging.append(logAddLine(id, publishAt, dumpString(context)));
    return id;
  }

  /** Its name until it is published. */
  get stagingName(): string {
    return this.#staging.name;
  }

  /** Makes the content durable. */
  sync(): void {
    this.#staging.sync();
  }

  /** A name that no log has. */
  freeName(): string {
    const { fileSystem, clock, random, processId } = this.#environment;
    for (;;) {
      const name = newLogName(this.#names.prefix, clock.now(), processId, random());
      // The rename would replace a log of that name, and the tasks in it.
      if (statIfPresent(fileSystem, join(this.#names.directory, name)) === null) return name;
    }
  }

  /**
   * Gives the log this name, durably; its content must have been synced. Returns null, or, where the name stands but could not
   * be made durable, why: a worker can have taken the log by then, so it is not taken back.
   */
  publish(name: string): { readonly problem: unknown } | null {
    try {
      this.#staging.publish(join(this.#names.directory, name));
      return null;
    } catch (error) {
      if (this.isStaged()) throw error;
      return { problem: error };
    }
  }

  /** Whether it is still unpublished, told by the staging name. */
  isStaged(): boolean {
    return this.#staging.isStaged();
  }

  close(): void {
    this.#staging.close();
  }

  discard(): void {
    this.#staging.discard();
  }
}
