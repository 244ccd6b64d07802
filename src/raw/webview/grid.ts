import type { RawRow } from "../../service/rawProtocol";
import { element } from "../../detail/webview/dom";
import { Pages } from "./pages";
import { columns, placeholder, rowCells } from "./rows";
import { rowHeight, Scroller } from "./scroller";

export interface GridEvents {
  readonly fetch: (start: number, count: number) => Promise<readonly RawRow[] | null>;
  /** Another row was selected, by the user. */
  readonly onSelect: (index: number) => void;
  /** Enter or a double click. */
  readonly onOpen: () => void;
  readonly onScroll: () => void;
}

/** The list of lines: only rows in sight are in the page, whatever the number of lines. */
export class Grid {
  readonly element: HTMLElement;
  readonly #layer: HTMLElement;
  readonly #scroller: Scroller;
  readonly #pages: Pages;
  readonly #events: GridEvents;
  #total = 0;
  #selected: number | null = null;
  #drawn = 0;

  constructor(events: GridEvents) {
    this.#events = events;
    this.#layer = element("div", { class: "layer", role: "rowgroup" });
    const spacer = element("div", { class: "spacer", role: "presentation" }, this.#layer);
    const head = element("div", { class: "row head", role: "row", "aria-rowindex": "1" });
    columns.forEach(({ name, label }, index) => {
      const place = { role: "columnheader", "aria-colindex": String(index + 1) };
      head.append(element("span", { class: `cell ${name}`, ...place }, label));
    });
    const headGroup = element("div", { class: "head-group", role: "rowgroup" }, head);
    this.element = element(
      "div",
      { id: "lines", role: "grid", tabindex: "0", "aria-label": "Lines", "aria-colcount": String(columns.length) },
      headGroup,
      spacer,
    );
    this.#scroller = new Scroller(this.element, spacer, () => {
      this.#drawSoon();
      events.onScroll();
    });
    this.#pages = new Pages(events.fetch, () => {
      this.#drawSoon();
    });
    this.element.addEventListener("keydown", (event) => {
      this.#pressed(event);
    });
    this.element.addEventListener("click", (event) => {
      const index = indexOf(event.target);
      if (index !== null) this.#choose(index);
    });
    this.element.addEventListener("dblclick", (event) => {
      if (indexOf(event.target) !== null) events.onOpen();
    });
    new ResizeObserver(() => {
      this.#scroller.resize();
    }).observe(this.element);
  }

  get total(): number {
    return this.#total;
  }

  get top(): number {
    return this.#scroller.top;
  }

  get selected(): number | null {
    return this.#selected;
  }

  row(index: number): RawRow | undefined {
    return this.#pages.row(index);
  }

  /** The list has so many rows now, some of which may have changed. */
  update(total: number): void {
    this.#total = total;
    this.element.setAttribute("aria-rowcount", String(total + 1));
    this.#pages.refresh();
    this.#scroller.setTotal(total);
  }

  /** The list is another one. */
  clear(): void {
    this.#pages.clear();
    this.#selected = null;
  }

  scrollTo(top: number): void {
    this.#scroller.scrollTo(top);
  }

  /** Selects without telling; null for none. */
  select(index: number | null, reveal: boolean): void {
    this.#selected = index;
    if (index !== null && reveal) this.#scroller.center(index);
    this.#drawSoon();
  }

  revealSelected(): void {
    this.#scroller.resize();
    if (this.#selected !== null) this.#scroller.reveal(this.#selected);
  }

  #choose(index: number): void {
    const chosen = Math.min(Math.max(0, index), this.#total - 1);
    if (chosen < 0) return;
    this.#selected = chosen;
    this.#scroller.reveal(chosen);
    this.#drawSoon();
    this.#events.onSelect(chosen);
  }

  #pressed(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = this.#selected;
    const page = Math.max(1, Math.floor(this.#scroller.visible) - 1);
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: at === null ? Math.ceil(this.top) : at + 1,
      ArrowUp: at === null ? Math.ceil(this.top) : at - 1,
      PageDown: (at ?? Math.ceil(this.top)) + page,
      PageUp: (at ?? Math.ceil(this.top)) - page,
      Home: 0,
      End: this.#total - 1,
    };
    const target = targets[event.key];
    if (target !== undefined) this.#choose(target);
    else if (event.key === "Enter" && at !== null) this.#events.onOpen();
    else return;
    event.preventDefault();
  }

  #drawSoon(): void {
    if (this.#drawn !== 0) return;
    this.#drawn = requestAnimationFrame(() => {
      this.#drawn = 0;
      this.#draw();
    });
  }

  #draw(): void {
    const { top, visible } = this.#scroller;
    const first = Math.floor(top);
    const end = Math.min(this.#total, Math.ceil(top + visible) + 1);
    if (end > first) this.#pages.want(first, end);
    this.#layer.style.height = `${Math.max(0, this.element.clientHeight - rowHeight)}px`;
    const rows: HTMLElement[] = [];
    let active = "";
    for (let index = first; index < end; index++) {
      const made = this.#rowElement(index);
      made.style.transform = `translateY(${(index - top) * rowHeight}px)`;
      if (index === this.#selected) active = made.id;
      rows.push(made);
    }
    this.#layer.replaceChildren(...rows);
    if (active === "") this.element.removeAttribute("aria-activedescendant");
    else this.element.setAttribute("aria-activedescendant", active);
  }

  #rowElement(index: number): HTMLElement {
    const row = this.#pages.row(index);
    const made = element("div", {
      id: `row-${index}`,
      class: `row ${row?.state ?? "coming"}`,
      role: "row",
      "aria-rowindex": String(index + 2),
      "aria-selected": String(index === this.#selected),
      "data-index": String(index),
    });
    made.append(...(row === undefined ? placeholder() : rowCells(row)));
    return made;
  }
}

function indexOf(target: EventTarget | null): number | null {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-index]") : null;
  return row === null ? null : Number(row.dataset["index"]);
}
