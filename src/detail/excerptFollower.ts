import { dirname } from "node:path";
import { RelativePattern, Uri, workspace, type Disposable } from "vscode";
import { userMessage } from "../reporter";
import { Emitter } from "../stores/emitter";
import { formatBytes } from "../text/labels";
import { excerptOf } from "./excerpt";
import type { ExcerptView } from "./protocol";

/** A frame whose file is known. `line` is 1-based. */
export interface FilePlace {
  readonly file: string;
  readonly line: number;
  readonly place: string;
  readonly method: string;
}

// Bytes. Nobody writes more Ruby into one file, and all of it has to be read for a few lines.
const largestFile = 4_000_000;
/** How long changes of a file are gathered, in milliseconds. */
const settleTime = 150;

/** Keeps some lines of one file up to date, as they stand in the editor or else on disk. */
export class ExcerptFollower implements Disposable {
  readonly #changed = new Emitter<ExcerptView | null>();
  readonly #editing: Disposable;
  #place: FilePlace | null = null;
  #watcher: Disposable | null = null;
  #settling: NodeJS.Timeout | null = null;
  #view: ExcerptView | null = null;
  #round = 0;

  readonly onDidChange = this.#changed.event;

  constructor() {
    this.#editing = workspace.onDidChangeTextDocument(({ document }) => {
      if (document.uri.scheme === "file" && document.uri.fsPath === this.#place?.file) this.#readSoon();
    });
  }

  /** Null where there is nothing to show, or not yet. */
  get view(): ExcerptView | null {
    return this.#view;
  }

  /** Null for none. What was shown of another place is taken away at once. */
  follow(place: FilePlace | null): void {
    if (JSON.stringify(place) === JSON.stringify(this.#place)) return;
    const isOtherFile = place?.file !== this.#place?.file;
    this.#place = place;
    this.#view = null;
    if (isOtherFile) this.#watch(place?.file ?? null);
    void this.#read();
  }

  #watch(file: string | null): void {
    this.#watcher?.dispose();
    this.#watcher = null;
    if (file === null) return;
    // The name itself might read as a pattern.
    const watcher = workspace.createFileSystemWatcher(new RelativePattern(Uri.file(dirname(file)), "*"));
    const changed = (uri: Uri): void => {
      if (uri.fsPath === file) this.#readSoon();
    };
    watcher.onDidChange(changed);
    watcher.onDidCreate(changed);
    watcher.onDidDelete(changed);
    this.#watcher = watcher;
  }

  #readSoon(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = null;
      void this.#read();
    }, settleTime);
  }

  async #read(): Promise<void> {
    const round = ++this.#round;
    const place = this.#place;
    const view = place === null ? null : await readExcerpt(place);
    if (round !== this.#round) return;
    if (JSON.stringify(view) === JSON.stringify(this.#view) && view !== null) return;
    this.#view = view;
    this.#changed.fire(view);
  }

  dispose(): void {
    this.#round++;
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#watcher?.dispose();
    this.#editing.dispose();
    this.#changed.dispose();
  }
}

async function readExcerpt({ file, line, place, method }: FilePlace): Promise<ExcerptView> {
  const frame = { place, method, failing: line };
  try {
    const text = await readText(file);
    if (text === null) return { ...frame, lines: [], notice: `The file is larger than ${formatBytes(largestFile)}.` };
    return { ...frame, ...excerptOf(text, line) };
  } catch (error) {
    return { ...frame, lines: [], notice: `The file could not be read: ${userMessage(error)}` };
  }
}

/** Null where the file is too large. Not opened as a document: that would wake every extension for its language. */
async function readText(file: string): Promise<string | null> {
  const uri = Uri.file(file);
  const isMeant = (other: Uri): boolean => other.scheme === "file" && other.fsPath === uri.fsPath;
  const open = workspace.textDocuments.find((document) => isMeant(document.uri));
  if (open !== undefined) return open.getText();
  const { size } = await workspace.fs.stat(uri);
  return size > largestFile ? null : new TextDecoder().decode(await workspace.fs.readFile(uri));
}
