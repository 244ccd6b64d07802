import {
  commands,
  extensions,
  languages,
  Range,
  TabInputCustom,
  window,
  workspace,
  type TextDocument,
  type Uri,
} from "vscode";
import { hexEditorExtension, hexEditorViewType, rawLanguage } from "../ids";
import type { Reporter } from "../reporter";
import { formatBytes, withoutLinks } from "../text/labels";
import { rawUri } from "./rawRecords";

/** Above this many bytes a file does not open as a document: the editor would copy all of it to every extension host. */
export const largestDocument = 20_000_000;

/** A record of an open store. */
export interface RecordPlace {
  readonly storeKey: string;
  readonly id: string;
}

/** Opens storage files in the editor's own text editor and in the hex editor, guarded against being saved. Reported, never thrown. */
export class PlainFiles {
  readonly #reporter: Reporter;

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  /** The file as text at a line, 1-based; of a file that is too big for that, `record` alone, where there is one. */
  async openText(uri: Uri, line: number | null, record: RecordPlace | null): Promise<void> {
    try {
      const { size } = await workspace.fs.stat(uri);
      if (size <= largestDocument) {
        const document = await workspace.openTextDocument(uri);
        // The guard is the file's, whichever editor it is set from: from the raw view it is set before anybody can type.
        if (isInFront(uri)) await this.#protect();
        await show(document, line ?? 1);
        await this.#protect();
      } else if (record !== null) {
        await show(await workspace.openTextDocument(rawUri(record.storeKey, record.id)), 1);
      } else {
        const text = `${uri.fsPath} has ${formatBytes(size)}, too much for a text editor. Select the line of a task to open that alone.`;
        void window.showWarningMessage(withoutLinks(text));
      }
    } catch (error) {
      this.#reporter.failure(`open ${uri.fsPath}`, error);
    }
  }

  /** In the hex editor, where it is installed; else offers to look for it. */
  async openHex(uri: Uri): Promise<void> {
    try {
      if (extensions.getExtension(hexEditorExtension) === undefined) {
        offerHexEditor();
      } else {
        await commands.executeCommand("vscode.openWith", uri, hexEditorViewType);
        await this.#protect();
      }
    } catch (error) {
      this.#reporter.failure(`open ${uri.fsPath}`, error);
    }
  }

  async #protect(): Promise<void> {
    try {
      // Saving it would rewrite in place a file that workers are appending to, and lose what they added.
      await commands.executeCommand("workbench.action.files.setActiveEditorReadonlyInSession");
    } catch (error) {
      this.#reporter.log("warn", `The raw file could not be made read-only in the editor: ${String(error)}`);
    }
  }
}

function isInFront(uri: Uri): boolean {
  const input = window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof TabInputCustom && input.uri.toString() === uri.toString();
}

function offerHexEditor(): void {
  const search = "Search the Extensions";
  const text = "The extension Hex Editor is not installed. The bytes of a line can be seen here, below its fields.";
  // Not waited for: the notification may stay for hours.
  void window.showInformationMessage(text, search).then((choice) => {
    if (choice === search) void commands.executeCommand("workbench.extensions.search", hexEditorExtension);
  });
}

async function show(document: TextDocument, line: number): Promise<void> {
  // Whatever the file is called, and whatever the editor would guess of its text.
  const plain = await languages.setTextDocumentLanguage(document, rawLanguage);
  const range = new Range(line - 1, 0, line - 1, 0);
  const editor = await window.showTextDocument(plain, { selection: range, preview: true });
  editor.revealRange(range);
}
