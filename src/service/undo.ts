import { join } from "node:path";
import {
  StorageError,
  UndoJournal,
  removeCopies,
  takeBackElsewhere,
  type CopiedLine,
  type DeadTaskStore,
  type FileSystem,
  type OperationOptions,
  type StorageEnvironment,
  type UndoEntry,
  type UndoHeader,
} from "../storage";
import { statIfPresent } from "../storage/fileSystem";
import { problemOf } from "./problems";
import { storeAt } from "./storeAt";
import type { UndoneChange, UndoRequest } from "./protocol";

type Keep = NonNullable<OperationOptions["keep"]>;
type ReplayedTasks = Parameters<NonNullable<OperationOptions["keepReplayed"]>>[0]["tasks"];

/** `log`: null for copies. */
interface KeptTasks {
  readonly log: string | null;
  readonly tasks: ReplayedTasks;
}

/** Keeps what a deletion or a retry takes out of a store, in a journal of ours outside it. */
export class UndoKeeper {
  readonly #journal: UndoJournal;
  readonly #request: UndoRequest;
  readonly #store: DeadTaskStore;
  readonly #now: number;
  readonly #warn: (text: string) => void;
  readonly #elsewhere: UndoHeader["elsewhere"];
  /** Of the entry that was begun last, which is the one that stays. */
  #name: string | null = null;

  constructor(
    environment: StorageEnvironment,
    store: DeadTaskStore,
    request: UndoRequest,
    warn: (text: string) => void,
    elsewhere?: UndoHeader["elsewhere"],
  ) {
    this.#journal = new UndoJournal(environment, request.directory);
    this.#request = request;
    this.#store = store;
    this.#now = Math.floor(environment.clock.now() / 1000);
    this.#warn = warn;
    this.#elsewhere = elsewhere;
  }

  /** For a deletion, which does not happen where it cannot be kept. */
  readonly keep: Keep = () => this.#begin(null, []);

  /** For a retry. Its tasks are enqueued by then, so it goes on where they cannot be kept, and cannot be undone. */
  readonly keepReplayed = ({ log, tasks }: KeptTasks): ReturnType<Keep> => {
    let kept: ReturnType<Keep> | null = null;
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        this.#warn(problemOf(error).message);
        const failed = kept;
        kept = null;
        this.#name = null;
        if (failed !== null)
          attempt(() => {
            failed.discard();
          });
      }
    };
    attempt(() => {
      kept = this.#begin(log, tasks);
    });
    return {
      name: this.#name ?? "",
      append: (bytes) => {
        attempt(() => kept?.append(bytes));
      },
      keep: () => {
        attempt(() => kept?.keep());
      },
      discard: () => {
        attempt(() => kept?.discard());
      },
    };
  };

  /** For copies in another store, which stand there by then: of them only which lines they are. */
  keepCopies(copied: readonly CopiedLine[]): void {
    const kept = this.keepReplayed({ log: null, tasks: copied.map((line) => ({ ...line, newId: "" })) });
    kept.keep();
  }

  #begin(log: string | null, tasks: ReplayedTasks): ReturnType<Keep> {
    const { directory, prefix } = this.#store.names;
    const elsewhere = this.#elsewhere === undefined ? {} : { elsewhere: this.#elsewhere };
    const header = { title: this.#request.title, at: this.#now, directory, prefix, log, ...elsewhere };
    const kept = this.#journal.begin(header, tasks);
    this.#name = kept.name;
    return kept;
  }

  /** After the change: forgets what is over the limits. Returns the entry's name; null where nothing is kept. */
  finish(): string | null {
    try {
      this.#journal.prune(this.#request.limits);
      const name = this.#name;
      return name !== null && this.#journal.entry(name) !== null ? name : null;
    } catch (error) {
      // What was done is done, whatever becomes of the journal afterwards.
      this.#warn(problemOf(error).message);
      return null;
    }
  }
}

/** The name under which a change is kept, where it is. */
export function keptAs(keeper: UndoKeeper | null): { readonly undo?: string } {
  const name = keeper?.finish() ?? null;
  return name === null ? {} : { undo: name };
}

/** Newest first. Forgets the retries of which a worker has merged the log: they cannot be undone any more. */
export function undoableEntries(environment: StorageEnvironment, directory: string): UndoEntry[] {
  const journal = new UndoJournal(environment, directory);
  return journal.entries().filter((entry) => {
    const isPast = entry.log !== null && isTaken(environment.fileSystem, entry, entry.log);
    if (isPast) journal.remove(entry.name);
    return !isPast;
  });
}

function isTaken(fileSystem: FileSystem, { directory, elsewhere }: UndoEntry, log: string): boolean {
  const place = elsewhere?.directory ?? directory;
  if (statIfPresent(fileSystem, join(place, log)) !== null) return false;
  // Another store's disk may be there again tomorrow.
  return elsewhere === undefined || statIfPresent(fileSystem, place) !== null;
}

/** Undoes what an entry keeps, and forgets the entry. `stores`: those that are open, of which one may be the entry's. */
export async function undoChange(
  environment: StorageEnvironment,
  directory: string,
  name: string,
  stores: readonly DeadTaskStore[],
): Promise<UndoneChange> {
  const journal = new UndoJournal(environment, directory);
  const entry = journal.entry(name);
  if (entry === null) return notKept;
  const forget = (): void => {
    journal.remove(name);
  };
  try {
    const undone = await undo(environment, journal, entry, stores, forget);
    return { found: true, ...undone };
  } catch (error) {
    // Another window was quicker: it has undone this while we waited for our turn.
    if (error instanceof StorageError && journal.entry(name) === null) return notKept;
    // It will never be possible again.
    if (error instanceof StorageError && error.code === "claimed") forget();
    throw error;
  }
}

const notKept: UndoneChange = { found: false, restored: [], present: [] };

async function undo(
  environment: StorageEnvironment,
  journal: UndoJournal,
  { name, directory, prefix, log, elsewhere }: UndoEntry,
  stores: readonly DeadTaskStore[],
  forget: () => void,
): Promise<Omit<UndoneChange, "found">> {
  const store = storeAt(environment, { path: directory, prefix }, stores);
  const read = (): ReturnType<UndoJournal["lines"]> => journal.lines(name);
  if (elsewhere === undefined && log === null) return await store.restore(read, forget);
  const tasks = journal.replayedTasks(name);
  // Copies alone have none.
  const replayed = { log: log ?? "", tasks };
  if (elsewhere === undefined) return await store.takeBack(replayed, read, forget);
  const place = { path: elsewhere.directory, prefix: elsewhere.prefix };
  if (statIfPresent(environment.fileSystem, place.path) === null) {
    const text = `Could not undo what was sent to ${place.path}: it is not there. Nothing was changed.`;
    throw new StorageError("io", text);
  }
  const other = storeAt(environment, place, stores);
  if (elsewhere.way === "move") return await takeBackElsewhere(store, other.names, replayed, read, forget);
  const ids = tasks.map(({ id }) => id);
  if (log !== null) {
    await other.takeBack(replayed, () => [], forget);
    return { restored: [], present: [], elsewhere: { ...place, gone: ids, changed: [] } };
  }
  const gone = await removeCopies(other, tasks, forget);
  const isGone = new Set(gone);
  const changed = ids.filter((id) => !isGone.has(id));
  return { restored: [], present: [], elsewhere: { ...place, gone, changed } };
}
