import type { HistoryEntry, HistoryKind, HistoryTask } from "../service/historyProtocol";
import type { StorePlace } from "../service/protocol";
import { counted, formatCount, oneLine, shownId } from "../text/labels";
import { absoluteTime } from "../text/times";

/** What the view and an export say of an entry. */

/** How many classes a title spells out. */
const classesShown = 3;

/** What was done, and what it is called where it could not be. */
const verbs: Readonly<Record<HistoryKind, readonly [done: string, failed: string]>> = {
  retry: ["Retried", "retry"],
  edit: ["Edited and retried", "edit and retry"],
  delete: ["Deleted", "delete"],
  undo: ["Brought back", "bring back"],
  takeBack: ["Took back", "take back"],
  finish: ["Finished an interrupted retry of", "finish the interrupted retry of"],
  send: ["Sent", "send"],
  copy: ["Copied", "copy"],
  run: ["Ran", "run"],
};

/** How a title names the other store; `in` where nothing else is said. */
const prepositions: Readonly<Partial<Record<HistoryKind, string>>> = {
  send: "to",
  copy: "to",
  undo: "from",
  takeBack: "from",
};

/** Shows a text of a task's, or a path. */
type Show = (text: string) => string;

/** `Retried PaymentTask ×3`. `names`: what people call a place. */
export function entryTitle(entry: HistoryEntry, names: PlaceNames, show: Show = oneLine): string {
  if (entry.kind === "run" && entry.count === 0) return `Ran ${whatOf(entry, show)}, which failed`;
  const [done, failed] = verbs[entry.kind];
  const verb = entry.count === 0 ? `Could not ${failed}` : done;
  const { target, targetKey } = entry;
  const place = target === null ? "" : ` ${prepositions[entry.kind] ?? "in"} ${show(names(target, targetKey))}`;
  return `${verb} ${whatOf(entry, show)}${place}`;
}

/** What people call a store: by its key where it is open here. */
export type PlaceNames = (place: StorePlace, key: string | null) => string;

function whatOf(entry: HistoryEntry, show: Show): string {
  if (entry.count === 0) {
    const [only] = entry.failures;
    if (entry.failureCount === 1 && only !== undefined) return show(taskName(only));
    return counted(entry.failureCount, "task");
  }
  const [only] = entry.tasks;
  if (entry.count === 1 && only !== undefined) return show(taskName(only));
  const named = entry.classes.slice(0, classesShown).filter(({ taskClass }) => taskClass !== null);
  const parts = named.map(({ taskClass, count }) =>
    count === 1 ? show(taskClass ?? "") : `${show(taskClass ?? "")} ×${formatCount(count)}`,
  );
  const rest = entry.count - named.reduce((sum, { count }) => sum + count, 0);
  if (named.length === 0) return counted(entry.count, "task");
  if (rest > 0) parts.push(`${formatCount(rest)} more`);
  return parts.length === 1 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1) ?? ""}`;
}

/** The class where it is known, else the id. */
export function taskName({ id, taskClass }: Pick<HistoryTask, "id" | "taskClass">): string {
  return taskClass === null || taskClass === "" ? shownId(id) : taskClass;
}

/** All that is to be said of an entry beside its title, its time, its tasks and its failures; a line each. */
export function entryFacts(entry: HistoryEntry, show: Show = oneLine): string[] {
  const { store, target, window, publishAt, log, undone, missing, failureCount } = entry;
  const facts = [
    `In ${show(store.directory)}${prefixOf(store, show)}`,
    `By ${entry.own ? "this window" : "the window"} ${show(window.name)}, process ${window.processId}`,
  ];
  if (target !== null) facts.push(`Other store: ${show(target.directory)}${prefixOf(target, show)}`);
  if (publishAt !== null) facts.push(`To run not before ${absoluteTime(publishAt)}`);
  if (log !== null) facts.push(`Enqueued in ${show(log)}`);
  if (undone !== null) facts.push(`Undone: ${show(undone.title)}`);
  if (missing > 0) facts.push(goneText(missing));
  if (failureCount > 0) facts.push(`${counted(failureCount, "task")} failed`);
  return facts;
}

function prefixOf({ prefix }: StorePlace, show: Show): string {
  return prefix === "deferred-" ? "" : `, prefix ${show(prefix)}`;
}

export function goneText(missing: number): string {
  return `${counted(missing, "task")} ${missing === 1 ? "was" : "were"} gone already`;
}

/** `Today`, `Yesterday`, `28 November`, `28 November 2025`. Unix seconds, local time. */
export function dayLabel(at: number, now: number): string {
  const date = new Date(at * 1000);
  const today = new Date(now * 1000);
  if (isSameDay(date, today)) return "Today";
  const yesterday = new Date(today);
  yesterday.setDate(today.getDate() - 1);
  if (isSameDay(date, yesterday)) return "Yesterday";
  const year = date.getFullYear() === today.getFullYear() ? {} : ({ year: "numeric" } as const);
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "long", ...year });
}

function isSameDay(left: Date, right: Date): boolean {
  return left.toDateString() === right.toDateString();
}

/** `14:05`, local time. */
export function timeOfDay(at: number): string {
  return absoluteTime(at).slice(-8, -3);
}

/** `shop/storage`: enough of a path to be recognised. */
export function shortPlace({ directory }: StorePlace): string {
  return directory.split(/[\\/]/).filter(Boolean).slice(-2).join("/");
}
