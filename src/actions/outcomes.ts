import { commands, ThemeIcon, window, type Memento, type QuickPickItem } from "vscode";
import { Command, retryHintHiddenKey } from "../ids";
import type { NotificationAction, Reporter } from "../reporter";
import { formatCount, oneLine, shownId } from "../text/labels";
import type { TreeNode } from "../tree/nodes";
import { offer } from "./asking";
import { changedSentence, doneText, needsList, troubleText, whenRun, type Outcome } from "./messages";
import type { RecordReference } from "./references";
import type { UndoList } from "./undoList";

/** What an outcome is told with. */
export interface Telling {
  /** Of these the code has changed since they died. */
  readonly changed: ReadonlySet<RecordReference>;
  /** By which it can be undone. */
  readonly kept: readonly string[];
  readonly publishAt: number | null;
}

/** Tells the user what came of a retry or a deletion. */
export class Outcomes {
  readonly #reporter: Reporter;
  readonly #memory: Memento;
  readonly #undoList: UndoList;

  constructor(reporter: Reporter, memory: Memento, undoList: UndoList) {
    this.#reporter = reporter;
    this.#memory = memory;
    this.#undoList = undoList;
  }

  /** Does not wait for the answers to its notifications. */
  tell(verb: "retried" | "deleted", outcome: Outcome, { changed, kept, publishAt }: Telling): void {
    const what = doneText(verb, outcome);
    const doneAndChanged = outcome.done.filter((record) => changed.has(record)).length;
    const code = doneAndChanged === 0 ? "" : ` ${changedSentence(doneAndChanged, outcome.done.length)}`;
    const when = whenRun(
      outcome.done.length === 1 ? "It runs" : `All ${formatCount(outcome.done.length)} run`,
      publishAt,
    );
    const done = verb === "retried" && outcome.done.length > 0 ? `${what} ${when}${code}` : what;
    const trouble = troubleText(verb, outcome);
    const undo = outcome.done.length === 0 ? [] : this.undo(kept);
    if (trouble !== null) {
      const severity = outcome.failed.length > 0 ? "error" : "warning";
      const text = done === null ? trouble : `${done} ${trouble}`;
      const show: NotificationAction = { title: "Show", run: () => showTroubles(verb, outcome) };
      this.#reporter.notify(severity, text, needsList(outcome) ? [...undo, show] : undo);
      return;
    }
    if (done === null) return;
    const isHint = verb === "retried" && !outcome.cancelled && this.#memory.get(retryHintHiddenKey) !== true;
    const hide: NotificationAction = {
      title: "Don't Show Again",
      run: async () => {
        await this.#memory.update(retryHintHiddenKey, true);
      },
    };
    const actions = [...undo, ...(isHint ? [hide] : [])];
    if (outcome.cancelled || (actions.length > 0 && (isHint || verb === "deleted"))) offer(done, actions);
    else window.setStatusBarMessage(done, 5000);
  }

  /** The button that undoes this, where something is kept for it. */
  undo(kept: readonly string[]): NotificationAction[] {
    return kept.length === 0 ? [] : [{ title: "Undo", run: () => this.#undoList.undo(kept) }];
  }
}

interface TroublePick extends QuickPickItem {
  readonly record: RecordReference;
}

/** All that was not done, each with its reason; the one that is picked is shown in the pane. */
async function showTroubles(verb: "retried" | "deleted", { missing, failed }: Outcome): Promise<void> {
  const troubles = [
    ...failed.map(({ record, error }) => ({ record, icon: "error", reason: error })),
    ...missing.map((record) => ({ record, icon: "circle-slash", reason: "It was already gone." })),
  ];
  const picks = troubles.map(({ record, icon, reason }): TroublePick => {
    const id = oneLine(shownId(record.id));
    const label = record.readable ? oneLine(record.name) : "A record that cannot be read";
    const description = `${id} · ${record.store.name}`;
    return { record, label, description, detail: oneLine(reason, 1_000), iconPath: new ThemeIcon(icon) };
  });
  const placeHolder = `${formatCount(picks.length)} that were not ${verb}. Show which?`;
  const picked = await window.showQuickPick(picks, { placeHolder, matchOnDescription: true, matchOnDetail: true });
  if (picked !== undefined) await showRecord(picked.record);
}

/** Shows a task, or what there is to know of one that has gone, in the pane. */
export async function showRecord({ store, id, readable }: RecordReference): Promise<void> {
  const task = store.task(id);
  const node: TreeNode | null =
    task !== undefined
      ? { kind: "task", store, task }
      : readable
        ? null
        : { kind: "unreadable", store, id, reason: "" };
  if (node !== null) await commands.executeCommand(Command.show, node);
  else void window.showInformationMessage("This task is no longer among the dead.");
}
