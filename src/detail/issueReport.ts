import { fenced, inlineCode } from "../text/markdown";
import type { DetailState, ExcerptView, TaskState } from "./protocol";
import { copyText } from "./taskState";

/** All that the pane shows as Markdown for an issue: what is masked there is masked here. */
export function issueReport(state: DetailState, excerpt: ExcerptView | null): string {
  const parts = [`## ${inlineCode(state.title)}`];
  if (state.kind === "task") parts.push(...taskParts(state, excerpt));
  if (state.kind === "unreadable") parts.push(`The record cannot be read: ${inlineCode(state.reason)}`);
  if (state.kind !== "bare") {
    const facts = state.facts.map(({ label, text }) => `- ${label}: ${inlineCode(text)}`);
    parts.push(["### Record", "", ...facts].join("\n"));
  }
  return `${parts.join("\n\n")}\n`;
}

function taskParts(state: TaskState, excerpt: ExcerptView | null): string[] {
  const parts = [fenced(copyText(state, "error") ?? "")];
  if (excerpt !== null && excerpt.lines.length > 0) {
    parts.push(`### ${inlineCode(excerpt.place)}`, fenced(excerptText(excerpt), "ruby"));
  }
  if (state.context === null) {
    parts.push("### Arguments", `They cannot be read: ${inlineCode(state.contextError ?? "no reason given")}`);
  } else {
    for (const { label, text, empty } of state.context) {
      if (!empty) parts.push(`### ${label}`, fenced(text, "ruby"));
    }
  }
  if (state.backtrace.length > 0) parts.push("### Backtrace", fenced(copyText(state, "backtrace") ?? ""));
  return parts;
}

/** The lines with their numbers, the failing one marked. */
export function excerptText({ lines, failing }: ExcerptView): string {
  const width = String(lines.at(-1)?.number ?? "").length;
  return lines
    .map(({ number, text }) => `${number === failing ? ">" : " "} ${String(number).padStart(width)}  ${text}`.trimEnd())
    .join("\n");
}
