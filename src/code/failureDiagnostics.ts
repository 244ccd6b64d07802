import {
  CodeAction,
  CodeActionKind,
  Diagnostic,
  DiagnosticSeverity,
  languages,
  Range,
  Uri,
  workspace,
  type CodeActionProvider,
  type TextDocument,
} from "vscode";
import { Command, Setting } from "../ids";
import type { Reporter } from "../reporter";
import type { StoreService } from "../service/storeService";
import type { Disposable } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import { counted, exceptionName } from "../text/labels";
import { relativeTime } from "../text/times";
import { visibleText } from "../text/visible";
import type { CodeFiles } from "./codeFiles";
import type { StoredTask } from "./taskClassesCommands";

/** How many of a store's newest tasks are looked at. */
const looked = 200;
/** Updates come in bursts, in milliseconds. */
const settleTime = 150;
/** How often "5 min ago" is brought up to date, in milliseconds. */
const timesInterval = 30_000;
const longestMessage = 300;

const severities: Readonly<Record<string, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
};

/** A line on which tasks died; `line` counts from 1. */
interface FailingLine {
  readonly file: string;
  readonly line: number;
}

interface Mark {
  readonly tasks: readonly StoredTask[];
  readonly diagnostic: Diagnostic;
}

export interface DiagnosticsServices {
  readonly registry: StoreRegistry;
  readonly service: Pick<StoreService, "backtraces">;
  readonly code: CodeFiles;
  readonly reporter: Reporter;
}

/** Marks the lines on which the newest tasks died, where the setting asks for it. Otherwise nothing is looked at. */
export class FailureDiagnostics implements CodeActionProvider, Disposable {
  readonly #services: DiagnosticsServices;
  readonly #collection = languages.createDiagnosticCollection("dead-tasks");
  readonly #disposables: Disposable[];
  /** By the object: a task that dies again is another. Null where no line of the workspace is to blame. */
  #lines = new WeakMap<StoredTask["task"], FailingLine | null>();
  /** By file. */
  #marks = new Map<string, readonly Mark[]>();
  #timer: NodeJS.Timeout | null = null;
  #running = false;
  #again = false;

