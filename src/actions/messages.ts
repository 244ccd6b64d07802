import { capitalized, counted, formatCount, oneLine, shownId } from "../text/labels";
import { absoluteTime } from "../text/times";
import type { Doubt } from "../code/retryCheck";
import type { RecordReference } from "./references";

/** How many names a confirmation or an outcome spells out. */
const namesShown = 8;
/** How many kinds of doubt a confirmation spells out. */
const doubtsShown = 3;

/** `PaymentTask ×3`, one a line, and `and 12 more`: names are counted, since many tasks are often of one class. */
export function nameList(records: readonly RecordReference[]): string {
  const counts = new Map<string, number>();
  for (const { name } of records) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts];
  const shown = names.slice(0, namesShown);
  const lines = shown.map(([name, count]) => (count === 1 ? oneLine(name) : `${oneLine(name)} ×${formatCount(count)}`));
  const left = names.slice(namesShown).reduce((sum, [, count]) => sum + count, 0);
  if (left > 0) lines.push(`and ${formatCount(left)} more`);
  return lines.join("\n");
}

export interface Confirmation {
  readonly message: string;
  readonly detail: string;
  readonly button: string;
}

/** `note`: whether it can be undone. `predicate`: of all tasks that a filter lets through, what they do (`match “timeout”`). */
export function deleteConfirmation(
  records: readonly RecordReference[],
  note: string,
  predicate: string | null = null,
): Confirmation {
  const [only] = records;
  if (records.length === 1 && only !== undefined) {
    return {
      message: `Delete ${nameOfOne(only)} from ${only.store.name}?`,
      detail: `${only.id}\n\n${note}`,
      button: "Delete",
    };
  }
  return {
    message: `Delete ${whatIsAsked(records, predicate)}?`,
    detail: `${nameList(records)}\n\n${note}`,
    button: `Delete ${formatCount(records.length)}`,
  };
}

/** What a list of changes calls the records of one: `3 dead tasks: PaymentTask ×2, SendEmail`. */
export function recordsTitle(records: readonly RecordReference[]): string {
  const names = nameList(records).replaceAll("\n", ", ");
  return records.length === 1 ? names : `${countedRecords(records)}: ${names}`;
}

/** What is known of the code of tasks that are to be retried. */
export interface CodeFindings {
  /** Of how many it is known to have changed since they died. */
  readonly changed: number;
  /** Of each that would surely fail again, why. */
  readonly doubts: readonly Doubt[];
}

/** Of one task that would surely fail again. It is asked about, not refused. */
export function doubtConfirmation(record: RecordReference, doubt: Doubt, changed: boolean): Confirmation {
  const code = changed ? ` ${changedSentence(1, 1)}` : "";
  return {
    message: `Retry ${nameOfOne(record)} from ${record.store.name}?`,
    detail: `${doubt.text} As the code stands, it would fail again.${code}`,
    button: "Retry Anyway",
  };
}

/** `publishAt`: Unix seconds, null for at once. `predicate`: as for `deleteConfirmation`. */
export function retryConfirmation(
  records: readonly RecordReference[],
  { changed, doubts }: CodeFindings,
  publishAt: number | null = null,
  predicate: string | null = null,
): Confirmation {
  const sentences = doubtSentences(doubts, records.length);
  if (changed > 0) sentences.unshift(changedSentence(changed, records.length));
  const code = sentences.length === 0 ? "" : `\n\n${sentences.join("\n")}`;
  return {
    message: `Retry ${whatIsAsked(records, predicate)}?`,
    detail: `${nameList(records)}\n\n${whenRun(records.length === 1 ? "It runs" : "They run", publishAt)}${code}`,
    button: `Retry ${formatCount(records.length)}`,
  };
}

/** For each kind of doubt about `all` tasks how many have it, the most frequent first. */
export function doubtSentences(doubts: readonly Doubt[], all: number): string[] {
  const counts = new Map<string, number>();
  for (const { named } of doubts) counts.set(named, (counts.get(named) ?? 0) + 1);
  const kinds = [...counts].sort(([, one], [, other]) => other - one);
  const which = (count: number): string => (count === all ? "all of them" : `${formatCount(count)} of them`);
  const sentences = kinds
    .slice(0, doubtsShown)
    .map(([sentence, count]) => `For ${which(count)} the check found: ${sentence}`);
  const left = kinds.slice(doubtsShown).reduce((sum, [, count]) => sum + count, 0);
  if (left > 0) sentences.push(`For ${formatCount(left)} more it found other reasons why they would fail again.`);
  return sentences;
}

/** `subject`: `It runs`, `They run`. `publishAt`: Unix seconds, null for at once. */
export function whenRun(subject: string, publishAt: number | null): string {
  if (publishAt === null) return `${subject} when a Rage worker next starts.`;
  return `${subject} at ${absoluteTime(publishAt)}, if a Rage worker has started by then; else when one next starts.`;
}

