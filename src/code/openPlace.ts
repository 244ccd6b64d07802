import { Range, Uri, ViewColumn, window, workspace } from "vscode";

/** A line of a file; `line` is 1-based. */
export interface CodePlace {
  readonly file: string;
  readonly line: number;
}

/** Shows the line, beside the editor in `column` where there is room already, so that error and code are seen together. */
export async function openPlace(place: CodePlace, column: ViewColumn | undefined): Promise<void> {
  const document = await workspace.openTextDocument(Uri.file(place.file));
  // The file may have become shorter since.
  const line = Math.min(place.line, document.lineCount) - 1;
  await window.showTextDocument(document, {
    viewColumn: columnBeside(column),
    selection: new Range(line, 0, line, 0),
  });
}

/** Beside the editor in `column` where there is room already; else that column, or the active one. */
export function columnBeside(column: ViewColumn | undefined): ViewColumn {
  const groups = column === undefined ? [] : window.tabGroups.all;
  const other = groups.find((group) => group.viewColumn !== column)?.viewColumn;
  return other ?? column ?? ViewColumn.Active;
}
