import { button, element } from "../../detail/webview/dom";
import type { RawRow } from "../../service/rawProtocol";
import { formatCount } from "../../text/labels";

/** Bytes that are shown at once. */
export const bytesAtOnce = 2048;
const bytesInRow = 16;

/** Reads bytes of the line, as Latin-1 text; null where the file has changed. */
export type ReadBytes = (start: number, count: number) => Promise<string | null>;

/** The line's bytes in two forms, each read when it is opened and a page at a time. */
export function bytesView(row: RawRow, read: ReadBytes): HTMLElement[] {
  return [
    paged("text", "Text in the File", row, read, (bytes) => bytes.replace(/\n$/, "")),
    paged("hex", "Bytes", row, read, (bytes, start) => hexDump(bytes, row.offset + start)),
  ];
}

/** `offset  16 bytes in hex  |as text|`, a line for each 16 bytes; what is no printable ASCII is a dot. */
export function hexDump(bytes: string, offset: number): string {
  const lines: string[] = [];
  const digits = Math.max(8, (offset + bytes.length).toString(16).length);
  for (let at = 0; at < bytes.length; at += bytesInRow) {
    const part = bytes.slice(at, at + bytesInRow);
    const hex = Array.from(part, (one) => one.charCodeAt(0).toString(16).padStart(2, "0"));
    const left = hex.slice(0, 8).join(" ").padEnd(23);
    const right = hex.slice(8).join(" ").padEnd(23);
    const text = part.replace(/[^\x20-\x7e]/g, ".");
    lines.push(`${(offset + at).toString(16).padStart(digits, "0")}  ${left}  ${right}  ${text}`);
  }
  return lines.join("\n");
}

function paged(
  id: string,
  title: string,
  row: RawRow,
  read: ReadBytes,
  format: (bytes: string, start: number) => string,
): HTMLElement {
  let start = 0;
  const content = element("pre", { id: `${id}-content`, class: `bytes ${id}`, tabindex: "0", "aria-label": title });
  const range = element("span", { class: "quiet", role: "status" });
  const show = async (): Promise<void> => {
    const end = Math.min(start + bytesAtOnce, row.length);
    previous.disabled = start === 0;
    next.disabled = end === row.length;
    const whole = start === 0 && end === row.length;
    range.textContent = whole ? "" : `Bytes ${formatCount(start)}–${formatCount(end)} of ${formatCount(row.length)}`;
    try {
      const bytes = await read(start, bytesAtOnce);
      content.textContent = bytes === null ? "The file has changed." : format(bytes, start);
    } catch (error) {
      content.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const step = (by: number) => (): void => {
    start = Math.min(Math.max(0, start + by), Math.floor((row.length - 1) / bytesAtOnce) * bytesAtOnce);
    void show();
  };
  const stepButton = (name: string, label: string, iconName: string, by: number): HTMLButtonElement =>
    button({
      id: `${id}-${name}`,
      label: `${label} ${formatCount(bytesAtOnce)} Bytes`,
      iconName,
      iconOnly: true,
      className: "icon-button",
      onClick: step(by),
    });
  const previous = stepButton("previous", "Previous", "arrow-left", -bytesAtOnce);
  const next = stepButton("next", "Next", "arrow-right", bytesAtOnce);
  const tools = element("div", { class: "bytes-tools" }, previous, next, range);
  tools.hidden = row.length <= bytesAtOnce;
  const details = element("details", { id }, element("summary", {}, title), tools, content);
  details.addEventListener("toggle", () => {
    if (details.open && content.textContent === "") void show();
  });
  return details;
}
