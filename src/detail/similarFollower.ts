import type { TaskSummary } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import { Emitter, type Disposable } from "../stores/emitter";
import type { StoreChange, StoreRegistry } from "../stores/storeRegistry";
import type { SimilarView } from "./protocol";
import { candidatesFor, similarView, type Death } from "./similar";

/** How long a look lasts before the next is taken, in milliseconds, however often the store changes. */
const interval = 1_500;

export interface SimilarHost {
  readonly service: Pick<StoreService, "failedAtSamePlace">;
  readonly registry: Pick<StoreRegistry, "find" | "onDidChange">;
  /** A failed look is told here: the pane does without. */
  failed(error: unknown): void;
}

/** Looks for the tasks that died as one did, and again as the store changes. Always after the pane has something to show. */
export class SimilarFollower implements Disposable {
  readonly #host: SimilarHost;
  readonly #changed = new Emitter<SimilarView | null>();
  readonly #subscription: Disposable;
  #death: Death | null = null;
  #deathText = "null";
  #tasks: readonly TaskSummary[] = [];
  #view: SimilarView | null = null;
  #timer: NodeJS.Timeout | null = null;
  #round = 0;
  /** The round of the look that is under way; null while none is. */
  #looking: number | null = null;
  /** Whether something changed during a look. */
  #isStale = false;

  readonly onDidChange = this.#changed.event;

  constructor(host: SimilarHost) {
    this.#host = host;
    this.#subscription = host.registry.onDidChange((change) => {
      if (!this.#concerns(change)) return;
      // A look is never broken off for a newer one: a busy store would let none come to its end. It brings a status itself.
      if (this.#looking !== null) this.#isStale ||= change.update.type !== "status";
      else if (this.#timer === null) this.#lookIn(this.#view === null ? 0 : interval);
    });
  }

  /** Null where there is nothing to show, or not yet. */
  get view(): SimilarView | null {
    return this.#view;
  }

  /** All that were found, newest first. */
  get tasks(): readonly TaskSummary[] {
    return this.#tasks;
  }

  /** Null for none. What was found for another death is taken away at once. */
  follow(death: Death | null): void {
    const text = JSON.stringify(death);
    if (text === this.#deathText) return;
    this.#death = death;
    this.#deathText = text;
    this.#tasks = [];
    this.#view = null;
    this.#round++;
    this.#lookIn(0);
  }

  #lookIn(milliseconds: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#look();
    }, milliseconds);
  }

  #concerns({ store, update }: StoreChange): boolean {
    const death = this.#death;
    if (death?.reference.storeKey !== store.key) return false;
    switch (update.type) {
      case "tasks":
        return update.tasks.some(
          ({ taskClass, exceptionClass }) => taskClass === death.taskClass && exceptionClass === death.exceptionClass,
        );
      case "gone": {
        const gone = new Set(update.ids);
        return this.#tasks.some(({ id }) => gone.has(id));
      }
      case "status":
        return this.#view === null && store.wasReady;
      case "newest":
        return false;
    }
  }

  async #look(): Promise<void> {
    const round = ++this.#round;
    const death = this.#death;
    const store = death === null ? undefined : this.#host.registry.find(death.reference.storeKey);
    // Before a store has been read to its end, what is known of it comes and goes.
    if (death === null || store?.wasReady !== true) return;
    this.#looking = round;
    try {
      const candidates = await candidatesFor(death, store.newestFirst(), () => round === this.#round);
      if (candidates === null) return;
      const ids = candidates.tasks.map(({ id }) => id);
      const alike = new Set(
        ids.length === 0 ? [] : await this.#host.service.failedAtSamePlace(store.key, death.backtrace, ids),
      );
      if (round !== this.#round) return;
      this.#tasks = candidates.tasks.filter(({ id }) => alike.has(id));
      this.#show(similarView(death, this.#tasks, candidates.atLeast));
    } catch (error) {
      if (round === this.#round) this.#host.failed(error);
    } finally {
      if (this.#looking === round) {
        this.#looking = null;
        if (this.#isStale) this.#lookIn(interval);
        this.#isStale = false;
      }
    }
  }

  #show(view: SimilarView): void {
    if (JSON.stringify(view) === JSON.stringify(this.#view)) return;
    this.#view = view;
    this.#changed.fire(view);
  }

  dispose(): void {
    this.#round++;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}
