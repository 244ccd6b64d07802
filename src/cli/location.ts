import { dirname, join } from "node:path";
import { findApplicationStore, type ApplicationStore } from "../application/applicationStore";
import type { FileSystem } from "../storage";
import type { CommonOptions } from "./arguments";

/** The store to work on. */
export interface Location {
  readonly path: string;
  readonly prefix: string;
  /** Where the application says that it keeps no tasks, else null. */
  readonly nilSource: string | null;
  /** What the user should know of how the store was found; null where there is nothing to know. */
  readonly problem: string | null;
}

/** The store that the options name, else that of the application which the working directory is in, else `storage`. */
export function locateStore(
  fileSystem: FileSystem,
  { storage, prefix }: CommonOptions,
  workingDirectory: string,
): Location {
  if (storage !== null) {
    return { path: storage, prefix: prefix ?? defaultPrefix, nilSource: null, problem: null };
  }
  const store = applicationAbove(fileSystem, workingDirectory);
  if (store === null) {
    const path = join(workingDirectory, "storage");
    return { path, prefix: prefix ?? defaultPrefix, nilSource: null, problem: null };
  }
  return {
    path: store.path,
    prefix: prefix ?? store.prefix,
    nilSource: store.backend === "nil" ? store.source : null,
    problem: store.problem,
  };
}

const defaultPrefix = "deferred-";

function applicationAbove(fileSystem: FileSystem, start: string): ApplicationStore | null {
  for (let directory = start; ; directory = dirname(directory)) {
    const store = findApplicationStore(fileSystem, directory);
    if (store !== null || directory === dirname(directory)) return store;
  }
}
