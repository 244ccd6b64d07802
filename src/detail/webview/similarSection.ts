import { formatCount } from "../../text/labels";
import { relativeTime } from "../../text/times";
import type { SimilarTask, SimilarView } from "../protocol";
import { button, element } from "./dom";
import { section, timeElement, type PaneControls } from "./parts";
import { visible } from "./texts";

/** Other tasks that died in the same way: how many, since when, and the way to them. */
export function similarSection(similar: SimilarView, controls: PaneControls): HTMLElement {
  const { count, atLeast, first, last, nearest } = similar;
  if (count === 0) {
    const none = atLeast ? "None among the newest tasks of this class and error." : "No other task died like this.";
    return section("similar", "Same Failure", [], element("p", { class: "quiet" }, none));
  }
  const others = `${atLeast ? "At least " : ""}${formatCount(count)} other${count === 1 ? "" : "s"}`;
  const summary = element(
    "p",
    { class: "summary" },
    element("span", {}, `${others} ·`),
    element("span", {}, "first ", timeElement(first), " ·"),
    element("span", {}, "last ", timeElement(last)),
  );
  const list = element("ul", { class: "similar" }, ...nearest.map((task) => similarItem(task, controls)));
  const made = section("similar", "Same Failure", [], summary, list);
  if (count > nearest.length) {
    const all = button({
      id: "similar-all",
      label: `Show all ${formatCount(count)}…`,
      className: "link",
      onClick: (pressed) => {
        controls.send({ name: "showAllSimilar" }, pressed);
      },
    });
    made.append(all);
  }
  return made;
}

function similarItem({ id, failedAt, message }: SimilarTask, controls: PaneControls): HTMLElement {
  const open = button({
    id: `similar-${id}`,
    label: "",
    className: "link",
    onClick: (pressed) => {
      controls.send({ name: "showSimilar", id }, pressed);
    },
  });
  open.replaceChildren(timeElement(failedAt));
  open.title = `Show ${id}`;
  const compare = button({
    id: `compare-${id}`,
    label: `Compare with the one that failed ${relativeTime(failedAt, Date.now() / 1000)}`,
    iconName: "diff",
    iconOnly: true,
    className: "icon-button",
    onClick: (pressed) => {
      controls.send({ name: "compareSimilar", id }, pressed);
    },
  });
  compare.title = "Compare with this task";
  const what =
    message === ""
      ? element("span", { class: "quiet mono" }, ...visible(id))
      : element("span", { class: "similar-message" }, ...visible(message));
  return element("li", {}, open, what, compare);
}
