import { button, element, icon } from "../../detail/webview/dom";
import { lineStates, type LineState, type RawTable } from "../../service/rawProtocol";
import { counted, formatBytes, formatCount } from "../../text/labels";
import type { RawState } from "../protocol";
import { byteRange } from "./rows";

export const filters = {
  all: lineStates,
  current: ["current"],
  superseded: ["superseded"],
  unreadable: ["unreadable"],
  damage: ["corrupt", "torn"],
} as const satisfies Readonly<Record<string, readonly LineState[]>>;
export type Filter = keyof typeof filters;

const labels: Readonly<Record<Filter, string>> = {
  all: "All",
  current: "Current",
  superseded: "Superseded",
  unreadable: "Unreadable",
  damage: "Damage",
};

export function isFilter(value: unknown): value is Filter {
  return typeof value === "string" && value in filters;
}

/** How many lines a filter lets through. */
export function countOf(table: RawTable | null, filter: Filter): number {
  if (table === null) return 0;
  return filters[filter].reduce((sum, state) => sum + table.counts[state], 0);
}

export interface HeaderControls {
  readonly setFilter: (filter: Filter) => void;
  readonly stepDamage: (direction: "next" | "previous") => void;
  readonly openText: () => void;
  readonly openHex: () => void;
  readonly setStopped: (stopped: boolean) => void;
  readonly dismissNotice: () => void;
}

export interface HeaderInput {
  readonly state: RawState;
  readonly filter: Filter;
  /** What has happened to the file; null for nothing. */
  readonly notice: string | null;
}

/** The top of the page, drawn anew with each state: the filters with their counts, the damage, how far the reading is. */
export function header({ state, filter, notice }: HeaderInput, controls: HeaderControls): HTMLElement[] {
  const { table, problem } = state;
  const made = [tools(table, filter, controls)];
  if (table !== null) made.push(...damage(table, controls), ...reading(table, state.stopped, controls));
  if (notice !== null) {
    const line = noticeLine("info", notice);
    line.append(
      button({
        id: "dismiss-notice",
        label: "Dismiss",
        iconName: "close",
        iconOnly: true,
        className: "icon-button close",
        onClick: controls.dismissNotice,
      }),
    );
    made.push(line);
  }
  if (problem !== null) made.push(noticeLine("warning", problem));
  return made;
}

function tools(table: RawTable | null, filter: Filter, controls: HeaderControls): HTMLElement {
  const group = element("div", { class: "filters", role: "group", "aria-label": "Lines to show" });
  for (const name of Object.keys(filters).filter(isFilter)) {
    const made = button({
      id: `filter-${name}`,
      label: `${labels[name]} ${formatCount(countOf(table, name))}`,
      className: "filter",
      onClick: () => {
        controls.setFilter(name);
      },
    });
    made.setAttribute("aria-pressed", String(name === filter));
    group.append(made);
  }
  const action = (id: string, label: string, iconName: string, onClick: () => void): HTMLElement =>
    button({ id, label, iconName, className: "action", onClick });
  const open = element(
    "div",
    { class: "open", role: "group", "aria-label": "Open otherwise" },
    action("open-text", "Open as Text", "file-code", controls.openText),
    action("open-hex", "Open in Hex Editor", "file-binary", controls.openHex),
  );
  return element("div", { class: "tools" }, group, open);
}

/** `2 corrupt lines, 812 bytes; a torn tail of 17 bytes at 1,234–1,251`; null where nothing is damaged. */
export function damageText({ counts, corruptBytes, tornTail }: RawTable): string | null {
  const parts: string[] = [];
  if (counts.corrupt > 0) parts.push(`${counted(counts.corrupt, "corrupt line")}, ${counted(corruptBytes, "byte")}`);
  if (tornTail !== null) parts.push(`a torn tail of ${counted(tornTail.length, "byte")} at ${byteRange(tornTail)}`);
  return parts.length === 0 ? null : parts.join("; ");
}

function damage(table: RawTable, controls: HeaderControls): HTMLElement[] {
  const text = damageText(table);
  if (text === null) return [];
  const step = (direction: "next" | "previous", label: string, iconName: string): HTMLElement =>
    button({
      id: `damage-${direction}`,
      label,
      iconName,
      iconOnly: true,
      className: "icon-button",
      onClick: () => {
        controls.stepDamage(direction);
      },
    });
  const line = noticeLine("warning", text);
  line.classList.add("damage");
  line.append(step("previous", "Previous Damage", "arrow-up"), step("next", "Next Damage", "arrow-down"));
  return [line];
}

function reading(table: RawTable, stopped: boolean, controls: HeaderControls): HTMLElement[] {
  if (table.complete) return [];
  const far = `${formatBytes(table.bytesRead)} of ${formatBytes(table.bytesTotal)}`;
  const text = stopped ? `Reading stopped at ${far}` : `Reading the file: ${far}`;
  const bar = element("progress", {
    max: String(table.bytesTotal),
    value: String(table.bytesRead),
    "aria-label": text,
  });
  const toggle = button({
    id: "toggle-reading",
    label: stopped ? "Read On" : "Stop",
    className: "link",
    onClick: () => {
      controls.setStopped(!stopped);
    },
  });
  return [element("p", { class: "reading" }, bar, element("span", {}, text), toggle)];
}

function noticeLine(iconName: "info" | "warning", text: string): HTMLElement {
  return element("p", { class: `notice ${iconName}` }, icon(iconName), element("span", {}, text));
}
