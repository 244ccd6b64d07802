import { button, element, icon } from "../../detail/webview/dom";
import { visible } from "../../detail/webview/texts";
import type { TaskDetail } from "../../service/protocol";
import type { RawLine } from "../../service/rawProtocol";
import { counted, exceptionName, formatCount, oneLine, shownId } from "../../text/labels";
import { absoluteTime } from "../../text/times";
import { bytesView, type ReadBytes } from "./bytesView";
import { byteRange, stateIcons, stateText } from "./rows";

/** Characters of a value that are shown: the bytes below have all of it. */
const longestValue = 20_000;

export interface LineControls {
  readonly read: ReadBytes;
  readonly copy: (what: "offset" | "id" | "line", pressed: HTMLButtonElement) => void;
  readonly showTask: () => void;
  readonly go: (line: number) => void;
  readonly setRevealed: (revealed: boolean) => void;
  readonly close: () => void;
}

/** The selected line: where it is, what it is, its record's fields as Ruby text, its bytes when asked for. */
export function lineView(line: RawLine, revealed: boolean, controls: LineControls): HTMLElement[] {
  const { row, task, id } = line;
  const heading = element("div", { class: "line-heading" });
  heading.append(
    icon(stateIcons[row.state]),
    element("h2", {}, `Line ${formatCount(row.line)}`),
    element("span", {}, stateText(row)),
    element("span", { class: "quiet" }, `${counted(row.length, "byte")} at ${byteRange(row)}`),
    closeButton(controls),
  );
  const made = [heading, actions(line, revealed, controls)];
  if (row.reason !== null && task === null) {
    made.push(element("p", { class: "notice" }, icon("warning"), element("span", {}, ...visible(row.reason))));
  }
  const list = element("dl", {});
  if (task !== null) list.append(...taskFields(task));
  else if (id !== null) list.append(field("id", shownId(id)));
  if (list.childElementCount > 0) made.push(list);
  made.push(...bytesView(row, controls.read));
  return made;
}

function closeButton(controls: LineControls): HTMLElement {
  const made = button({
    id: "close-line",
    label: "Close",
    iconName: "close",
    iconOnly: true,
    className: "icon-button",
    onClick: controls.close,
  });
  made.classList.add("close");
  return made;
}

function actions({ row, task, id }: RawLine, revealed: boolean, controls: LineControls): HTMLElement {
  const made = element("div", { class: "actions", role: "group", "aria-label": "Actions" });
  const action = (name: string, label: string, iconName: string, onClick: (pressed: HTMLButtonElement) => void) => {
    made.append(button({ id: name, label, iconName, className: "action", onClick }));
  };
  const { standing } = row;
  if (id !== null) action("show-task", "Show Task", "eye", controls.showTask);
  if (standing !== null) {
    action("go-standing", `Go to Line ${formatCount(standing)}`, "arrow-right", () => {
      controls.go(standing);
    });
  }
  if (task !== null && (task.masked || revealed)) {
    action("secrets", revealed ? "Hide Secrets" : "Reveal Secrets", revealed ? "lock" : "unlock", () => {
      controls.setRevealed(!revealed);
    });
  }
  action("copy-offset", "Copy Offset", "copy", (pressed) => {
    controls.copy("offset", pressed);
  });
  if (id !== null) {
    action("copy-id", "Copy ID", "copy", (pressed) => {
      controls.copy("id", pressed);
    });
  }
  action("copy-line", "Copy Line", "copy", (pressed) => {
    controls.copy("line", pressed);
  });
  return made;
}

function taskFields(task: TaskDetail): HTMLElement[] {
  const time = (seconds: number | null): string =>
    seconds === null ? "unknown" : `${seconds} (${absoluteTime(seconds)})`;
  const { context } = task;
  const fields = [
    field("id", shownId(task.id)),
    field("task_class", task.taskClass),
    field("attempts", String(task.attempts)),
    field("enqueued_at", time(task.enqueuedAt)),
    field("failed_at", time(task.failedAt)),
    field("exception_class", exceptionName(task.exceptionClass)),
    field("exception_message", task.fullMessage),
    field("backtrace", task.backtrace.join("\n")),
  ];
  if (context === null) fields.push(field("context", task.contextError ?? "cannot be decoded"));
  else {
    fields.push(
      field("args", context.args),
      field("kwargs", context.kwargs),
      field("log_tags", context.logTags),
      field("log_context", context.logContext),
      field("user_context", context.userContext),
    );
  }
  return [...fields, ...task.extra.map(({ name, value }) => field(oneLine(name, 100), value))];
}

function field(name: string, text: string): HTMLElement {
  const more = text.length - longestValue;
  const shown = more > 0 ? text.slice(0, longestValue) : text;
  const value = element("dd", {}, element("pre", {}, ...visible(shown)));
  if (more > 0) value.append(element("p", { class: "quiet" }, `… and ${counted(more, "character")} more`));
  return element("div", {}, element("dt", {}, name), value);
}
