import type { ContextField, TaskState } from "../protocol";
import { button, element, icon } from "./dom";
import { copyButton, section, type PaneControls } from "./parts";
import { visible } from "./texts";
import type { Values, ValueView } from "./values";

/** Arguments and context, as trees or as Ruby text. */
export function contextSections(state: TaskState, controls: PaneControls): HTMLElement[] {
  const { context } = state;
  if (context === null) {
    const text = `They cannot be read: ${state.contextError ?? "no reason given"}`;
    return [section("arguments", "Arguments", [], element("p", { class: "notice warning" }, icon("warning"), text))];
  }
  const { values } = controls;
  const full = context.filter(({ empty }) => !empty);
  values.show(state, full);
  const isArgument = ({ field }: ContextField): boolean => field === "args" || field === "kwargs";
  const parts = [
    {
      id: "arguments",
      title: "Arguments",
      fields: full.filter(isArgument),
      none: "The task was enqueued without arguments.",
    },
    {
      id: "context",
      title: "Context",
      fields: full.filter((field) => !isArgument(field)),
      none: "No log tags, log context or user context.",
    },
  ].map((part) => ({ ...part, body: element("div", { class: "values" }) }));

  const tools = element("div", { class: "section-tools" });
  const draw = (): void => {
    const hasAny = full.length > 0;
    tools.replaceChildren(
      ...(hasAny && values.isAvailable ? [viewSwitch(values), findButton(values)] : []),
      ...(state.secrets === "none" ? [] : [secretsButton(state.secrets === "shown", state.present, controls)]),
    );
    for (const { title, fields, none, body } of parts) {
      if (fields.length === 0) body.replaceChildren(element("p", { class: "quiet" }, none));
      else if (values.view === "tree") body.replaceChildren(values.tree(title, fields));
      else body.replaceChildren(...fields.map((field) => rubyField(field, controls)));
    }
  };
  values.onViewChange = draw;
  draw();
  const sections = parts.map(({ id, title, body }) =>
    id === "arguments" ? section(id, title, [tools], values.find.element, body) : section(id, title, [], body),
  );
  for (const made of sections) {
    made.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      event.stopPropagation();
      values.openFind();
    });
  }
  return sections;
}

function viewSwitch(values: Values): HTMLElement {
  const views: readonly (readonly [ValueView, string])[] = [
    ["tree", "Tree"],
    ["ruby", "Ruby"],
  ];
  const made = element("div", { class: "view-switch", role: "group", "aria-label": "Show values as" });
  for (const [view, label] of views) {
    const choice = button({
      id: `view-${view}`,
      label,
      className: "choice",
      onClick: () => {
        values.view = view;
        document.getElementById(`view-${view}`)?.focus();
      },
    });
    choice.setAttribute("aria-pressed", String(values.view === view));
    made.append(choice);
  }
  return made;
}

function findButton(values: Values): HTMLElement {
  return button({
    id: "open-find",
    label: "Find in Arguments and Context",
    iconName: "search",
    iconOnly: true,
    className: "icon-button",
    onClick: () => {
      values.openFind();
    },
  });
}

function rubyField({ field, label, text }: ContextField, controls: PaneControls): HTMLElement {
  const heading = element("div", { class: "field-heading" }, element("h3", { id: `${field}-label` }, label));
  heading.append(copyButton(field, `Copy ${label}`, controls));
  const code = element(
    "pre",
    { class: "code", tabindex: "0", role: "group", "aria-labelledby": `${field}-label` },
    ...visible(text),
  );
  return element("div", { class: "field" }, heading, code);
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
