import { commands, EventEmitter, workspace, type TextDocumentContentProvider, type Uri } from "vscode";
import type { EditTexts } from "../edit/protocol";
import { editDiffScheme } from "../ids";
import { userMessage } from "../reporter";
import type { Disposable } from "../stores/emitter";
import { oneLine } from "../text/labels";
import type { EditReader } from "./editReader";
import { editedUri, sideUri } from "./editUris";

/** A task as it is and as it is to be, in the editor's own diff: two read-only documents, secrets masked. */
export class EditDiff implements TextDocumentContentProvider, Disposable {
  readonly #reader: EditReader;
  /** What was shown last, by the address of the edited document. */
  readonly #texts = new Map<string, EditTexts>();
  readonly #changed = new EventEmitter<Uri>();
  readonly #disposables: { dispose(): unknown }[];

  readonly onDidChange = this.#changed.event;

  constructor(reader: EditReader) {
    this.#reader = reader;
    this.#disposables = [
      this.#changed,
      workspace.registerTextDocumentContentProvider(editDiffScheme, this),
      workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === editDiffScheme) this.#texts.delete(editedUri(uri).toString());
      }),
    ];
  }

  async show(edited: Uri, taskClass: string, texts: EditTexts): Promise<void> {
    this.#texts.set(edited.toString(), texts);
    const [before, after] = [sideUri(edited, "before"), sideUri(edited, "after")];
    this.#changed.fire(before);
    this.#changed.fire(after);
    const title = `${oneLine(taskClass, 60)}: as It Died ↔ Edited`;
    await commands.executeCommand("vscode.diff", before, after, title, { preview: true });
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const edited = editedUri(uri);
    const texts = this.#texts.get(edited.toString()) ?? (await this.#readAnew(edited));
    if (typeof texts === "string") return `${texts}\n`;
    return uri.fragment === "before" ? texts.before : texts.after;
  }

  /** After a reload of the window. A string says why there is nothing to compare. */
  async #readAnew(edited: Uri): Promise<EditTexts | string> {
    try {
      const reading = await this.#reader.read(await workspace.openTextDocument(edited));
      const { edit, read } = reading ?? {};
      const check = edit === undefined || !read?.call ? null : await this.#reader.check(edit, read.call);
      return check?.kind === "changed" ? check : "There is nothing to compare.";
    } catch (error) {
      return userMessage(error);
    }
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
