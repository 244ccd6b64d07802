import {
  pageSize,
  type ContextRoot,
  type ValueContent,
  type ValueNode,
  type ValuePage,
  type ValuePath,
  type WantedPage,
} from "../../service/valueProtocol";

/** A line of the tree. `id` is unique in it, and the same for the same line each time. */
export type Row =
  | {
      readonly kind: "value";
      readonly id: string;
      readonly level: number;
      readonly node: ValueNode;
      /** 1-based, among `siblings`. */
      readonly position: number;
      readonly siblings: number;
      /** Null where there is nothing to open. */
      readonly isOpen: boolean | null;
    }
  /** Parts that were not loaded. */
  | {
      readonly kind: "more";
      readonly id: string;
      readonly level: number;
      readonly path: ValuePath;
      readonly from: number;
      readonly total: number;
    }
  | {
      readonly kind: "content";
      readonly id: string;
      readonly level: number;
      readonly path: ValuePath;
      readonly content: ValueContent;
    };

/** What was loaded of a task's values, and which of them are open. */
export class ValueModel {
  readonly #nodes = new Map<ValuePath, ValueNode>();
  /** Of each value the paths of its parts, by the position of their page. */
  readonly #pages = new Map<ValuePath, Map<number, readonly ValuePath[]>>();
  readonly #contents = new Map<ValuePath, ValueContent>();
  readonly #open = new Set<ValuePath>();

  node(path: ValuePath): ValueNode | null {
    return this.#nodes.get(path) ?? null;
  }

  content(path: ValuePath): ValueContent | null {
    return this.#contents.get(path) ?? null;
  }

  isOpen(path: ValuePath): boolean {
    return this.#open.has(path);
  }

  setOpen(path: ValuePath, isOpen: boolean): void {
    if (isOpen) this.#open.add(path);
    else this.#open.delete(path);
  }

  clear(): void {
    this.#open.clear();
    this.replace([]);
  }

  /** Takes these pages in place of all that was known; what is open stays so. */
  replace(pages: readonly ValuePage[]): void {
    this.#nodes.clear();
    this.#pages.clear();
    this.#contents.clear();
    this.add(pages);
  }

  add(pages: readonly ValuePage[]): void {
    for (const { node, from, parts } of pages) {
      for (const known of [node, ...parts]) this.#nodes.set(known.path, known);
      const known = this.#pages.get(node.path) ?? new Map<number, readonly ValuePath[]>();
      this.#pages.set(
        node.path,
        known.set(
          from,
          parts.map(({ path }) => path),
        ),
      );
    }
  }

  /** A stretch of a dump goes after what was there; a text is whole each time. */
  addContent(path: ValuePath, content: ValueContent): void {
    const before = this.#contents.get(path);
    const continues = content.kind === "bytes" && before !== undefined && before.end < content.end;
    this.#contents.set(path, continues ? { ...content, text: `${before.text}\n${content.text}` } : content);
  }

  /** The pages that were loaded. */
  get loaded(): WantedPage[] {
    return [...this.#pages].flatMap(([path, pages]) => [...pages.keys()].map((from) => ({ path, from })));
  }

  /** Open values whose content is not here. */
  get missingContents(): ValuePath[] {
    return [...this.#open].filter((path) => this.node(path)?.content && !this.#contents.has(path));
  }

  /** What must be loaded for a value to be seen once all values around it are open. */
  missingAround(path: ValuePath): WantedPage[] {
    return stepsTo(path)
      .map(({ around, index }) => ({ path: around, from: index - (index % pageSize) }))
      .filter(({ path: around, from }) => this.#pages.get(around)?.has(from) !== true);
  }

  openAround(path: ValuePath): void {
    for (const { around } of stepsTo(path)) this.#open.add(around);
  }

  /** The lines of a tree of these roots, as they are open. */
  rows(roots: readonly ContextRoot[]): Row[] {
    const known = roots.filter((root) => this.#nodes.has(root));
    const rows: Row[] = [];
    known.forEach((root, index) => {
      this.#addRows(rows, root, { level: 1, position: index + 1, siblings: known.length });
    });
    return rows;
  }

  #addRows(rows: Row[], path: ValuePath, place: { level: number; position: number; siblings: number }): void {
    const node = this.node(path);
    if (node === null) return;
    const isOpen = canOpen(node) ? this.isOpen(path) : null;
    rows.push({ kind: "value", id: `value-${path}`, node, isOpen, ...place });
    if (isOpen !== true) return;
    const level = place.level + 1;
    const content = this.content(path);
    if (content !== null) rows.push({ kind: "content", id: `content-${path}`, level, path, content });
    const pages = this.#pages.get(path);
    let gap = false;
    for (let from = 0; from < node.parts; from += pageSize) {
      const parts = pages?.get(from);
      if (parts === undefined) {
        // One line stands for all pages that are missing in a row.
        if (!gap) rows.push({ kind: "more", id: `more-${path}-${from}`, level, path, from, total: node.parts });
        gap = true;
        continue;
      }
      gap = false;
      parts.forEach((part, index) => {
        this.#addRows(rows, part, { level, position: from + index + 1, siblings: node.parts });
      });
    }
  }
}

export function canOpen(node: ValueNode): boolean {
  return node.parts > 0 || node.content !== null;
}

/** The value around this one; null for a root. */
export function pathAround(path: ValuePath): ValuePath | null {
  const end = path.lastIndexOf(".");
  return end < 0 ? null : path.slice(0, end);
}

/** Each value around this one, outermost first, with the position within it that leads on. */
function stepsTo(path: ValuePath): { around: ValuePath; index: number }[] {
  const steps: { around: ValuePath; index: number }[] = [];
  let inner = path;
  for (let around = pathAround(inner); around !== null; around = pathAround(inner)) {
    steps.unshift({ around, index: Number(inner.slice(around.length + 1)) });
    inner = around;
  }
  return steps;
}