/** What git tells of the code of `all` tasks that are, or were, to be retried. `changed` is one or more. */
export function changedSentence(changed: number, all: number): string {
  if (all === 1) return "Its code has changed since it died.";
  const which = changed === all ? "all of them" : `${formatCount(changed)} of them`;
  return `The code of ${which} has changed since they died.`;
}

/** What a retry does not touch although it was chosen. */
export function leftOut(unreadable: number): string {
  return `${counted(unreadable, "record")} that cannot be read ${unreadable === 1 ? "is" : "are"} left as ${unreadable === 1 ? "it is" : "they are"}.`;
}

export function nameOfOne(record: RecordReference): string {
  return record.readable ? `the dead task ${oneLine(record.name)}` : "the record that cannot be read";
}

export function countedRecords(records: readonly RecordReference[]): string {
  const unreadable = records.filter((record) => !record.readable).length;
  const tasks = records.length - unreadable;
  const parts: string[] = [];
  if (tasks > 0) parts.push(counted(tasks, "dead task"));
  if (unreadable > 0) parts.push(`${counted(unreadable, "record")} that cannot be read`);
  return parts.join(" and ");
}

function whatIsAsked(records: readonly RecordReference[], predicate: string | null): string {
  const what = `${countedRecords(records)}${from(records)}`;
  if (predicate === null) return what;
  return `the ${what} that ${records.length === 1 ? predicate.replace(/^match /, "matches ") : predicate}`;
}

export function from(records: readonly RecordReference[]): string {
  const names = [...new Set(records.map((record) => record.store.name))];
  return names.length === 1 ? ` from ${names[0] ?? ""}` : ` from ${formatCount(names.length)} stores`;
}

/** What came of a change, over all stores. */
export interface Outcome {
  readonly done: readonly RecordReference[];
  /** Were not there any more. */
  readonly missing: readonly RecordReference[];
  readonly failed: readonly { readonly record: RecordReference; readonly error: string }[];
  /** Whether the user cancelled it, and what was not even begun because of that. */
  readonly cancelled: boolean;
  readonly left: readonly RecordReference[];
}

/** A sentence for what succeeded, or was cancelled; null where there is nothing to say. `where`: ` in shop`. */
export function doneText(verb: "copied" | "deleted" | "retried", outcome: Outcome, where = ""): string | null {
  const { done, cancelled, left } = outcome;
  const [only] = done;
  if (cancelled && only === undefined) return `Cancelled. Nothing was ${verb}${where}.`;
  if (only === undefined) return null;
  if (cancelled && left.length > 0) return cancelledText(`${verb}${where}`, done, left);
  const what = done.length === 1 ? (only.readable ? oneLine(only.name) : "the record") : countedRecords(done);
  const late = cancelled ? "It was too late to cancel: " : "";
  return `${late}${capitalized(verb)} ${what}${where}.`;
}

/** `Cancelled after shop: 12 retried; blog was left as it is.` */
function cancelledText(verb: string, done: readonly RecordReference[], left: readonly RecordReference[]): string {
  const names = (records: readonly RecordReference[]): string[] => [...new Set(records.map(({ store }) => store.name))];
  const spared = names(left);
  const rest = `${listed(spared)} ${spared.length === 1 ? "was left as it is" : "were left as they are"}`;
  return `Cancelled after ${listed(names(done))}: ${formatCount(done.length)} ${verb}; ${rest}.`;
}

/** `shop`, `shop and blog`, `shop, blog and news`. */
function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** How many of those that failed an outcome spells out. */
const failuresShown = 3;

/** Whether what was not done is too much for `troubleText`. */
export function needsList({ missing, failed }: Outcome): boolean {
  return missing.length > 1 || failed.length > failuresShown;
}

/** What did not succeed, named; null where everything did. */
export function troubleText(verb: "retried" | "deleted", { missing, failed }: Outcome): string | null {
  const sentences: string[] = [];
  if (missing.length > 0) {
    const what = missing.length === 1 ? oneLine(missing[0]?.name ?? "") : countedRecords(missing);
    sentences.push(`${what} ${missing.length === 1 ? "was" : "were"} already gone.`);
  }
  if (failed.length > 0) {
    const named = failed.slice(0, failuresShown).map(({ record, error }) => `${nameAndId(record)}: ${withStop(error)}`);
    const more = failed.length - failuresShown;
    const rest = more > 0 ? ` And ${formatCount(more)} more.` : "";
    sentences.push(`${counted(failed.length, "task")} could not be ${verb}. ${named.join(" ")}${rest}`);
  }
  return sentences.length === 0 ? null : sentences.join(" ");
}

function nameAndId({ name, id, readable }: RecordReference): string {
  const shown = oneLine(shownId(id));
  return readable ? `${oneLine(name)} (${shown})` : shown;
}

export function withStop(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
