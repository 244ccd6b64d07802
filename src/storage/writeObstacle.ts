import { constants } from "node:fs";
import { dirname } from "node:path";
import { hasCode, statIfPresent, type FileSystem } from "./fileSystem";
import type { StoreNames } from "./naming";

/** Why this user cannot change a store; null where it can, or where there is nothing yet. Changes and creates nothing. */
export function writeObstacle(fileSystem: FileSystem, names: StoreNames): string | null {
  try {
    return obstacle(fileSystem, names);
  } catch (error) {
    if (hasCode(error, "EACCES", "EPERM")) return `you have no permission to look into ${dirname(names.directory)}`;
    throw error;
  }
}

function obstacle(fileSystem: FileSystem, { directory, dataFile, lockFile }: StoreNames): string | null {
  const folder = statIfPresent(fileSystem, directory);
  if (folder === null) return null;
  if (!folder.isDirectory) return `${directory} is not a directory`;
  if (!isAllowed(fileSystem, directory, constants.R_OK | constants.W_OK | constants.X_OK)) {
    return `you have no permission to write in ${directory}`;
  }
  const user = process.geteuid?.();
  // Only root can give a file to the user whose workers must be able to write to it.
  const cannotGiveAway = (uid: number): boolean => user !== undefined && user !== 0 && user !== uid;
  for (const path of [dataFile, lockFile]) {
    const stat = statIfPresent(fileSystem, path);
    if (stat === null) {
      if (!cannotGiveAway(folder.uid)) continue;
      return `${directory} belongs to another user (${folder.uid}), who could not write to ${path} if you made it`;
    }
    if (!isAllowed(fileSystem, path, constants.R_OK | constants.W_OK)) {
      return `you have no permission to write to ${path}`;
    }
    if (path === dataFile && cannotGiveAway(stat.uid)) {
      return `${path} belongs to another user (${stat.uid}), who could not write to a file that replaces it`;
    }
  }
  return null;
}

function isAllowed(fileSystem: FileSystem, path: string, mode: number): boolean {
  try {
    fileSystem.access(path, mode);
    return true;
  } catch (error) {
    if (hasCode(error, "EACCES", "EPERM", "EROFS", "ENOENT")) return false;
    throw error;
  }
}
