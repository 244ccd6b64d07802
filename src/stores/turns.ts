/** How long the editor's thread is kept at a time, in milliseconds. */
const longestTurn = 5;
/** The clock is asked once for so many pieces of work. */
const piecesBetween = 64;

/** Divides long work on the editor's main thread into turns of some milliseconds. */
export class Turns {
  #started = performance.now();
  #pieces = 0;

  /** To be asked after each small piece of work: whether it is time for `next`. */
  get isOver(): boolean {
    this.#pieces += 1;
    return this.#pieces % piecesBetween === 0 && performance.now() - this.#started > longestTurn;
  }

  /** Lets everything else that waits have its turn. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#started = performance.now();
  }
}
