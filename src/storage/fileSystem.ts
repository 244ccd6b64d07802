import * as fs from "node:fs";
import { dirname } from "node:path";

/** What the storage needs to know of a file. `identity` is equal for two descriptors or paths of one and the same inode. */
export interface FileStat {
  readonly identity: string;
  readonly size: number;
  /** Permission bits alone. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeMs: number;
  readonly isDirectory: boolean;
}

/**
 * Every call that the storage makes to the operating system. All are synchronous on purpose: what runs while the
 * application's lock is held must not wait for an event loop that others may keep busy. Failures are Node's own errors
 * with their `code`. A fault-injecting implementation takes this one's place in tests.
 */
export interface FileSystem {
  open(path: string, flags: number, mode?: number): number;
  close(descriptor: number): void;
  /** Reads at `position`; returns the number of bytes, 0 at the end of the file. */
  read(descriptor: number, buffer: Uint8Array, offset: number, length: number, position: number): number;
  /** One `write(2)`, at the descriptor's position; may be short. */
  write(descriptor: number, buffer: Uint8Array, offset: number, length: number): number;
  fsync(descriptor: number): void;
  ftruncate(descriptor: number, length: number): void;
  fchmod(descriptor: number, mode: number): void;
  fchown(descriptor: number, uid: number, gid: number): void;
  fstat(descriptor: number): FileStat;
  stat(path: string): FileStat;
  access(path: string, mode: number): void;
  readFile(path: string): Buffer;
  readdir(path: string): string[];
  realpath(path: string): string;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  mkdir(path: string): void;
  rmdir(path: string): void;
  utimes(path: string, atime: Date | number, mtime: Date | number): void;
  /** The file system's type number as `statfs(2)` gives it. */
  fileSystemType(path: string): number;
}

function describe(stat: fs.BigIntStats): FileStat {
  return {
    identity: `${stat.dev.toString()}:${stat.ino.toString()}`,
    size: Number(stat.size),
    mode: Number(stat.mode) & 0o7777,
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    mtimeMs: Number(stat.mtimeNs) / 1e6,
    isDirectory: stat.isDirectory(),
  };
}

/** The real thing. */
export const nodeFileSystem: FileSystem = {
  open: (path, flags, mode) => fs.openSync(path, flags, mode),
  close: (descriptor) => {
    fs.closeSync(descriptor);
  },
  read: (descriptor, buffer, offset, length, position) => fs.readSync(descriptor, buffer, offset, length, position),
  write: (descriptor, buffer, offset, length) => fs.writeSync(descriptor, buffer, offset, length),
  fsync: (descriptor) => {
    fs.fsyncSync(descriptor);
  },
  ftruncate: (descriptor, length) => {
    fs.ftruncateSync(descriptor, length);
  },
  fchmod: (descriptor, mode) => {
    fs.fchmodSync(descriptor, mode);
  },
  fchown: (descriptor, uid, gid) => {
    fs.fchownSync(descriptor, uid, gid);
  },
  fstat: (descriptor) => describe(fs.fstatSync(descriptor, { bigint: true })),
  stat: (path) => describe(fs.statSync(path, { bigint: true })),
  access: (path, mode) => {
    fs.accessSync(path, mode);
  },
  readFile: (path) => fs.readFileSync(path),
  readdir: (path) => fs.readdirSync(path),
  realpath: (path) => fs.realpathSync(path),
  rename: (from, to) => {
    fs.renameSync(from, to);
  },
  unlink: (path) => {
    fs.unlinkSync(path);
  },
  mkdir: (path) => {
    fs.mkdirSync(path);
  },
  rmdir: (path) => {
    fs.rmdirSync(path);
  },
  utimes: (path, atime, mtime) => {
    fs.utimesSync(path, atime, mtime);
  },
  fileSystemType: (path) => fs.statfsSync(path).type,
};

/** Whether an error is Node's with one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Stat of a path, or null where nothing is there. */
export function statIfPresent(fileSystem: FileSystem, path: string): FileStat | null {
  try {
    return fileSystem.stat(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return null;
    throw error;
  }
}

/** Opens a file that is there, or null where it is not: asking first would leave a moment in which another process removes it. */
export function openIfPresent(fileSystem: FileSystem, path: string, flags: number, mode?: number): number | null {
  try {
    return fileSystem.open(path, flags, mode);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return null;
    throw error;
  }
}

/** Names in a directory in byte order, or none where the directory does not exist. */
export function namesIn(fileSystem: FileSystem, directory: string): string[] {
  try {
    return fileSystem.readdir(directory).sort();
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

/** Writes all of `bytes`, going on after short writes. */
export function writeFully(fileSystem: FileSystem, descriptor: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) {
    written += fileSystem.write(descriptor, bytes, written, bytes.length - written);
  }
}

/** Makes the names in a directory durable. */
export function fsyncDirectory(fileSystem: FileSystem, directory: string): void {
  const descriptor = fileSystem.open(directory, fs.constants.O_RDONLY);
  try {
    fileSystem.fsync(descriptor);
  } finally {
    fileSystem.close(descriptor);
  }
}

/** Makes a directory and what is missing above it; each name is durable when it returns. */
export function makeDirectory(fileSystem: FileSystem, directory: string): void {
  const missing: string[] = [];
  for (let path = directory; statIfPresent(fileSystem, path) === null; path = dirname(path)) missing.push(path);
  for (const path of missing.reverse()) {
    try {
      fileSystem.mkdir(path);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    fsyncDirectory(fileSystem, dirname(path));
  }
}

/** Removes a file; one that is not there is no error. */
export function unlinkIfPresent(fileSystem: FileSystem, path: string): void {
  try {
    fileSystem.unlink(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}
