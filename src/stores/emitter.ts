export interface Disposable {
  dispose(): void;
}

/** Has the shape of VS Code's event, so that modules without `vscode` can offer one. */
export type Event<T> = (listener: (value: T) => unknown) => Disposable;

export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => unknown>();

  readonly event: Event<T> = (listener) => {
    // A wrapper, so that one function may listen twice and each listening is undone by itself.
    const own = (value: T): unknown => listener(value);
    this.#listeners.add(own);
    return { dispose: () => this.#listeners.delete(own) };
  };

  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }

  dispose(): void {
    this.#listeners.clear();
  }
}
