import { constants } from "node:fs";
import type { Clock } from "./clock";
import { DeadTasksLockTimeout, StorageError } from "./errors";
import { hasCode, openIfPresent, type FileSystem } from "./fileSystem";
import type { Flock, FlockAvailability } from "./flock";
import { adoptOwnerOfNew } from "./ownership";
import { dirname } from "node:path";

// Rage's own schedule: 20 attempts with pauses of min(10 ms × n, 100 ms), 1.45 seconds in all.
const attempts = 20;
const pauseStep = 10;
const longestPause = 100;

/**
 * Rage's lock on `{prefix}dead_tasks.lock`. A worker that cannot have it for 1.45 seconds loses the record of a failure
 * until its next start, so the critical section is a synchronous function: it cannot wait for anything but the disk.
 */
export class ShortLock {
  readonly #path: string;
  readonly #fileSystem: FileSystem;
  readonly #clock: Clock;
  readonly #availability: FlockAvailability;
  #refusal: string | null = null;

  constructor(path: string, fileSystem: FileSystem, clock: Clock, availability: FlockAvailability) {
    this.#path = path;
    this.#fileSystem = fileSystem;
    this.#clock = clock;
    this.#availability = availability;
  }

  /** Why the lock cannot be had on this machine or file system; null as long as nothing speaks against it. */
  get unavailable(): string | null {
    return this.#availability.unavailable ?? this.#refusal;
  }

  /**
   * Runs `critical` while holding the lock; creates the lock file where it is missing. Throws `DeadTasksLockTimeout`
   * before `critical` was entered, and a `read-only` StorageError where there is no flock.
   */
  async run<Result>(critical: () => Result): Promise<Result> {
    const { flock, unavailable } = this.#availability;
    if (flock === null) throw new StorageError("read-only", `Nothing can be changed here: ${unavailable}.`);
    return await this.#hold(flock, this.#openOrCreate(), critical);
  }

  #openOrCreate(): number {
    const present = openIfPresent(this.#fileSystem, this.#path, constants.O_RDWR);
    if (present !== null) return present;
    const descriptor = this.#fileSystem.open(this.#path, constants.O_RDWR | constants.O_CREAT, 0o644);
    try {
      adoptOwnerOfNew(this.#fileSystem, descriptor, this.#fileSystem.stat(dirname(this.#path)), this.#path);
      return descriptor;
    } catch (error) {
      this.#fileSystem.close(descriptor);
      throw error;
    }
  }

  /**
   * The same for a reader, which never creates or changes a file: without a lock file, without flock, or when the lock
   * cannot be had, `critical` runs unlocked. That is safe for finding the end of the last complete line, since complete
   * lines are never touched and a removal replaces the file by rename; the lock only orders us among the writers.
   */
  async runForReading<Result>(critical: () => Result): Promise<Result> {
    const { flock } = this.#availability;
    if (flock === null) return critical();
    let descriptor: number;
    try {
      descriptor = this.#fileSystem.open(this.#path, constants.O_RDONLY);
    } catch (error) {
      if (hasCode(error, "ENOENT", "ENOTDIR", "EACCES", "EPERM")) return critical();
      throw error;
    }
    try {
      return await this.#hold(flock, descriptor, critical);
    } catch (error) {
      if (error instanceof DeadTasksLockTimeout || this.#refusal !== null) return critical();
      throw error;
    }
  }

  async #hold<Result>(flock: Flock, descriptor: number, critical: () => Result): Promise<Result> {
    try {
      for (let attempt = 1; !this.#try(flock, descriptor); attempt++) {
        if (attempt === attempts) throw new DeadTasksLockTimeout(this.#path);
        await this.#clock.sleep(Math.min(pauseStep * attempt, longestPause));
      }
      try {
        return critical();
      } finally {
        flock.unlock(descriptor);
      }
    } finally {
      this.#close(descriptor);
    }
  }

  #close(descriptor: number): void {
    try {
      this.#fileSystem.close(descriptor);
    } catch {
      // Nothing was written through it, and what was done under the lock is done.
    }
  }

  #try(flock: Flock, descriptor: number): boolean {
    try {
      return flock.tryLock(descriptor);
    } catch (error) {
      if (error instanceof StorageError) this.#refusal = error.message;
      throw error;
    }
  }
}
