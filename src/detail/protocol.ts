import { parseValueRequest, type ValueQuestion, type ValueRequest } from "./valueRequests";

/**
 * What the detail pane's page and the extension say to each other. Task data travels in these messages alone and is
 * rendered as text. Both sides check what arrives: the page, because messages can come from anywhere; the extension, because
 * the page shows hostile data.
 */

/** Which record the pane shows. Also what the page keeps over a reload of the window. */
export interface PaneReference {
  readonly storeKey: string;
  readonly id: string;
}

/** A line of a backtrace. `origin` tells the application's own code from that of gems and of Ruby itself. */
export interface FrameView {
  /** As Ruby printed it. */
  readonly text: string;
  /** File and line, shortened to what tells them apart. */
  readonly place: string;
  /** `Charge#perform`; empty where Ruby printed none. */
  readonly method: string;
  readonly origin: "application" | "gem" | "ruby";
  /** Whether the extension knows a file for it that it can open. */
  readonly canOpen: boolean;
  /** Why there is no such file, fit for a user; null where there is one. */
  readonly missing: string | null;
}

/** Parts of the pane that have a button to copy them. */
export const copyableFields = [
  "taskClass",
  "id",
  "error",
  "backtrace",
  "args",
  "kwargs",
  "logTags",
  "logContext",
  "userContext",
] as const;
export type CopyableField = (typeof copyableFields)[number];

/** A context field as Ruby text. `empty`: `nil`, `[]` or `{}`, which need no space of their own. */
export interface ContextField {
  readonly field: CopyableField;
  readonly label: string;
  readonly text: string;
  readonly empty: boolean;
}

/** A line of the pane's list of facts. A time has `seconds`, of which the page makes "5 min ago". */
export interface Fact {
  readonly label: string;
  readonly text: string;
  readonly seconds: number | null;
  readonly field: CopyableField | null;
}

/** A line above the content. `gone`: what is shown is history. */
export interface Notice {
  readonly tone: "gone" | "info" | "warning";
  readonly text: string;
  /** What a button in it asks for, if it has one. */
  readonly action?: { readonly name: "showChanges"; readonly label: string };
}

interface StateBase {
  readonly reference: PaneReference;
  readonly title: string;
  /** The store's name, where there are several. */
  readonly storeName: string | null;
  readonly notices: readonly Notice[];
  /** Whether the record is still there, so that it can be opened raw or copied anew. */
  readonly present: boolean;
  /** Whether it can be retried and deleted. */
  readonly canChange: boolean;
}

export interface TaskState extends StateBase {
  readonly kind: "task";
  readonly failedAt: number;
  readonly attempts: string;
  readonly exceptionClass: string;
  readonly message: string;
  readonly backtrace: readonly FrameView[];
  /** Null where the context cannot be decoded. */
  readonly context: readonly ContextField[] | null;
  readonly contextError: string | null;
  readonly secrets: "none" | "hidden" | "shown";
  readonly facts: readonly Fact[];
}

export interface UnreadableState extends StateBase {
  readonly kind: "unreadable";
  readonly reason: string;
  readonly facts: readonly Fact[];
}

/** Nothing but its notices to show: it is being read, could not be, or had gone before it could be shown. */
export interface BareState extends StateBase {
  readonly kind: "bare";
}

export type DetailState = TaskState | UnreadableState | BareState;

/** Some lines of the file of the first frame of the application's own code. */
export interface ExcerptView {
  /** `app/tasks/charge.rb:12`. */
  readonly place: string;
  readonly method: string;
  /** In order, one after another; empty where there is only a notice to show. */
  readonly lines: readonly { readonly number: number; readonly text: string }[];
  /** The number of the failing line, 1-based. */
  readonly failing: number;
  /** Why the failing line is not shown; null where it is. */
  readonly notice: string | null;
}

/** Another task that died in the same way. */
export interface SimilarTask {
  readonly id: string;
  /** Unix seconds. */
  readonly failedAt: number;
  /** On one line; empty where it is the same as that of the shown task. */
  readonly message: string;
}

/** All tasks that died as the shown one did. */
export interface SimilarView {
  /** How many there are beside the shown one. */
  readonly count: number;
  /** Whether there may be more than were looked at. */
  readonly atLeast: boolean;
  /** Unix seconds, over all of them and the shown one. */
  readonly first: number;
  readonly last: number;
  /** Those whose deaths are nearest in time, newest first. */
  readonly nearest: readonly SimilarTask[];
}

