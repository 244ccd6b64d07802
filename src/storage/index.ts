/** The storage directory of a Rage application. The editor's worker and the command line are built on this alone. */
export type {
  Damage,
  DeadTask,
  DeadTaskBackend,
  EditedContext,
  FailedTask,
  FinishedReplay,
  ListOrder,
  Listing,
  OperationOptions,
  RemovalResult,
  ReplayResult,
  TaskFront,
  UnreadableTask,
} from "./backend";
export { contextOf, contextWithArguments, decodeContext, readContext, type TaskContext } from "./context";
export { DeadTaskStore, type StoreLocation } from "./deadTaskStore";
export {
  copyElsewhere,
  moveElsewhere,
  removeCopies,
  retryElsewhere,
  takeBackElsewhere,
  type CopiedLine,
  type CopyResult,
} from "./elsewhere";
export { findStoresIn, networkFileSystem, otherVersions } from "./discovery";
export { storageEnvironment, type StorageEnvironment } from "./environment";
export { DeadTasksLockTimeout, StorageError, type StorageErrorCode } from "./errors";
export { nodeFileSystem, type FileSystem } from "./fileSystem";
export { normalizePrefix, storeNames } from "./naming";
export { nilBackend } from "./nilBackend";
export type { PendingTask, PendingTasks } from "./pendingTasks";
export { extraTexts } from "./extraKeys";
export type { DeadTaskRecord, NewDeadTask } from "./record";
export type { RecordFront } from "./recordReader";
export type { RestoreResult } from "./restore";
export { StoreIndex, type IndexListener } from "./storeIndex";
export { UndoJournal, type UndoEntry, type UndoHeader, type UndoLimits } from "./undoJournal";
