import {
  Range,
  TextDocumentSaveReason,
  Uri,
  commands,
  window,
  workspace,
  type ExtensionContext,
  type TextDocument,
} from "vscode";
import { mayChange, offer } from "../actions/asking";
import type { RecordReference } from "../actions/references";
import type { EditableTask } from "../edit/protocol";
import { editScheme } from "../ids";
import type { RubyReader } from "../ruby/reader";
import { ServiceError, type StoreService } from "../service/storeService";
import { maskedNames } from "../settings";
import type { Disposable } from "../stores/emitter";
import type { WorkspaceStores } from "../stores/workspaceStores";
import { oneLine } from "../text/labels";
import { EditDiagnostics } from "./editDiagnostics";
import { EditDiff } from "./editDiff";
import { EditedRetries, type EditedRetryServices } from "./editedRetries";
import { EditFiles } from "./editFiles";
import { EditReader, firstArgument } from "./editReader";
import { Edits, type Edit } from "./edits";
import { isInTab, openDocument } from "./editTabs";
import { editedUri, editUri, taskOfUri, type TaskAddress } from "./editUris";
import { PlaceholderHelp } from "./placeholderHelp";

export interface EditRetryServices extends Pick<
  EditedRetryServices,
  "registry" | "actions" | "undoList" | "retryCheck" | "reporter"
> {
  readonly context: Pick<ExtensionContext, "workspaceState">;
  readonly service: StoreService;
  readonly stores: WorkspaceStores;
  readonly ruby: RubyReader;
}

/**
 * "Edit and Retry": a dead task as a Ruby document in a tab of its own. An explicit save, or the button in its title, asks whether to
 * retry it as edited; what saves by itself only keeps the text.
 */
export class EditRetry implements Disposable {
  readonly #services: EditRetryServices;
  readonly #edits: Edits;
  readonly #files: EditFiles;
  readonly #retries: EditedRetries;
  readonly #disposables: { dispose(): unknown }[];
  /** Documents that somebody is just saving by hand. */
  readonly #savedByHand = new Set<string>();

  constructor(services: EditRetryServices) {
    const { context, service, ruby, registry, reporter } = services;
    this.#services = services;
    const edits = new Edits(context.workspaceState, (address) => this.#readTask(address));
    const files = new EditFiles(edits);
    const reader = new EditReader(edits, ruby, service);
    const diff = new EditDiff(reader);
    const diagnostics = new EditDiagnostics(reader, registry, reporter);
    this.#edits = edits;
    this.#files = files;
    this.#retries = new EditedRetries({
      ...services,
      edits,
      reader,
      diff,
      diagnostics,
      open: (record) => this.open(record),
    });
    this.#disposables = [
      files,
      diff,
      diagnostics,
      new PlaceholderHelp(reader),
      workspace.onWillSaveTextDocument(({ document, reason }) => {
        if (document.uri.scheme !== editScheme) return;
        const key = document.uri.toString();
        if (reason === TextDocumentSaveReason.Manual) this.#savedByHand.add(key);
        else this.#savedByHand.delete(key);
      }),
      workspace.onDidSaveTextDocument(({ uri }) => {
        if (this.#savedByHand.delete(uri.toString())) void this.#retries.retry(uri);
      }),
      workspace.onDidCloseTextDocument((document) => {
        if (document.uri.scheme === editScheme) void this.#closed(document);
      }),
    ];
  }

  /** Opens a task to be edited; what was typed of it before is still there. Whatever hinders it is told. */
  async open(record: RecordReference): Promise<void> {
    const { reporter } = this.#services;
    if (!record.readable) {
      void window.showInformationMessage("A record that cannot be read cannot be edited.");
      return;
    }
    if (!(await mayChange([record], "edited and retried"))) return;
    try {
      await this.#tidy();
      const address = { storeKey: record.store.key, id: record.id };
      const known = this.#edits.find(address);
      if (known === undefined) await this.#show(await this.#edits.of(address), true);
      else await this.#show(await this.#renewed(known), false);
    } catch (error) {
      reporter.failure(`edit ${oneLine(record.name, 80)}`, error);
    }
  }

  /** Asks whether to retry what is edited in this document, or shown in its diff, by default in the active editor. */
  async retry(uri: unknown): Promise<void> {
    const meant = uri instanceof Uri ? uri : window.activeTextEditor?.document.uri;
    if (meant === undefined || taskOfUri(meant) === null) {
      void window.showInformationMessage("Open a dead task with “Edit and Retry…” first.");
      return;
    }
    await this.#retries.retry(editedUri(meant));
  }

  async #show(edit: Edit, isNew: boolean): Promise<void> {
    const document = await workspace.openTextDocument(uriOf(edit));
    if (isNew) {
      const first = firstArgument(document);
      await window.showTextDocument(document, { preview: false, selection: new Range(first, first) });
      return;
    }
    await window.showTextDocument(document, { preview: false });
    if (document.getText() === edit.task.text) return;
    const text = `What you changed in ${oneLine(edit.task.taskClass, 80)} before is still there.`;
    offer(text, [{ title: "Start Anew", run: () => this.#startAnew(edit) }]);
  }

  /** The edit of a task that may have died anew since. */
  async #renewed(edit: Edit): Promise<Edit> {
    const isTyped = edit.text !== edit.task.text || openDocument(uriOf(edit))?.isDirty === true;
    const renewed = await this.#edits.renew(edit, isTyped);
    if (renewed.modified !== edit.modified) this.#files.changed(uriOf(edit));
    return renewed;
  }

  async #startAnew(edit: Edit): Promise<void> {
    await this.#edits.keep({ ...edit, text: edit.task.text, modified: Date.now() });
    await window.showTextDocument(await workspace.openTextDocument(uriOf(edit)), { preview: false });
    await commands.executeCommand("workbench.action.files.revert");
  }

  async #readTask({ storeKey, id }: TaskAddress): Promise<EditableTask> {
    const { service, registry } = this.#services;
    // A tab that the window brings back is there before its store is.
    await this.#storesLooked();
    if (registry.find(storeKey) === undefined) {
      throw new ServiceError("not-open", "The store of this task is not open.");
    }
    const reply = await service.editableTask(storeKey, id, maskedNames());
    if (reply.kind === "gone") throw new ServiceError("gone", "This task is no longer among the dead.");
    if (reply.kind === "refused") throw new ServiceError("refused", reply.reason);
    return reply;
  }

  async #storesLooked(): Promise<void> {
    const { stores } = this.#services;
    if (stores.looked) return;
    await new Promise<void>((resolve) => {
      const listening = stores.onDidLook(() => {
        listening.dispose();
        resolve();
      });
    });
  }

  /** Nothing is kept of what was opened and not changed. */
  async #closed(document: TextDocument): Promise<void> {
    const address = taskOfUri(document.uri);
    const edit = address === null ? undefined : this.#edits.find(address);
    if (edit !== undefined && edit.text === edit.task.text && !isInTab(document.uri)) await this.#edits.forget([edit]);
  }

  /** Nor of tasks that are no longer among the dead, once their tabs are closed. */
  async #tidy(): Promise<void> {
    const { registry } = this.#services;
    const isGone = (edit: Edit): boolean => {
      const store = registry.find(edit.storeKey);
      return store?.status.phase === "ready" && store.task(edit.id) === undefined && !isInTab(uriOf(edit));
    };
    await this.#edits.forget(this.#edits.all.filter(isGone));
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

function uriOf(edit: Edit): Uri {
  return editUri(edit, edit.task.taskClass);
}
