import type { RecordReference } from "../actions/references";
import type { RunEnd, RunFailure } from "../service/runProtocol";
import { oneLine } from "../text/labels";

export type RunWay = "run" | "debug";

/** What is asked before a run. `command`: as it would be typed. */
export function runQuestion(
  { name, store }: Pick<RecordReference, "name" | "store">,
  way: RunWay,
  command: string,
  root: string,
  doubt: string | null,
): { readonly message: string; readonly detail: string; readonly button: string } {
  const verb = way === "run" ? "Run" : "Debug";
  const sentences = [
    ...(doubt === null ? [] : [`${doubt} As the code stands, it would fail again.`]),
    "It runs in your application, with its database, its mail and all else that it reaches from here:",
  ];
  return {
    message: `${verb} ${oneLine(name)} now in ${store.name}?`,
    detail: `${sentences.join("\n\n")}\n\n${command}\n${root}\n\nIf it succeeds it leaves the dead tasks; if not, it stays.`,
    button: verb,
  };
}

/** What a user is told of a run's end. */
export interface RunNews {
  readonly severity: "information" | "warning" | "error";
  readonly text: string;
}

/** `command`: null where another window started it. `exitCode`: of the process, where it is known. Null for what is not worth telling: another window has told it. */
export function runNews(
  taskClass: string,
  command: string | null,
  end: Exclude<RunEnd, { kind: "running" }>,
  exitCode: number | undefined,
): RunNews | null {
  const name = oneLine(taskClass);
  switch (end.kind) {
    case "settled":
      return null;
    case "succeeded":
      return succeeded(name, end);
    case "failed":
      return { severity: "error", text: `${name} failed again: ${failureLine(end.failure)}` };
    case "notRun":
      return notRun(name, end.reason, end.failure);
    case "notBegun": {
      const code = exitCode === undefined ? "" : ` (exit code ${exitCode})`;
      const what = command === null ? "its process" : `“${command}”`;
      const text = `${name} was not run: ${what} ended${code} before it came to the application. It is still among the dead tasks.`;
      return { severity: "error", text };
    }
    case "unknown": {
      const text = `It is not known whether ${name} ran to its end: its process ended in the middle. It is still among the dead tasks.`;
      return { severity: "warning", text };
    }
  }
}

function succeeded(name: string, { removed, stands }: Extract<RunEnd, { kind: "succeeded" }>): RunNews {
  if (removed)
    return { severity: "information", text: `${name} ran and succeeded. It is no longer among the dead tasks.` };
  const text = stands
    ? `${name} ran and succeeded, but it has died again meanwhile: that death stays among the dead tasks.`
    : `${name} ran and succeeded, but somebody else has retried or deleted it meanwhile. If it was retried, it runs twice.`;
  return { severity: "warning", text };
}

function notRun(name: string, reason: "boot" | "changed" | "unreadable", failure: RunFailure): RunNews {
  if (reason !== "boot") return { severity: "warning", text: `${name} was not run. ${oneLine(failure.message, 500)}` };
  const isGemMissing =
    failure.class?.startsWith("Bundler::") === true || /^cannot load such file -- rage\b/.test(failure.message);
  const hint = isGemMissing
    ? " Install the application's gems (“bundle install”), or set the command that runs Ruby with them."
    : "";
  return {
    severity: "error",
    text: `${name} was not run: the application could not be booted. ${failureLine(failure)}${hint}`,
  };
}

/** `KeyError: key not found: "de"`. */
export function failureLine(failure: RunFailure | null): string {
  if (failure === null) return "the application's log says why.";
  const message = oneLine(failure.message, 300);
  if (failure.class === null) return message;
  // Ruby's own default message is the class's name.
  return message === "" || message === failure.class ? failure.class : `${failure.class}: ${message}`;
}

/** A command as a person would type it in a shell. */
export function typed(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}
