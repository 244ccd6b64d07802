import type {
  DetailState,
  ExcerptView,
  Fact,
  Notice,
  PaneRequest,
  SimilarView,
  TaskState,
  UnreadableState,
} from "../protocol";
import { backtraceSection } from "./backtraceSection";
import { contextSections } from "./contextSections";
import { button, element, icon } from "./dom";
import { errorSection } from "./errorSection";
import { excerptSection } from "./excerptSection";
import { copyButton, section, timeElement, type PaneControls } from "./parts";
import { similarSection } from "./similarSection";
import { visible } from "./texts";

/** All that the page shows. What comes after the state is null until it has come. */
export interface PaneContent {
  readonly state: DetailState;
  readonly excerpt: ExcerptView | null;
  readonly similar: SimilarView | null;
}

/** A part of the page, made anew only where `data`, all that it is made of, is not what it was. */
export interface Part {
  readonly key: string;
  readonly data: unknown;
  readonly make: () => readonly HTMLElement[];
}

/** In the order in which they are wanted: what happened, where, with what; then the way there, and the rest. */
export function paneParts({ state, excerpt, similar }: PaneContent, controls: PaneControls): Part[] {
  const { notices } = state;
  const parts: Part[] = [
    { key: "header", data: headerData(state), make: () => [header(state, controls)] },
    { key: "notices", data: notices, make: () => notices.map((one) => notice(one, controls)) },
  ];
  if (state.kind === "unreadable") {
    parts.push(
      { key: "reason", data: state.reason, make: () => [reasonSection(state)] },
      { key: "facts", data: state.facts, make: () => [factsSection(state.facts, controls)] },
    );
  }
  if (state.kind === "task") parts.push(...taskParts(state, excerpt, similar, controls));
  return parts;
}

function taskParts(
  state: TaskState,
  excerpt: ExcerptView | null,
  similar: SimilarView | null,
  controls: PaneControls,
): Part[] {
  const { exceptionClass, message, backtrace, facts } = state;
  // All but what is known not to be shown in them: what their own code may show is its own affair.
  const context = { ...state, exceptionClass: "", message: "", backtrace: [], facts: [], notices: [] };
  const parts: Part[] = [
    { key: "error", data: [exceptionClass, message], make: () => [errorSection(state, controls)] },
  ];
  if (excerpt !== null) {
    parts.push({ key: "excerpt", data: excerpt, make: () => [excerptSection(excerpt, controls)] });
  }
  parts.push(
    { key: "context", data: context, make: () => contextSections(state, controls) },
    { key: "backtrace", data: backtrace, make: () => [backtraceSection(backtrace, controls)] },
  );
  if (similar !== null) {
    const { canChange, present } = state;
    const make = (): HTMLElement[] => [similarSection(similar, { canChange, present }, controls)];
    parts.push({ key: "similar", data: [similar, canChange, present], make });
  }
  parts.push({ key: "facts", data: facts, make: () => [factsSection(facts, controls)] });
  return parts;
}

function headerData(state: DetailState): unknown {
  const { kind, title, storeName, present, canChange } = state;
  const base = [kind, title, storeName, present, canChange];
  if (state.kind !== "task") return base;
  return [...base, state.failedAt, state.attempts, state.context !== null, hasFailingLine(state)];
}

