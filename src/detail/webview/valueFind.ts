import { counted, formatCount } from "../../text/labels";
import type { FoundValues, ValuePath } from "../../service/valueProtocol";
import { button, element } from "./dom";

/** Milliseconds after the last key before it is looked for. */
const pause = 150;

export interface FindActions {
  find(text: string): Promise<FoundValues | null>;
  /** `path`: the place to show; null for none. */
  show(path: ValuePath | null): void;
  /** `path`: the place that was shown last; null for none. */
  closed(path: ValuePath | null): void;
}

/** A box that looks for a text in all values, open or not, and goes from one place to the next. */
export class ValueFind {
  readonly element: HTMLElement;
  readonly #actions: FindActions;
  readonly #input: HTMLInputElement;
  readonly #status: HTMLElement;
  readonly #steps: readonly HTMLButtonElement[];
  #found: FoundValues = { paths: [], more: false };
  #places: ReadonlySet<ValuePath> = new Set();
  #index = 0;
  #round = 0;
  #timer = 0;

  constructor(actions: FindActions) {
    this.#actions = actions;
    this.#input = element("input", { type: "text", id: "find-values", placeholder: "Find", spellcheck: "false" });
    this.#input.setAttribute("aria-label", "Find in arguments and context");
    this.#status = element("span", { class: "find-status", role: "status" });
    const step = (id: string, label: string, iconName: string, by: number): HTMLButtonElement =>
      button({
        id,
        label,
        iconName,
        iconOnly: true,
        className: "icon-button",
        onClick: () => {
          this.#step(by);
        },
      });
    this.#steps = [
      step("find-previous", "Previous Match (Shift+Enter)", "arrow-up", -1),
      step("find-next", "Next Match (Enter)", "arrow-down", 1),
    ];
    const close = button({
      id: "find-close",
      label: "Close (Escape)",
      iconName: "close",
      iconOnly: true,
      className: "icon-button",
      onClick: () => {
        this.#close();
      },
    });
    this.element = element(
      "div",
      { class: "find-box", role: "search" },
      this.#input,
      this.#status,
      ...this.#steps,
      close,
    );
    this.element.hidden = true;
    this.#input.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => void this.#look(true), pause);
    });
    this.element.addEventListener("keydown", (event) => {
      this.#keyDown(event);
    });
    this.#tell();
  }

  /** What is looked for, in lower case. */
  get wanted(): string {
    return this.isOpen ? this.#input.value.toLowerCase() : "";
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  isFound(path: ValuePath): boolean {
    return this.#places.has(path);
  }

  open(): void {
    this.element.hidden = false;
    this.#input.focus();
    this.#input.select();
    if (this.#input.value !== "") void this.#look(true);
  }

  /** Takes the box away without a word, for another task. */
  reset(): void {
    this.element.hidden = true;
    this.#take({ paths: [], more: false });
  }

  #close(): void {
    const path = this.#path;
    this.reset();
    this.#actions.closed(path);
  }

  get #path(): ValuePath | null {
    return this.#found.paths[this.#index] ?? null;
  }

  /** Looks again, after values have changed. */
  again(): void {
    if (this.isOpen && this.#input.value !== "") void this.#look(false);
  }

  async #look(goes: boolean): Promise<void> {
    const round = ++this.#round;
    const text = this.#input.value;
    const found = text === "" ? null : await this.#actions.find(text);
    if (round !== this.#round || !this.isOpen) return;
    this.#take(found ?? { paths: [], more: false }, goes ? null : this.#path);
    this.#actions.show(goes ? this.#path : null);
  }

  /** `path`: where to go on from, if it is still among what was found. */
  #take(found: FoundValues, path: ValuePath | null = null): void {
    this.#round++;
    this.#found = found;
    this.#places = new Set(found.paths);
    this.#index = path === null ? 0 : Math.max(0, found.paths.indexOf(path));
    this.#tell();
  }

  #step(by: number): void {
    const { length } = this.#found.paths;
    if (length === 0) return;
    this.#index = (this.#index + by + length) % length;
    this.#tell();
    this.#actions.show(this.#path);
  }

  #tell(): void {
    const { paths, more } = this.#found;
    const none = this.#input.value === "" ? "" : "No results";
    const total = `${formatCount(paths.length)}${more ? "+" : ""}`;
    this.#status.textContent = paths.length === 0 ? none : `${formatCount(this.#index + 1)} of ${total}`;
    this.#status.title = more ? `The first ${counted(paths.length, "match", "matches")} are shown` : "";
    for (const step of this.#steps) step.disabled = paths.length === 0;
  }

  #keyDown(event: KeyboardEvent): void {
    if (event.key === "Escape") this.#close();
    else if (event.key === "Enter" && event.target === this.#input) this.#step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
