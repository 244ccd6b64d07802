import { formatCount } from "../text/labels";
import type { ExcerptView } from "./protocol";

/** How many lines are shown before and after the failing one. */
const linesAround = 3;
// UTF-16 units. A longer line is cut: it is generated or data, and what failed in it is not found by looking.
const longestLine = 300;

/** The lines around `line` (1-based) of a file's text, without the indentation that all of them have. */
export function excerptOf(text: string, line: number): Pick<ExcerptView, "lines" | "notice"> {
  const all = text.split(/\r\n|\r|\n/);
  if (all.at(-1) === "") all.pop();
  if (line > all.length) {
    const now = all.length === 0 ? "is empty" : `has ${formatCount(all.length)} ${all.length === 1 ? "line" : "lines"}`;
    return { lines: [], notice: `Line ${formatCount(line)} is not there: the file ${now} now.` };
  }
  const first = Math.max(1, line - linesAround);
  const shown = all.slice(first - 1, line + linesAround);
  const indentation = commonIndentation(shown);
  const lines = shown.map((one, index) => ({ number: first + index, text: cut(one.slice(indentation)) }));
  return { lines, notice: null };
}

/** Characters of white space that all lines start with, blank ones apart. */
function commonIndentation(lines: readonly string[]): number {
  const [first = "", ...others] = lines.filter((line) => line.trim() !== "");
  let common = /^[ \t]*/.exec(first)?.[0] ?? "";
  for (const line of others) while (!line.startsWith(common)) common = common.slice(0, -1);
  return common.length;
}

function cut(line: string): string {
  return line.length <= longestLine ? line : `${line.slice(0, longestLine).replace(/[\ud800-\udbff]$/, "")}…`;
}
