import type { Part } from "./sections";

interface Placed {
  readonly text: string;
  readonly nodes: readonly HTMLElement[];
}

/**
 * The parts of the page in their order. A part whose data is the same keeps its elements, and with them the focus, the selection and what
 * was unfolded in it: a store that reports every second must not take the page from under its reader.
 */
export class Patchwork {
  readonly #root: HTMLElement;
  #placed = new Map<string, Placed>();

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** Makes every part anew the next time. */
  forget(): void {
    this.#placed.clear();
  }

  show(parts: readonly Part[]): void {
    const placed = new Map(
      parts.map(({ key, data, make }): [string, Placed] => {
        const text = JSON.stringify(data);
        const before = this.#placed.get(key);
        return [key, before?.text === text ? before : { text, nodes: make() }];
      }),
    );
    this.#placed = placed;
    const wanted = [...placed.values()].flatMap(({ nodes }) => nodes);
    const kept = new Set<Node>(wanted);
    for (const child of [...this.#root.childNodes]) if (!kept.has(child)) child.remove();
    // What stays is never moved: an element that is taken out and put in again has lost the focus.
    wanted.forEach((node, index) => {
      const there = this.#root.childNodes[index] ?? null;
      if (there !== node) this.#root.insertBefore(node, there);
    });
  }
}
