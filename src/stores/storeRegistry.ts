import type { StoreUpdate } from "../service/protocol";
import { ServiceError, type StoreService } from "../service/storeService";
import { Emitter, type Disposable } from "./emitter";
import { StoreModel, type StoreDescription } from "./storeModel";

export interface StoreChange {
  readonly store: StoreModel;
  readonly update: StoreUpdate;
}

/** The open stores, kept up to date by the worker's updates. */
export class StoreRegistry implements Disposable {
  readonly #service: StoreService;
  readonly #models = new Map<string, StoreModel>();
  readonly #storesChanged = new Emitter<undefined>();
  readonly #changed = new Emitter<StoreChange>();
  readonly #subscription: Disposable;

  /** Stores came, went or were renamed. */
  readonly onDidChangeStores = this.#storesChanged.event;
  /** Something is new within a store. */
  readonly onDidChange = this.#changed.event;

  constructor(service: StoreService) {
    this.#service = service;
    this.#subscription = service.onUpdate((key, update) => {
      const store = this.#models.get(key);
      // A store that was closed meanwhile may have had an update on its way.
      if (store === undefined) return;
      store.apply(update);
      this.#changed.fire({ store, update });
    });
  }

  get stores(): readonly StoreModel[] {
    return [...this.#models.values()];
  }

  find(key: string): StoreModel | undefined {
    return this.#models.get(key);
  }

  /**
   * Makes the open stores exactly these, in this order. One that was open stays so, with all that is known of it. A store
   * that cannot be opened is there too, with the problem in its status.
   */
  async setStores(descriptions: readonly StoreDescription[]): Promise<void> {
    const before = new Map(this.#models);
    const opened: StoreModel[] = [];
    this.#models.clear();
    for (const description of descriptions) {
      const key = description.target.key;
      const known = before.get(key);
      before.delete(key);
      const store = known ?? new StoreModel(description);
      store.description = description;
      this.#models.set(key, store);
      if (known === undefined) opened.push(store);
    }
    this.#storesChanged.fire(undefined);
    await Promise.all([
      ...[...before.keys()].map((key) => this.#service.close(key)),
      ...opened.map((store) => this.#open(store)),
    ]);
  }

  async refresh(): Promise<void> {
    await Promise.all(this.stores.map((store) => this.#service.refresh(store.key)));
  }

  async stopReading(stores: readonly StoreModel[]): Promise<void> {
    const reading = stores.filter((store) => store.status.phase === "indexing");
    await Promise.all(reading.map((store) => this.#service.stopReading(store.key)));
  }

  async #open(store: StoreModel): Promise<void> {
    try {
      await this.#service.open(store.description.target);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      store.fail({ code: error.code, message: error.message });
      this.#changed.fire({ store, update: { type: "status", status: store.status } });
    }
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#storesChanged.dispose();
    this.#changed.dispose();
  }
}
