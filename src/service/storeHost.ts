import { watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import {
  DeadTaskStore,
  StorageError,
  StoreIndex,
  networkFileSystem,
  otherVersions,
  type DeadTask,
  type IndexListener,
  type RecordFront,
  type StorageEnvironment,
  type UnreadableTask,
} from "../storage";
import { yieldToOthers } from "../storage/clock";
import { OperationQueue } from "../storage/queue";
import { problemOf } from "./problems";
import { rawRecord } from "./rawLines";
import type { Damage, Problem, StoreStatus, StoreTarget, StoreUpdate, TaskSummary } from "./protocol";

// Milliseconds. The watcher is the quick way; the poll finds what it misses (another machine's or container's writes).
const pollInterval = 800;
const settleTime = 30;
const retryInterval = 5_000;
const batchSize = 500;
const progressInterval = 100;
const longestMessage = 500;

/** One open store in the worker: its index, the watching of its file, and the telling of what changed. */
export class StoreHost {
  readonly store: DeadTaskStore;
  readonly index: StoreIndex;
  readonly #environment: StorageEnvironment;
  readonly #tell: (update: StoreUpdate) => void;
  readonly #poll: NodeJS.Timeout;
  #watcher: FSWatcher | null = null;
  #settling: NodeJS.Timeout | null = null;
  readonly #turns = new OperationQueue();
  #waiting: Promise<void> | null = null;
  #verifying = false;
  /** Milliseconds since the Unix epoch; null where the last read went well. */
  #failedAt: number | null = null;
  #seen = "";
  /** The last status that was told, as JSON. */
  #told = "";
  #progress = { bytesRead: 0, bytesTotal: 0 };
  #stopping: AbortController | null = null;
  #isStopped = false;
  #disposed = false;

  constructor(target: StoreTarget, environment: StorageEnvironment, tell: (update: StoreUpdate) => void) {
    this.store = new DeadTaskStore(target, environment);
    this.index = new StoreIndex(this.store, environment.fileSystem);
    this.#environment = environment;
    this.#tell = tell;
    this.#poll = setInterval(() => {
      this.#look();
    }, pollInterval);
    this.#look();
  }

  /** Brings the index up to date and tells what changed; resolves when it is. Failures are told as the store's status. */
  async refresh(): Promise<void> {
    // One that waits for its turn will see all that this caller means; one that is under way may have passed it by.
    this.#waiting ??= this.#turns.run("", async () => {
      this.#waiting = null;
      this.#stopping = new AbortController();
      const { signal } = this.#stopping;
      await this.#read("indexing", (listener) => this.index.refresh(listener, signal));
    });
    await this.#waiting;
    void this.#verify();
  }

  /** The same after a change of our own, which found or left these ids gone; a read that was stopped stays so. */
  async refreshAfterChange(gone: readonly string[]): Promise<void> {
    if (!this.#isStopped) await this.refresh();
    else if (gone.length > 0) this.#send({ type: "gone", ids: gone });
  }

  /** The record that stands for an id now; null where there is none. Throws StorageErrors. */
  async find(id: string): Promise<DeadTask | UnreadableTask | null> {
    // A first read goes on for as long as the store is large: whoever looks at a task meanwhile need not wait for it.
    if (this.index.isComplete) await this.refresh();
    const records = await this.index.records([id]);
    const record = records?.get(id);
    if (record !== undefined) return record;
    if (records !== null && this.index.isComplete && this.index.get(id) === undefined) return null;
    return await this.store.find(id);
  }

  /** The tasks of these ids, as far as the index has them and they can be read. Throws StorageErrors. */
  async tasks(ids: readonly string[]): Promise<DeadTask[]> {
    if (this.index.isComplete) await this.refresh();
    const records = await this.index.records(ids);
    return [...(records ?? [])].flatMap(([, record]) => (record.kind === "task" ? [record] : []));
  }

  /** The line that stands for an id now, as `rawRecord` has it; null where there is none. Throws StorageErrors. */
  async rawRecord(id: string): Promise<string | null> {
    await this.refresh();
    const position = this.index.get(id);
    return position === undefined ? null : rawRecord(this.#environment.fileSystem, this.store.names.dataFile, position);
  }

  /** Stops a read that is under way; nothing more is read until `refresh` is asked for. */
  stopReading(): void {
    this.#stopping?.abort();
  }

  dispose(): void {
    this.#disposed = true;
    this.#stopping?.abort();
    clearInterval(this.#poll);
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#watcher?.close();
  }

  /** Reads the rest of the records while nothing more urgent is asked for. */
  async #verify(): Promise<void> {
    if (this.#verifying) return;
    this.#verifying = true;
    try {
      while (!this.index.isVerified && this.#failedAt === null && !this.#isStopped && !this.#disposed) {
        const outcome = { advanced: false };
        await this.#turns.run("", () =>
          this.#read("ready", async (listener) => {
            outcome.advanced = await this.index.verifyNext(listener);
          }),
        );
        if (!outcome.advanced) break;
        // Requests and timers come first, and nothing in a short read would let them.
        await yieldToOthers();
      }
    } finally {
      this.#verifying = false;
    }
  }

  /** Lets the index read, and tells what it finds. `phase`: what the store is called while it goes on. */
  async #read(phase: "indexing" | "ready", read: (listener: IndexListener) => Promise<void>): Promise<void> {
    if (this.#disposed) return;
    let batch: TaskSummary[] = [];
    let told = Date.now();
    const flush = (): void => {
      if (batch.length > 0) this.#send({ type: "tasks", tasks: batch });
      batch = [];
    };
    if (phase === "indexing") this.#seen = this.#fingerprint();
    try {
      await read({
        task: (id, front) => {
          batch.push(summaryOf(id, front));
          if (batch.length >= batchSize) flush();
        },
        gone: (ids) => {
          flush();
          this.#send({ type: "gone", ids });
        },
        newest: (tasks) => {
          this.#send({ type: "newest", tasks: tasks.map(({ id, front }) => summaryOf(id, front)) });
        },
        progress: (bytesRead, bytesTotal) => {
          this.#progress = { bytesRead, bytesTotal };
          if (Date.now() - told < progressInterval) return;
          told = Date.now();
          flush();
          this.#tellStatus(phase, null);
        },
      });
      flush();
      this.#failedAt = null;
      this.#isStopped = false;
      if (phase === "indexing" || this.index.isVerified) this.#tellStatus("ready", null);
    } catch (error) {
      flush();
      this.#isStopped = error instanceof StorageError && error.code === "cancelled";
      this.#failedAt = this.#isStopped ? null : Date.now();
      if (this.#isStopped) this.#tellStatus("stopped", null);
      else this.#tellStatus("failed", problemOf(error));
    }
  }

  #tellStatus(phase: StoreStatus["phase"], problem: Problem | null): void {
    const { fileSystem } = this.#environment;
    const { names } = this.store;
    const status: StoreStatus = {
      phase,
      exists: this.index.exists,
      ...this.#progress,
      taskCount: this.index.taskCount,
      unreadable: this.index.unreadable.map(({ id, reason }) => ({ id, reason })),
      damage: this.index.damage satisfies Damage,
      readOnly: attempt(() => this.store.readOnlyReason()),
      otherVersions: attempt(() => otherVersions(fileSystem, names)) ?? [],
      networkFileSystem: networkFileSystem(fileSystem, names.directory),
      problem,
    };
    // To read a task is to look at the file first: who reads one at each status must not be told of that look.
    const text = JSON.stringify(status);
    if (text === this.#told) return;
    this.#told = text;
    this.#send({ type: "status", status });
  }

  #send(update: StoreUpdate): void {
    if (!this.#disposed) this.#tell(update);
  }

  /** Refreshes where the file, or what may be done with it, is not as it was last seen, and now and then after a failure. */
  #look(): void {
    this.#watch();
    if (this.#isStopped) return;
    const isOverdue = this.#failedAt !== null && Date.now() - this.#failedAt > retryInterval;
    if (isOverdue || this.#fingerprint() !== this.#seen) this.#refreshSoon();
  }

  #refreshSoon(): void {
    // A burst of writes is read once, shortly after its first.
    this.#settling ??= setTimeout(() => {
      this.#settling = null;
      void this.refresh();
    }, settleTime);
  }

  #watch(): void {
    if (this.#watcher !== null) return;
    try {
      this.#watcher = watch(this.store.names.directory, { persistent: false }, () => {
        this.#look();
      });
    } catch {
      // No such directory yet, or no watches left on this machine: the poll goes on, and tries again.
      return;
    }
    const drop = (): void => {
      this.#watcher?.close();
      this.#watcher = null;
    };
    this.#watcher.on("error", drop);
  }

  #fingerprint(): string {
    const { fileSystem } = this.#environment;
    const { dataFile, directory } = this.store.names;
    const part = (path: string): string =>
      attempt(() => {
        const { identity, size, mtimeMs, mode, uid, isDirectory } = fileSystem.stat(path);
        return isDirectory ? `${identity} ${mode} ${uid}` : `${identity} ${size} ${mtimeMs} ${mode} ${uid}`;
      }) ?? "none";
    return `${part(dataFile)} ${part(directory)} ${part(dirname(directory))}`;
  }
}

/** Null where the operating system refuses: the refresh that follows reports why. */
function attempt<Result>(look: () => Result): Result | null {
  try {
    return look();
  } catch {
    return null;
  }
}

export function summaryOf(id: string, front: RecordFront): TaskSummary {
  return {
    id,
    taskClass: front.taskClass,
    attempts: front.attempts,
    enqueuedAt: front.enqueuedAt === 0 ? null : front.enqueuedAt,
    failedAt: front.failedAt,
    exceptionClass: front.exceptionClass,
    exceptionMessage: front.exceptionMessage.slice(0, longestMessage),
  };
}
