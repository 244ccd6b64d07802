import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { basename, join } from "node:path";
import { StorageError, type StorageEnvironment } from "../storage";
import { asStorageError } from "../storage/errors";
import {
  fsyncDirectory,
  hasCode,
  makeDirectory,
  namesIn,
  openIfPresent,
  statIfPresent,
  unlinkIfPresent,
  type FileSystem,
} from "../storage/fileSystem";
import type { Flock } from "../storage/flock";
import type { StoreNames } from "../storage/naming";
import { StagingFile } from "../storage/stagingFile";
import type { RunFailure, RunInfo, RunStart } from "./runProtocol";

/*
 * A run is a directory of ours outside of every store and workspace, named after the task, so that there is one at most:
 *
 * - `run.json`: what is run, by the checksum of its line;
 * - `window.lock`: flocked by the window that waits for the run's end;
 * - `process.lock`: flocked by the process that runs it, for as long as that lives;
 * - `outcome.json`: written by that process, see `src/run/runDeadTask.rb`.
 *
 * It is made under another name and renamed, complete and durable, before a process is started. Who settles it removes it last.
 */

/** What is run. */
interface RunRequest extends Omit<RunInfo, "name"> {
  readonly version: 1;
  readonly dataFile: string;
  /** The id's bytes, for Ruby. */
  readonly idHex: string;
  /** Of the line, as it begins with. */
  readonly checksum: string;
}

/** What the process has written. */
export type RunOutcome =
  | { readonly state: "started" | "succeeded" }
  | { readonly state: "failed"; readonly failure: RunFailure | null }
  | { readonly state: "notRun"; readonly kind: "boot" | "changed" | "unreadable"; readonly failure: RunFailure };

/** A run that this process alone settles now. */
export interface RunToSettle {
  readonly info: RunInfo;
  readonly checksum: number;
  /** Null where the process never came to the task. */
  readonly outcome: RunOutcome | null;
}

const requestFile = "run.json";
const windowLock = "window.lock";
const processLock = "process.lock";
const outcomeFile = "outcome.json";
// Milliseconds. A directory in the making is one of this machine, and none takes that long.
const abandonedAfter = 3_600_000;

export class Runs {
  readonly #environment: StorageEnvironment;
  readonly #fileSystem: FileSystem;
  /** Open descriptors of the window locks that are ours, by the run's directory. */
  readonly #ours = new Map<string, number>();

  constructor(environment: StorageEnvironment) {
    this.#environment = environment;
    this.#fileSystem = environment.fileSystem;
  }

  /** `line`: what stands for the task, as Latin-1. Durable when it returns. */
  begin(
    runs: string,
    { directory, prefix, dataFile }: StoreNames,
    id: string,
    line: string,
    taskClass: string,
  ): RunStart {
    return this.#doing(runs, () => {
      const { clock } = this.#environment;
      const [checksum = "", , rawId = ""] = line.split(":", 3);
      const idHex = Buffer.from(rawId, "latin1").toString("hex");
      const name = createHash("sha256").update(`${dataFile}\0${idHex}`).digest("hex").slice(0, 32);
      const since = Math.floor(clock.now() / 1000);
      const request: RunRequest = { version: 1, directory, prefix, id, taskClass, since, dataFile, idHex, checksum };
      makeDirectory(this.#fileSystem, runs);
      this.#removeAbandoned(runs);
      const making = this.#otherName(runs, name);
      this.#fileSystem.mkdir(making);
      const run = join(runs, name);
      let descriptor: number | null = null;
      let place = making;
      try {
        descriptor = this.#lock(join(making, windowLock));
        this.#write(making, request);
        this.#fileSystem.rename(making, run);
        place = run;
        fsyncDirectory(this.#fileSystem, runs);
      } catch (error) {
        if (descriptor !== null) this.#fileSystem.close(descriptor);
        this.#removeDirectory(place);
        if (!hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
        return { kind: "running", since: this.#request(run)?.since ?? since };
      }
      // Kept open for as long as this window waits for the run's end.
      if (descriptor !== null) this.#ours.set(run, descriptor);
      return { kind: "begun", name, directory: run };
    });
  }

  /**
   * What is to be settled, by nobody else until `settled` or `leave` is called; `running` where its process lives or another window
   * has it in hand, null where there is no such run.
   */
  take(runs: string, name: string): RunToSettle | "running" | null {
    return this.#doing(runs, () => {
      const directory = join(runs, basename(name));
      let descriptor = this.#ours.get(directory) ?? null;
      if (descriptor === null && this.#request(directory) === null) return null;
      descriptor ??= this.#lock(join(directory, windowLock));
      // Only now: until then another window may have been settling it.
      const request = this.#request(directory);
      if (request === null) {
        if (descriptor !== null) this.#fileSystem.close(descriptor);
        this.#ours.delete(directory);
        return null;
      }
      if (descriptor === null) return "running";
      this.#ours.set(directory, descriptor);
      // Asked first: what the process writes before it ends is read then.
      const isAlive = this.#isHeld(join(directory, processLock));
      const outcome = this.#outcome(directory);
      if (isAlive && (outcome === null || outcome.state === "started")) return "running";
      return { info: infoOf(name, request), checksum: Number.parseInt(request.checksum, 16), outcome };
    });
  }

  /** Forgets a run. */
  settled(runs: string, name: string): void {
    this.#doing(runs, () => {
      const directory = join(runs, basename(name));
      // Out of the way first, as a whole: a process that is only now about to begin then finds nothing to run.
      const removed = this.#otherName(runs, basename(name));
      this.#fileSystem.rename(directory, removed);
      fsyncDirectory(this.#fileSystem, runs);
      this.leave(runs, name);
      this.#removeDirectory(removed);
    });
  }

