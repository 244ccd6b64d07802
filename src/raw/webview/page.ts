import { element } from "../../detail/webview/dom";
import { restoreCopy } from "../../detail/webview/texts";
import type { RawLine, RawTable } from "../../service/rawProtocol";
import { counted, formatCount } from "../../text/labels";
import type { RawState } from "../protocol";
import { Grid } from "./grid";
import { countOf, damageText, filters, header, type Filter, type HeaderControls } from "./header";
import { lineView, type LineControls } from "./lineView";
import type { Memory } from "./memory";
import type { Requests } from "./requests";
import { stateText } from "./rows";
import { Splitter } from "./splitter";

// Milliseconds. Whoever holds an arrow key down reads no line on the way.
const selectionSettles = 60;
const doneTime = 1_500;
const lastLine = Number.MAX_SAFE_INTEGER;

/** The page as a whole: what is selected and shown, kept in step with the file. */
export class RawPage {
  readonly #announcements: HTMLElement;
  readonly #requests: Requests;
  readonly #remember: (memory: Memory) => void;
  readonly #header = element("header", {});
  readonly #empty = element("p", { class: "empty quiet" });
  readonly #lower = element("section", { id: "line", "aria-label": "Selected line", tabindex: "-1" });
  readonly #splitter: Splitter;
  readonly #grid: Grid;
  #state: RawState = { table: null, problem: null, stopped: false };
  #filter: Filter;
  #notice: string | null = null;
  /** The line that is selected, as it was last read. */
  #shown: RawLine | null = null;
  #revealed = false;
  /** What was selected before the page was hidden, or before the file was replaced, until it is found again. */
  #lost: Memory["selected"];
  #lostId: string | null = null;
  #lostTop: number;
  #selecting: number | null = null;
  #round = 0;

