import { commands, languages, Range, Uri, window, workspace, type TextDocument } from "vscode";
import { rawLanguage } from "../ids";
import type { Reporter } from "../reporter";
import type { StoreService } from "../service/storeService";
import type { StoreModel } from "../stores/storeModel";
import { storeNames } from "../storage/naming";
import { formatBytes, withoutLinks } from "../text/labels";
import { rawUri } from "./rawRecords";

/** Above this many bytes a file does not open as a document: the editor would copy all of it to every extension host. */
export const largestDocument = 20_000_000;

/** Opens raw storage files and records. Reported, never thrown. */
export class RawFiles {
  readonly #service: StoreService;
  readonly #reporter: Reporter;

  constructor(service: StoreService, reporter: Reporter) {
    this.#service = service;
    this.#reporter = reporter;
  }

  /** The data file at the record's line; of a big file only the record, read-only. */
  async openRecord(store: StoreModel, id: string): Promise<void> {
    try {
      const location = await this.#service.rawLocation(store.key, id);
      if (location === null) {
        void window.showInformationMessage("This record is no longer in the store.");
      } else if (location.fileBytes > largestDocument) {
        await show(await workspace.openTextDocument(rawUri(store.key, id)), 1);
      } else {
        await this.#openFile(Uri.file(location.file), location.lineNumber);
      }
    } catch (error) {
      this.#reporter.failure("open the raw storage file", error);
    }
  }

  /** A file of the store: `name` for one of another storage version, null for the data file. */
  async openStoreFile(store: StoreModel, name: string | null): Promise<void> {
    const { path, prefix } = store.description.target;
    const uri = name === null ? Uri.file(storeNames(path, prefix).dataFile) : Uri.joinPath(Uri.file(path), name);
    try {
      const { size } = await workspace.fs.stat(uri);
      if (size > largestDocument) {
        const text = `${uri.fsPath} has ${formatBytes(size)}, too much for an editor. Look at it in a terminal.`;
        void window.showWarningMessage(withoutLinks(text));
      } else {
        await this.#openFile(uri, 1);
      }
    } catch (error) {
      this.#reporter.failure(`open ${uri.fsPath}`, error);
    }
  }

  async #openFile(uri: Uri, line: number): Promise<void> {
    const document = await workspace.openTextDocument(uri);
    await show(document, line);
    try {
      // Saving it would rewrite in place a file that workers are appending to, and lose what they added.
      await commands.executeCommand("workbench.action.files.setActiveEditorReadonlyInSession");
    } catch (error) {
      this.#reporter.log("warn", `The raw file could not be made read-only in the editor: ${String(error)}`);
    }
  }
}

async function show(document: TextDocument, line: number): Promise<void> {
  // Whatever the file is called, and whatever the editor would guess of its text.
  const plain = await languages.setTextDocumentLanguage(document, rawLanguage);
  const range = new Range(line - 1, 0, line - 1, 0);
  const editor = await window.showTextDocument(plain, { selection: range, preview: true });
  editor.revealRange(range);
}