  /** Leaves a run that could not be settled to whoever looks for such runs next. */
  leave(runs: string, name: string): void {
    const directory = join(runs, basename(name));
    const descriptor = this.#ours.get(directory);
    this.#ours.delete(directory);
    if (descriptor !== undefined) this.#fileSystem.close(descriptor);
  }

  /** Those that a window waits for, or that have a process; oldest first. */
  underWay(runs: string): RunInfo[] {
    return this.#all(runs, (directory) => {
      return this.#isHeld(join(directory, windowLock)) || this.#isHeld(join(directory, processLock));
    });
  }

  /** Those that no window waits for. */
  left(runs: string, { directory, prefix }: Pick<StoreNames, "directory" | "prefix">): RunInfo[] {
    const left = this.#all(runs, (run) => !this.#isHeld(join(run, windowLock)));
    return left.filter((info) => info.directory === directory && info.prefix === prefix);
  }

  #all(runs: string, isMeant: (directory: string) => boolean): RunInfo[] {
    return this.#doing(runs, () =>
      namesIn(this.#fileSystem, runs)
        .filter((name) => !name.startsWith("."))
        .flatMap((name) => {
          const directory = join(runs, name);
          const request = this.#request(directory);
          return request !== null && isMeant(directory) ? [infoOf(name, request)] : [];
        })
        .sort((left, right) => left.since - right.since),
    );
  }

  /** A directory for what is no run yet, or no longer one. */
  #otherName(runs: string, name: string): string {
    const { processId, random } = this.#environment;
    return join(runs, `.${name}-${processId}-${Math.floor(random() * 0x100000000).toString(36)}`);
  }

  #write(directory: string, request: RunRequest): void {
    const staging = new StagingFile(this.#fileSystem, directory, `${requestFile}.part`, null, "private");
    try {
      staging.append(Buffer.from(JSON.stringify(request), "utf8"));
      staging.sync();
      staging.publish(join(directory, requestFile));
    } finally {
      staging.discard();
    }
  }

  #request(directory: string): RunRequest | null {
    const value = this.#readJson(join(directory, requestFile));
    return isRequest(value) ? value : null;
  }

  #outcome(directory: string): RunOutcome | null {
    const value = this.#readJson(join(directory, outcomeFile));
    return isOutcome(value) ? value : null;
  }

  /** Null where there is no such file, or none of JSON. */
  #readJson(path: string): unknown {
    try {
      return JSON.parse(this.#fileSystem.readFile(path).toString("utf8"));
    } catch (error) {
      if (hasCode(error, "ENOENT", "ENOTDIR") || error instanceof SyntaxError) return null;
      throw error;
    }
  }

  /** The open descriptor of a file that is ours alone now; null where somebody else has it, or its directory is gone. */
  #lock(path: string): number | null {
    const descriptor = openIfPresent(this.#fileSystem, path, constants.O_RDWR | constants.O_CREAT, 0o600);
    if (descriptor === null) return null;
    let isOurs = false;
    try {
      isOurs = this.#flock.tryLock(descriptor);
    } finally {
      if (!isOurs) this.#fileSystem.close(descriptor);
    }
    return isOurs ? descriptor : null;
  }

  #isHeld(path: string): boolean {
    const descriptor = openIfPresent(this.#fileSystem, path, constants.O_RDWR);
    if (descriptor === null) return false;
    try {
      return !this.#flock.tryLock(descriptor);
    } finally {
      this.#fileSystem.close(descriptor);
    }
  }

  get #flock(): Flock {
    const { flock, unavailable } = this.#environment.flock;
    if (flock === null) throw new StorageError("read-only", `No task can be run from here: ${unavailable}.`);
    return flock;
  }

  #removeAbandoned(runs: string): void {
    for (const name of namesIn(this.#fileSystem, runs).filter((name) => name.startsWith("."))) {
      const stat = statIfPresent(this.#fileSystem, join(runs, name));
      const isAbandoned = stat !== null && this.#environment.clock.now() - stat.mtimeMs > abandonedAfter;
      if (isAbandoned) this.#removeDirectory(join(runs, name));
    }
  }

  #removeDirectory(directory: string): void {
    for (const name of namesIn(this.#fileSystem, directory)) unlinkIfPresent(this.#fileSystem, join(directory, name));
    try {
      this.#fileSystem.rmdir(directory);
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
    }
  }

  #doing<Result>(runs: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw asStorageError(error, `keep what is run in ${runs}`);
    }
  }
}

function infoOf(name: string, { directory, prefix, id, taskClass, since }: RunRequest): RunInfo {
  return { name, directory, prefix, id, taskClass, since };
}

function isRequest(value: unknown): value is RunRequest {
  if (!isObject(value)) return false;
  const texts = ["directory", "prefix", "id", "taskClass", "dataFile", "idHex", "checksum"];
  return (
    value["version"] === 1 &&
    typeof value["since"] === "number" &&
    texts.every((name) => typeof value[name] === "string")
  );
}

function isOutcome(value: unknown): value is RunOutcome {
  if (!isObject(value) || value["version"] !== 1) return false;
  const { state, kind, failure } = value;
  if (state === "started" || state === "succeeded") return true;
  if (state === "failed") return failure === null || isFailure(failure);
  return state === "notRun" && (kind === "boot" || kind === "changed" || kind === "unreadable") && isFailure(failure);
}

function isFailure(value: unknown): value is RunFailure {
  return (
    isObject(value) &&
    (value["class"] === null || typeof value["class"] === "string") &&
    typeof value["message"] === "string" &&
    Array.isArray(value["backtrace"]) &&
    value["backtrace"].every((line) => typeof line === "string")
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
