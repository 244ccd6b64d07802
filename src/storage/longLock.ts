import { constants } from "node:fs";
import * as lockfile from "proper-lockfile";
import type { Clock } from "./clock";
import { StorageError } from "./errors";
import { hasCode, statIfPresent, type FileSystem } from "./fileSystem";

// Milliseconds. A holder that does not refresh its lock for this long is taken for dead.
const staleAfter = 10_000;
const refreshEvery = 3_000;
// Waiting for another window's operation, and for a dead one's lock to go stale.
const waitAttempts = 60;
const waitBetween = 250;

/** What an operation under the long lock asks before each of its writes. */
export interface LongLockGuard {
  /** Throws a `compromised` StorageError once the lock is no longer surely ours. */
  readonly check: () => void;
}

/**
 * The lock among our own processes: windows and command lines. It spans a whole retry or removal, so that two of them
 * cannot replay one task twice. Workers do not know it and never wait for it.
 */
export class LongLock {
  readonly #path: string;
  readonly #fileSystem: FileSystem;
  readonly #clock: Clock;

  constructor(path: string, fileSystem: FileSystem, clock: Clock) {
    this.#path = path;
    this.#fileSystem = fileSystem;
    this.#clock = clock;
  }

  /** Throws a `busy` StorageError when another process kept the lock for 15 seconds. */
  async run<Result>(operation: (guard: LongLockGuard) => Promise<Result>): Promise<Result> {
    const state = { compromised: false };
    const release = await this.#acquire(() => {
      state.compromised = true;
    });
    let held: number | null = null;
    try {
      // Held open, since the number of an inode that is gone is at once given to the next one: without this, a lock that
      // another process made in the place of ours would look like ours.
      held = this.#openLock();
      return await operation(this.#guard(held, state));
    } finally {
      // A lock that another process made in our lock's place is not ours to remove. One that we only gave up on (after a
      // pause in which nobody took it) is: it would be kept fresh, and everyone else out, as long as this process lives.
      const isOurs = held === null || this.#isInPlace(held);
      if (held !== null) this.#fileSystem.close(held);
      if (isOurs) await release().catch(ignoreLostLock);
    }
  }

  #openLock(): number {
    try {
      return this.#fileSystem.open(this.#path, constants.O_RDONLY);
    } catch (error) {
      if (hasCode(error, "ENOENT")) throw this.#lost();
      throw error;
    }
  }

  #isInPlace(held: number): boolean {
    return statIfPresent(this.#fileSystem, this.#path)?.identity === this.#fileSystem.fstat(held).identity;
  }

  #lost(): StorageError {
    return new StorageError(
      "compromised",
      `The lock ${this.#path} was lost while working, so the operation stopped. Tasks not yet handled are where they were; look at the list and repeat what is missing.`,
    );
  }

  /**
   * The library notices a lost lock only when its timer fires, which after a pause of the whole process (a laptop's sleep, a
   * stopped process) can be later than our next write. So every check also looks at the clock and at the lock itself.
   */
  #guard(held: number, state: { compromised: boolean }): LongLockGuard {
    let lastChecked = this.#clock.now();
    return {
      check: () => {
        const now = this.#clock.now();
        const stat = statIfPresent(this.#fileSystem, this.#path);
        const ours =
          stat?.identity === this.#fileSystem.fstat(held).identity &&
          now - stat.mtimeMs < staleAfter &&
          Math.abs(now - lastChecked) < staleAfter;
        if (state.compromised || !ours) {
          state.compromised = true;
          throw this.#lost();
        }
        lastChecked = now;
      },
    };
  }

  async #acquire(onCompromised: () => void): Promise<() => Promise<void>> {
    for (let attempt = 1; ; attempt++) {
      try {
        // The library's own retries would wait for errors that no waiting mends, a missing permission for one.
        return await lockfile.lock(this.#path, {
          lockfilePath: this.#path,
          realpath: false,
          fs: callbackStyle(this.#fileSystem),
          stale: staleAfter,
          update: refreshEvery,
          retries: 0,
          onCompromised,
        });
      } catch (error) {
        if (!hasCode(error, "ELOCKED")) throw error;
        if (attempt === waitAttempts) {
          throw new StorageError(
            "busy",
            `Another window or command line is changing this store (${this.#path} is held). Nothing was changed; try again when it is done.`,
          );
        }
        await this.#clock.sleep(waitBetween);
      }
    }
  }
}

/** Releasing a lock that vanished in the last moment: the operation itself is over and was checked before each write. */
function ignoreLostLock(error: unknown): void {
  if (!hasCode(error, "ENOTACQUIRED", "ERELEASED", "ENOENT")) throw error;
}

/** The few calls that proper-lockfile makes, in the callback style that it wants, through our own file system. */
function callbackStyle(fileSystem: FileSystem): object {
  type Callback = (error: unknown, value?: unknown) => void;
  const answering = (call: () => unknown, callback: Callback): void => {
    let value: unknown;
    try {
      value = call();
    } catch (error) {
      setImmediate(callback, error);
      return;
    }
    setImmediate(callback, null, value);
  };
  // Rounded as Node rounds its own: the library compares the time with the one that it wrote, to the millisecond.
  const stat = (path: string): { mtime: Date } => ({ mtime: new Date(Math.round(fileSystem.stat(path).mtimeMs)) });
  return {
    mkdir: (path: string, callback: Callback) => {
      answering(() => {
        fileSystem.mkdir(path);
      }, callback);
    },
    rmdir: (path: string, callback: Callback) => {
      answering(() => {
        fileSystem.rmdir(path);
      }, callback);
    },
    utimes: (path: string, atime: Date, mtime: Date, callback: Callback) => {
      answering(() => {
        fileSystem.utimes(path, atime, mtime);
      }, callback);
    },
    stat: (path: string, callback: Callback) => {
      answering(() => stat(path), callback);
    },
    // At the process's exit the library removes what it still holds.
    rmdirSync: (path: string) => {
      fileSystem.rmdir(path);
    },
  };
}
