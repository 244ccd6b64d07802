import { StorageError } from "./errors";
import { hasCode, unlinkIfPresent, type FileStat, type FileSystem } from "./fileSystem";

/**
 * Gives a new file the owner of the files beside it. When this program runs as another user than the application (as root
 * on a server, say), a file of our own would lock the application's workers out of their store.
 */
export function adoptOwner(fileSystem: FileSystem, descriptor: number, like: FileStat, path: string): void {
  const own = fileSystem.fstat(descriptor);
  if (own.uid === like.uid && own.gid === like.gid) return;
  try {
    fileSystem.fchown(descriptor, like.uid, like.gid);
  } catch (error) {
    if (!hasCode(error, "EPERM", "EACCES", "EINVAL")) throw error;
    // Another group alone does no harm: the owner can still write.
    if (own.uid === like.uid) return;
    throw new StorageError(
      "read-only",
      `${path} would belong to another user than the application (${like.uid}), whose workers could then not write to it. Nothing was changed; run this as that user.`,
    );
  }
}

/** The same for a file just made under its final name: it does not stay where it would shut the workers out. */
export function adoptOwnerOfNew(fileSystem: FileSystem, descriptor: number, like: FileStat, path: string): void {
  try {
    adoptOwner(fileSystem, descriptor, like, path);
  } catch (error) {
    unlinkIfPresent(fileSystem, path);
    throw error;
  }
}
