import { StorageError, reasonOf } from "./errors";

/** `flock(2)` on an open descriptor. Never blocks. */
export interface Flock {
  /** Whether the exclusive lock was had. Throws a `read-only` StorageError where the file system has no working flock. */
  tryLock(descriptor: number): boolean;
  unlock(descriptor: number): void;
}

/** Either flock, or why there is none on this machine. */
export type FlockAvailability =
  { readonly flock: Flock; readonly unavailable: null } | { readonly flock: null; readonly unavailable: string };

// From sys/file.h; the same on Linux, macOS and the BSDs.
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;

let loaded: Promise<FlockAvailability> | null = null;

/** libc's flock through koffi: Node has none of its own. Loaded once, and only when first asked for. */
export function loadFlock(): Promise<FlockAvailability> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<FlockAvailability> {
  if (process.platform === "win32") {
    return { flock: null, unavailable: "Windows has no flock, the lock that Rage's workers use" };
  }
  try {
    const { default: koffi } = await import("koffi");
    const call = koffi.load(null).func("int flock(int, int)") as (descriptor: number, operation: number) => number;
    const { EINTR, EWOULDBLOCK } = koffi.os.errno;
    const attempt = (descriptor: number, operation: number): boolean => {
      while (call(descriptor, operation) !== 0) {
        const errno = koffi.errno();
        if (errno === EINTR) continue;
        if (errno === EWOULDBLOCK) return false;
        const name = Object.entries(koffi.os.errno).find(([, value]) => value === errno)?.[0] ?? `errno ${errno}`;
        throw new StorageError(
          "read-only",
          `The file system refuses flock (${name}), the lock that Rage's workers use.`,
        );
      }
      return true;
    };
    return {
      flock: {
        tryLock: (descriptor) => attempt(descriptor, LOCK_EX | LOCK_NB),
        unlock: (descriptor) => {
          attempt(descriptor, LOCK_UN);
        },
      },
      unavailable: null,
    };
  } catch (error) {
    return {
      flock: null,
      unavailable: `flock could not be loaded on ${process.platform}-${process.arch}: ${reasonOf(error)}`,
    };
  }
}