  constructor(
    root: HTMLElement,
    announcements: HTMLElement,
    requests: Requests,
    memory: Memory,
    remember: (memory: Memory) => void,
  ) {
    this.#announcements = announcements;
    this.#requests = requests;
    this.#remember = remember;
    this.#filter = memory.filter;
    this.#lost = memory.selected;
    this.#lostTop = memory.top;
    this.#grid = new Grid({
      fetch: (start, count) => requests.send("rows", filters[this.#filter], start, count),
      onSelect: (index) => {
        this.#selectSoon(index);
      },
      onOpen: () => {
        this.#lower.focus();
      },
      onScroll: () => {
        this.#keep();
      },
    });
    this.#splitter = new Splitter(this.#lower, memory.share, () => {
      this.#keep();
    });
    root.append(this.#header, this.#grid.element, this.#empty, this.#splitter.element, this.#lower);
    this.#lower.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#grid.element.focus();
    });
    document.addEventListener("copy", restoreCopy);
    this.#drawLine();
    this.setState(this.#state);
  }

  setState(state: RawState): void {
    const before = this.#state.table;
    this.#state = state;
    const { table } = state;
    if (table !== null && before !== null && table.generation !== before.generation) this.#replaced(before, table);
    this.#requests.generation = table?.generation ?? 0;
    this.#grid.update(countOf(table, this.#filter));
    this.#drawHeader();
    if (table?.complete === true || state.stopped) void this.#refreshLine();
    if (table !== null) this.#findLost(table);
  }

  /** Selects a line and brings it into sight, whatever the filter. */
  async go(line: number): Promise<void> {
    this.#lost = null;
    this.#lostId = null;
    this.#lostTop = 0;
    const round = ++this.#round;
    const place = await this.#attempt(this.#requests.send("find", { by: "line", line }, filters[this.#filter]));
    if (place === null || round !== this.#round) return;
    if (place.index === null) this.#useFilter("all");
    this.#grid.select(place.index ?? line - 1, true);
    this.#grid.element.focus({ preventScroll: true });
    await this.#showLine(line, this.#revealed && this.#shown?.row.line === line);
  }

  /** The file is another: numbers and offsets mean other lines now. */
  #replaced(before: RawTable, after: RawTable): void {
    this.#lostId = this.#shown?.id ?? this.#lostId;
    this.#lost = null;
    this.#round += 1;
    this.#grid.clear();
    this.#shown = null;
    this.#drawLine();
    if (!after.exists) this.#notice = "The file is not there any more.";
    else if (before.exists) this.#notice = "The file was compacted; lines moved.";
    else this.#notice = null;
    if (this.#notice !== null) this.#announce(this.#notice);
  }

  /** Goes back to what was selected and in sight, as soon as the file has been read so far. */
  #findLost(table: RawTable): void {
    const total = this.#grid.total;
    if (this.#lostTop > 0 && (table.complete || total > this.#lostTop + 200)) {
      this.#grid.scrollTo(this.#lostTop);
      this.#lostTop = 0;
    }
    const lost = this.#lost;
    if (lost !== null && (table.complete || lost.offset < table.bytesRead)) {
      this.#lost = null;
      void this.#selectAgain(lost);
    }
    if (this.#lostId !== null && table.complete) {
      const id = this.#lostId;
      this.#lostId = null;
      void this.#goToId(id);
    }
  }

  async #selectAgain({ line, offset }: NonNullable<Memory["selected"]>): Promise<void> {
    const place = await this.#attempt(this.#requests.send("find", { by: "line", line }, filters[this.#filter]));
    const found = place === null ? null : await this.#attempt(this.#requests.send("line", line, false));
    if (found?.row.offset !== offset || this.#shown !== null) return;
    this.#grid.select(place?.index ?? null, false);
    this.#shown = found;
    this.#drawLine();
  }

  async #goToId(id: string): Promise<void> {
    const round = ++this.#round;
    const place = await this.#attempt(this.#requests.send("find", { by: "id", id }, filters[this.#filter]));
    if (place === null || round !== this.#round) return;
    this.#grid.select(place.index, true);
    await this.#showLine(place.line, false);
  }

  readonly #setFilter = (filter: Filter): void => {
    this.#useFilter(filter);
    const line = this.#shown?.row.line;
    if (line !== undefined) void this.#placeIn(filter, line);
    this.#announce(counted(this.#grid.total, "line"));
  };

  #useFilter(filter: Filter): void {
    this.#filter = filter;
    this.#grid.clear();
    this.#grid.update(countOf(this.#state.table, filter));
    this.#grid.scrollTo(0);
    this.#drawHeader();
    this.#keep();
  }

  async #placeIn(filter: Filter, line: number): Promise<void> {
    const round = this.#round;
    const place = await this.#attempt(this.#requests.send("find", { by: "line", line }, filters[filter]));
    // Whoever has selected another line meanwhile keeps that.
    if (this.#filter === filter && round === this.#round) this.#grid.select(place?.index ?? null, true);
  }

  readonly #stepDamage = async (direction: "next" | "previous"): Promise<void> => {
    const start = direction === "next" ? 0 : lastLine;
    const from = this.#shown?.row.line ?? start;
    const find = (line: number) =>
      this.#attempt(this.#requests.send("find", { by: "damage", from: line, direction }, filters.all));
    // Past the last one it begins again with the first.
    const place = (await find(from)) ?? (await find(start));
    if (place !== null) await this.go(place.line);
  };

  #selectSoon(index: number): void {
    if (this.#selecting !== null) clearTimeout(this.#selecting);
    this.#lost = null;
    this.#lostId = null;
    const round = ++this.#round;
    this.#selecting = setTimeout(() => {
      this.#selecting = null;
      void this.#showIndex(index, round);
    }, selectionSettles);
  }

  async #showIndex(index: number, round: number): Promise<void> {
    const known = this.#grid.row(index);
    const rows =
      known === undefined ? await this.#attempt(this.#requests.send("rows", filters[this.#filter], index, 1)) : [known];
    const line = rows?.[0]?.line;
    if (line !== undefined && round === this.#round) await this.#showLine(line, false);
  }

  async #showLine(line: number, revealed: boolean): Promise<void> {
    const round = this.#round;
    const found = await this.#attempt(this.#requests.send("line", line, revealed));
    if (found === null || round !== this.#round) return;
    const isOther = this.#shown?.row.line !== line;
    this.#shown = found;
    this.#revealed = revealed;
    this.#drawLine();
    if (isOther) this.#announce(`Line ${formatCount(line)}, ${stateText(found.row)}`);
    this.#keep();
  }

  /** The selected line may have become another's: a task that died again is superseded. */
  async #refreshLine(): Promise<void> {
    const shown = this.#shown;
    if (shown === null) return;
    const revealed = this.#revealed;
    const found = await this.#attempt(this.#requests.send("line", shown.row.line, revealed));
    if (found === null || this.#shown !== shown || this.#revealed !== revealed) return;
    if (JSON.stringify(found) === JSON.stringify(shown)) return;
    this.#shown = found;
    this.#drawLine();
  }

  readonly #headerControls: HeaderControls = {
    setFilter: this.#setFilter,
    stepDamage: (direction) => void this.#stepDamage(direction),
    openText: () => void this.#attempt(this.#requests.send("openText", this.#shown?.row.line ?? null)),
    openHex: () => void this.#attempt(this.#requests.send("openHex")),
    setStopped: (stopped) => void this.#attempt(this.#requests.send("setStopped", stopped)),
    dismissNotice: () => {
      this.#notice = null;
      this.#drawHeader();
      this.#grid.element.focus();
    },
  };

  readonly #lineControls: LineControls = {
    read: (start, count) => this.#requests.send("bytes", this.#shown?.row.line ?? 0, start, count),
    copy: (what, pressed) => void this.#copy(what, pressed),
    showTask: () => void this.#showTask(),
    go: (line) => void this.go(line),
    setRevealed: (revealed) => {
      if (this.#shown !== null) void this.#showLine(this.#shown.row.line, revealed);
    },
    close: () => {
      this.#round += 1;
      this.#shown = null;
      this.#revealed = false;
      this.#grid.select(null, false);
      this.#drawLine();
      this.#grid.element.focus();
      this.#keep();
    },
  };

  /** Of a line that another stands for, that one is shown here, as the task is in its pane. */
  async #showTask(): Promise<void> {
    const row = this.#shown?.row;
    if (row === undefined) return;
    if (row.standing !== null) await this.go(row.standing);
    await this.#attempt(this.#requests.send("showTask", row.standing ?? row.line));
  }

  async #copy(what: "offset" | "id" | "line", pressed: HTMLButtonElement): Promise<void> {
    if (this.#shown === null) return;
    try {
      await this.#requests.send("copy", what, this.#shown.row.line);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#announce("Copied");
    const symbol = pressed.querySelector(".codicon-copy");
    symbol?.classList.replace("codicon-copy", "codicon-check");
    setTimeout(() => symbol?.classList.replace("codicon-check", "codicon-copy"), doneTime);
  }

  /** Null, and the error shown, where it fails. */
  async #attempt<Value>(asked: Promise<Value>): Promise<Value | null> {
    try {
      return await asked;
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  #fail(error: unknown): void {
    this.#notice = error instanceof Error ? error.message : String(error);
    this.#announce(this.#notice);
    this.#drawHeader();
  }

  #drawHeader(): void {
    const { table } = this.#state;
    keepingFocus(() => {
      const input = { state: this.#state, filter: this.#filter, notice: this.#notice };
      this.#header.replaceChildren(...header(input, this.#headerControls));
    });
    this.#empty.textContent = emptyText(this.#state, this.#filter);
    this.#empty.hidden = this.#empty.textContent === "";
    this.#grid.element.hidden = this.#grid.total === 0;
    if (table !== null) this.#header.dataset["damage"] = damageText(table) ?? "";
  }

  #drawLine(): void {
    const shown = this.#shown;
    const wasHidden = this.#lower.hidden;
    this.#lower.hidden = this.#splitter.element.hidden = shown === null;
    // It takes its room from the list, which must not lose the row out of sight over it.
    if (wasHidden) this.#grid.revealSelected();
    if (shown === null) {
      this.#lower.replaceChildren();
      return;
    }
    const isSame = this.#lower.dataset["line"] === String(shown.row.line);
    const open = isSame ? [...this.#lower.querySelectorAll("details[open]")].map(({ id }) => id) : [];
    const { scrollTop } = this.#lower;
    keepingFocus(() => {
      this.#lower.replaceChildren(...lineView(shown, this.#revealed, this.#lineControls));
    });
    this.#lower.dataset["line"] = String(shown.row.line);
    for (const details of this.#lower.querySelectorAll("details")) details.open = open.includes(details.id);
    this.#lower.scrollTop = isSame ? scrollTop : 0;
  }

  #announce(text: string): void {
    this.#announcements.textContent = text;
  }

  #keep(): void {
    const row = this.#shown?.row;
    const selected = row === undefined ? this.#lost : { line: row.line, offset: row.offset };
    const top = this.#lostTop > 0 ? this.#lostTop : this.#grid.top;
    this.#remember({ filter: this.#filter, top, selected, share: this.#splitter.share });
  }
}

function emptyText({ table, problem }: RawState, filter: Filter): string {
  if (table === null) return problem === null ? "Reading the file…" : "";
  if (countOf(table, filter) > 0) return "";
  if (!table.exists) return "There is no such file. It is made when the first task dies.";
  if (!table.complete) return "Reading the file…";
  return table.bytesTotal === 0 ? "The file is empty: there are no dead tasks." : "The file has no such lines.";
}

/** Focus stays on the element that has the same id afterwards. */
function keepingFocus(draw: () => void): void {
  const focused = document.activeElement?.id ?? "";
  draw();
  if (focused !== "" && document.activeElement?.id !== focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
}
