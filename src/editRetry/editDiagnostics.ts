import {
  Diagnostic,
  DiagnosticSeverity,
  languages,
  window,
  workspace,
  type DiagnosticCollection,
  type Disposable,
  type TextDocument,
} from "vscode";
import { editScheme } from "../ids";
import { userMessage, type Reporter } from "../reporter";
import type { StoreChange, StoreRegistry } from "../stores/storeRegistry";
import { callLine, rangeOf, type EditReader } from "./editReader";
import { isInTab } from "./editTabs";
import { taskOfUri } from "./editUris";

/** While somebody types, nothing is read anew, in milliseconds. */
const settleTime = 250;

/** What keeps an edited task from being retried, at its place in the text, while it is typed. */
export class EditDiagnostics implements Disposable {
  readonly #reader: EditReader;
  readonly #reporter: Reporter;
  readonly #collection: DiagnosticCollection;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #disposables: { dispose(): unknown }[];

  constructor(reader: EditReader, registry: StoreRegistry, reporter: Reporter) {
    this.#reader = reader;
    this.#reporter = reporter;
    this.#collection = languages.createDiagnosticCollection("deadTasks.edit");
    this.#disposables = [
      this.#collection,
      workspace.onDidOpenTextDocument((document) => {
        this.#lookSoon(document);
      }),
      workspace.onDidChangeTextDocument(({ document }) => {
        this.#lookSoon(document);
      }),
      window.tabGroups.onDidChangeTabs(({ opened, closed }) => {
        if (opened.length > 0) this.#lookAtAll();
        if (closed.length > 0) this.#forgetClosed();
      }),
      registry.onDidChange((change) => {
        this.#storeChanged(change);
      }),
    ];
    this.#lookAtAll();
  }

  /** For what was typed against the task as it was, and stands against it as it is now. */
  async look(document: TextDocument): Promise<void> {
    const { version, uri } = document;
    try {
      const problems = await this.#problems(document);
      if (!document.isClosed && document.version === version) this.#collection.set(uri, problems);
      this.#forgetClosed();
    } catch (error) {
      this.#reporter.log("warn", `An edited task could not be checked: ${userMessage(error)}`);
    }
  }

  async #problems(document: TextDocument): Promise<Diagnostic[]> {
    const reading = await this.#reader.read(document);
    if (reading === null) return [];
    const { edit, read } = reading;
    if (read.call === null) return read.problems.map(({ message, range }) => diagnostic(message, rangeOf(range)));
    const check = await this.#reader.check(edit, read.call);
    const { range } = document.lineAt(callLine(document));
    switch (check.kind) {
      case "refused":
        return [diagnostic(check.reason, range)];
      case "gone":
        return [diagnostic("This task is no longer among the dead.", range, DiagnosticSeverity.Warning)];
      case "changedMeanwhile":
        return [
          diagnostic(
            "This task has died anew since it was opened here, or other names are masked now.",
            range,
            DiagnosticSeverity.Warning,
          ),
        ];
      case "changed":
      case "unchanged":
        return [];
    }
  }

  #storeChanged({ store, update }: StoreChange): void {
    if (update.type !== "tasks" && update.type !== "gone") return;
    const edited = workspace.textDocuments.filter(({ uri }) => uri.scheme === editScheme);
    if (edited.length === 0) return;
    const ids = new Set(update.type === "gone" ? update.ids : update.tasks.map(({ id }) => id));
    for (const document of edited) {
      const address = taskOfUri(document.uri);
      if (address?.storeKey === store.key && ids.has(address.id)) this.#lookSoon(document);
    }
  }

  #lookAtAll(): void {
    for (const document of workspace.textDocuments) this.#lookSoon(document);
  }

  /** The editor keeps a document for a while after its tab was closed, and nobody sees it. */
  #forgetClosed(): void {
    this.#collection.forEach((uri) => {
      if (!isInTab(uri)) this.#collection.delete(uri);
    });
  }

  #lookSoon(document: TextDocument): void {
    if (document.uri.scheme !== editScheme) return;
    const key = document.uri.toString();
    clearTimeout(this.#timers.get(key));
    this.#timers.set(
      key,
      setTimeout(() => {
        this.#timers.delete(key);
        void this.look(document);
      }, settleTime),
    );
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

function diagnostic(message: string, range: Diagnostic["range"], severity = DiagnosticSeverity.Error): Diagnostic {
  const made = new Diagnostic(range, message, severity);
  made.source = "Dead Tasks";
  return made;
}
