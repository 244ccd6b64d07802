import { isFilter, type Filter } from "./header";

/** What the page keeps over its being hidden and a reload of the window. Nothing of what lines hold. */
export interface Memory {
  readonly filter: Filter;
  /** In rows. */
  readonly top: number;
  /** The selected line and its offset, by which one sees whether it is the same still. */
  readonly selected: { readonly line: number; readonly offset: number } | null;
  /** How much of the page's height the selected line has. */
  readonly share: number;
}

const initial: Memory = { filter: "all", top: 0, selected: null, share: 0.42 };

export function parseMemory(value: unknown): Memory {
  if (typeof value !== "object" || value === null) return initial;
  const { filter, top, selected, share } = value as Partial<Record<keyof Memory, unknown>>;
  return {
    filter: isFilter(filter) ? filter : initial.filter,
    top: typeof top === "number" && top >= 0 ? top : initial.top,
    selected: parseSelected(selected),
    share: typeof share === "number" ? share : initial.share,
  };
}

function parseSelected(value: unknown): Memory["selected"] {
  if (typeof value !== "object" || value === null) return null;
  const { line, offset } = value as { line?: unknown; offset?: unknown };
  return typeof line === "number" && typeof offset === "number" ? { line, offset } : null;
}
