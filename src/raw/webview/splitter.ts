import { element } from "../../detail/webview/dom";

const smallest = 0.15;
const step = 0.05;

/** The edge between the list and the selected line, moved with the mouse or the arrow keys. */
export class Splitter {
  readonly element: HTMLElement;
  readonly #lower: HTMLElement;
  readonly #onMove: () => void;
  #share: number;

  /** `share`: how much of the page's height the lower part has. */
  constructor(lower: HTMLElement, share: number, onMove: () => void) {
    this.#lower = lower;
    this.#share = share;
    this.#onMove = onMove;
    this.element = element("div", {
      id: "splitter",
      role: "separator",
      tabindex: "0",
      "aria-label": "Height of the selected line",
      "aria-orientation": "horizontal",
      "aria-valuemin": String(smallest * 100),
      "aria-valuemax": String((1 - smallest) * 100),
    });
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (!this.element.hasPointerCapture(event.pointerId)) return;
      this.#move(1 - event.clientY / window.innerHeight);
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
      event.preventDefault();
      this.#move(this.#share + (event.key === "ArrowUp" ? step : -step));
    });
    this.#place(share);
  }

  get share(): number {
    return this.#share;
  }

  #move(share: number): void {
    this.#place(share);
    this.#onMove();
  }

  #place(share: number): void {
    this.#share = Math.min(Math.max(smallest, share), 1 - smallest);
    this.#lower.style.height = `${this.#share * 100}vh`;
    this.element.setAttribute("aria-valuenow", String(Math.round(this.#share * 100)));
  }
}
