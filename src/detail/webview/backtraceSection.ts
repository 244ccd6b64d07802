import type { FrameView } from "../protocol";
import { button, element } from "./dom";
import { copyButton, section, type PaneControls } from "./parts";

export function backtraceSection(frames: readonly FrameView[], controls: PaneControls): HTMLElement {
  if (frames.length === 0) {
    return section("backtrace", "Backtrace", [], element("p", { class: "quiet" }, "None: the error was never raised."));
  }
  const list = element("ol", { class: "backtrace" });
  frames.forEach((frame, index) => {
    const item = element("li", { class: frame.origin, title: frame.text });
    if (frame.canOpen) {
      const open = button({
        id: `frame-${index}`,
        label: frame.place,
        className: "link place",
        onClick: (pressed) => {
          controls.send({ name: "openFrame", index }, pressed);
        },
      });
      open.title = `Open ${frame.text}`;
      item.append(open);
    } else {
      item.append(element("span", { class: "place" }, frame.place));
    }
    if (frame.method !== "") item.append(" ", element("span", { class: "method" }, frame.method));
    list.append(item);
  });
  return section("backtrace", "Backtrace", [copyButton("backtrace", "Copy Backtrace", controls)], list);
}
