import { systemClock, type Clock } from "./clock";
import { nodeFileSystem, type FileSystem } from "./fileSystem";
import { loadFlock, type FlockAvailability } from "./flock";

/** Everything that the storage takes from outside; tests put their own in. */
export interface StorageEnvironment {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly flock: FlockAvailability;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Stands in the names of logs and in new ids. */
  readonly processId: number;
}

/** The real machine, with parts of it replaced where a caller says so. */
export async function storageEnvironment(replaced: Partial<StorageEnvironment> = {}): Promise<StorageEnvironment> {
  return {
    fileSystem: nodeFileSystem,
    clock: systemClock,
    flock: replaced.flock ?? (await loadFlock()),
    random: Math.random,
    processId: process.pid,
    ...replaced,
  };
}
