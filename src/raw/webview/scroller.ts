/** Pixels. A row's height, as the lists of the editor have it; the header's as well. The style sheet has it, too. */
export const rowHeight = 22;
/** Pixels. Browsers cut elements off at some 17 to 33 million: a taller list is scrolled in proportion. */
const tallest = 10_000_000;

/**
 * Which row is at the top of a list of any length. The element scrolls as far as elements can be tall; beyond that a pixel of its
 * scroll bar is several rows, and wheel and keys go by rows all the same.
 */
export class Scroller {
  readonly #element: HTMLElement;
  readonly #spacer: HTMLElement;
  readonly #onScroll: () => void;
  #total = 0;
  /** In rows; a fraction is a row that is partly above the edge. */
  #top = 0;
  /** Where we put the scroll bar ourselves: that it moves there is no wish of the user. */
  #expected = 0;

  constructor(element: HTMLElement, spacer: HTMLElement, onScroll: () => void) {
    this.#element = element;
    this.#spacer = spacer;
    this.#onScroll = onScroll;
    element.addEventListener("scroll", () => {
      this.#scrolled();
    });
    element.addEventListener(
      "wheel",
      (event) => {
        if (!this.isScaled || event.ctrlKey || event.deltaY === 0) return;
        event.preventDefault();
        const perUnit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 1 : 1 / rowHeight;
        const rows =
          event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? this.visible * event.deltaY : event.deltaY * perUnit;
        this.scrollTo(this.#top + rows);
      },
      { passive: false },
    );
  }

  get top(): number {
    return this.#top;
  }

  /** How many rows fit, the last one perhaps in part. */
  get visible(): number {
    return Math.max(1, (this.#element.clientHeight - rowHeight) / rowHeight);
  }

  get isScaled(): boolean {
    return this.#total * rowHeight > tallest;
  }

  get #lastTop(): number {
    return Math.max(0, this.#total - this.visible);
  }

  get #lastScroll(): number {
    return Math.max(0, this.#element.scrollHeight - this.#element.clientHeight);
  }

  setTotal(total: number): void {
    this.#total = total;
    this.resize();
  }

  /** To be called when the element has another size. */
  resize(): void {
    const height = Math.min(this.#total * rowHeight, tallest);
    this.#spacer.style.height = `${Math.max(height, this.#element.clientHeight - rowHeight)}px`;
    this.scrollTo(this.#top);
  }

  scrollTo(top: number): void {
    this.#top = Math.min(Math.max(0, top), this.#lastTop);
    const share = this.#lastTop === 0 ? 0 : this.#top / this.#lastTop;
    const wanted = this.isScaled ? share * this.#lastScroll : this.#top * rowHeight;
    this.#element.scrollTop = wanted;
    this.#expected = this.#element.scrollTop;
    this.#onScroll();
  }

  /** Moves as little as brings the row into sight. */
  reveal(index: number): void {
    const whole = Math.max(1, Math.floor(this.visible));
    if (index < this.#top) this.scrollTo(index);
    else if (index + 1 > this.#top + whole) this.scrollTo(index + 1 - whole);
  }

  /** Brings the row to the middle, unless it is in sight. */
  center(index: number): void {
    if (index < this.#top || index + 1 > this.#top + this.visible) this.scrollTo(index - Math.floor(this.visible / 2));
  }

  #scrolled(): void {
    const { scrollTop } = this.#element;
    if (Math.abs(scrollTop - this.#expected) < 1) return;
    this.#expected = scrollTop;
    const share = this.#lastScroll === 0 ? 0 : scrollTop / this.#lastScroll;
    this.#top = this.isScaled ? share * this.#lastTop : scrollTop / rowHeight;
    this.#onScroll();
  }
}
