import type { RawRow } from "../../service/rawProtocol";

export const pageRows = 100;
/** Pages that are kept: a screen needs two or three. */
const mostPages = 30;

interface Page {
  readonly rows: readonly RawRow[];
  /** Of which `round` the rows are: an older one is shown until the new one has come. */
  readonly round: number;
}

/** The rows that were asked for, in pages. */
export class Pages {
  readonly #fetch: (start: number, count: number) => Promise<readonly RawRow[] | null>;
  readonly #onPage: () => void;
  readonly #pages = new Map<number, Page>();
  readonly #asked = new Map<number, number>();
  #round = 0;

  /** `fetch`: rows from an index on; null where the list is another by now. `onPage`: new rows have come. */
  constructor(fetch: (start: number, count: number) => Promise<readonly RawRow[] | null>, onPage: () => void) {
    this.#fetch = fetch;
    this.#onPage = onPage;
  }

  /** The rows may have changed: what is in sight is asked for anew, and shown as it was meanwhile. */
  refresh(): void {
    this.#round += 1;
  }

  /** The list is another one. */
  clear(): void {
    this.#round += 1;
    this.#pages.clear();
    this.#asked.clear();
  }

  /** Undefined for a row that has not come yet. */
  row(index: number): RawRow | undefined {
    return this.#pages.get(Math.floor(index / pageRows))?.rows[index % pageRows];
  }

  /** Sees to it that the rows from `first` to before `end` are there, soon. */
  want(first: number, end: number): void {
    for (let page = Math.floor(first / pageRows); page * pageRows < end; page++) {
      const isFresh = this.#pages.get(page)?.round === this.#round;
      if (isFresh || this.#asked.has(page)) continue;
      void this.#ask(page);
    }
  }

  async #ask(page: number): Promise<void> {
    const round = this.#round;
    this.#asked.set(page, round);
    let rows: readonly RawRow[] | null = null;
    try {
      rows = await this.#fetch(page * pageRows, pageRows);
    } catch {
      // What is wrong with the file is told as the state of the view; its next change asks again.
    }
    if (this.#asked.get(page) !== round) return; // cleared meanwhile
    this.#asked.delete(page);
    if (rows === null) return;
    this.#pages.delete(page);
    this.#pages.set(page, { rows, round });
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= mostPages) break;
      this.#pages.delete(oldest);
    }
    this.#onPage();
  }
}
