import { relativeTime } from "../../text/times";
import type { DetailState, Fact, Notice, PaneRequest, TaskState, UnreadableState } from "../protocol";
import { backtraceSection } from "./backtraceSection";
import { contextSections } from "./contextSections";
import { button, element, icon } from "./dom";
import { copyButton, section, type PaneControls } from "./parts";

/** A message longer than this is folded: the first lines say what happened, and the backtrace must stay in sight. */
const foldedLines = 12;
const foldedCharacters = 2_000;

export function renderPane(state: DetailState, controls: PaneControls): HTMLElement {
  const main = element("main", {}, header(state, controls), ...state.notices.map(notice));
  if (state.kind === "task") main.append(...taskSections(state, controls));
  if (state.kind === "unreadable") main.append(...unreadableSections(state, controls));
  main.classList.toggle("gone", state.kind !== "bare" && !state.present);
  return main;
}

/** Brings "5 min ago" up to date. */
export function updateTimes(root: ParentNode): void {
  const now = Date.now() / 1000;
  for (const time of root.querySelectorAll<HTMLTimeElement>("time[data-seconds]")) {
    time.textContent = relativeTime(Number(time.dataset["seconds"]), now);
  }
}

function header(state: DetailState, controls: PaneControls): HTMLElement {
  const made = element("header", {});
  const title = element("div", { class: "title" }, element("h1", {}, state.title));
  if (state.kind === "task") title.append(copyButton("taskClass", "Copy Class", controls));
  made.append(title);
  const summary: (Node | string)[] = [];
  if (state.storeName !== null)
    summary.push(element("span", {}, icon("archive"), ` ${state.storeName}`, state.kind === "task" ? " ·" : ""));
  if (state.kind === "task") {
    summary.push(
      element("span", {}, "Failed ", timeElement(state.failedAt)),
      element("span", {}, `after ${state.attempts}`),
    );
  }
  if (summary.length > 0) made.append(element("p", { class: "summary" }, ...summary));
  if (state.kind !== "bare") made.append(toolbar(state, controls));
  return made;
}

function toolbar(state: TaskState | UnreadableState, controls: PaneControls): HTMLElement {
  const action = (
    request: Extract<PaneRequest, { name: "retry" | "delete" | "copyRuby" | "openRaw" }>,
    label: string,
    iconName: string,
    options: { disabled: boolean; primary?: boolean },
  ): HTMLButtonElement =>
    button({
      id: request.name,
      label,
      iconName,
      className: options.primary === true ? "action primary" : "action",
      disabled: options.disabled,
      onClick: (pressed) => {
        controls.send(request, pressed);
      },
    });
  const made = element("div", { class: "actions", role: "group", "aria-label": "Actions" });
  const locked = { disabled: !state.canChange };
  if (state.kind === "task")
    made.append(action({ name: "retry" }, "Retry", "debug-rerun", { ...locked, primary: true }));
  made.append(action({ name: "delete" }, "Delete…", "trash", locked));
  if (state.kind === "task") {
    const disabled = !state.present || state.context === null;
    made.append(action({ name: "copyRuby" }, "Copy as Ruby", "ruby", { disabled }));
  }
  made.append(action({ name: "openRaw" }, "Open Raw Storage File", "file-binary", { disabled: !state.present }));
  return made;
}

function notice({ tone, text }: Notice): HTMLElement {
  const icons = { gone: "circle-slash", info: "info", warning: "warning" } as const;
  return element("p", { class: `notice ${tone}` }, icon(icons[tone]), element("span", {}, text));
}

function taskSections(state: TaskState, controls: PaneControls): HTMLElement[] {
  return [
    errorSection(state, controls),
    backtraceSection(state.backtrace, controls),
    ...contextSections(state, controls),
    factsSection(state.facts, controls),
  ];
}

function unreadableSections(state: UnreadableState, controls: PaneControls): HTMLElement[] {
  const reason = section("reason", "Why", [], element("p", {}, state.reason));
  reason.append(element("p", { class: "quiet" }, "It can be opened raw and deleted, not retried."));
  return [reason, factsSection(state.facts, controls)];
}

function errorSection(state: TaskState, controls: PaneControls): HTMLElement {
  const heading = element("p", { class: "exception" }, icon("error"), element("span", {}, state.exceptionClass));
  const made = section("error", "Error", [copyButton("error", "Copy Error", controls)], heading);
  if (state.message !== "") made.append(...foldedText("message", state.message, controls));
  return made;
}

function foldedText(what: string, text: string, controls: PaneControls): HTMLElement[] {
  const lines = text.split("\n");
  const short = lines.slice(0, foldedLines).join("\n").slice(0, foldedCharacters);
  const shown = element("pre", { class: "message", id: `${what}-text` });
  if (short.length === text.length) {
    shown.textContent = text;
    return [shown];
  }
  const toggle = button({
    id: `${what}-toggle`,
    label: "",
    className: "link",
    onClick: () => {
      controls.setUnfolded(what, !controls.isUnfolded(what));
      update();
    },
  });
  toggle.setAttribute("aria-controls", shown.id);
  const whole = lines.length > 1 ? `Show all ${lines.length} lines` : "Show the whole message";
  const update = (): void => {
    const unfolded = controls.isUnfolded(what);
    shown.textContent = unfolded ? text : `${short}\n…`;
    toggle.textContent = unfolded ? "Show less" : whole;
    toggle.setAttribute("aria-expanded", String(unfolded));
  };
  update();
  return [shown, toggle];
}

function factsSection(facts: readonly Fact[], controls: PaneControls): HTMLElement {
  const list = element("dl", {});
  for (const { label, text, seconds, field } of facts) {
    const value = element("dd", {}, element("span", { class: field === "id" ? "mono" : "" }, text));
    if (seconds !== null) value.append(element("span", { class: "quiet" }, "(", timeElement(seconds), ")"));
    if (field !== null) value.append(copyButton(field, `Copy ${label}`, controls));
    list.append(element("div", {}, element("dt", {}, label), value));
  }
  return section("record", "Record", [], list);
}

function timeElement(seconds: number): HTMLElement {
  const date = new Date(seconds * 1000);
  const made = element("time", { "data-seconds": String(seconds) }, relativeTime(seconds, Date.now() / 1000));
  if (!Number.isNaN(date.getTime())) made.dateTime = date.toISOString();
  return made;
}
