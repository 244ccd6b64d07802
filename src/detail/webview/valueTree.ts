import type { ContextRoot, ValuePath } from "../../service/valueProtocol";
import { element } from "./dom";
import { canOpen, pathAround, type Row, type ValueModel } from "./valueModel";
import { rowElement, type RowActions } from "./valueRow";

/** What a tree asks of those who load its values. */
export interface TreeActions extends RowActions {
  setOpen(path: ValuePath, isOpen: boolean): void;
  /** Loads the page of parts that begins there. */
  loadParts(path: ValuePath, from: number): void;
  loadContent(path: ValuePath): void;
}

/** Some roots as a tree that the keyboard goes through as through VS Code's own. */
export class ValueTree {
  readonly element: HTMLElement;
  readonly #roots: readonly ContextRoot[];
  readonly #model: ValueModel;
  readonly #actions: TreeActions;
  #rows: readonly Row[] = [];
  readonly #elements = new Map<string, { readonly data: string; readonly element: HTMLElement }>();
  /** The id of the line that the keyboard is at. */
  #current = "";

  constructor(label: string, roots: readonly ContextRoot[], model: ValueModel, actions: TreeActions) {
    this.element = element("div", { class: "value-tree", role: "tree", "aria-label": label });
    this.#roots = roots;
    this.#model = model;
    this.#actions = actions;
    this.element.addEventListener("keydown", (event) => {
      this.#keyDown(event);
    });
    this.element.addEventListener("click", (event) => {
      this.#clicked(event);
    });
    this.element.addEventListener("focusin", (event) => {
      const id = rowOf(event.target)?.id;
      if (id !== undefined) this.#setCurrent(id);
    });
    this.element.addEventListener("copy", (event) => {
      this.#copied(event);
    });
  }

  /** Draws the lines anew that are not what they were. */
  draw(): void {
    const focused = document.activeElement;
    const hadFocus = this.element.contains(focused);
    const before = this.#rows.findIndex(({ id }) => id === this.#current);
    this.#rows = this.#model.rows(this.#roots);
    const ids = new Set(this.#rows.map(({ id }) => id));
    for (const id of this.#elements.keys()) if (!ids.has(id)) this.#elements.delete(id);
    this.element.replaceChildren(...this.#rows.map((row) => this.#elementOf(row)));
    if (!ids.has(this.#current))
      this.#current = this.#rows[Math.min(Math.max(before, 0), this.#rows.length - 1)]?.id ?? "";
    this.#setCurrent(this.#current);
    if (!hadFocus || this.element.contains(document.activeElement)) return;
    // A button that is there again under its name has the focus again; else the line has it.
    const again = focused === null || focused.id === "" ? null : document.getElementById(focused.id);
    (again ?? this.#currentElement)?.focus({ preventScroll: true });
  }

  has(path: ValuePath): boolean {
    return this.#roots.some((root) => path === root || path.startsWith(`${root}.`));
  }

  /** Makes a value's line the current one and brings it into sight. */
  goTo(path: ValuePath, focus: boolean): void {
    this.#setCurrent(`value-${path}`);
    this.#currentElement?.scrollIntoView({ block: "nearest" });
    if (focus) this.#currentElement?.focus();
  }

  focus(): void {
    this.#currentElement?.focus();
  }

  get #currentElement(): HTMLElement | null {
    return this.#elements.get(this.#current)?.element ?? null;
  }

  #elementOf(row: Row): HTMLElement {
    const isFound = row.kind === "value" && this.#actions.isFound(row.node.path);
    const data = JSON.stringify([row, this.#actions.canReveal, isFound && this.#actions.wanted]);
    const known = this.#elements.get(row.id);
    if (known?.data === data) return known.element;
    const made = rowElement(row, this.#actions);
    this.#elements.set(row.id, { data, element: made });
    return made;
  }

  /** One line can be reached with Tab, and from there its buttons. */
  #setCurrent(id: string): void {
    this.#current = id;
    for (const [rowId, { element: row }] of this.#elements) {
      const index = rowId === id ? "0" : "-1";
      if (row.getAttribute("tabindex") === index) continue;
      row.setAttribute("tabindex", index);
      row.classList.toggle("current", rowId === id);
      for (const button of row.querySelectorAll("button")) button.setAttribute("tabindex", index);
    }
  }

  #moveTo(row: Row | undefined): void {
    if (row === undefined) return;
    this.#setCurrent(row.id);
    this.#currentElement?.focus();
  }

  #keyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const index = this.#rows.findIndex(({ id }) => id === this.#current);
    const row = this.#rows[index];
    // In a text the keys are for scrolling.
    if (row === undefined || event.target instanceof HTMLPreElement) return;
    const isOnButton = event.target instanceof HTMLButtonElement;
    switch (event.key) {
      case "ArrowDown":
        this.#moveTo(this.#rows[index + 1]);
        break;
      case "ArrowUp":
        this.#moveTo(this.#rows[index - 1]);
        break;
      case "Home":
        this.#moveTo(this.#rows[0]);
        break;
      case "End":
        this.#moveTo(this.#rows.at(-1));
        break;
      case "ArrowRight":
        if (row.kind === "value" && row.isOpen === false) this.#actions.setOpen(row.node.path, true);
        else if (row.kind === "value" && row.isOpen === true) this.#moveTo(this.#rows[index + 1]);
        break;
      case "ArrowLeft":
        if (row.kind === "value" && row.isOpen === true) this.#actions.setOpen(row.node.path, false);
        else this.#moveTo(this.#rows.find(({ id }) => id === `value-${aroundOf(row) ?? ""}`));
        break;
      case "Enter":
      case " ":
        if (isOnButton) return;
        this.#activate(row);
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #activate(row: Row): void {
    if (row.kind === "more") this.#actions.loadParts(row.path, row.from);
    else if (row.kind === "content") {
      if (row.content.more) this.#actions.loadContent(row.path);
    } else if (canOpen(row.node)) this.#actions.setOpen(row.node.path, row.isOpen !== true);
    else if (row.node.secret !== "none") document.getElementById(`reveal-${row.node.path}`)?.click();
    else if (row.node.same !== null) this.#actions.goTo(row.node.same.path);
  }

  #clicked({ target }: MouseEvent): void {
    const clicked = rowOf(target);
    // Buttons have their own business, and whoever marks text does not mean the line.
    if (clicked === null || (target instanceof Element && target.closest("button") !== null)) return;
    if (document.getSelection()?.isCollapsed === false) return;
    const row = this.#rows.find(({ id }) => id === clicked.id);
    if (row === undefined) return;
    this.#moveTo(row);
    const isText = target instanceof Element && target.closest("pre") !== null;
    if (row.kind !== "value" ? !isText : canOpen(row.node)) this.#activate(row);
  }

  /** Ctrl+C or Cmd+C, or the editor's own command, with no text marked: the value of the line. */
  #copied(event: ClipboardEvent): void {
    const row = this.#rows.find(({ id }) => id === this.#current);
    if (row === undefined || row.kind === "more" || document.getSelection()?.isCollapsed === false) return;
    const path = row.kind === "value" ? row.node.path : row.path;
    const pressed = document.getElementById(`copy-value-${path}`);
    if (!(pressed instanceof HTMLButtonElement)) return;
    event.preventDefault();
    this.#actions.copy(path, pressed);
  }
}

function rowOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[role="treeitem"]') : null;
}

function aroundOf(row: Row): ValuePath | null {
  return row.kind === "value" ? pathAround(row.node.path) : row.path;
}
