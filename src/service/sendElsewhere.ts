import { constants } from "node:fs";
import { dirname } from "node:path";
import {
  copyElsewhere,
  findStoresIn,
  moveElsewhere,
  networkFileSystem,
  retryElsewhere,
  type DeadTaskStore,
  type OperationOptions,
  type StorageEnvironment,
} from "../storage";
import { hasCode, statIfPresent } from "../storage/fileSystem";
import type { SendOutcome, SendWay, TargetLook } from "./sendProtocol";
import { keptAs, type UndoKeeper } from "./undo";

/** Sends tasks to another store. Failures as a whole are StorageErrors. */
export async function sendElsewhere(
  source: DeadTaskStore,
  target: DeadTaskStore,
  ids: readonly string[],
  way: SendWay,
  keeper: UndoKeeper | null,
  options: Pick<OperationOptions, "signal" | "onProgress" | "onFinished">,
): Promise<SendOutcome> {
  if (way === "copy") {
    const { copied, present, missing } = await copyElsewhere(source, target, ids, options);
    if (copied.length > 0) keeper?.keepCopies(copied);
    return { sent: copied.map(({ id }) => id), present, missing, failed: [], log: null, ...keptAs(keeper) };
  }
  const send = way === "move" ? moveElsewhere : retryElsewhere;
  const keep = keeper === null ? {} : { keepReplayed: keeper.keepReplayed };
  const { retried, missing, failed, log } = await send(source, target, ids, null, { ...options, ...keep });
  return { sent: retried.map(({ id }) => id), present: [], missing, failed, log, ...keptAs(keeper) };
}

/** Reads only. Throws a StorageError where the directory cannot be looked into. */
export function lookAtTarget({ fileSystem }: StorageEnvironment, store: DeadTaskStore): TargetLook {
  const { directory, prefix } = store.names;
  let above = directory;
  while (statIfPresent(fileSystem, above) === null) above = dirname(above);
  return {
    readOnly: store.readOnlyReason() ?? (above === directory ? null : directoryObstacle(fileSystem, above)),
    networkFileSystem: networkFileSystem(fileSystem, above),
    exists: findStoresIn(fileSystem, directory).some((found) => found.prefix === prefix),
  };
}

/** Why no directory can be made in this one. */
function directoryObstacle(fileSystem: StorageEnvironment["fileSystem"], directory: string): string | null {
  if (!fileSystem.stat(directory).isDirectory) return `${directory} is not a directory`;
  try {
    fileSystem.access(directory, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    if (hasCode(error, "EACCES", "EPERM", "EROFS")) return `you have no permission to write in ${directory}`;
    throw error;
  }
}
