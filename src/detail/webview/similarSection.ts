import { formatCount } from "../../text/labels";
import { relativeTime } from "../../text/times";
import type { SimilarTask, SimilarView } from "../protocol";
import { button, element } from "./dom";
import { section, timeElement, type PaneControls } from "./parts";
import { visible } from "./texts";

/** What there is of the shown task itself. */
interface Own {
  readonly canChange: boolean;
  readonly present: boolean;
}

/** Other tasks that died in the same way: how many, since when, the way to them, and what can be done to all of them. */
export function similarSection(similar: SimilarView, own: Own, controls: PaneControls): HTMLElement {
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
  made.append(groupActions(count, own, controls));
  return made;
}

function groupActions(count: number, { canChange, present }: Own, controls: PaneControls): HTMLElement {
  const others = `${formatCount(count)} Other${count === 1 ? "" : "s"}`;
  const action = (
    name: "retrySimilar" | "deleteSimilar" | "listSimilar",
    label: string,
    iconName: string,
    title: string,
  ): HTMLButtonElement => {
    const onClick = (pressed: HTMLButtonElement): void => {
      controls.send({ name }, pressed);
    };
    const made = button({ id: name, label, iconName, className: "action", onClick });
    made.title = title;
    return made;
  };
  const all = element("div", { class: "actions", role: "group", "aria-label": "Actions on All That Died Like This" });
  if (canChange) {
    all.append(
      action("retrySimilar", `Retry This and ${others}…`, "debug-rerun", "Retry all that died in this way"),
      action("deleteSimilar", `Delete This and ${others}…`, "trash", "Delete all that died in this way"),
    );
  }
  const these = present ? "this task and those" : "the tasks";
  all.append(action("listSimilar", "Show in List", "list-filter", `Show in the list only ${these} that died like it`));
  return all;
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
