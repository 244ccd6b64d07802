import { noDamage, type DeadTaskBackend } from "./backend";
import { StorageError } from "./errors";
import { emptyListing } from "./listing";

/**
 * The backend of an application that keeps nothing (`config.deferred.backend = nil`): the list is empty, lookups find nothing,
 * changes report that nothing changed, and no file is ever made.
 */
export const nilBackend: DeadTaskBackend = {
  readOnlyReason: () => null,
  add: (task) =>
    Promise.reject(
      new StorageError("read-only", `Task ${task.id} cannot be kept: the application's deferred backend is nil.`),
    ),
  list: () => Promise.resolve(emptyListing),
  find: () => Promise.resolve(null),
  remove: (ids) => Promise.resolve({ removed: [], missing: [...new Set(ids)] }),
  replay: (ids) => Promise.resolve({ retried: [], missing: [...new Set(ids)], failed: [], log: null }),
  pending: () => Promise.resolve({ tasks: [], damage: noDamage }),
};
