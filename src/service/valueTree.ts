import { inspect, type RubyHash, type RubyValue } from "../marshal";
import type { TaskContext } from "../storage";
import { describe, hiddenDescription } from "./describeValue";
import { findValues } from "./findValues";
import { maskText, type Mask } from "./masking";
import { sharedValues, type SharedValues } from "./sharedValues";
import { contentOf } from "./valueContent";
import { isHidden, isSecret, partsOf, type Part, type Place } from "./valueParts";
import {
  contextRoots,
  pageSize,
  type FoundValues,
  type ValueContent,
  type ValueNode,
  type ValuePage,
  type ValuePath,
  type WantedPage,
} from "./valueProtocol";
import type { ContextRoots } from "./walkValues";

/** Characters of a value that is copied as Ruby text. */
const longestCopy = 5_000_000;
/** A value with more parts is not opened by itself, nor are more lines than these shown at first. */
const fewParts = 5;
const firstLines = 60;
/** Pages that are made for one request. */
const mostPages = 1_000;

const emptyHash: RubyHash = {
  type: "hash",
  entries: [],
  defaultValue: null,
  comparesByIdentity: false,
  instanceVariables: [],
  extendedBy: [],
  userClass: null,
};

/** A place that was found by its path. */
interface Located {
  readonly path: ValuePath;
  readonly place: Place;
  /** The part that it is; null for a root. */
  readonly part: Part | null;
  /** The places that it is within, outermost first. */
  readonly within: readonly Place[];
}

/** The values of a context by their paths. What is behind a masked name cannot be had. */
export class ContextTree {
  readonly #context: TaskContext;
  readonly #mask: Mask;
  readonly #roots: ContextRoots;
  #shared: SharedValues | null = null;

  constructor(context: TaskContext, mask: Mask) {
    this.#context = context;
    this.#mask = mask;
    this.#roots = contextRoots.map((root) => [root, context[root]]);
  }

  /** The pages that are there. */
  pages(wanted: readonly WantedPage[]): ValuePage[] {
    return wanted.slice(0, mostPages).flatMap(({ path, from }) => this.#page(path, from) ?? []);
  }

  /** What a tree shows before anything was opened: the roots with their first parts, and small values within them. */
  firstPages(): ValuePage[] {
    const pages = this.pages(contextRoots.map((path) => ({ path, from: 0 })));
    let lines = pages.reduce((sum, { parts }) => sum + 1 + parts.length, 0);
    // Those that are added are gone through in their turn.
    for (const page of pages) {
      for (const node of page.parts) {
        const isSmall = node.parts > 0 && node.parts <= fewParts && node.same === null;
        if (!isSmall || lines + node.parts > firstLines) continue;
        lines += node.parts;
        pages.push(...this.pages([{ path: node.path, from: 0 }]));
      }
    }
    return pages;
  }

  /** Ruby text; null where there is no such value. Masked as the tree is. */
  text(path: ValuePath): string | null {
    const located = this.#locate(path);
    if (located === null) return null;
    const { place, part } = located;
    if (part !== null && isHidden(part, this.#mask)) return maskText;
    const value: RubyValue = place.type === "entry" ? { ...emptyHash, entries: [place.entry] } : place;
    return inspect(value, { maxLength: longestCopy, isMasked: this.#mask.asOption });
  }

  content(path: ValuePath, from: number): ValueContent | null {
    const located = this.#locate(path);
    if (located === null || (located.part !== null && isHidden(located.part, this.#mask))) return null;
    return contentOf(located.place, from);
  }

  async find(text: string): Promise<FoundValues> {
    return await findValues(this.#roots, this.#mask, text);
  }

  /** The entries and variables that have the values at these paths. */
  holders(paths: readonly ValuePath[]): object[] {
    return paths.map((path) => this.#locate(path)?.part?.holder ?? null).filter((holder) => holder !== null);
  }

  #page(path: ValuePath, wantedFrom: number): ValuePage | null {
    const located = this.#locate(path);
    if (located === null) return null;
    const node = this.#node(located);
    const { place } = located;
    const within = [...located.within, place];
    const from = wantedFrom - (wantedFrom % pageSize);
    const parts: ValueNode[] = [];
    const all = partsOf(place);
    for (let index = from; index < Math.min(from + pageSize, node.parts); index++) {
      const part = all.at(index);
      if (part !== null) parts.push(this.#node({ path: `${path}.${index}`, place: part.place, part, within }));
    }
    return { node, from, parts };
  }

  #node({ path, place, part, within }: Located): ValueNode {
    const label = part?.label(this.#mask) ?? "";
    const base = { path, label, same: null, isCycle: false };
    if (part !== null && isHidden(part, this.#mask)) return { ...base, ...hiddenDescription, secret: "hidden" };
    const described = describe(place, this.#mask);
    const isCycle = within.includes(place);
    return {
      ...base,
      ...described,
      parts: isCycle ? 0 : described.parts,
      secret: part !== null && isSecret(part, this.#mask) ? "shown" : "none",
      same: this.#sameAs(path, place),
      isCycle,
    };
  }

  #sameAs(path: ValuePath, place: Place): ValueNode["same"] {
    this.#shared ??= sharedValues(this.#roots, this.#mask);
    return this.#shared.sameAs(path, place);
  }

  #locate(path: ValuePath): Located | null {
    const [root, ...indices] = path.split(".");
    const start = contextRoots.find((one) => one === root);
    if (start === undefined) return null;
    let located: Located = { path: start, place: this.#context[start], part: null, within: [] };
    for (const index of indices) {
      const { place, within } = located;
      // Into a value within itself there is no end of ways.
      if (within.includes(place) || (located.part !== null && isHidden(located.part, this.#mask))) return null;
      const part = partsOf(place).at(Number(index));
      if (part === null) return null;
      located = { path: `${located.path}.${index}`, place: part.place, part, within: [...within, place] };
    }
    return located;
  }
}
