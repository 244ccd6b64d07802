import { inspectLines, type RubyValue } from "../marshal";
import {
  StorageError,
  decodeContext,
  extraTexts,
  type DeadTask,
  type TaskContext,
  type UnreadableTask,
} from "../storage";
import { exceptionName, formatCount, shownId } from "../text/labels";
import { absoluteTime } from "../text/times";
import { visibleText } from "../text/visible";
import type { DetailOptions } from "./protocol";
import { Mask } from "./masking";

// Characters of each value: two of these are compared side by side.
const longestValue = 200_000;

/**
 * A record as a plain text to compare with another's: one thing a line, always in the same order, and what differs between
 * any two (id, times) at the end. Secrets are masked as in the detail pane; characters that would hide themselves, or move what
 * follows them, are visible.
 */
export function recordText(record: DeadTask | UnreadableTask, options: DetailOptions): string {
  if (record.kind === "unreadable") {
    return sections([
      ["Record", `${shownId(record.id)} cannot be read: ${record.reason}.`],
      ["Size", `${formatCount(record.length)} bytes`],
    ]);
  }
  return sections([
    ["Task", visibleText(record.taskClass)],
    ["Error", visibleText(exceptionName(record.exceptionClass))],
    ["Message", visibleText(record.exceptionMessage)],
    ["Backtrace", record.backtrace.map(visibleText).join("\n")],
    ...contextParts(record, options),
    ["Attempts", formatCount(record.attempts)],
    ["Failed", absoluteTime(record.failedAt)],
    ["Enqueued", record.enqueuedAt === 0 ? "unknown" : absoluteTime(record.enqueuedAt)],
    ...extraTexts(record.extra, new Mask(options).asOption).map(({ name, value }): Part => [
      visibleText(name),
      visibleText(value),
    ]),
    ["Id", shownId(record.id)],
  ]);
}

type Part = readonly [title: string, text: string];

function sections(parts: readonly Part[]): string {
  return `${parts.map(([title, text]) => `${title}:\n${text === "" ? "  (none)" : indented(text)}`).join("\n\n")}\n`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

function contextParts(record: DeadTask, options: DetailOptions): Part[] {
  let context: TaskContext;
  try {
    context = decodeContext(record.context);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return [["Arguments", error.message]];
  }
  const mask = new Mask(options);
  const text = (value: RubyValue): string =>
    inspectLines(value, { maxLength: longestValue, isMasked: (name) => mask.covers(name) });
  return [
    ["Positional arguments", text(context.args)],
    ["Keyword arguments", text(context.kwargs)],
    ["Log tags", text(context.logTags)],
    ["Log context", text(context.logContext)],
    ["User context", text(context.userContext)],
  ];
}
