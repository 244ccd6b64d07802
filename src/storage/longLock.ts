import { constants } from "node:fs";
import * as lockfile from "proper-lockfile";
import type { Clock } from "./clock";
import { StorageError } from "./errors";
import { hasCode, statIfPresent, type FileSystem } from "./fileSystem";
import { throwIfCancelled } from "./snapshot";

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

/** A lock that was had, and what is known of it since. */
interface Hold {
  /**
   * Of the lock's directory, opened as soon as it was made. The number of an inode that is gone is at once given to the next
   * one: without this, a lock that another process made in the place of ours would look like ours.
   */
  descriptor: number;
  /** Whether the directory is ours to remove. */
  isOurs: boolean;
  isCompromised: boolean;
  isOver: boolean;
  release: () => Promise<void>;
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

  /** Throws a `busy` StorageError when another process kept the lock for 15 seconds, a `cancelled` one at an abort before it is had. */
  async run<Result>(operation: (guard: LongLockGuard) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const hold = await this.#acquire(signal);
    try {
      return await operation(this.#guard(hold));
    } finally {
      await this.#letGo(hold);
    }
  }

  /**
   * A lock that another process made in our lock's place is not ours to remove. One that we only gave up on (after a pause in
   * which nobody took it) is. Fails never: the operation is over, and a lock that stays is stale in ten seconds.
   */
  async #letGo(hold: Hold): Promise<void> {
    try {
      hold.isOurs = this.#isInPlace(hold);
    } catch {
      hold.isOurs = false;
    }
    hold.isOver = true;
    try {
      this.#fileSystem.close(hold.descriptor);
    } catch {
      // Nothing was written through it.
    }
    // Always, since it ends the library's refreshing, which would keep everyone else out for as long as this process lives.
    await hold.release().catch(() => undefined);
  }

  #isInPlace(hold: Hold): boolean {
    return isInPlace(this.#fileSystem, this.#path, hold);
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
  #guard(hold: Hold): LongLockGuard {
    let lastChecked = this.#clock.now();
    return {
      check: () => {
        const now = this.#clock.now();
        const stat = statIfPresent(this.#fileSystem, this.#path);
        const ours =
          stat?.identity === this.#fileSystem.fstat(hold.descriptor).identity &&
          now - stat.mtimeMs < staleAfter &&
          Math.abs(now - lastChecked) < staleAfter;
        if (hold.isCompromised || !ours) {
          hold.isCompromised = true;
          throw this.#lost();
        }
        lastChecked = now;
      },
    };
  }

  async #acquire(signal: AbortSignal | undefined): Promise<Hold> {
    for (let attempt = 1; ; attempt++) {
      throwIfCancelled(signal);
      const hold = await this.#tryToAcquire();
      if (hold !== null) return hold;
      if (attempt === waitAttempts) {
        throw new StorageError(
          "busy",
          `Another window or command line is changing this store (${this.#path} is held). Nothing was changed; try again when it is done.`,
        );
      }
      await this.#clock.sleep(waitBetween);
    }
  }

  /** Null where another process has the lock. */
  async #tryToAcquire(): Promise<Hold | null> {
    const hold: Hold = {
      descriptor: -1,
      isOurs: true,
      isOver: false,
      isCompromised: false,
      release: () => Promise.resolve(),
    };
    try {
      // The library's own retries would wait for errors that no waiting mends, a missing permission for one.
      hold.release = await lockfile.lock(this.#path, {
        lockfilePath: this.#path,
        realpath: false,
        fs: callbackStyle(this.#fileSystem, hold),
        stale: staleAfter,
        update: refreshEvery,
        retries: 0,
        onCompromised: () => {
          hold.isCompromised = true;
        },
      });
    } catch (error) {
      if (hold.descriptor >= 0) this.#fileSystem.close(hold.descriptor);
      if (hasCode(error, "ELOCKED")) return null;
      throw error;
    }
    // Two that find the same stale lock can remove one another's: only one of them finds its own in place now.
    let isInPlace = false;
    try {
      isInPlace = this.#isInPlace(hold);
    } finally {
      if (!isInPlace) await this.#letGo(hold);
    }
    return isInPlace ? hold : null;
  }
}

function isInPlace(fileSystem: FileSystem, path: string, { descriptor }: Hold): boolean {
  return statIfPresent(fileSystem, path)?.identity === fileSystem.fstat(descriptor).identity;
}

/** The few calls that proper-lockfile makes, in the callback style that it wants, through our own file system. */
function callbackStyle(fileSystem: FileSystem, hold: Hold): object {
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
  // A refresh that was under way when the lock was released has nobody to answer: the library would fall over a lock that
  // it no longer knows, and take the process with it.
  const whileHeld = (callback: Callback): Callback => {
    return (error, value) => {
      if (!hold.isOver) callback(error, value);
    };
  };
  // Rounded as Node rounds its own: the library compares the time with the one that it wrote, to the millisecond.
  const stat = (path: string): { mtime: Date } => ({ mtime: new Date(Math.round(fileSystem.stat(path).mtimeMs)) });
  return {
    mkdir: (path: string, callback: Callback) => {
      answering(() => {
        fileSystem.mkdir(path);
        hold.descriptor = openMade(fileSystem, path);
      }, callback);
    },
    rmdir: (path: string, callback: Callback) => {
      answering(() => {
        if (hold.isOurs) fileSystem.rmdir(path);
      }, callback);
    },
    utimes: (path: string, atime: Date, mtime: Date, callback: Callback) => {
      answering(() => {
        fileSystem.utimes(path, atime, mtime);
      }, whileHeld(callback));
    },
    stat: (path: string, callback: Callback) => {
      answering(() => stat(path), whileHeld(callback));
    },
    // At the process's exit the library removes what it still holds, or believes that it does.
    rmdirSync: (path: string) => {
      if (isInPlace(fileSystem, path, hold)) fileSystem.rmdir(path);
    },
  };
}

/** Opens the lock's directory that was just made. */
function openMade(fileSystem: FileSystem, path: string): number {
  try {
    return fileSystem.open(path, constants.O_RDONLY);
  } catch (error) {
    // Gone: another process took it for the stale one that it had seen in its place. It is the library's code for "held".
    if (hasCode(error, "ENOENT")) throw Object.assign(new Error(`${path} was lost`), { code: "ELOCKED" });
    fileSystem.rmdir(path);
    throw error;
  }
}
