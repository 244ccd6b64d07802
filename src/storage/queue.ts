/** One operation at a time for each key within this process, in the order of asking. */
export class OperationQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<Result>(key: string, operation: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    // A failure is its own caller's business; those who wait behind it go on.
    const turn = before.then(operation, operation);
    this.#tails.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#tails.get(key) === turn) this.#tails.delete(key);
    }
  }
}
