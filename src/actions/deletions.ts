import { ProgressLocation, Uri, commands, window, workspace, type ExtensionContext } from "vscode";
import type { Reporter } from "../reporter";
import type { UndoRequest, UndoableDeletion } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import { undoLimits } from "../settings";
import type { StoreModel } from "../stores/storeModel";
import { counted, formatBytes, formatCount, withoutLinks } from "../text/labels";
import { relativeTime } from "../text/times";

/** What was deleted and can be brought back: in the extension's own storage, outside of every workspace. */
export class Deletions {
  readonly #service: StoreService;
  readonly #reporter: Reporter;
  readonly #directory: string;

  constructor(
    service: StoreService,
    reporter: Reporter,
    { globalStorageUri }: Pick<ExtensionContext, "globalStorageUri">,
  ) {
    this.#service = service;
    this.#reporter = reporter;
    this.#directory = Uri.joinPath(globalStorageUri, "deleted").fsPath;
  }

  /** Why a deletion of these could not be undone; null where it can be. */
  async obstacle(
    groups: readonly { readonly store: StoreModel; readonly ids: readonly string[] }[],
  ): Promise<string | null> {
    const limits = undoLimits();
    if (limits === null) return "Nothing is kept for undoing, by the settings.";
    let bytes = 0;
    for (const { store, ids } of groups) bytes += await this.#service.lineBytes(store.key, ids);
    if (bytes <= limits.bytes) return null;
    return `${formatBytes(bytes)} are more than the settings let be kept for undoing (${formatBytes(limits.bytes)}).`;
  }

  /** What asks the storage to keep a deletion; `title` says what it is. */
  request(title: string): UndoRequest | null {
    const limits = undoLimits();
    return limits === null ? null : { directory: this.#directory, title, limits };
  }

  /** Tells what was deleted, with the way back for as long as the notification stands. Does not wait for the answer. */
  offerUndo(text: string, names: readonly string[]): void {
    const undo = "Undo";
    void window.showInformationMessage(withoutLinks(text), undo).then(async (choice) => {
      if (choice === undo) await this.#undo(names);
    });
  }

  /** Lets the user choose among the deletions that are kept. */
  async choose(): Promise<void> {
    if (!(await mayRestore())) return;
    let deletions: readonly UndoableDeletion[];
    try {
      deletions = await this.#kept();
    } catch (error) {
      this.#reporter.failure("read what was deleted", error);
      return;
    }
    if (deletions.length === 0) {
      void window.showInformationMessage("There is nothing to undo: no deletion is kept.");
      return;
    }
    const now = Date.now() / 1000;
    const picks = deletions.map(({ name, title, at, directory }) => ({
      label: title,
      description: relativeTime(at, now),
      detail: directory,
      name,
    }));
    const picked = await window.showQuickPick(picks, {
      placeHolder: "Bring back which deleted tasks?",
      matchOnDetail: true,
    });
    if (picked !== undefined) await this.#undo([picked.name]);
  }

  async forget(): Promise<void> {
    const deletions = await this.#kept();
    if (deletions.length === 0) {
      void window.showInformationMessage("No deleted tasks are kept.");
      return;
    }
    const bytes = deletions.reduce((sum, entry) => sum + entry.bytes, 0);
    const forget = "Forget";
    const choice = await window.showWarningMessage(
      `Forget ${counted(deletions.length, "deletion")} (${formatBytes(bytes)})?`,
      { modal: true, detail: "What was deleted is kept so that it can be brought back. Afterwards it cannot." },
      forget,
    );
    if (choice === forget) await this.#service.pruneDeletions(this.#directory, { bytes: 0, age: 0 });
  }

  /** Forgets what is over the limits, which time alone can bring about. */
  async prune(): Promise<void> {
    try {
      await this.#service.pruneDeletions(this.#directory, undoLimits() ?? { bytes: 0, age: 0 });
    } catch (error) {
      // Nobody asked for it.
      this.#reporter.log("warn", `What was deleted could not be tidied up: ${String(error)}`);
    }
  }

  async #kept(): Promise<readonly UndoableDeletion[]> {
    await this.prune();
    return await this.#service.undoableDeletions(this.#directory);
  }

  async #undo(names: readonly string[]): Promise<void> {
    if (!(await mayRestore())) return;
    try {
      const restored: string[] = [];
      const present: string[] = [];
      const gone: string[] = [];
      await window.withProgress(
        { location: ProgressLocation.Window, title: "Bringing back deleted tasks" },
        async () => {
          for (const name of names) {
            const undone = await this.#service.undoDeletion(this.#directory, name);
            if (!undone.found) gone.push(name);
            restored.push(...undone.restored);
            present.push(...undone.present);
          }
        },
      );
      this.#reporter.log("info", `undo: ${restored.length} restored, ${present.length} there already`);
      const text = undoneText(restored.length, present.length, gone.length > 0);
      if (present.length > 0 || gone.length > 0) void window.showWarningMessage(text);
      else window.setStatusBarMessage(text, 5000);
    } catch (error) {
      this.#reporter.failure("bring back what was deleted", error);
    }
  }
}

/** What can be said of a deletion before it is confirmed. */
export function undoNote(obstacle: string | null): string {
  if (obstacle !== null) return `This cannot be undone. ${obstacle}`;
  const days = Math.max(1, Math.round((undoLimits()?.age ?? 0) / 86_400));
  return `It can be undone for ${counted(days, "day")}, by "Dead Tasks: Undo Delete".`;
}

function undoneText(restored: number, present: number, isGone: boolean): string {
  const parts: string[] = [];
  if (restored > 0) parts.push(`Restored ${counted(restored, "dead task")}.`);
  if (present > 0) {
    const verb = present === 1 ? "is" : "are";
    parts.push(
      `${formatCount(present)} ${verb} among the dead tasks already, and ${verb} left as ${present === 1 ? "it is" : "they are"}.`,
    );
  }
  if (isGone) parts.push("What was deleted is not kept any more.");
  return parts.join(" ");
}

async function mayRestore(): Promise<boolean> {
  if (workspace.isTrusted) return true;
  const manage = "Manage Workspace Trust";
  const text = "In Restricted Mode dead tasks can be read, not brought back.";
  if ((await window.showWarningMessage(text, manage)) === manage) {
    await commands.executeCommand("workbench.trust.manage");
  }
  return false;
}
