import { commands, Range, window, workspace, type TextDocument, type Uri } from "vscode";
import { mayChange, offer } from "../actions/asking";
import { recordReference, type RecordReference } from "../actions/references";
import type { TaskActions } from "../actions/taskActions";
import type { UndoList } from "../actions/undoList";
import type { Doubt, RetryCheck } from "../code/retryCheck";
import type { EditedCall, EditTexts } from "../edit/protocol";
import type { Reporter } from "../reporter";
import type { StoreRegistry } from "../stores/storeRegistry";
import { oneLine, withoutLinks } from "../text/labels";
import { shapeOfCall } from "./callChange";
import type { EditDiagnostics } from "./editDiagnostics";
import type { EditDiff } from "./editDiff";
import { askAboutEdit } from "./editQuestion";
import { callLine, rangeOf, type EditReader } from "./editReader";
import type { Edit, Edits } from "./edits";
import { closeDiff, closeTabs } from "./editTabs";

/** For how long a question waits to hear of the code whether the task would fail again, in milliseconds. */
const longestCheck = 1_000;

export interface EditedRetryServices {
  readonly edits: Edits;
  readonly reader: EditReader;
  readonly diff: EditDiff;
  readonly diagnostics: EditDiagnostics;
  readonly registry: StoreRegistry;
  readonly actions: TaskActions;
  readonly undoList: UndoList;
  readonly retryCheck: RetryCheck;
  readonly reporter: Reporter;
  /** Opens a task to be edited as it is now. */
  readonly open: (record: RecordReference) => Promise<void>;
}

/** Retries tasks as they were edited: after a diff and a question. Whatever hinders it is told, and leaves the text as it is. */
export class EditedRetries {
  readonly #services: EditedRetryServices;
  /** Documents that are being asked about. */
  readonly #running = new Set<string>();

  constructor(services: EditedRetryServices) {
    this.#services = services;
  }

  /** `edited`: the address of the document. Never rejects. */
  async retry(edited: Uri): Promise<void> {
    const key = edited.toString();
    if (this.#running.has(key)) return;
    this.#running.add(key);
    try {
      await this.#retry(await workspace.openTextDocument(edited));
    } catch (error) {
      this.#services.reporter.failure("retry the edited task", error);
    } finally {
      this.#running.delete(key);
    }
  }

  async #retry(document: TextDocument): Promise<void> {
    const { edits, reader, registry } = this.#services;
    // What is asked about is kept first, whatever becomes of it.
    if (document.isDirty) await document.save();
    const reading = await reader.read(document);
    if (reading === null) return;
    const { edit, read } = reading;
    const name = oneLine(edit.task.taskClass, 80);
    const store = registry.find(edit.storeKey);
    if (store === undefined) {
      tell(`The store of ${name} is not open. Nothing was retried; what you typed stays.`);
      return;
    }
    const record = { ...recordReference(store, edit.id), name: edit.task.taskClass };
    if (!(await mayChange([record], "edited and retried"))) return;
    if (read.call === null) {
      const problems = read.problems.map(({ message, range }) => ({ message, range: rangeOf(range) }));
      await this.#showProblems(document, name, problems);
      return;
    }
    const check = await reader.check(edit, read.call);
    switch (check.kind) {
      case "refused": {
        const { range } = document.lineAt(callLine(document));
        await this.#showProblems(document, name, [{ message: check.reason, range }]);
        return;
      }
      case "gone":
        tell(`${name} is no longer among the dead tasks. Nothing was retried; what you typed stays.`);
        return;
      case "changedMeanwhile":
        this.#tellChanged(name, record);
        return;
      case "unchanged":
        this.#offerPlainRetry(document, edit, record);
        return;
      case "changed":
        if (await this.#retryChanged(document, edit, record, read.call, check)) {
          await edits.forget([edit]);
        }
    }
  }

  /** True where the task was retried. */
  async #retryChanged(
    document: TextDocument,
    edit: Edit,
    record: RecordReference,
    after: EditedCall,
    texts: EditTexts,
  ): Promise<boolean> {
    const { actions, diff, reader, undoList } = this.#services;
    const { version } = document;
    await diff.show(document.uri, edit.task.taskClass, texts);
    const [before, doubt, obstacle] = await Promise.all([
      reader.readText(edit.task, edit.task.text).then(({ call }) => call),
      this.#doubt(record, after),
      undoList.obstacle([record]),
    ]);
    const answer = await askAboutEdit({ before, after, doubt, obstacle });
    if (answer === "review") return false;
    const isDone =
      answer !== "cancel" &&
      (await actions.retryEdited(
        record,
        { version: edit.task.version, call: after },
        answer === "now" ? null : answer,
      ));
    // What was typed while the question stood is no part of what was retried.
    const isClosed = isDone && document.version === version && !document.isDirty;
    await closeDiff(document.uri);
    if (isClosed) await closeTabs(document.uri);
    else await window.showTextDocument(document, { preview: false });
    return isDone;
  }

  async #doubt({ store, id }: RecordReference, call: EditedCall): Promise<Doubt | null> {
    const task = store.task(id);
    const shape = shapeOfCall(call);
    if (task === undefined || shape === null) return null;
    return await this.#services.retryCheck.ofCall(longestCheck, store, task, shape);
  }

  #tellChanged(name: string, record: RecordReference): void {
    const anew = "Edit as It Is Now";
    const text = `${name} has died anew since you opened it, or other names are masked now. Nothing was retried; what you typed stays.`;
    void window.showWarningMessage(withoutLinks(text), anew).then(async (choice) => {
      if (choice === anew) await this.#services.open(record);
    });
  }

  #offerPlainRetry(document: TextDocument, edit: Edit, record: RecordReference): void {
    const { actions, edits } = this.#services;
    const run = async (): Promise<void> => {
      const departed: string[] = [];
      const listening = actions.onDidDepart(({ storeKey, ids }) => {
        if (storeKey === edit.storeKey) departed.push(...ids);
      });
      await actions.retry([record]);
      listening.dispose();
      if (!departed.includes(edit.id) || document.isDirty) return;
      await edits.forget([edit]);
      await closeTabs(document.uri);
    };
    const text = `The arguments of ${oneLine(edit.task.taskClass, 80)} are as they were. Nothing was retried.`;
    offer(text, [{ title: "Retry", run }]);
  }

  /** All of them in the text, and the first one in sight. */
  async #showProblems(document: TextDocument, name: string, problems: readonly ShownProblem[]): Promise<void> {
    const [first, ...more] = problems;
    if (first === undefined) return;
    await this.#services.diagnostics.look(document);
    const { start } = first.range;
    await window.showTextDocument(document, { preview: false, selection: new Range(start, start) });
    const others = more.length === 0 ? "" : ` And ${more.length} more.`;
    const showAll = "Show Problems";
    const text = `${name} was not retried. Line ${start.line + 1}: ${first.message}${others}`;
    void window.showErrorMessage(withoutLinks(text), showAll).then(async (choice) => {
      if (choice === showAll) await commands.executeCommand("workbench.actions.view.problems");
    });
  }
}

interface ShownProblem {
  readonly message: string;
  readonly range: Range;
}

function tell(text: string): void {
  void window.showWarningMessage(withoutLinks(text));
}
