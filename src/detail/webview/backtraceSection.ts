import { counted } from "../../text/labels";
import type { FrameView } from "../protocol";
import { button, element, icon } from "./dom";
import { copyButton, section, type PaneControls } from "./parts";

/** Whether frames of gems and Ruby are shown until their group is folded. Kept from task to task, for as long as the pane is open. */
let showAll = false;

/** Frames beside each other that are all the application's own, or none of them. */
interface Run {
  readonly own: boolean;
  /** Of the first frame in the backtrace. */
  readonly start: number;
  readonly frames: FrameView[];
}

export function backtraceSection(frames: readonly FrameView[], controls: PaneControls): HTMLElement {
  if (frames.length === 0) {
    return section("backtrace", "Backtrace", [], element("p", { class: "quiet" }, "None: the error was never raised."));
  }
  const list = element("ol", { class: "backtrace" });
  const folds: Fold[] = [];
  const runs = runsOf(frames);
  for (const { own, start, frames: some } of runs) {
    const items = some.map((frame, index) => frameItem(frame, start + index, controls));
    // A line that says "1 frame" would take as much room as the frame; and of a backtrace of nothing else all is wanted.
    if (own || some.length === 1 || runs.length === 1) list.append(...items);
    else {
      const fold = new Fold(start, some, items, controls);
      folds.push(fold);
      list.append(fold.item);
    }
  }
  const tools = [copyButton("backtrace", "Copy Backtrace", controls)];
  if (folds.length > 0) tools.push(showAllButton(folds));
  return section("backtrace", "Backtrace", tools, list);
}

function runsOf(frames: readonly FrameView[]): Run[] {
  const runs: Run[] = [];
  frames.forEach((frame, start) => {
    const own = frame.origin === "application";
    const last = runs.at(-1);
    if (last?.own === own) last.frames.push(frame);
    else runs.push({ own, start, frames: [frame] });
  });
  return runs;
}

/** Frames of gems and Ruby between those of the application, behind a button. */
class Fold {
  readonly item: HTMLElement;
  readonly #controls: PaneControls;
  /** What `controls` keeps under it: that this fold is not as `showAll` has them. */
  readonly #key: string;
  readonly #list: HTMLElement;
  readonly #toggle: HTMLButtonElement;

  constructor(start: number, frames: readonly FrameView[], items: readonly HTMLElement[], controls: PaneControls) {
    this.#controls = controls;
    this.#key = `frames-${start}`;
    this.#list = element("ol", { id: `${this.#key}-list`, class: "backtrace" }, ...items);
    this.#toggle = button({
      id: this.#key,
      label: `${counted(frames.length, "frame")} of ${kindsOf(frames)}`,
      iconName: "chevron-right",
      className: "fold",
      onClick: () => {
        this.#set(!this.#isOpen);
      },
    });
    this.#toggle.setAttribute("aria-controls", this.#list.id);
    this.#toggle.append(element("span", { class: "quiet" }, gemsOf(frames).join(", ")));
    this.item = element("li", { class: "folded" }, this.#toggle, this.#list);
    this.#show();
  }

  /** As `showAll` says. */
  reset(): void {
    this.#set(showAll);
  }

  get #isOpen(): boolean {
    return this.#controls.isUnfolded(this.#key) !== showAll;
  }

  #set(open: boolean): void {
    this.#controls.setUnfolded(this.#key, open !== showAll);
    this.#show();
  }

  #show(): void {
    const open = this.#isOpen;
    this.#list.hidden = !open;
    this.#toggle.setAttribute("aria-expanded", String(open));
    this.#toggle.querySelector(".codicon")?.classList.toggle("codicon-chevron-right", !open);
    this.#toggle.querySelector(".codicon")?.classList.toggle("codicon-chevron-down", open);
  }
}

function kindsOf(frames: readonly FrameView[]): string {
  const origins = new Set(frames.map(({ origin }) => origin));
  if (origins.size > 1) return "gems and Ruby";
  return origins.has("gem") ? "gems" : "Ruby";
}

/** `net-smtp-0.5.0`, as the frames' places begin. */
function gemsOf(frames: readonly FrameView[]): string[] {
  const gems = frames.filter(({ origin }) => origin === "gem").map(({ place }) => place.split("/", 1)[0] ?? "");
  return [...new Set(gems)].filter((gem) => gem !== "");
}

function showAllButton(folds: readonly Fold[]): HTMLButtonElement {
  const made = button({
    id: "frames-all",
    label: "",
    className: "link tool",
    onClick: () => {
      showAll = !showAll;
      for (const fold of folds) fold.reset();
      update();
    },
  });
  const update = (): void => {
    made.textContent = showAll ? "Fold Gems and Ruby" : "Show All Frames";
  };
  update();
  return made;
}

function frameItem(frame: FrameView, index: number, controls: PaneControls): HTMLElement {
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
  if (frame.missing !== null) {
    item.title = `${frame.text}\n${frame.missing}`;
    const said = element("span", { class: "visually-hidden" }, ` (${frame.missing})`);
    item.append(element("span", { class: "missing" }, icon("circle-slash"), said));
  }
  return item;
}
