import { constants } from "node:fs";
import { hasCode, statIfPresent, type FileSystem } from "./fileSystem";
import type { StoreNames } from "./naming";

/** Why this user cannot change a store; null where it can, or where there is nothing yet. Changes and creates nothing. */
export function writeObstacle(fileSystem: FileSystem, names: StoreNames): string | null {
  const { directory, dataFile, lockFile } = names;
  if (statIfPresent(fileSystem, directory) === null) return null;
  if (!isAllowed(fileSystem, directory, constants.R_OK | constants.W_OK | constants.X_OK)) {
    return `you have no permission to write in ${directory}`;
  }
  for (const path of [dataFile, lockFile]) {
    const stat = statIfPresent(fileSystem, path);
    if (stat === null) continue;
    if (!isAllowed(fileSystem, path, constants.R_OK | constants.W_OK))
      return `you have no permission to write to ${path}`;
    const user = process.geteuid?.();
    if (path === dataFile && user !== undefined && user !== 0 && user !== stat.uid) {
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
