import {
  lineStates,
  type LineState,
  type RawLine,
  type RawPlace,
  type RawRow,
  type RawTable,
} from "../service/rawProtocol";

/**
 * What the page of the raw view and the extension say to each other. Lines travel in these messages alone and are rendered as
 * text. Both sides check what arrives: the page shows hostile data.
 */

/** What the page shows beside the rows, which it asks for. */
export interface RawState {
  /** Null before anything is known. */
  readonly table: RawTable | null;
  /** Why the file cannot be read; null where it can. */
  readonly problem: string | null;
  /** Whether the user stopped the reading. */
  readonly stopped: boolean;
}

export type RawHostMessage =
  | { readonly type: "state"; readonly state: RawState }
  /** Select this line and bring it into sight. */
  | { readonly type: "go"; readonly generation: number; readonly line: number }
  | { readonly type: "reply"; readonly sequence: number; readonly ok: true; readonly value: unknown }
  | { readonly type: "reply"; readonly sequence: number; readonly ok: false; readonly error: string };

/** A line to look for, as the page may ask for it. */
export type PageTarget =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "line"; readonly line: number }
  | { readonly by: "damage"; readonly from: number; readonly direction: "next" | "previous" };

export const copies = ["offset", "id", "line"] as const;

/** What the page asks for, and what it is answered with. Null where the file is another than that of the request's `generation`. */
export interface RawPageRequests {
  rows(states: readonly LineState[], start: number, count: number): readonly RawRow[] | null;
  find(target: PageTarget, states: readonly LineState[]): RawPlace | null;
  line(line: number, reveal: boolean): RawLine | null;
  /** Bytes as Latin-1 text. */
  bytes(line: number, start: number, count: number): string | null;
  copy(what: (typeof copies)[number], line: number): null;
  showTask(line: number): null;
  /** `line`: where the cursor is to stand; null for the beginning. */
  openText(line: number | null): null;
  openHex(): null;
  setStopped(stopped: boolean): null;
}
export type RawPageRequestName = keyof RawPageRequests;

export type RawPageRequest = {
  [Name in RawPageRequestName]: {
    readonly name: Name;
    readonly parameters: Parameters<RawPageRequests[Name]>;
  };
}[RawPageRequestName];

export type RawPageMessage =
  | { readonly type: "ready" }
  | {
      readonly type: "request";
      readonly sequence: number;
      readonly generation: number;
      readonly request: RawPageRequest;
    };

/** Null for anything that is not a message of this protocol. */
export function parseRawPageMessage(value: unknown): RawPageMessage | null {
  if (!isRecord(value)) return null;
  const { type, sequence, generation, request } = value;
  if (type === "ready") return { type };
  if (type !== "request" || !isCount(sequence) || !isCount(generation) || !isRecord(request)) return null;
  const { name, parameters } = request;
  if (!Array.isArray(parameters)) return null;
  const parsed = parseRequest(name, parameters);
  return parsed === null ? null : { type, sequence, generation, request: parsed };
}

function parseRequest(name: unknown, [first, second, third]: readonly unknown[]): RawPageRequest | null {
  switch (name) {
    case "rows":
      return isStates(first) && isCount(second) && isCount(third) ? { name, parameters: [first, second, third] } : null;
    case "find": {
      const target = parseTarget(first);
      return target !== null && isStates(second) ? { name, parameters: [target, second] } : null;
    }
    case "line":
      return isCount(first) && typeof second === "boolean" ? { name, parameters: [first, second] } : null;
    case "bytes":
      return isCount(first) && isCount(second) && isCount(third) ? { name, parameters: [first, second, third] } : null;
    case "copy": {
      const what = copies.find((one) => one === first);
      return what !== undefined && isCount(second) ? { name, parameters: [what, second] } : null;
    }
    case "showTask":
      return isCount(first) ? { name, parameters: [first] } : null;
    case "openText":
      return first === null || isCount(first) ? { name, parameters: [first] } : null;
    case "openHex":
      return { name, parameters: [] };
    case "setStopped":
      return typeof first === "boolean" ? { name, parameters: [first] } : null;
    default:
      return null;
  }
}

function parseTarget(value: unknown): PageTarget | null {
  if (!isRecord(value)) return null;
  const { by, id, line, from, direction } = value;
  if (by === "id") return typeof id === "string" ? { by, id } : null;
  if (by === "line") return isCount(line) ? { by, line } : null;
  if (by !== "damage" || !isCount(from) || (direction !== "next" && direction !== "previous")) return null;
  return { by, from, direction };
}

/** Only the envelope is checked: the page's messages come from its own extension or are no messages at all. */
export function isRawHostMessage(value: unknown): value is RawHostMessage {
  if (!isRecord(value)) return false;
  const { type, state, line, sequence, ok } = value;
  if (type === "state") return isRecord(state);
  if (type === "go") return isCount(line);
  return type === "reply" && isCount(sequence) && typeof ok === "boolean";
}

function isStates(value: unknown): value is LineState[] {
  return Array.isArray(value) && value.every((one) => lineStates.some((state) => state === one));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
