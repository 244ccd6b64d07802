import type { StorageEnvironment } from "../storage";
import type { Answers } from "./answers";
import type { OpenStores } from "./openStores";
import type { DetailOptions } from "./protocol";
import type { LineState, RawLine, RawPlace, RawRequests, RawRow, RawTable, RawTarget } from "./rawProtocol";
import { RawStore } from "./rawStore";

/** The raw lines of stores. Each store's table is kept until it is closed. */
export class RawReading implements Pick<Answers, keyof RawRequests> {
  readonly #environment: StorageEnvironment;
  readonly #stores: OpenStores;
  readonly #rawStores = new Map<string, RawStore>();

  constructor(environment: StorageEnvironment, stores: OpenStores) {
    this.#environment = environment;
    this.#stores = stores;
    stores.onDidClose((key) => {
      this.#rawStores.delete(key);
    });
  }

  async readRawLines(key: string, milliseconds: number): Promise<RawTable> {
    return await this.#rawStore(key).read(milliseconds);
  }

  async rawRows(
    key: string,
    generation: number,
    states: readonly LineState[],
    start: number,
    count: number,
  ): Promise<readonly RawRow[] | null> {
    return await this.#rawStore(key).rows(generation, states, start, count);
  }

  async findRawLine(
    key: string,
    generation: number,
    target: RawTarget,
    states: readonly LineState[],
  ): Promise<RawPlace | null> {
    return await this.#rawStore(key).find(generation, target, states);
  }

  async rawLine(key: string, generation: number, line: number, options: DetailOptions): Promise<RawLine | null> {
    return await this.#rawStore(key).line(generation, line, options);
  }

  async rawBytes(
    key: string,
    generation: number,
    line: number,
    start: number,
    count: number,
  ): Promise<Uint8Array | null> {
    return await this.#rawStore(key).bytes(generation, line, start, count);
  }

  closeRawLines(key: string): Promise<void> {
    this.#rawStores.delete(key);
    return Promise.resolve();
  }

  #rawStore(key: string): RawStore {
    const known = this.#rawStores.get(key);
    if (known !== undefined) return known;
    const host = this.#stores.host(key);
    const made = new RawStore(host.store, this.#environment.fileSystem);
    this.#rawStores.set(key, made);
    return made;
  }
}
