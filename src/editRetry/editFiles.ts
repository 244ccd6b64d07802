import {
  Disposable,
  EventEmitter,
  FileChangeType,
  FileSystemError,
  FileType,
  workspace,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
  type Uri,
} from "vscode";
import { editScheme } from "../ids";
import { userMessage } from "../reporter";
import type { Edit, Edits } from "./edits";
import { taskOfUri } from "./editUris";

/**
 * The documents in which tasks are edited, as files that are nowhere on the disk: reading one gives what was saved last, at first the
 * task's call; saving it, by hand or by itself, keeps the text and does nothing else.
 */
export class EditFiles implements FileSystemProvider {
  readonly #edits: Edits;
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly #disposables: { dispose(): unknown }[];

  readonly onDidChangeFile = this.#changed.event;

  constructor(edits: Edits) {
    this.#edits = edits;
    this.#disposables = [
      this.#changed,
      workspace.registerFileSystemProvider(editScheme, this, { isCaseSensitive: true }),
    ];
  }

  /** Has the editor read the text anew, where it has not been changed there. */
  changed(uri: Uri): void {
    this.#changed.fire([{ type: FileChangeType.Changed, uri }]);
  }

  async stat(uri: Uri): Promise<FileStat> {
    const { text, modified } = await this.#edit(uri);
    return { type: FileType.File, ctime: modified, mtime: modified, size: Buffer.byteLength(text) };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return Buffer.from((await this.#edit(uri)).text);
  }

  async writeFile(uri: Uri, content: Uint8Array): Promise<void> {
    const edit = await this.#edit(uri);
    const text = Buffer.from(content).toString();
    if (text !== edit.text) await this.#edits.keep({ ...edit, text, modified: Date.now() });
  }

  async #edit(uri: Uri): Promise<Edit> {
    const address = taskOfUri(uri);
    if (address === null) throw FileSystemError.FileNotFound(uri);
    try {
      return await this.#edits.of(address);
    } catch (error) {
      throw FileSystemError.Unavailable(userMessage(error));
    }
  }

  watch(): Disposable {
    return new Disposable(() => undefined);
  }

  readDirectory(): [string, FileType][] {
    return [];
  }

  createDirectory(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }

  delete(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }

  rename(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
