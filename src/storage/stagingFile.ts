import { constants } from "node:fs";
import { join } from "node:path";
import {
  fsyncDirectory,
  statIfPresent,
  unlinkIfPresent,
  writeFully,
  type FileStat,
  type FileSystem,
} from "./fileSystem";
import { adoptOwner } from "./ownership";

const bufferBytes = 1 << 20;

type StagingPurpose = "new" | "replacement" | "private";

/**
 * A file in the making, under a name that Rage's glob misses. It takes the place of its target by rename once it is
 * complete and durable; until then it is worth nothing and can be thrown away.
 */
export class StagingFile {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #path: string;
  readonly name: string;
  readonly #descriptor: number;
  readonly #buffer = Buffer.allocUnsafe(bufferBytes);
  #filled = 0;
  #open = true;
  #renamed = false;
  #durable = false;

  /**
   * Creates the file with the owner of `like`, and with its mode where it is a replacement for that file; else 0644 before
   * umask. A file of our own, which is nobody else's business, is like none and has 0600.
   */
  constructor(fileSystem: FileSystem, directory: string, name: string, like: FileStat | null, purpose: StagingPurpose) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    this.name = name;
    this.#path = join(directory, name);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    this.#descriptor = fileSystem.open(this.#path, flags, purpose === "private" ? 0o600 : 0o644);
    if (like === null) return;
    try {
      adoptOwner(fileSystem, this.#descriptor, like, this.#path);
      if (purpose === "replacement") fileSystem.fchmod(this.#descriptor, like.mode);
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** Adds bytes; they reach the file with the next `sync` at the latest. */
  append(bytes: Uint8Array): void {
    this.#durable = false;
    if (bytes.length > bufferBytes - this.#filled) this.#flush();
    if (bytes.length > bufferBytes) {
      writeFully(this.#fileSystem, this.#descriptor, bytes);
    } else {
      this.#buffer.set(bytes, this.#filled);
      this.#filled += bytes.length;
    }
  }

  /** The content is durable when it returns; more may be added. Costs nothing where nothing was added since the last time. */
  sync(): void {
    if (this.#durable) return;
    this.#flush();
    this.#fileSystem.fsync(this.#descriptor);
    this.#durable = true;
  }

  /** Whether the file still has its own name. */
  isStaged(): boolean {
    return !this.#renamed && statIfPresent(this.#fileSystem, this.#path) !== null;
  }

  /** Takes the target's place. The content must have been synced; the name is durable when it returns. */
  publish(target: string): void {
    this.close();
    this.#fileSystem.rename(this.#path, target);
    this.#renamed = true;
    fsyncDirectory(this.#fileSystem, this.#directory);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#fileSystem.close(this.#descriptor);
  }

  /** Removes the file where it still has its own name. */
  discard(): void {
    this.close();
    if (!this.#renamed) unlinkIfPresent(this.#fileSystem, this.#path);
  }

  #flush(): void {
    writeFully(this.#fileSystem, this.#descriptor, this.#buffer.subarray(0, this.#filled));
    this.#filled = 0;
  }
}