  constructor(services: DiagnosticsServices) {
    this.#services = services;
    const { registry } = services;
    const update = (): void => {
      this.#updateSoon();
    };
    const lookAnew = (): void => {
      this.#lines = new WeakMap();
      this.#updateSoon();
    };
    const times = setInterval(update, timesInterval);
    this.#disposables = [
      this.#collection,
      languages.registerCodeActionsProvider({ scheme: "file" }, this, {
        providedCodeActionKinds: [CodeActionKind.QuickFix],
      }),
      registry.onDidChange(update),
      registry.onDidChangeStores(update),
      workspace.onDidChangeWorkspaceFolders(lookAnew),
      workspace.onDidGrantWorkspaceTrust(lookAnew),
      // With its text at hand, a line is marked without its indentation.
      workspace.onDidOpenTextDocument(({ uri }) => {
        if (this.#marks.has(uri.fsPath)) this.#updateSoon();
      }),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${Setting.section}.${Setting.diagnostics}`)) this.#updateSoon();
        if (event.affectsConfiguration(`${Setting.section}.${Setting.pathMappings}`)) lookAnew();
      }),
      {
        dispose: () => {
          clearInterval(times);
        },
      },
    ];
  }

  provideCodeActions(document: TextDocument, range: Range): CodeAction[] {
    const marks = this.#marks.get(document.uri.fsPath) ?? [];
    return marks.flatMap(({ tasks, diagnostic }) => {
      if (diagnostic.range.intersection(range) === undefined) return [];
      const title = tasks.length === 1 ? "Show Dead Task" : `Show ${counted(tasks.length, "Dead Task")}…`;
      const action = new CodeAction(title, CodeActionKind.QuickFix);
      action.diagnostics = [diagnostic];
      const references = tasks.map(({ store, task }) => ({ storeKey: store.key, id: task.id }));
      action.command = { command: Command.showClassTasks, title, arguments: [references] };
      return [action];
    });
  }

  #updateSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#update();
    }, settleTime);
  }

  async #update(): Promise<void> {
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    try {
      const severity = severityOf(workspace.getConfiguration(Setting.section).get(Setting.diagnostics));
      this.#show(severity === null ? new Map() : await this.#gather(), severity ?? DiagnosticSeverity.Information);
    } catch (error) {
      this.#services.reporter.failureOnce("find the lines on which tasks died", error);
    } finally {
      this.#running = false;
      if (this.#again) {
        this.#again = false;
        this.#updateSoon();
      }
    }
  }

  async #gather(): Promise<Map<string, Map<number, StoredTask[]>>> {
    const files = new Map<string, Map<number, StoredTask[]>>();
    for (const store of this.#services.registry.stores) {
      if (!store.wasReady || store.taskCount === 0) continue;
      const tasks = store.newestFirst().slice(0, looked);
      await this.#find(store, tasks);
      for (const task of tasks) {
        const place = this.#lines.get(task);
        if (place === undefined || place === null) continue;
        const lines = files.get(place.file) ?? new Map<number, StoredTask[]>();
        files.set(place.file, lines);
        lines.set(place.line - 1, [...(lines.get(place.line - 1) ?? []), { store, task }]);
      }
    }
    return files;
  }

  /** Finds the lines of those tasks of which none are known yet. */
  async #find(store: StoreModel, tasks: readonly StoredTask["task"][]): Promise<void> {
    const lines = this.#lines;
    const fresh = tasks.filter((task) => !lines.has(task));
    if (fresh.length === 0) return;
    const ids = fresh.map(({ id }) => id);
    const backtraces = new Map(
      (await this.#services.service.backtraces(store.key, ids)).map(({ id, backtrace }) => [id, backtrace]),
    );
    const finder = this.#services.code.finder(store);
    for (const task of fresh) {
      const failing = await finder.failingFrame(backtraces.get(task.id) ?? []);
      const file = failing?.file ?? null;
      lines.set(task, failing === null || file === null ? null : { file, line: failing.frame.line });
    }
  }

  /** Sends the editor those files of which something is new. */
  #show(files: ReadonlyMap<string, ReadonlyMap<number, readonly StoredTask[]>>, severity: DiagnosticSeverity): void {
    const before = this.#marks;
    this.#marks = new Map();
    for (const [file, lines] of files) {
      const marks = [...lines].map(([line, tasks]) => ({
        tasks,
        diagnostic: diagnosticOf(file, line, tasks, severity),
      }));
      this.#marks.set(file, marks);
      if (textOf(before.get(file)) === textOf(marks)) continue;
      const diagnostics = marks.map(({ diagnostic }) => diagnostic);
      this.#collection.set(Uri.file(file), diagnostics);
    }
    for (const file of before.keys()) if (!files.has(file)) this.#collection.delete(Uri.file(file));
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

/** All that is seen of a file's marks. */
function textOf(marks: readonly Mark[] | undefined): string {
  return JSON.stringify(marks?.map(({ diagnostic: { severity, range, message } }) => [severity, range, message]));
}

function severityOf(setting: unknown): DiagnosticSeverity | null {
  return typeof setting === "string" && Object.hasOwn(severities, setting) ? (severities[setting] ?? null) : null;
}

function diagnosticOf(
  file: string,
  line: number,
  tasks: readonly StoredTask[],
  severity: DiagnosticSeverity,
): Diagnostic {
  const newest = tasks.map(({ task }) => task).reduce((one, other) => (other.failedAt > one.failedAt ? other : one));
  const when = relativeTime(newest.failedAt, Date.now() / 1000);
  const died =
    tasks.length === 1 ? `1 task died here, ${when}` : `${counted(tasks.length, "task")} died here, last ${when}`;
  const error = [exceptionName(newest.exceptionClass), cut(newest.exceptionMessage)].filter((part) => part !== "");
  const diagnostic = new Diagnostic(rangeOf(file, line), `${died}: ${error.join(": ")}`, severity);
  diagnostic.source = "Dead Tasks";
  return diagnostic;
}

/** On one line, with what hides itself in it made visible. */
function cut(message: string): string {
  const text = visibleText(
    message
      .trim()
      .replaceAll(/\s*\n\s*/g, " ⏎ ")
      .replaceAll("\t", " "),
  );
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The line without its indentation where an editor has it; else the whole line, which the editor cuts to its text. */
function rangeOf(file: string, line: number): Range {
  const document = workspace.textDocuments.find(({ uri }) => uri.scheme === "file" && uri.fsPath === file);
  // The file may have become shorter since.
  if (document === undefined) return new Range(line, 0, line, 10_000);
  const { range, firstNonWhitespaceCharacterIndex } = document.lineAt(Math.min(line, document.lineCount - 1));
  return range.with(range.start.with(undefined, firstNonWhitespaceCharacterIndex));
}
