import { DeadTaskStore, UndoJournal, type StorageEnvironment } from "../storage";
import type { UndoneDeletion, UndoRequest } from "./protocol";

/** Keeps what a deletion takes out of a store, in a journal of ours outside it. */
export class DeletionKeeper {
  readonly #journal: UndoJournal;
  readonly #request: UndoRequest;
  readonly #store: DeadTaskStore;
  readonly #now: number;
  /** Of the entry that was begun last, which is the one that stays. */
  #name: string | null = null;

  constructor(environment: StorageEnvironment, store: DeadTaskStore, request: UndoRequest) {
    this.#journal = new UndoJournal(environment, request.directory);
    this.#request = request;
    this.#store = store;
    this.#now = Math.floor(environment.clock.now() / 1000);
  }

  readonly keep = (): ReturnType<UndoJournal["begin"]> => {
    const { directory, prefix } = this.#store.names;
    const kept = this.#journal.begin({ title: this.#request.title, at: this.#now, directory, prefix, log: null });
    this.#name = kept.name;
    return kept;
  };

  /** After the deletion: forgets what is over the limits. Returns the entry's name; null where nothing is kept. */
  finish(): string | null {
    this.#journal.prune(this.#request.limits);
    const name = this.#name;
    return name !== null && this.#journal.entries().some((entry) => entry.name === name) ? name : null;
  }
}

/** Puts back what an entry keeps, and forgets the entry. `stores`: those that are open, of which one may be the entry's. */
export async function undoDeletion(
  environment: StorageEnvironment,
  directory: string,
  name: string,
  stores: readonly DeadTaskStore[],
): Promise<UndoneDeletion> {
  const journal = new UndoJournal(environment, directory);
  const entry = journal.entries().find((known) => known.name === name);
  if (entry === undefined) return { found: false, restored: [], present: [], storeDirectory: null };
  const { directory: path, prefix } = entry;
  const open = stores.find(({ names }) => names.directory === path && names.prefix === prefix);
  const store = open ?? new DeadTaskStore({ path, prefix }, environment);
  const { restored, present } = await store.restore(() => journal.lines(name));
  journal.remove(name);
  return { found: true, restored, present, storeDirectory: path };
}
