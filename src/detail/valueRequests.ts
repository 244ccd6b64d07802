import type { DetailOptions } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import {
  isValuePath,
  type FoundValues,
  type ValueContent,
  type ValuePage,
  type ValuePath,
  type WantedPage,
} from "../service/valueProtocol";
import type { PaneReference } from "./protocol";

/** What the page asks about the values of the task that it shows, and gets an answer to. */
export type ValueQuestion =
  /** `wanted`: null for what a tree shows at first. */
  | { readonly name: "values"; readonly wanted: readonly WantedPage[] | null }
  | { readonly name: "valueContent"; readonly path: ValuePath; readonly from: number }
  | { readonly name: "findValues"; readonly text: string };

/** The answers by the question's name; null where the task has gone or there is no such value. */
export interface ValueAnswers {
  readonly values: readonly ValuePage[] | null;
  readonly valueContent: ValueContent | null;
  readonly findValues: FoundValues | null;
}

/** What the page wants done with one value. */
export type ValueRequest =
  | { readonly name: "copyValue"; readonly path: ValuePath }
  | { readonly name: "setRevealed"; readonly path: ValuePath; readonly shown: boolean };

/** Pages that are asked for at once, and characters that are looked for. */
const mostPages = 1_000;
const longestText = 1_000;

/** Null for what is neither. */
export function parseValueRequest(value: Readonly<Record<string, unknown>>): ValueQuestion | ValueRequest | null {
  const { name, wanted, path, from, text, shown } = value;
  switch (name) {
    case "values": {
      if (wanted === null) return { name, wanted };
      if (!Array.isArray(wanted) || wanted.length > mostPages) return null;
      const pages = wanted.map(parsePage);
      return pages.every((page) => page !== null) ? { name, wanted: pages } : null;
    }
    case "valueContent": {
      const page = parsePage({ path, from });
      return page === null ? null : { name, ...page };
    }
    case "findValues":
      return typeof text === "string" && text.length <= longestText ? { name, text } : null;
    case "copyValue":
      return isPath(path) ? { name, path } : null;
    case "setRevealed":
      return isPath(path) && typeof shown === "boolean" ? { name, path, shown } : null;
    default:
      return null;
  }
}

function parsePage(value: unknown): WantedPage | null {
  if (typeof value !== "object" || value === null) return null;
  const { path, from } = value as Readonly<Record<string, unknown>>;
  return isPath(path) && Number.isSafeInteger(from) && Number(from) >= 0 ? { path, from: Number(from) } : null;
}

function isPath(value: unknown): value is ValuePath {
  return typeof value === "string" && isValuePath(value);
}

export async function answerValueQuestion(
  service: Pick<StoreService, "values" | "valueContent" | "findValues">,
  { storeKey, id }: PaneReference,
  options: DetailOptions,
  question: ValueQuestion,
): Promise<ValueAnswers[ValueQuestion["name"]]> {
  switch (question.name) {
    case "values":
      return await service.values(storeKey, id, options, question.wanted);
    case "valueContent":
      return await service.valueContent(storeKey, id, options, question.path, question.from);
    case "findValues":
      return await service.findValues(storeKey, id, options, question.text);
  }
}
