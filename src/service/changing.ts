import type { DeadTaskBackend, FinishedReplay, StorageEnvironment, UndoHeader } from "../storage";
import { History, finishedNotes, type Recorder } from "./history";
import type { OpenStores } from "./openStores";
import type { UndoRequest } from "./protocol";
import { UndoKeeper } from "./undo";

type Log = (level: "info" | "warn", text: string) => void;

/** What all changes of stores have in common: the history, what is kept for undoing, and that the views are told. */
export class Changing {
  readonly environment: StorageEnvironment;
  readonly stores: OpenStores;
  readonly history: History;
  readonly #log: Log;

  constructor(environment: StorageEnvironment, stores: OpenStores, log: Log) {
    this.environment = environment;
    this.stores = stores;
    this.#log = log;
    this.history = new History(environment, this.warn);
  }

  readonly warn = (text: string): void => {
    this.#log("warn", text);
  };

  /** `retrying`: ids of a retry under way, of which what was finished is told as its own. */
  tellFinished(key: string, finished: readonly FinishedReplay[], retrying: readonly string[] = []): void {
    for (const { id, newId, elsewhere } of finished) {
      const where = elsewhere === undefined ? "" : ` in ${elsewhere.directory}`;
      const text = `Finished an interrupted retry: dead task ${id} had been enqueued as ${newId}${where} and is removed now.`;
      this.#log("info", text);
    }
    for (const note of finishedNotes(finished, new Set(retrying))) {
      const ids = note.done.map(({ id }) => id);
      this.recorder(key, ids)(note);
    }
  }

  /** For the history: asked before an operation on these tasks, and called with what became of it. */
  recorder(key: string, ids: readonly string[]): Recorder {
    const host = this.stores.find(key);
    if (host === undefined) return () => undefined;
    return this.history.recorder(host.store.names, ids, (id) => host.index.taskClass(id));
  }

  keeper(key: string, request: UndoRequest | undefined, elsewhere?: UndoHeader["elsewhere"]): UndoKeeper | null {
    const store = this.stores.find(key)?.store;
    if (request === undefined || store === undefined) return null;
    return new UndoKeeper(this.environment, store, request, this.warn, elsewhere);
  }

  /** Answers after the views were told of the change. A failure is told at once: what made it fail may block reading, too. */
  async change<Outcome>(
    key: string,
    change: (backend: DeadTaskBackend) => Promise<{ readonly outcome: Outcome; readonly gone: readonly string[] }>,
  ): Promise<Outcome> {
    const backend = this.stores.backend(key);
    const host = this.stores.find(key);
    let changed: Awaited<ReturnType<typeof change>>;
    try {
      changed = await change(backend);
    } catch (error) {
      void host?.refreshAfterChange([]);
      throw error;
    }
    await host?.refreshAfterChange(changed.gone);
    return changed.outcome;
  }
}
