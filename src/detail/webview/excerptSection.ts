import type { ExcerptView } from "../protocol";
import { button, element } from "./dom";
import { section, type PaneControls } from "./parts";
import { visible } from "./texts";

/** Some lines of source around the failing one. The place opens it by mouse and keyboard; each line is there for the mouse. */
export function excerptSection(excerpt: ExcerptView, controls: PaneControls): HTMLElement {
  const { place, method, lines, failing, notice } = excerpt;
  const open = button({
    id: "excerpt-open",
    label: place,
    className: "link place",
    onClick: (pressed) => {
      controls.send({ name: "openExcerpt", line: null }, pressed);
    },
  });
  // Beside the same place in the backtrace it has to be told apart, by ear too.
  open.setAttribute("aria-label", `Open ${place}`);
  open.title = "Open the failing line in the editor";
  const copy = button({
    id: "copy-excerpt",
    label: "Copy Source",
    iconName: "copy",
    iconOnly: true,
    className: "icon-button",
    onClick: (pressed) => {
      controls.send({ name: "copyExcerpt" }, pressed, "Copied");
    },
  });
  const heading = element("p", { class: "excerpt-place mono" }, open);
  if (method !== "") heading.append(" ", element("span", { class: "method" }, ...visible(method)));
  const made = section("excerpt", "Failing Line", lines.length === 0 ? [] : [copy], heading);
  if (notice !== null) made.append(element("p", { class: "quiet" }, notice));
  if (lines.length > 0) made.append(source(lines, failing, open, controls));
  return made;
}

function source(
  lines: ExcerptView["lines"],
  failing: number,
  open: HTMLButtonElement,
  controls: PaneControls,
): HTMLElement {
  const width = String(lines.at(-1)?.number ?? 0).length;
  const rows = lines.map(({ number, text }) => {
    const isFailing = number === failing;
    const row = element(
      "div",
      { class: isFailing ? "source-line failing" : "source-line", "data-line": String(number) },
      element("span", { class: "line-number" }, String(number).padStart(width)),
      element("code", {}, ...visible(text === "" ? " " : text)),
    );
    if (isFailing) row.prepend(element("span", { class: "visually-hidden" }, "Failing line "));
    row.addEventListener("click", () => {
      // Whoever selects text to copy it does not mean to leave.
      if (document.getSelection()?.isCollapsed === false) return;
      controls.send({ name: "openExcerpt", line: number }, open);
    });
    return row;
  });
  return element("pre", { class: "source", tabindex: "0", role: "group", "aria-label": "Source" }, ...rows);
}
