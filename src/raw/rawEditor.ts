import { env, Uri, window, workspace, type Disposable, type ExtensionContext, type WebviewPanel } from "vscode";
import { Setting } from "../ids";
import { userMessage, type Reporter } from "../reporter";
import type { StoreModel } from "../stores/storeModel";
import type { PlainFiles, RecordPlace } from "./plainFiles";
import { parseRawPageMessage, type PageTarget, type RawHostMessage } from "./protocol";
import { answerPage } from "./rawAnswers";
import type { RawDocument, RawDocumentServices } from "./rawDocument";
import { webviewHtml, type WebviewPage } from "../webviewPage";

const page: WebviewPage = {
  title: "Raw Storage File",
  styles: ["raw.css"],
  script: "raw.js",
  body: '<main id="page"><h1 class="visually-hidden">Raw storage file</h1></main>',
};

export interface RawEditorServices extends RawDocumentServices {
  readonly context: ExtensionContext;
  readonly plainFiles: PlainFiles;
  readonly reporter: Reporter;
  /** Shows a task in the pane and in the list. */
  readonly showTask: (store: StoreModel, id: string) => Promise<void>;
}

/** One editor, for as long as it is open. */
export class RawEditor implements Disposable {
  readonly document: RawDocument;
  readonly panel: WebviewPanel;
  /** The line that is selected in the page, as far as it has told. */
  selected: number | null = null;
  readonly #services: RawEditorServices;
  readonly #disposables: { dispose(): unknown }[];
  #target: PageTarget | null = null;
  #isReady = false;

  constructor(document: RawDocument, panel: WebviewPanel, services: RawEditorServices) {
    this.document = document;
    this.panel = panel;
    this.#services = services;
    const { extensionUri } = services.context;
    panel.webview.options = {
      enableScripts: true,
      localResourceRoots: [Uri.joinPath(extensionUri, "dist"), Uri.joinPath(extensionUri, "media")],
    };
    this.#disposables = [
      document.onDidChange(() => void this.#tell()),
      panel.webview.onDidReceiveMessage((message: unknown) => this.#receive(message)),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${Setting.section}.${Setting.maskedNames}`)) void this.#tell();
      }),
    ];
    panel.webview.html = webviewHtml(panel.webview, extensionUri, page);
  }

  /** The plain text, at a line where one is wanted. */
  async openText(line = this.selected): Promise<void> {
    const { document } = this;
    await this.#services.plainFiles.openText(document.uri, line, await this.#recordOf(line));
  }

  /** The record of a line, where it is the one that stands for its id. */
  async #recordOf(line: number | null): Promise<RecordPlace | null> {
    const { key, state, store } = this.document;
    if (line === null || key === null || state.table === null || store === undefined) return null;
    const options = { reveal: false, maskedNames: [] };
    const found = await this.#services.service.rawLine(key, state.table.generation, line, options);
    if (found === null) return null;
    const { id, row } = found;
    return id === null || row.standing !== null ? null : { storeKey: store.key, id };
  }

  /** Shows a line as soon as it is known which one is meant. */
  take(target: PageTarget | null): void {
    if (target === null) return;
    this.#target = target;
    if (this.#isReady) void this.#go();
  }

  async #tell(): Promise<void> {
    if (!this.#isReady) return;
    this.#send({ type: "state", state: this.document.state });
    await this.#go();
  }

  async #go(): Promise<void> {
    const target = this.#target;
    const { key, state } = this.document;
    const { table } = state;
    if (target === null || key === null || table === null) return;
    try {
      const { generation } = table;
      const place = await this.#services.service.findRawLine(key, generation, target, []);
      // Another may be wanted by now, or this one have been found by an answer that came before.
      if (this.#target !== target) return;
      if (place !== null) {
        this.#target = null;
        this.#send({ type: "go", generation, line: place.line });
      } else if (table.complete && generation === this.document.state.table?.generation) {
        this.#target = null;
        if (target.by === "id") void window.showInformationMessage("This record is no longer in the store.");
      }
    } catch (error) {
      this.#target = null;
      this.#services.reporter.failure("find the line", error);
    }
  }

  #send(message: RawHostMessage): void {
    void this.panel.webview.postMessage(message);
  }

  async #receive(value: unknown): Promise<void> {
    const message = parseRawPageMessage(value);
    if (message === null) {
      this.#services.reporter.log("warn", "The raw view sent a message that is not of its protocol; it was ignored.");
    } else if (message.type === "ready") {
      this.#isReady = true;
      await this.#tell();
    } else {
      const { sequence, generation, request } = message;
      if (request.name === "line") [this.selected] = request.parameters;
      try {
        const { service, plainFiles, showTask } = this.#services;
        const { document } = this;
        const value = await answerPage(request, generation, {
          service,
          document,
          showTask,
          copy: (text) => env.clipboard.writeText(text),
          openText: (line) => this.openText(line),
          openHex: () => plainFiles.openHex(document.uri),
        });
        this.#send({ type: "reply", sequence, ok: true, value });
      } catch (error) {
        this.#send({ type: "reply", sequence, ok: false, error: userMessage(error) });
      }
    }
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
