import { basename, dirname, resolve } from "node:path";
import type { CustomDocument, Uri } from "vscode";
import { userMessage } from "../reporter";
import type { StoreService } from "../service/storeService";
import { Emitter, type Disposable } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import type { WorkspaceStores } from "../stores/workspaceStores";
import { storeNames } from "../storage/naming";
import type { RawState } from "./protocol";

/** What every data file's name ends in, after its prefix. */
const nameEnd = basename(storeNames("", "-").dataFile).slice(1);

// Milliseconds. The first rows are to be there at once; after that it is told now and then how far the reading is.
const firstSlice = 40;
const slice = 200;

export interface RawDocumentServices {
  readonly service: StoreService;
  readonly registry: StoreRegistry;
  readonly stores: WorkspaceStores;
}

/** A data file that is open in one or more editors: follows the file, and knows which open store it belongs to. */
export class RawDocument implements CustomDocument {
  readonly uri: Uri;
  readonly #services: RawDocumentServices;
  readonly #changed = new Emitter<RawState>();
  readonly #subscriptions: Disposable[];
  #state: RawState = { table: null, problem: null, stopped: false };
  /** The worker's name for the store; null until it is known which one it is. */
  #key: string | null = null;
  /** Whether the store is open for this document alone, since the window has no such store. */
  #isOwn = false;
  #reading = false;
  #again = false;
  #disposed = false;

  readonly onDidChange = this.#changed.event;

  constructor(uri: Uri, services: RawDocumentServices) {
    this.uri = uri;
    this.#services = services;
    this.#subscriptions = [
      services.registry.onDidChangeStores(() => void this.#attach()),
      services.stores.onDidLook(() => void this.#attach()),
      services.service.onUpdate((key, update) => {
        const isNews = update.type === "gone" || (update.type === "status" && update.status.phase !== "indexing");
        if (key === this.#key && isNews) void this.#read();
      }),
    ];
    void this.#attach();
  }

  get state(): RawState {
    return this.#state;
  }

  get key(): string | null {
    return this.#key;
  }

  /** The window's store that keeps its tasks in this file; undefined where it has none. */
  get store(): StoreModel | undefined {
    return this.#services.registry.stores.find(({ description: { target } }) => {
      const isDisk = target.backend === "disk";
      return isDisk && resolve(storeNames(target.path, target.prefix).dataFile) === resolve(this.uri.fsPath);
    });
  }

  /** Stops the reading of a file that has not been read to its end, or goes on with it. */
  setStopped(stopped: boolean): void {
    this.#set({ stopped });
    if (!stopped) void this.#read();
  }

  /** Chooses the store anew: the window's own, once it has looked for its stores, and else one for this document. */
  async #attach(): Promise<void> {
    const { service, stores } = this.#services;
    const { store } = this;
    if (store === undefined && !stores.looked) return;
    const key = store?.key ?? `raw ${this.uri.fsPath}`;
    if (key === this.#key || this.#disposed) return;
    const release = this.#release();
    this.#key = key;
    this.#isOwn = store === undefined;
    try {
      await release;
      if (store === undefined) await service.open({ key, ...locationOf(this.uri.fsPath), backend: "disk" });
    } catch (error) {
      this.#set({ problem: userMessage(error) });
      return;
    }
    await this.#read();
  }

  /** Reads the file to its end, slice after slice; asked again meanwhile, it looks once more. */
  async #read(): Promise<void> {
    if (this.#reading || this.#state.stopped) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    try {
      do {
        this.#again = false;
        const key = this.#key;
        if (key === null || this.#disposed) return;
        const table = await this.#services.service.readRawLines(key, this.#state.table === null ? firstSlice : slice);
        if (key !== this.#key) this.#again = true;
        else this.#set({ table, problem: null });
      } while (this.#again || this.#isUnfinished());
    } catch (error) {
      // The store's own next look at the file, which is told as an update, brings the next attempt.
      this.#set({ problem: userMessage(error) });
    } finally {
      this.#reading = false;
    }
  }

  #isUnfinished(): boolean {
    const { table, stopped } = this.#state;
    return table?.complete === false && !stopped;
  }

  #set(change: Partial<RawState>): void {
    if (this.#disposed) return;
    const before = this.#state;
    this.#state = { ...before, ...change };
    const { table, problem, stopped } = this.#state;
    const isSame =
      table?.generation === before.table?.generation &&
      table?.version === before.table?.version &&
      problem === before.problem &&
      stopped === before.stopped;
    if (!isSame) this.#changed.fire(this.#state);
  }

  async #release(): Promise<void> {
    const { service } = this.#services;
    if (this.#key === null) return;
    if (this.#isOwn) await service.close(this.#key);
    else await service.closeRawLines(this.#key);
  }

  dispose(): void {
    this.#disposed = true;
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
    // Nobody is left who could be told of a failure: the worker has ended, and with it all that was to be released.
    this.#release().catch(() => undefined);
  }
}

/** The storage directory and prefix of a data file. Of a file with another name, one whose store has no data file. */
function locationOf(file: string): { readonly path: string; readonly prefix: string } {
  const name = basename(file);
  return { path: dirname(file), prefix: name.endsWith(nameEnd) ? name.slice(0, -nameEnd.length) : name };
}