function header(state: DetailState, controls: PaneControls): HTMLElement {
  const made = element("header", {});
  // Takes the focus when what had it is gone.
  const name = visible(state.title);
  const heading = element(
    "h1",
    { tabindex: "-1", id: "title" },
    ...(state.kind === "task" ? [classLink(name, controls)] : name),
  );
  const title = element("div", { class: "title" }, heading);
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

/** The class's name, which leads to its definition. */
function classLink(name: readonly (Node | string)[], controls: PaneControls): HTMLButtonElement {
  const made = element(
    "button",
    { type: "button", id: "openTaskClass", class: "link", title: "Go to Task Class" },
    ...name,
  );
  made.addEventListener("click", () => {
    controls.send({ name: "openTaskClass" }, made);
  });
  return made;
}

/** Whether a frame of the application's own code has a file here. */
function hasFailingLine({ backtrace }: TaskState): boolean {
  return backtrace.some(({ origin, canOpen }) => origin === "application" && canOpen);
}

function toolbar(state: TaskState | UnreadableState, controls: PaneControls): HTMLElement {
  const action = (
    request: PaneRequest,
    label: string,
    iconName: string,
    options: { disabled: boolean; primary?: boolean; done?: string },
  ): HTMLButtonElement =>
    button({
      id: request.name,
      label,
      iconName,
      className: options.primary === true ? "action primary" : "action",
      disabled: options.disabled,
      onClick: (pressed) => {
        controls.send(request, pressed, options.done);
      },
    });
  const made = element("div", { class: "actions", role: "group", "aria-label": "Actions" });
  const locked = { disabled: !state.canChange };
  if (state.kind === "task") {
    const canEdit = state.canChange && state.context !== null;
    made.append(
      action({ name: "retry" }, "Retry", "debug-rerun", { ...locked, primary: true }),
      action({ name: "editAndRetry" }, "Edit and Retry…", "edit", { disabled: !canEdit }),
    );
  }
  made.append(action({ name: "delete" }, "Delete…", "trash", locked));
  if (state.kind === "task") {
    const canOpen = hasFailingLine(state);
    const disabled = !state.present || state.context === null;
    const openFailing = action({ name: "openExcerpt", line: null }, "Open Failing Line", "go-to-file", {
      disabled: !canOpen,
    });
    openFailing.id = "openFailingLine";
    if (!canOpen) openFailing.title = "No frame of the application's own code has a file here.";
    const copyAll = action({ name: "copyAll" }, "Copy All", "copy", { disabled: false, done: "Copied as Markdown" });
    copyAll.title = "Copy everything as Markdown, for an issue report";
    made.append(openFailing, action({ name: "copyRuby" }, "Copy as Ruby", "ruby", { disabled }), copyAll);
  }
  const openRaw = action({ name: "openRaw" }, "Open Raw", "file-binary", { disabled: !state.present });
  openRaw.title = "Open the raw storage file at this record";
  made.append(openRaw);
  return made;
}

function notice({ tone, text, action }: Notice, controls: PaneControls): HTMLElement {
  const icons = { gone: "circle-slash", info: "info", warning: "warning" } as const;
  const made = element("p", { class: `notice ${tone}` }, icon(icons[tone]), element("span", {}, ...visible(text)));
  if (action !== undefined) {
    const { name, label } = action;
    const onClick = (pressed: HTMLButtonElement): void => {
      controls.send({ name }, pressed);
    };
    made.append(button({ id: name, label, className: "link", onClick }));
  }
  return made;
}

function reasonSection(state: UnreadableState): HTMLElement {
  const reason = section("reason", "Why", [], element("p", {}, ...visible(state.reason)));
  reason.append(element("p", { class: "quiet" }, "It can be opened raw and deleted, not retried."));
  return reason;
}

function factsSection(facts: readonly Fact[], controls: PaneControls): HTMLElement {
  const list = element("dl", {});
  facts.forEach(({ label, text, seconds, field }, index) => {
    const value = element("dd", {}, element("span", { class: field === "id" ? "mono" : "" }, ...visible(text)));
    if (seconds !== null) value.append(element("span", { class: "quiet" }, "(", timeElement(seconds), ")"));
    const copy = button({
      id: `copy-fact-${index}`,
      label: `Copy ${label}`,
      iconName: "copy",
      iconOnly: true,
      className: "icon-button",
      onClick: (pressed) => {
        controls.send({ name: "copyFact", index }, pressed, "Copied");
      },
    });
    value.append(copy);
    list.append(element("div", {}, element("dt", {}, ...visible(label)), value));
  });
  return section("record", "Record", [], list);
}
