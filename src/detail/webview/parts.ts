import { absoluteTime, relativeTime } from "../../text/times";
import type { CopyableField, PaneRequest } from "../protocol";
import { button, element } from "./dom";
import type { Values } from "./values";

/** What the sections can do: ask the extension, and remember what the reader has unfolded. */
export interface PaneControls {
  /** `done`: said aloud, and shown on the button, when the request has succeeded. */
  send(request: PaneRequest, button: HTMLButtonElement, done?: string): void;
  isUnfolded(what: string): boolean;
  setUnfolded(what: string, unfolded: boolean): void;
  readonly values: Values;
}

export function section(
  id: string,
  title: string,
  tools: readonly HTMLElement[],
  ...content: readonly HTMLElement[]
): HTMLElement {
  const heading = element("div", { class: "section-heading" }, element("h2", { id: `${id}-heading` }, title), ...tools);
  return element("section", { "aria-labelledby": `${id}-heading` }, heading, ...content);
}

export function copyButton(field: CopyableField, label: string, controls: PaneControls): HTMLButtonElement {
  return button({
    id: `copy-${field}`,
    label,
    iconName: "copy",
    iconOnly: true,
    className: "icon-button",
    onClick: (pressed) => {
      controls.send({ name: "copy", field }, pressed, "Copied");
    },
  });
}

export function timeElement(seconds: number): HTMLElement {
  const date = new Date(seconds * 1000);
  const made = element("time", { "data-seconds": String(seconds) }, relativeTime(seconds, Date.now() / 1000));
  if (!Number.isNaN(date.getTime())) made.dateTime = date.toISOString();
  made.title = absoluteTime(seconds);
  return made;
}

/** Brings "5 min ago" up to date. */
export function updateTimes(root: ParentNode): void {
  const now = Date.now() / 1000;
  for (const time of root.querySelectorAll<HTMLTimeElement>("time[data-seconds]")) {
    time.textContent = relativeTime(Number(time.dataset["seconds"]), now);
  }
}
