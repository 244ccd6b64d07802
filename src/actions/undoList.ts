import { Uri, window, workspace, type ExtensionContext } from "vscode";
import { View } from "../ids";
import { userMessage, type Reporter } from "../reporter";
import type { UndoRequest, UndoableChange } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import { undoLimits } from "../settings";
import { Emitter } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import { counted, formatBytes, formatCount } from "../text/labels";
import { relativeTime } from "../text/times";
import { trustedFor } from "./asking";
import { recordsTitle } from "./messages";
import { groupByStore, type RecordReference } from "./references";

/** What was deleted or retried and can be undone: kept in the extension's own storage, outside of every workspace. */
export class UndoList {
  readonly #service: StoreService;
  readonly #reporter: Reporter;
  readonly #directory: string;
  readonly #changed = new Emitter<undefined>();

  /** Something was undone or forgotten, or can be undone now. */
  readonly onDidChange = this.#changed.event;

  constructor(
    service: StoreService,
    reporter: Reporter,
    { globalStorageUri }: Pick<ExtensionContext, "globalStorageUri">,
  ) {
    this.#service = service;
    this.#reporter = reporter;
    this.#directory = Uri.joinPath(globalStorageUri, "undo").fsPath;
  }

  /** Why a change of these could not be undone; null where it can be. */
  async obstacle(records: readonly RecordReference[]): Promise<string | null> {
    const limits = undoLimits();
    if (limits === null) return "Nothing is kept for undoing, by the settings.";
    let bytes = 0;
    for (const { store, records: here } of groupByStore(records)) {
      const ids = here.map(({ id }) => id);
      bytes += await this.#service.lineBytes(store.key, ids);
    }
    if (bytes <= limits.bytes) return null;
    return `${formatBytes(bytes)} are more than the settings let be kept for undoing (${formatBytes(limits.bytes)}).`;
  }

  /** What asks the storage to keep those of the records that are in this store. */
  request(records: readonly RecordReference[], store: StoreModel): UndoRequest | undefined {
    const limits = undoLimits();
    if (limits === null) return undefined;
    const title = recordsTitle(records.filter((record) => record.store === store));
    return { directory: this.#directory, title, limits };
  }

  /** Something new may be undone. */
  tellChange(): void {
    this.#changed.fire(undefined);
  }

  /** Lets the user choose among what can be undone. */
  async choose(): Promise<void> {
    if (!(await trustedFor("brought back"))) return;
    const changes = await this.#tidied();
    if (changes.length === 0) {
      void window.showInformationMessage("There is nothing to undo.");
      return;
    }
    const now = Date.now() / 1000;
    const picks = changes.map((change) => ({
      label: `$(${iconOf(change)}) ${change.title}`,
      description: `${doneOf(change)} ${relativeTime(change.at, now)}`,
      detail: workspace.asRelativePath(change.directory, true),
      name: change.name,
    }));
    const placeHolder = "Undo what? A retry can be undone until a Rage worker takes its tasks.";
    const picked = await window.showQuickPick(picks, { placeHolder, matchOnDescription: true, matchOnDetail: true });
    if (picked !== undefined) await this.undo([picked.name]);
  }

  async forget(): Promise<void> {
    const changes = await this.#tidied();
    if (changes.length === 0) {
      void window.showInformationMessage("Nothing is kept for undoing.");
      return;
    }
    const bytes = changes.reduce((sum, change) => sum + change.bytes, 0);
    const forget = "Forget";
    const choice = await window.showWarningMessage(
      `Forget ${counted(changes.length, "change")} that could be undone (${formatBytes(bytes)})?`,
      { modal: true, detail: "What was deleted is lost then." },
      forget,
    );
    if (choice !== forget) return;
    await this.#service.pruneUndo(this.#directory, { bytes: 0, age: 0 });
    this.#changed.fire(undefined);
  }

  /** Forgets what is over the limits, which time alone can bring about. */
  async prune(): Promise<void> {
    try {
      await this.#service.pruneUndo(this.#directory, undoLimits() ?? { bytes: 0, age: 0 });
    } catch (error) {
      // Nobody asked for it.
      this.#reporter.log("warn", `What is kept for undoing could not be tidied up: ${userMessage(error)}`);
    }
  }

  async #tidied(): Promise<readonly UndoableChange[]> {
    await this.prune();
    return await this.#service.undoableChanges(this.#directory);
  }

