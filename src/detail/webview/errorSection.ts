import type { TaskState } from "../protocol";
import { button, element, icon } from "./dom";
import { copyButton, section, type PaneControls } from "./parts";
import { visible } from "./texts";

/** A message longer than this is folded: the first lines say what happened, and the backtrace must stay in sight. */
const foldedLines = 12;
const foldedCharacters = 2_000;

export function errorSection(state: TaskState, controls: PaneControls): HTMLElement {
  const name = element("span", {}, ...visible(state.exceptionClass));
  const heading = element("p", { class: "exception" }, icon("error"), name);
  const made = section("error", "Error", [copyButton("error", "Copy Error", controls)], heading);
  if (state.message !== "") made.append(...foldedText(state.message, controls));
  return made;
}

function foldedText(text: string, controls: PaneControls): HTMLElement[] {
  const lines = text.split("\n");
  const short = lines
    .slice(0, foldedLines)
    .join("\n")
    .slice(0, foldedCharacters)
    .replace(/[\ud800-\udbff]$/, "");
  const shown = element("pre", { class: "message", id: "message-text" });
  if (short.length === text.length) {
    shown.append(...visible(text));
    return [shown];
  }
  const toggle = button({
    id: "message-toggle",
    label: "",
    className: "link",
    onClick: () => {
      controls.setUnfolded("message", !controls.isUnfolded("message"));
      update();
    },
  });
  toggle.setAttribute("aria-controls", shown.id);
  const whole = lines.length > 1 ? `Show all ${lines.length} lines` : "Show the whole message";
  const update = (): void => {
    const unfolded = controls.isUnfolded("message");
    shown.replaceChildren(...visible(unfolded ? text : `${short}\n…`));
    toggle.textContent = unfolded ? "Show less" : whole;
    toggle.setAttribute("aria-expanded", String(unfolded));
  };
  update();
  return [shown, toggle];
}
