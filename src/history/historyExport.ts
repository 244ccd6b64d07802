import type { HistoryEntry, HistoryFailure, HistoryTask } from "../service/historyProtocol";
import type { StorePlace } from "../service/protocol";
import { counted, oneLine, shownId } from "../text/labels";
import { fenced, inlineCode } from "../text/markdown";
import { absoluteTime } from "../text/times";
import { visibleText } from "../text/visible";
import { entryFacts, entryTitle, taskName, type PlaceNames } from "./historyTexts";

/** The history as a file: Markdown for people, JSON for programs. Newest first, as it is given. */

/** Text of a task's as a span of code: nothing of it is Markdown, and nothing of it hides. */
function code(text: string): string {
  return inlineCode(visibleText(oneLine(text, 500)));
}

/** `now`: Unix seconds. */
export function historyMarkdown(entries: readonly HistoryEntry[], names: PlaceNames, now: number): string {
  const parts = [
    "# History of dead tasks",
    `${counted(entries.length, "entry", "entries")}, as of ${absoluteTime(now)}.`,
  ];
  let day = "";
  for (const entry of entries) {
    const [date = ""] = absoluteTime(entry.at).split(" ");
    if (date !== day) parts.push(`## ${date}`);
    day = date;
    parts.push(entryMarkdown(entry, names));
  }
  return `${parts.join("\n\n")}\n`;
}

export function entryMarkdown(entry: HistoryEntry, names: PlaceNames): string {
  const time = absoluteTime(entry.at).slice(-8);
  const lines = [
    // In a file there is no "this window".
    ...entryFacts({ ...entry, own: false }, code),
    ...entry.tasks.map((task) => taskLine(task)),
    ...(entry.count > entry.tasks.length ? [`and ${counted(entry.count - entry.tasks.length, "more task")}`] : []),
    ...entry.failures.map((failure) => `Failed: ${named(failure)}: ${code(failure.error)}`),
  ];
  const parts = [`### ${time} ${entryTitle(entry, names, code)}`, lines.map((line) => `- ${line}`).join("\n")];
  for (const { id, before, after } of entry.edits) {
    parts.push(`Arguments of ${code(shownId(id))} before:`, fenced(visibleText(before), "ruby"));
    parts.push("After:", fenced(visibleText(after), "ruby"));
  }
  return parts.join("\n\n");
}

function taskLine(task: HistoryTask): string {
  return task.newId === null ? named(task) : `${named(task)} → ${code(shownId(task.newId))}`;
}

function named(task: HistoryTask | HistoryFailure): string {
  const id = code(shownId(task.id));
  const name = code(taskName(task));
  return name === id ? id : `${name} ${id}`;
}

export function historyJson(entries: readonly HistoryEntry[]): string {
  return `${JSON.stringify({ entries: entries.map(entryJson) }, null, 2)}\n`;
}

function entryJson(entry: HistoryEntry): Readonly<Record<string, unknown>> {
  return {
    kind: entry.kind,
    at: entry.at,
    window: { name: entry.window.name, process_id: entry.window.processId },
    store: placeJson(entry.store),
    target: entry.target === null ? null : placeJson(entry.target),
    count: entry.count,
    tasks: entry.tasks.map(({ id, taskClass, newId }) => ({ id, task_class: taskClass, new_id: newId })),
    classes: entry.classes.map(({ taskClass, count }) => ({ task_class: taskClass, count })),
    missing: entry.missing,
    failed_count: entry.failureCount,
    failed: entry.failures.map(({ id, taskClass, error }) => ({ id, task_class: taskClass, error })),
    publish_at: entry.publishAt,
    log: entry.log,
    undone: entry.undone?.title ?? null,
    edits: entry.edits.map(({ id, before, after }) => ({ id, before, after })),
  };
}

function placeJson({ directory, prefix }: StorePlace): Readonly<Record<string, string>> {
  return { directory, prefix };
}
