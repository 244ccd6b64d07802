/** An element with text or elements in it. Text is only ever set as text: nothing of a task can become markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

export function icon(name: string): HTMLElement {
  return element("i", { class: `codicon codicon-${name}`, "aria-hidden": "true" });
}

export interface ButtonOptions {
  /** Unique in the page, and the same for the same button in each rendering: focus is kept by it. */
  readonly id: string;
  readonly label: string;
  readonly iconName?: string;
  readonly className: string;
  /** A button of an icon alone: `label` is its name and tooltip. */
  readonly iconOnly?: boolean;
  readonly disabled?: boolean;
  readonly onClick: (button: HTMLButtonElement) => void;
}

export function button(options: ButtonOptions): HTMLButtonElement {
  const made = element("button", { type: "button", id: options.id, class: options.className });
  if (options.iconName !== undefined) made.append(icon(options.iconName));
  if (options.iconOnly === true) {
    made.setAttribute("aria-label", options.label);
    made.title = options.label;
  } else {
    made.append(element("span", {}, options.label));
  }
  made.disabled = options.disabled ?? false;
  made.addEventListener("click", () => {
    options.onClick(made);
  });
  return made;
}
