import {
  StorageError,
  nilBackend,
  type DeadTask,
  type DeadTaskBackend,
  type DeadTaskStore,
  type StorageEnvironment,
  type UnreadableTask,
} from "../storage";
import { Emitter } from "../stores/emitter";
import type { Answers } from "./answers";
import { emptyStatus } from "./emptyStatus";
import type { StorePlace, StoreTarget, StoreUpdate } from "./protocol";
import { StoreHost } from "./storeHost";

type Opening = Pick<Answers, "open" | "close" | "refresh" | "stopReading">;

/** The stores that the editor has opened, by its names for them. */
export class OpenStores implements Opening {
  readonly #environment: StorageEnvironment;
  readonly #tell: (key: string, update: StoreUpdate) => void;
  readonly #hosts = new Map<string, StoreHost>();
  readonly #nilStores = new Set<string>();
  readonly #closed = new Emitter<string>();

  /** A store was closed, or is about to be opened anew: its key. */
  readonly onDidClose = this.#closed.event;

  constructor(environment: StorageEnvironment, tell: (key: string, update: StoreUpdate) => void) {
    this.#environment = environment;
    this.#tell = tell;
  }

  open(target: StoreTarget): Promise<void> {
    this.#closeStore(target.key);
    if (target.backend === "nil") {
      this.#nilStores.add(target.key);
      this.#tell(target.key, { type: "status", status: { ...emptyStatus, phase: "ready" } });
    } else {
      const host = new StoreHost(target, this.#environment, (update) => {
        this.#tell(target.key, update);
      });
      this.#hosts.set(target.key, host);
    }
    return Promise.resolve();
  }

  close(key: string): Promise<void> {
    this.#closeStore(key);
    return Promise.resolve();
  }

  async refresh(key: string): Promise<void> {
    await this.#hosts.get(key)?.refresh();
  }

  stopReading(key: string): Promise<void> {
    this.#hosts.get(key)?.stopReading();
    return Promise.resolve();
  }

  /** Those on disk, with their keys. */
  get all(): readonly (readonly [string, StoreHost])[] {
    return [...this.#hosts];
  }

  get stores(): readonly DeadTaskStore[] {
    return this.all.map(([, { store }]) => store);
  }

  /** Where they are, by their keys. */
  get places(): ReadonlyMap<string, StorePlace> {
    return new Map(this.all.map(([key, { store }]) => [key, store.names]));
  }

  /** The store on disk of this name; undefined where it is not open, or keeps no tasks. */
  find(key: string): StoreHost | undefined {
    return this.#hosts.get(key);
  }

  /** The same; throws a StorageError where there is none. */
  host(key: string): StoreHost {
    const host = this.#hosts.get(key);
    if (host === undefined) throw new StorageError("io", `The store ${key} is not open.`);
    return host;
  }

  /** The open store that is there, with its key. */
  at({ directory, prefix }: StorePlace): readonly [string, StoreHost] | undefined {
    return [...this.#hosts].find(
      ([, { store }]) => store.names.directory === directory && store.names.prefix === prefix,
    );
  }

  /** Of a store that is open, whether it keeps tasks or not. */
  backend(key: string): DeadTaskBackend {
    const host = this.#hosts.get(key);
    if (host !== undefined) return host.store;
    if (this.#nilStores.has(key)) return nilBackend;
    throw new Error(`store ${key} is not open`);
  }

  /** The record that stands for an id now. */
  async record(key: string, id: string): Promise<DeadTask | UnreadableTask | null> {
    return await (this.#hosts.get(key) ?? this.backend(key)).find(id);
  }

  #closeStore(key: string): void {
    this.#hosts.get(key)?.dispose();
    this.#hosts.delete(key);
    this.#nilStores.delete(key);
    this.#closed.fire(key);
  }
}
