import { join } from "node:path";
import {
  DeadTaskStore,
  StorageError,
  UndoJournal,
  type OperationOptions,
  type StorageEnvironment,
  type UndoEntry,
} from "../storage";
import { statIfPresent } from "../storage/fileSystem";
import { problemOf } from "./problems";
import type { UndoneChange, UndoRequest } from "./protocol";

type Keep = NonNullable<OperationOptions["keep"]>;
type KeepReplayed = NonNullable<OperationOptions["keepReplayed"]>;

/** Keeps what a deletion or a retry takes out of a store, in a journal of ours outside it. */
export class UndoKeeper {
  readonly #journal: UndoJournal;
  readonly #request: UndoRequest;
  readonly #store: DeadTaskStore;
  readonly #now: number;
  readonly #warn: (text: string) => void;
  /** Of the entry that was begun last, which is the one that stays. */
  #name: string | null = null;

  constructor(
    environment: StorageEnvironment,
    store: DeadTaskStore,
    request: UndoRequest,
    warn: (text: string) => void,
  ) {
    this.#journal = new UndoJournal(environment, request.directory);
    this.#request = request;
    this.#store = store;
    this.#now = Math.floor(environment.clock.now() / 1000);
    this.#warn = warn;
  }

  /** For a deletion, which does not happen where it cannot be kept. */
  readonly keep: Keep = () => this.#begin(null, []);

  /** For a retry. Its tasks are enqueued by then, so it goes on where they cannot be kept, and cannot be undone. */
  readonly keepReplayed: KeepReplayed = ({ log, tasks }) => {
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

  #begin(log: string | null, tasks: Parameters<KeepReplayed>[0]["tasks"]): ReturnType<Keep> {
    const { directory, prefix } = this.#store.names;
    const kept = this.#journal.begin({ title: this.#request.title, at: this.#now, directory, prefix, log }, tasks);
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

/** Newest first. Forgets the retries of which a worker has merged the log: they cannot be undone any more. */
export function undoableEntries(environment: StorageEnvironment, directory: string): UndoEntry[] {
  const journal = new UndoJournal(environment, directory);
  return journal.entries().filter((entry) => {
    const isPast =
      entry.log !== null && statIfPresent(environment.fileSystem, join(entry.directory, entry.log)) === null;
    if (isPast) journal.remove(entry.name);
    return !isPast;
  });
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
  const { directory: path, prefix, log } = entry;
  const open = stores.find(({ names }) => names.directory === path && names.prefix === prefix);
  const store = open ?? new DeadTaskStore({ path, prefix }, environment);
  const read = (): ReturnType<UndoJournal["lines"]> => journal.lines(name);
  const forget = (): void => {
    journal.remove(name);
  };
  try {
    const undone =
      log === null
        ? await store.restore(read, forget)
        : await store.takeBack({ log, tasks: journal.replayedTasks(name) }, read, forget);
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
