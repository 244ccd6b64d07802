import { commands, EventEmitter, window, workspace, type TextDocumentContentProvider, type Uri } from "vscode";
import type { RecordReference } from "../actions/references";
import { ContextKey, recordTextScheme, Setting } from "../ids";
import { parseRecordUri, recordUri } from "../recordUris";
import { userMessage } from "../reporter";
import type { StoreService } from "../service/storeService";
import { maskedNames } from "../settings";
import type { StoreChange, StoreRegistry } from "../stores/storeRegistry";
import { oneLine, shownId } from "../text/labels";
import type { PaneReference } from "./protocol";

/** What identifies a record and names it for people. */
type Compared = Pick<RecordReference, "store" | "id" | "name">;

/** Two records side by side in the editor's own diff: each is a read-only document, secrets masked, kept up to date. */
export class RecordComparison implements TextDocumentContentProvider {
  readonly #service: Pick<StoreService, "recordText">;
  readonly #registry: StoreRegistry;
  readonly #changed = new EventEmitter<Uri>();
  readonly #disposables: { dispose(): unknown }[];
  /** What open documents said last, so that a record that goes takes nothing off the screen. */
  readonly #texts = new Map<string, string>();
  #selected: Compared | null = null;

  readonly onDidChange = this.#changed.event;

  constructor(service: Pick<StoreService, "recordText">, registry: StoreRegistry) {
    this.#service = service;
    this.#registry = registry;
    this.#disposables = [
      this.#changed,
      workspace.registerTextDocumentContentProvider(recordTextScheme, this),
      registry.onDidChange((change) => {
        this.#storeChanged(change);
      }),
      workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === recordTextScheme) this.#texts.delete(uri.toString());
      }),
      workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration(`${Setting.section}.${Setting.maskedNames}`)) return;
        // What must be masked now must not stay on the screen because the record has gone.
        this.#texts.clear();
        this.#refresh(() => true);
      }),
    ];
  }

  /** For the menus: exactly two records, the one that died first on the left. */
  async compare(records: readonly Compared[]): Promise<void> {
    const [one, other, ...more] = records;
    if (one === undefined || other === undefined || more.length > 0) {
      void window.showInformationMessage("Select two dead tasks to compare.");
      return;
    }
    const [left, right] = failedAt(one) <= failedAt(other) ? [one, other] : [other, one];
    await show(left, right);
  }

  /** Remembers one side, as the explorer does with files. */
  async select(record: Compared): Promise<void> {
    this.#selected = record;
    await commands.executeCommand("setContext", ContextKey.selectedForCompare, true);
    window.setStatusBarMessage(`Selected ${labelOf(record)} for compare`, 3000);
  }

  async compareWithSelected(record: Compared): Promise<void> {
    if (this.#selected === null) void window.showInformationMessage("Select a dead task for compare first.");
    else await show(this.#selected, record);
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const reference = parseRecordUri(uri);
    if (reference === null) return "This address names no record.\n";
    const before = this.#texts.get(uri.toString()) ?? "";
    if (this.#registry.find(reference.storeKey) === undefined)
      return withNotice("The store of this task is not open.", before);
    try {
      const text = await this.#service.recordText(reference.storeKey, reference.id, maskedNames());
      if (text === null) return withNotice("This task is no longer among the dead.", before);
      this.#texts.set(uri.toString(), text);
      return text;
    } catch (error) {
      return withNotice(`This record could not be read: ${userMessage(error)}`, before);
    }
  }

  #storeChanged({ store, update }: StoreChange): void {
    if (update.type !== "tasks" && update.type !== "gone") return;
    const ids = new Set(update.type === "gone" ? update.ids : update.tasks.map(({ id }) => id));
    this.#refresh((reference) => reference.storeKey === store.key && ids.has(reference.id));
  }

  #refresh(isMeant: (reference: PaneReference) => boolean): void {
    for (const { uri } of workspace.textDocuments) {
      const reference = uri.scheme === recordTextScheme ? parseRecordUri(uri) : null;
      if (reference !== null && isMeant(reference)) this.#changed.fire(uri);
    }
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

async function show(left: Compared, right: Compared): Promise<void> {
  const title = `${labelOf(left)} ↔ ${labelOf(right)}`;
  await commands.executeCommand("vscode.diff", recordTextUri(left), recordTextUri(right), title, { preview: true });
}

function withNotice(notice: string, before: string): string {
  return before === "" ? `${notice}\n` : `${notice} This is what it was:\n\n${before}`;
}

function failedAt({ store, id }: Compared): number {
  return store.task(id)?.failedAt ?? 0;
}

function labelOf({ name, id }: Compared): string {
  const shown = shownId(id);
  return name === shown ? shown : `${oneLine(name, 60)} ${shown}`;
}

export function recordTextUri(record: Compared): Uri {
  return recordUri(recordTextScheme, labelOf(record), { storeKey: record.store.key, id: record.id });
}
