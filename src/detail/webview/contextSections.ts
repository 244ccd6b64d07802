import type { ContextField, TaskState } from "../protocol";
import { button, element, icon } from "./dom";
import { copyButton, section, type PaneControls } from "./parts";

export function contextSections(state: TaskState, controls: PaneControls): HTMLElement[] {
  if (state.context === null) {
    const text = `They cannot be read: ${state.contextError ?? "no reason given"}`;
    return [section("arguments", "Arguments", [], element("p", { class: "notice warning" }, icon("warning"), text))];
  }
  const isArgument = ({ field }: ContextField): boolean => field === "args" || field === "kwargs";
  const args = state.context.filter(isArgument);
  const rest = state.context.filter((field) => !isArgument(field));
  const tools = state.secrets === "none" ? [] : [secretsButton(state.secrets === "shown", state.present, controls)];
  return [
    section(
      "arguments",
      "Arguments",
      tools,
      ...contextFields(args, "The task was enqueued without arguments.", controls),
    ),
    section("context", "Context", [], ...contextFields(rest, "No log tags, log context or user context.", controls)),
  ];
}

function contextFields(fields: readonly ContextField[], none: string, controls: PaneControls): HTMLElement[] {
  const full = fields.filter((field) => !field.empty);
  if (full.length === 0) return [element("p", { class: "quiet" }, none)];
  return full.map(({ field, label, text }) => {
    const heading = element("div", { class: "field-heading" }, element("h3", { id: `${field}-label` }, label));
    heading.append(copyButton(field, `Copy ${label}`, controls));
    const code = element(
      "pre",
      { class: "code", tabindex: "0", role: "group", "aria-labelledby": `${field}-label` },
      text,
    );
    return element("div", { class: "field" }, heading, code);
  });
}

function secretsButton(shown: boolean, present: boolean, controls: PaneControls): HTMLElement {
  return button({
    id: "secrets",
    label: shown ? "Hide Secrets" : "Reveal Secrets",
    iconName: shown ? "eye-closed" : "eye",
    className: "link tool",
    disabled: !present && !shown,
    onClick: (pressed) => {
      controls.send({ name: "setSecrets", shown: !shown }, pressed, shown ? "Secrets hidden" : "Secrets shown");
    },
  });
}
