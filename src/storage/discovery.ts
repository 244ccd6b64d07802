import { join } from "node:path";
import { namesIn, type FileSystem } from "./fileSystem";
import { storageVersion, type StoreNames } from "./naming";

// `deferred-dead_tasks-0`, `deferred-dead_tasks.lock`, and a log such as `deferred-0-20261129-18690-obltbo`.
const dataFilePattern = /^((?!\.).*-)dead_tasks-(\d+)$/;
const lockFilePattern = /^((?!\.).*-)dead_tasks\.lock$/;
const logPattern = new RegExp(`^((?!\\.).*-)${storageVersion}-\\d{8}-\\d+-[0-9a-z]+$`);

/** The prefixes of the stores in a storage directory, told by their files alone, in name order. */
export function findStoresIn(fileSystem: FileSystem, directory: string): { readonly prefix: string }[] {
  const prefixes = new Set<string>();
  for (const name of namesIn(fileSystem, directory)) {
    const prefix = (dataFilePattern.exec(name) ?? lockFilePattern.exec(name) ?? logPattern.exec(name))?.[1];
    if (prefix !== undefined) prefixes.add(prefix);
  }
  return [...prefixes].sort().map((prefix) => ({ prefix }));
}

/** Names of a store's data files of other storage versions. They are not understood and left alone. */
export function otherVersions(fileSystem: FileSystem, { directory, prefix }: StoreNames): string[] {
  return namesIn(fileSystem, directory).filter((name) => {
    const match = dataFilePattern.exec(name);
    return match?.[1] === prefix && match[2] !== storageVersion;
  });
}

// statfs(2) types of file systems on which flock, rename and fsync do not keep their promises across machines.
const networkTypes = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
  [0x01021997, "9P"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
]);

/** The name of the network file system that a directory is on; null for a local one, or where it cannot be told. */
export function networkFileSystem(fileSystem: FileSystem, directory: string): string | null {
  try {
    return networkTypes.get(fileSystem.fileSystemType(join(directory, "."))) ?? null;
  } catch {
    // No such directory, or a platform without statfs: nothing can be said.
    return null;
  }
}