/**
 * Extension to page. What takes longer to find out comes after the state, for the record of that `reference` alone; null takes
 * it away again.
 */
export type HostMessage =
  | { readonly type: "state"; readonly state: DetailState }
  | { readonly type: "excerpt"; readonly reference: PaneReference; readonly excerpt: ExcerptView | null }
  | { readonly type: "similar"; readonly reference: PaneReference; readonly similar: SimilarView | null }
  /** `value`: the answer to a `ValueQuestion`; else null. */
  | { readonly type: "reply"; readonly sequence: number; readonly ok: true; readonly value: unknown }
  | { readonly type: "reply"; readonly sequence: number; readonly ok: false; readonly error: string };

/** What the page asks for. Always about the record that the extension has sent last. */
export type PaneRequest =
  | { readonly name: "retry" }
  | { readonly name: "editAndRetry" }
  | { readonly name: "delete" }
  | { readonly name: "copyRuby" }
  | { readonly name: "showChanges" }
  | { readonly name: "openRaw" }
  | { readonly name: "openTaskClass" }
  | { readonly name: "setSecrets"; readonly shown: boolean }
  | { readonly name: "copy"; readonly field: CopyableField }
  | { readonly name: "copyFact"; readonly index: number }
  | { readonly name: "copyExcerpt" }
  | { readonly name: "copyAll" }
  /** The failing line, or the one of that number beside it. */
  | { readonly name: "openExcerpt"; readonly line: number | null }
  | { readonly name: "showSimilar"; readonly id: string }
  | { readonly name: "compareSimilar"; readonly id: string }
  | { readonly name: "showAllSimilar" }
  /** The shown task and those like it. */
  | { readonly name: "retrySimilar" }
  | { readonly name: "deleteSimilar" }
  | { readonly name: "listSimilar" }
  | { readonly name: "openFrame"; readonly index: number }
  | ValueQuestion
  | ValueRequest;

/** Page to extension. */
export type PaneMessage =
  { readonly type: "ready" } | { readonly type: "request"; readonly sequence: number; readonly request: PaneRequest };

/** Null for anything that is not a message of this protocol. */
export function parsePaneMessage(value: unknown): PaneMessage | null {
  if (!isRecord(value)) return null;
  if (value["type"] === "ready") return { type: "ready" };
  const { type, sequence, request } = value;
  if (type !== "request" || typeof sequence !== "number") return null;
  const parsed = parseRequest(request);
  return parsed === null ? null : { type, sequence, request: parsed };
}

function parseRequest(value: unknown): PaneRequest | null {
  if (!isRecord(value)) return null;
  const { name, shown, field, index, line, id } = value;
  switch (name) {
    case "retry":
    case "editAndRetry":
    case "delete":
    case "copyRuby":
    case "openRaw":
    case "openTaskClass":
    case "showChanges":
    case "copyExcerpt":
    case "copyAll":
    case "showAllSimilar":
    case "retrySimilar":
    case "deleteSimilar":
    case "listSimilar":
      return { name };
    case "setSecrets":
      return typeof shown === "boolean" ? { name, shown } : null;
    case "copy": {
      const known = copyableFields.find((one) => one === field);
      return known === undefined ? null : { name, field: known };
    }
    case "copyFact":
    case "openFrame":
      return typeof index === "number" && Number.isInteger(index) ? { name, index } : null;
    case "openExcerpt":
      return line === null || (typeof line === "number" && Number.isInteger(line)) ? { name, line } : null;
    case "showSimilar":
    case "compareSimilar":
      return typeof id === "string" ? { name, id } : null;
    default:
      return parseValueRequest(value);
  }
}

/** Only the envelope is checked: the page's messages come from its own extension or are no messages at all. */
export function isHostMessage(value: unknown): value is HostMessage {
  if (!isRecord(value)) return false;
  if (value["type"] === "state") return isRecord(value["state"]);
  if (value["type"] === "excerpt" || value["type"] === "similar") return isRecord(value["reference"]);
  return value["type"] === "reply" && typeof value["sequence"] === "number" && typeof value["ok"] === "boolean";
}

/** What a page left behind for its successor; null for anything else. */
export function parsePaneReference(value: unknown): PaneReference | null {
  if (!isRecord(value)) return null;
  const { storeKey, id } = value;
  return typeof storeKey === "string" && typeof id === "string" ? { storeKey, id } : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