  /** What can be undone, newest first. Never rejects: where it cannot be read, that is logged. */
  async changes(): Promise<readonly UndoableChange[]> {
    try {
      return await this.#service.undoableChanges(this.#directory);
    } catch (error) {
      this.#reporter.log("warn", `What can be undone could not be read: ${userMessage(error)}`);
      return [];
    }
  }

  /** Undoes these, each by itself; reported, never thrown. */
  async undo(names: readonly string[]): Promise<void> {
    if (!(await trustedFor("brought back"))) return;
    const outcome = { restored: 0, present: 0, gone: 0, takenAway: 0, changed: 0 };
    await window.withProgress({ location: { viewId: View.tasks } }, async () => {
      for (const name of names) {
        try {
          const { found, restored, present, elsewhere } = await this.#service.undoChange(this.#directory, name);
          outcome.restored += restored.length;
          outcome.present += present.length;
          outcome.gone += found ? 0 : 1;
          outcome.takenAway += elsewhere?.gone.length ?? 0;
          outcome.changed += elsewhere?.changed.length ?? 0;
        } catch (error) {
          this.#reporter.failure("undo", error);
        }
      }
    });
    this.#changed.fire(undefined);
    this.#reporter.log(
      "info",
      `undo: ${outcome.restored} dead again, ${outcome.present} there already, ${outcome.takenAway} taken away again`,
    );
    const text = undoneText(outcome);
    if (text === "") return;
    if (outcome.present + outcome.gone + outcome.changed > 0) void window.showWarningMessage(text);
    else window.setStatusBarMessage(text, 5000);
  }
}

/** What can be said of a deletion before it is confirmed. */
export function undoNote(obstacle: string | null): string {
  if (obstacle !== null) return `This cannot be undone. ${obstacle}`;
  const days = Math.max(1, Math.round((undoLimits()?.age ?? 0) / 86_400));
  return `It can be undone for ${counted(days, "day")}, by "Dead Tasks: Undo".`;
}

function iconOf({ log, elsewhere }: UndoableChange): string {
  if (elsewhere?.way === "copy") return "copy";
  if (elsewhere !== undefined) return "export";
  return log === null ? "trash" : "debug-rerun";
}

function doneOf({ log, elsewhere }: UndoableChange): string {
  if (elsewhere === undefined) return log === null ? "deleted" : "retried";
  const there = workspace.asRelativePath(elsewhere.directory, true);
  return elsewhere.way === "copy" ? `copied to ${there}` : `retried in ${there}`;
}

type Undone = Readonly<Record<"restored" | "present" | "gone" | "takenAway" | "changed", number>>;

function undoneText({ restored, present, gone, takenAway, changed }: Undone): string {
  const parts: string[] = [];
  if (restored > 0) parts.push(`Brought back ${counted(restored, "dead task")}.`);
  if (present === 1) parts.push("1 is among the dead tasks already, and is left as it is.");
  if (present > 1) parts.push(`${formatCount(present)} are among the dead tasks already, and are left as they are.`);
  if (takenAway > 0)
    parts.push(
      `Took ${counted(takenAway, "task")} away again from where ${takenAway === 1 ? "it was" : "they were"} sent.`,
    );
  if (changed === 1) parts.push("1 has changed there since, and is left as it is.");
  if (changed > 1) parts.push(`${formatCount(changed)} have changed there since, and are left as they are.`);
  if (gone > 0) parts.push("What was done cannot be undone any more: it is not kept.");
  return parts.join(" ");
}
