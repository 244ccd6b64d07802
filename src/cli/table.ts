import { cut, type Output } from "./output";

// Columns are as wide as the widest of the first rows; a wider one further down shifts only its own line.
const measuredRows = 200;
const gap = "  ";

/**
 * Prints rows in aligned columns as they come, holding back only the first few hundred. In a terminal, a heading stands above
 * them and lines end at its edge; elsewhere every line is a row. Cells must be safe text of one line.
 */
export async function printTable(
  headings: readonly string[],
  rows: AsyncIterable<readonly string[]>,
  output: Output,
): Promise<void> {
  const columns = output.columns;
  const waiting: (readonly string[])[] = [];
  let widths: number[] | null = null;

  const print = async (row: readonly string[], to: readonly number[]): Promise<void> => {
    const cells = row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(to[index] ?? 0)));
    const line = cells.join(gap);
    await output.writeLine(columns === null ? line : cut(line, columns));
  };
  const printWaiting = async (): Promise<number[]> => {
    const shown = columns === null || waiting.length === 0 ? waiting : [headings, ...waiting];
    const measured = headings.map((_, index) => Math.max(0, ...shown.map((row) => row[index]?.length ?? 0)));
    for (const row of shown) await print(row, measured);
    return measured;
  };

  for await (const row of rows) {
    if (output.isClosed) return;
    if (widths !== null) await print(row, widths);
    else if (waiting.push(row) === measuredRows) widths = await printWaiting();
  }
  if (widths === null) await printWaiting();
}
