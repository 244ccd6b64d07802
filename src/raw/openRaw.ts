import {
  commands,
  Uri,
  window,
  workspace,
  type CustomReadonlyEditorProvider,
  type Disposable,
  type WebviewPanel,
} from "vscode";
import { rawViewType } from "../ids";
import type { StoreModel } from "../stores/storeModel";
import { storeNames } from "../storage/naming";
import type { PageTarget } from "./protocol";
import { RawDocument } from "./rawDocument";
import { RawEditor, type RawEditorServices } from "./rawEditor";

/**
 * The raw view of data files: a custom editor, so that the text editor and others stay a command away, tabs come back after a
 * reload, and whoever likes it can make it the default for the files that it is for.
 */
export class RawFiles implements CustomReadonlyEditorProvider<RawDocument>, Disposable {
  readonly #services: RawEditorServices;
  readonly #registration: Disposable;
  readonly #open = new Set<RawEditor>();
  /** By the file's address: what the editor that is about to open for it is to show. */
  readonly #wanted = new Map<string, PageTarget>();

  constructor(services: RawEditorServices) {
    this.#services = services;
    this.#registration = window.registerCustomEditorProvider(rawViewType, this, {
      supportsMultipleEditorsPerDocument: true,
    });
  }

  /** The raw view in front; undefined where there is none. */
  get active(): RawEditor | undefined {
    return this.#editorOf(undefined);
  }

  /** The data file at the line that stands for a record. Reported, never thrown. */
  async openRecord(store: StoreModel, id: string): Promise<void> {
    await this.#show(store, { by: "id", id });
  }

  /** The data file at its first damage. Reported, never thrown. */
  async openDamage(store: StoreModel): Promise<void> {
    await this.#show(store, { by: "damage", from: 0, direction: "next" });
  }

  /** A file of the store: `name` for one of another storage version, null for the data file. Reported, never thrown. */
  async openStoreFile(store: StoreModel, name: string | null): Promise<void> {
    const { path } = store.description.target;
    if (name === null) await this.#show(store, null);
    else await this.#services.plainFiles.openText(Uri.joinPath(Uri.file(path), name), null, null);
  }

  async #show(store: StoreModel, target: PageTarget | null): Promise<void> {
    const { path, prefix } = store.description.target;
    const uri = Uri.file(storeNames(path, prefix).dataFile);
    try {
      // An editor for a file that is not there would open all the same, and show nothing.
      await workspace.fs.stat(uri);
      if (target !== null) this.#wanted.set(uri.toString(), target);
      // In the column where it is open already, if it is.
      await commands.executeCommand("vscode.openWith", uri, rawViewType, this.#editorOf(uri)?.panel.viewColumn);
      // One that was open already is only brought to the front.
      this.#editorOf(uri)?.take(this.#takeWanted(uri));
    } catch (error) {
      this.#wanted.delete(uri.toString());
      this.#services.reporter.failure(`open ${uri.fsPath}`, error);
    }
  }

  /** The plain text of the file that the command was called for, or that is in front. */
  async openText(uri: unknown): Promise<void> {
    await this.#editorOf(uri)?.openText();
  }

  /** The same in the hex editor. */
  async openHex(uri: unknown): Promise<void> {
    const editor = this.#editorOf(uri);
    if (editor !== undefined) await this.#services.plainFiles.openHex(editor.document.uri);
  }

  openCustomDocument(uri: Uri): RawDocument {
    return new RawDocument(uri, this.#services);
  }

  resolveCustomEditor(document: RawDocument, panel: WebviewPanel): void {
    const editor = new RawEditor(document, panel, this.#services);
    this.#open.add(editor);
    editor.take(this.#takeWanted(document.uri));
    panel.onDidDispose(() => {
      this.#open.delete(editor);
      editor.dispose();
    });
  }

  #takeWanted(uri: Uri): PageTarget | null {
    const wanted = this.#wanted.get(uri.toString()) ?? null;
    this.#wanted.delete(uri.toString());
    return wanted;
  }

  /** The editor in front among those of this file, or of any where the command came without one. */
  #editorOf(uri: unknown): RawEditor | undefined {
    const editors = [...this.#open].filter(
      ({ document }) => !(uri instanceof Uri) || document.uri.toString() === uri.toString(),
    );
    return editors.find(({ panel }) => panel.active) ?? editors.find(({ panel }) => panel.visible) ?? editors[0];
  }

  dispose(): void {
    this.#registration.dispose();
  }
}
