import type { DetailOptions } from "./protocol";

/** What the editor and the storage worker say to each other of the values in a task's context. */

/** The parts of a context that are values of Ruby, in the order in which they are shown. */
export const contextRoots = ["args", "kwargs", "logTags", "logContext", "userContext"] as const;
export type ContextRoot = (typeof contextRoots)[number];

/** Where a value stands: a root of the context, then the position among the parts of each value on the way: `args.0.12`. */
export type ValuePath = string;

/** Parts of a value that come at once. */
export const pageSize = 100;

export type ValueKind =
  "nil" | "boolean" | "number" | "string" | "symbol" | "time" | "module" | "object" | "collection" | "masked";

/** What can be read of a value at length: `text` counts characters of Ruby text, `bytes` counts bytes. */
export interface ContentSize {
  readonly kind: "text" | "bytes";
  readonly size: number;
}

/** A value as one line of a tree. Of one that is masked nothing is told but that it is there. */
export interface ValueNode {
  readonly path: ValuePath;
  /** What stands before it: `[0]`, `locale:`, `"text" =>`, `@id`; empty for a root. */
  readonly label: string;
  readonly kind: ValueKind;
  /** In Ruby's words: `String (ISO-8859-1)`, `Array(3)`, `SafeBuffer < String`. Empty where the preview says it, as for nil. */
  readonly type: string;
  /** Ruby text, one line, cut. */
  readonly preview: string;
  /** What else there is to know: `extended by Auditable`, `zone CET`. */
  readonly notes: readonly string[];
  /** Values within it. A value within itself has none. */
  readonly parts: number;
  /** Set where the preview is not all of it, or not the best way to read it. */
  readonly content: ContentSize | null;
  /** Whether its name is a masked one, and if so, whether it is shown all the same. */
  readonly secret: "none" | "hidden" | "shown";
  /** The place where this very object stands first, as a path and as Ruby text; null where this is the first or only one. */
  readonly same: { readonly path: ValuePath; readonly text: string } | null;
  /** Whether it stands within itself. */
  readonly isCycle: boolean;
}

/** A value and some of its parts: those from `from` on, `pageSize` of them where there are as many. */
export interface ValuePage {
  readonly node: ValueNode;
  readonly from: number;
  readonly parts: readonly ValueNode[];
}

export interface WantedPage {
  readonly path: ValuePath;
  readonly from: number;
}

/** A stretch of a value's content. */
export interface ValueContent {
  readonly kind: "text" | "bytes";
  /** Of `bytes`, a hex dump: offset, sixteen bytes and what is printable of them, a line each. */
  readonly text: string;
  /** Where it ends: characters or bytes from the content's beginning. */
  readonly end: number;
  /** Characters or bytes of the whole content. */
  readonly size: number;
  /** Whether more than `end` can be had. What is beyond a million characters is left to the raw record. */
  readonly more: boolean;
}

export interface FoundValues {
  /** In the order of the tree; at most 500. */
  readonly paths: readonly ValuePath[];
  /** Whether there are others. */
  readonly more: boolean;
}

/** Whether a text has the form of a path. */
export function isValuePath(text: string): boolean {
  return /^(?:args|kwargs|logTags|logContext|userContext)(?:\.\d{1,7}){0,1200}$/.test(text);
}

/**
 * Calls about the values of a task's context, which the worker answers. Each is null where the task is gone and was not the
 * last that was asked about, where its context cannot be decoded, and where the path leads nowhere or behind a masked name.
 */
export interface ValueRequests {
  /** `wanted`: null for what a tree shows at first. Pages that are not there are left out. */
  values(
    key: string,
    id: string,
    options: DetailOptions,
    wanted: readonly WantedPage[] | null,
  ): readonly ValuePage[] | null;
  /** Ruby text of a value, with `[FILTERED]` in place of what is masked in it or of all of it. */
  valueText(key: string, id: string, options: DetailOptions, path: ValuePath): string | null;
  /** `from`: 0 for the beginning; else text as a whole, or bytes from there on. */
  valueContent(key: string, id: string, options: DetailOptions, path: ValuePath, from: number): ValueContent | null;
  findValues(key: string, id: string, options: DetailOptions, text: string): FoundValues | null;
}
