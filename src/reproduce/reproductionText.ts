import { quote } from "../marshal";
import type { ContextText, TaskCall, TaskDetail } from "../service/protocol";
import { exceptionName, oneLine, shownId } from "../text/labels";
import { visibleText } from "../text/visible";

/**
 * Ruby text that performs a dead task anew: a test, and a snippet for the console. What comes from the store and is no argument
 * (messages, names, ids) is anybody's text: it stands in comments of one line and in quoted literals, and nowhere else.
 */

export type Framework = "rspec" | "minitest";

/** A dead task of which the call can be written. */
export interface Reproduction {
  readonly task: TaskDetail;
  readonly context: ContextText;
  readonly call: TaskCall;
  /** The line of the application's own code where it failed, as `app/tasks/charge.rb:12`; null where none is known. */
  readonly place: string | null;
}

export interface TestOptions {
  /** Lines of Ruby that load the application and the framework. */
  readonly requires: readonly string[];
  /** What the name of a Minitest class has between the task's class and `Test`, so that no other test has it. */
  readonly distinction: string;
}

/** A test that fails as the task did, and passes once the task is performed without an exception. */
export function testText(framework: Framework, reproduction: Reproduction, options: TestOptions): string {
  const head = [...options.requires, "", ...comments(reproduction)];
  const body = framework === "rspec" ? rspecBody(reproduction) : minitestBody(reproduction, options.distinction);
  return `${[...head, ...body].join("\n")}\n`;
}

/** For `rage console`: who the task is in comments, and the call that performs it there and then. */
export function consoleSnippet(reproduction: Reproduction): string {
  return `${[...comments(reproduction), performCall(reproduction)].join("\n")}\n`;
}

function rspecBody(reproduction: Reproduction): string[] {
  const { exceptionClass, fullMessage } = reproduction.task;
  const message = shown(fullMessage, 40);
  const name = shown(exceptionName(exceptionClass), 60);
  const failure = message === "" || message === name ? name : `${name}: ${message}`;
  return [
    `RSpec.describe ${reproduction.call.taskClass} do`,
    `  it ${quote(Buffer.from(`is performed without ${failure}`), "UTF-8")} do`,
    "    expect do",
    `      ${performCall(reproduction)}`,
    "    end.not_to raise_error",
    "  end",
    "end",
  ];
}

function minitestBody(reproduction: Reproduction, distinction: string): string[] {
  const failure = (reproduction.task.exceptionClass ?? "an anonymous error")
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll(/\W+/g, "_")
    .toLowerCase()
    .slice(0, 80);
  return [
    `class ${reproduction.call.taskClass.replaceAll("::", "")}${distinction}Test < Minitest::Test`,
    `  def test_is_performed_without_${failure}`,
    `    ${performCall(reproduction)}`,
    "    pass # Any exception fails the test before.",
    "  end",
    "end",
  ];
}

/** How Rage's worker performs a task, without its logging and counting. */
function performCall({ call }: Reproduction): string {
  return `${call.taskClass}.new.perform(${call.arguments})`;
}

function comments({ task, context, call, place }: Reproduction): string[] {
  const at = place === null ? "" : ` at ${shown(place, 120)}`;
  const message = shown(task.fullMessage, 200);
  const lines = [
    `Dead task ${shown(shownId(task.id), 80)}. It died on ${utcTime(task.failedAt)}${at}:`,
    `  ${shown(exceptionName(task.exceptionClass), 120)}${message === "" ? "" : `: ${message}`}`,
  ];
  if (call.arguments.includes("[FILTERED]")) {
    lines.push("[FILTERED] stands for secrets: put values in their place.");
  }
  if (call.arguments.includes("Marshal.load(")) {
    lines.push("Marshal.load rebuilds what has no literal. It needs the classes of these objects.");
  }
  const missing = (
    [
      ["log tags", context.logTags],
      ["log context", context.logContext],
      ["user context", context.userContext],
    ] as const
  ).filter(([, text]) => !["nil", "[]", "{}"].includes(text));
  if (missing.length > 0) {
    const texts = missing.map(([name, text]) => `${name} ${shown(text, 80)}`);
    lines.push(`Set by a worker, and not here: ${texts.join(", ")}.`);
  }
  return lines.map((line) => `# ${line}`);
}

/** Text of the store, fit for a comment: one line in which nothing hides itself. */
function shown(text: string, limit: number): string {
  return visibleText(oneLine(text, limit));
}

/** A test is read elsewhere, too, so that its times are nobody's local ones. */
function utcTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
