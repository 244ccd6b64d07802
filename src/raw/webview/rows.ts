import { element, icon } from "../../detail/webview/dom";
import type { LineState, RawRow } from "../../service/rawProtocol";
import { exceptionName, formatCount, oneLine, shownId } from "../../text/labels";
import { absoluteTime } from "../../text/times";

export interface Column {
  /** Class of its cells. */
  readonly name: string;
  readonly label: string;
}

export const columns: readonly Column[] = [
  { name: "line", label: "Line" },
  { name: "offset", label: "Offset" },
  { name: "length", label: "Length" },
  { name: "state", label: "State" },
  { name: "id", label: "Id" },
  { name: "class", label: "Task Class" },
  { name: "failed", label: "Failed" },
  { name: "error", label: "Error" },
];

export const stateIcons: Readonly<Record<LineState, string>> = {
  current: "circle-filled",
  superseded: "history",
  unreadable: "question",
  corrupt: "warning",
  torn: "warning",
};

/** `1,234–1,251`: from the first byte to before the last. */
export function byteRange({ offset, length }: Pick<RawRow, "offset" | "length">): string {
  return `${formatCount(offset)}–${formatCount(offset + length)}`;
}

export function stateText({ state, standing }: Pick<RawRow, "state" | "standing">): string {
  if (standing === null) return state;
  const line = formatCount(standing);
  return state === "superseded" ? `superseded by ${line}` : `${state}; see ${line}`;
}

export function rowCells(row: RawRow): HTMLElement[] {
  const cell = (index: number, ...content: readonly (Node | string)[]): HTMLElement => {
    const name = columns[index]?.name ?? "";
    const made = element("span", { class: `cell ${name}`, role: "gridcell", "aria-colindex": String(index + 1) });
    made.append(...content);
    return made;
  };
  const front = [
    cell(0, formatCount(row.line)),
    cell(1, formatCount(row.offset)),
    cell(2, formatCount(row.length)),
    cell(3, icon(stateIcons[row.state]), stateText(row)),
    cell(4, oneLine(shownId(row.id ?? ""))),
  ];
  const { record, reason } = row;
  if (record === null) {
    const isDamage = row.state === "corrupt" || row.state === "torn";
    const text = oneLine(isDamage ? `bytes ${byteRange(row)}: ${reason ?? ""}` : (reason ?? ""));
    const made = cell(5, text);
    made.classList.add("reason");
    made.setAttribute("aria-colspan", "3");
    return [...front, made];
  }
  const { taskClass, failedAt, exceptionClass, exceptionMessage } = record;
  const name = exceptionName(exceptionClass);
  const error = exceptionMessage === "" ? name : `${name}: ${exceptionMessage}`;
  return [...front, cell(5, oneLine(taskClass)), cell(6, absoluteTime(failedAt)), cell(7, oneLine(error))];
}

/** For a row that has not come yet. */
export function placeholder(): HTMLElement[] {
  return [element("span", { class: "cell line", role: "gridcell", "aria-colindex": "1" }, "…")];
}
