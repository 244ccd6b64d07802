import type { StoreUpdate, TaskSummary } from "../service/protocol";
import { Emitter, type Disposable } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import { Turns } from "../stores/turns";
import type { TaskFilter } from "./taskFilter";

/** The tasks that the list shows: all of them, or those that a filter lets through, kept as tasks come and go. */
export class FilteredTasks implements Disposable {
  readonly #registry: StoreRegistry;
  readonly #changed = new Emitter<undefined>();
  readonly #subscriptions: Disposable[];
  readonly #matches = new Map<StoreModel, StoreMatches>();
  #filter: TaskFilter | null = null;

  /** The filter is another, or more is known of what it lets through. Not told of each task that comes or goes. */
  readonly onDidChange = this.#changed.event;

  constructor(registry: StoreRegistry) {
    this.#registry = registry;
    this.#subscriptions = [
      registry.onDidChange(({ store, update }) => {
        this.#matches.get(store)?.take(update);
      }),
      registry.onDidChangeStores(() => {
        this.#follow(false);
      }),
    ];
  }

  get filter(): TaskFilter | null {
    return this.#filter;
  }

  /** Null for all tasks. */
  set(filter: TaskFilter | null): void {
    this.#filter = filter;
    this.#follow(true);
    this.#changed.fire(undefined);
  }

  /** What is shown of a store, newest first. The array is never changed afterwards, so it is a snapshot. */
  newestFirst(store: StoreModel): readonly TaskSummary[] {
    return this.#filter === null ? store.newestFirst() : (this.#matches.get(store)?.newestFirst() ?? []);
  }

  /** How many that are. */
  count(store: StoreModel): number {
    return this.#filter === null ? store.taskCount : (this.#matches.get(store)?.count ?? 0);
  }

  /** Of how many tasks how many are shown, over the stores of which all tasks are known. */
  get counts(): { readonly shown: number; readonly all: number } {
    const stores = this.#registry.stores.filter(({ wasReady }) => wasReady);
    return {
      shown: stores.reduce((sum, store) => sum + this.count(store), 0),
      all: stores.reduce((sum, store) => sum + store.taskCount, 0),
    };
  }

  /** Whether all tasks have been held against the filter. */
  get isSettled(): boolean {
    return [...this.#matches.values()].every((matches) => matches.isSettled);
  }

  /** Resolves once they have. */
  async settled(): Promise<void> {
    while (!this.isSettled) await new Promise((resolve) => setImmediate(resolve));
  }

  #follow(anew: boolean): void {
    const filter = this.#filter;
    const stores = filter === null ? [] : this.#registry.stores;
    for (const [store, matches] of [...this.#matches]) {
      if (!anew && stores.includes(store)) continue;
      matches.dispose();
      this.#matches.delete(store);
    }
    if (filter === null) return;
    for (const store of stores) {
      if (this.#matches.has(store)) continue;
      const changed = (): void => {
        this.#changed.fire(undefined);
      };
      this.#matches.set(store, new StoreMatches(store, filter, changed));
    }
  }

  dispose(): void {
    this.#filter = null;
    this.#follow(true);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }
}

/**
 * The tasks of one store that a filter lets through. What is there already is looked at newest first and a few milliseconds at a
 * time, so a list of the newest is right from the beginning; then each update, in the order in which they come.
 */
class StoreMatches {
  readonly #store: StoreModel;
  readonly #filter: TaskFilter;
  readonly #changed: () => void;
  /** What was found of the tasks that were there at first, newest first, while that is looked for; then null. */
  #first: TaskSummary[] | null = [];
  /** After that: in natural order, as `StoreModel` has them. */
  readonly #found = new Map<string, TaskSummary>();
  #newestFirst: readonly TaskSummary[] | null = null;
  #updates: StoreUpdate[] = [];
  #isAtWork = false;
  /** Whether anybody else could look at it since the work began. */
  #hadTurns = false;
  #isDisposed = false;

  constructor(store: StoreModel, filter: TaskFilter, changed: () => void) {
    this.#store = store;
    this.#filter = filter;
    this.#changed = changed;
    void this.#work(store.newestFirst());
  }

  get isSettled(): boolean {
    return !this.#isAtWork;
  }

  get count(): number {
    return this.#first?.length ?? this.#found.size;
  }

  newestFirst(): readonly TaskSummary[] {
    this.#newestFirst ??= this.#first === null ? [...this.#found.values()].reverse() : [...this.#first];
    return this.#newestFirst;
  }

  take(update: StoreUpdate): void {
    if (update.type !== "tasks" && update.type !== "gone") return;
    this.#updates.push(update);
    // Goes on in this very call, so that whoever is told after us sees what few tasks there were.
    if (!this.#isAtWork) void this.#work([]);
  }

  /** Ends after the last update. Never rejects: nothing in it can fail. */
  async #work(first: readonly TaskSummary[]): Promise<void> {
    this.#isAtWork = true;
    const turns = new Turns();
    const pause = async (): Promise<void> => {
      this.#hadTurns = true;
      this.#newestFirst = null;
      this.#changed();
      await turns.next();
    };
    if (this.#first !== null) {
      for (const task of first) {
        if (this.#matches(task)) this.#first.push(task);
        if (turns.isOver) await pause();
        if (this.#isDisposed) return;
      }
      for (const task of [...this.#first].reverse()) {
        this.#found.set(task.id, task);
        if (turns.isOver) await pause();
        if (this.#isDisposed) return;
      }
      this.#first = null;
      this.#newestFirst = null;
    }
    for (let update = this.#updates.shift(); update !== undefined; update = this.#updates.shift()) {
      this.#newestFirst = null;
      if (update.type === "gone") for (const id of update.ids) this.#found.delete(id);
      if (update.type !== "tasks") continue;
      for (const task of update.tasks) {
        this.#found.delete(task.id);
        if (this.#matches(task)) this.#found.set(task.id, task);
        if (turns.isOver) await pause();
        if (this.#isDisposed) return;
      }
    }
    this.#isAtWork = false;
    if (!this.#hadTurns) return;
    this.#hadTurns = false;
    this.#changed();
  }

  #matches(task: TaskSummary): boolean {
    return this.#filter.matches(task, this.#store.key);
  }

  dispose(): void {
    this.#isDisposed = true;
  }
}
