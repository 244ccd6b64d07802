import type { TaskSummary } from "../service/protocol";
import { errorLine, exceptionName, oneLine } from "../text/labels";

/** Which tasks of the list are shown. */
export interface TaskFilter {
  /** What it is called: `Filter: timeout`, `Same failure as PaymentTask · Timeout`. */
  readonly label: string;
  /** What the tasks that it lets through are: `match “timeout”`, `died like PaymentTask · Timeout`. */
  readonly predicate: string;
  /** As it was typed, to be typed on; empty where it was not typed. */
  readonly text: string;
  matches(task: TaskSummary, storeKey: string): boolean;
}

/** Texts of a task that a filter can name, by the word before the colon. */
const fields = {
  class: (task: TaskSummary): string => task.taskClass,
  exception: (task: TaskSummary): string => exceptionName(task.exceptionClass),
  message: (task: TaskSummary): string => task.exceptionMessage,
  id: (task: TaskSummary): string => task.id,
} as const;
type Field = keyof typeof fields;

interface Term {
  /** Null for any of them. */
  readonly field: Field | null;
  readonly pattern: RegExp;
}

/** Longer than that a filter is cut where it is shown. */
const longestLabel = 60;

// A field's name, unless another colon follows (`Message::Deliver` is a class); then a text in quotes, that may lack its end, or a word.
const term = /(?:(class|exception|message|id):(?!:))?(?:"([^"]*)"?|(\S*))/giu;

/**
 * Words and phrases in quotes, all of which must occur in upper or lower case: anywhere, or in the field that is named before
 * them (`class:Payment "card declined"`). Null for a text that asks for nothing.
 */
export function textFilter(text: string): TaskFilter | null {
  const terms: Term[] = [];
  for (const [, name, phrase, word] of text.matchAll(term)) {
    const wanted = (phrase ?? word ?? "").trim();
    if (wanted === "") continue;
    const field = name === undefined ? null : (name.toLowerCase() as Field);
    // What the list shows on one line may stand on several.
    const source = wanted.split(/\s+/).map(escaped).join("\\s+");
    terms.push({ field, pattern: new RegExp(source, "iu") });
  }
  if (terms.length === 0) return null;
  const shown = oneLine(text, longestLabel);
  return {
    label: `Filter: ${shown}`,
    predicate: `match “${shown}”`,
    text: text.trim(),
    matches: (task) => terms.every((one) => occurs(one, task)),
  };
}

function occurs({ field, pattern }: Term, task: TaskSummary): boolean {
  if (field !== null) return pattern.test(fields[field](task));
  return (
    pattern.test(task.taskClass) ||
    pattern.test(exceptionName(task.exceptionClass)) ||
    pattern.test(task.exceptionMessage) ||
    pattern.test(task.id)
  );
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** Exactly these tasks of one store, as they died: one that dies anew is another. `kind`: one of them. */
export function groupFilter(storeKey: string, kind: TaskSummary, tasks: readonly TaskSummary[]): TaskFilter {
  const name = oneLine(`${kind.taskClass} · ${errorLine(kind)}`, longestLabel);
  const these = tasks.map((task) => ({ storeKey, task }));
  return onlyThese(these, `Same failure as ${name}`, `died like ${name}`);
}

/** The same, of any stores, under a name of its own. */
export function onlyThese(
  tasks: readonly { readonly storeKey: string; readonly task: TaskSummary }[],
  label: string,
  predicate: string,
): TaskFilter {
  const key = (storeKey: string, id: string): string => `${id} ${storeKey}`;
  const deaths = new Map(tasks.map(({ storeKey, task }) => [key(storeKey, task.id), task.failedAt]));
  return {
    label,
    predicate,
    text: "",
    matches: (task, storeKey) => deaths.get(key(storeKey, task.id)) === task.failedAt,
  };
}
