import { constants } from "node:fs";
import { join } from "node:path";
import { findApplicationStore } from "../application/applicationStore";
import { findStoresIn, normalizePrefix, type FileSystem } from "../storage";
import { hasCode, namesIn, statIfPresent } from "../storage/fileSystem";
import type { DiscoveredStore } from "./protocol";

// Directories that hold no application of the user's own, and can be huge.
const passedOver = new Set(["node_modules", "vendor", "tmp", "log", "dist", "coverage"]);

/**
 * The stores of a workspace folder: of the Rage application at its root, of those in its direct sub-folders (a repository of
 * several), and whatever a `storage` directory of either holds that no configuration mentions. Each store once.
 */
export function discoverStores(fileSystem: FileSystem, folder: string): DiscoveredStore[] {
  const found = new Map<string, DiscoveredStore>();
  const keep = (store: DiscoveredStore): void => {
    const key = `${store.path}\0${normalizePrefix(store.prefix)}`;
    if (!found.has(key)) found.set(key, store);
  };
  for (const root of [folder, ...subFolders(fileSystem, folder)]) {
    const application = findApplicationStore(fileSystem, root);
    if (application !== null) keep(application);
    const storage = join(root, "storage");
    if (!isReadableDirectory(fileSystem, storage)) continue;
    for (const { prefix } of findStoresIn(fileSystem, storage)) {
      keep({ path: storage, prefix, backend: "disk", source: "files", problem: null });
    }
  }
  return [...found.values()];
}

function subFolders(fileSystem: FileSystem, folder: string): string[] {
  return namesIn(fileSystem, folder)
    .filter((name) => !name.startsWith(".") && !passedOver.has(name))
    .map((name) => join(folder, name))
    .filter((path) => isReadableDirectory(fileSystem, path));
}

function isReadableDirectory(fileSystem: FileSystem, path: string): boolean {
  try {
    if (statIfPresent(fileSystem, path)?.isDirectory !== true) return false;
    fileSystem.access(path, constants.R_OK | constants.X_OK);
    return true;
  } catch (error) {
    // One sub-folder of another user's, or a link to itself, must not hide the stores of the others.
    if (hasCode(error, "EACCES", "EPERM", "ELOOP")) return false;
    throw error;
  }
}
