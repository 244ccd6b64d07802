import { commands, env, Uri, window, workspace } from "vscode";
import { confirmed } from "../actions/asking";
import type { UndoList } from "../actions/undoList";
import type { DetailPane } from "../detail/detailPane";
import { Command } from "../ids";
import { showInList } from "../raw/showInList";
import type { HistoryEntry } from "../service/historyProtocol";
import type { StoreService } from "../service/storeService";
import type { StoreRegistry } from "../stores/storeRegistry";
import { counted, oneLine, withoutLinks } from "../text/labels";
import { absoluteTime } from "../text/times";
import { selectionOf } from "../tree/selection";
import type { TaskView } from "../tree/taskView";
import type { HistoryDiff } from "./historyDiff";
import { entryMarkdown, historyJson, historyMarkdown } from "./historyExport";
import { taskName } from "./historyTexts";
import { isHistoryNode, type HistoryNode } from "./historyTree";
import type { HistoryView } from "./historyView";

export interface HistoryServices {
  readonly service: StoreService;
  readonly registry: StoreRegistry;
  readonly view: TaskView;
  readonly pane: DetailPane;
  readonly undoList: UndoList;
  readonly historyView: HistoryView;
  readonly historyDiff: HistoryDiff;
}

/** What the commands of the history do, by their names. */
export function historyHandlers(services: HistoryServices) {
  const { historyView, undoList } = services;
  /** What was clicked, or is selected where a key was pressed. */
  const chosen = async (given: readonly unknown[]): Promise<HistoryNode | undefined> => {
    const [item] = given.length > 0 ? given : await selectionOf(historyView.view);
    return isHistoryNode(item) ? item : undefined;
  };
  const chosenEntry = async (given: readonly unknown[]): Promise<HistoryEntry | undefined> => {
    const node = await chosen(given);
    return node !== undefined && "entry" in node ? node.entry : undefined;
  };
  return {
    [Command.openHistory]: async (given: readonly unknown[]) => {
      const node = await chosen(given);
      if (node?.kind === "historyEdit") await services.historyDiff.show(node.entry, node.edit);
      else if (node?.kind === "historyTask") await showTask(services, node.entry, node.task);
      else if (node?.kind === "historyFailure") await showTask(services, node.entry, { ...node.task, newId: null });
    },
    [Command.undoHistory]: async (given: readonly unknown[]) => {
      const entry = await chosenEntry(given);
      if (entry === undefined || entry.undo === null) {
        void window.showInformationMessage("Only a deletion or a retry that is kept for undoing can be undone.");
        return;
      }
      await undoList.undo([entry.undo]);
    },
    [Command.copyHistory]: async (given: readonly unknown[]) => {
      const entry = await chosenEntry(given);
      if (entry === undefined) return;
      await env.clipboard.writeText(`${entryMarkdown(entry, historyView.names)}\n`);
      window.setStatusBarMessage("Copied as Markdown", 3000);
    },
    [Command.olderHistory]: () => historyView.showOlder(),
    [Command.showAllHistory]: () => historyView.showAll(true),
    [Command.showOpenHistory]: () => historyView.showAll(false),
    [Command.exportHistory]: () => exportHistory(historyView),
    [Command.clearHistory]: () => clearHistory(services),
  };
}

/** Where the task is dead still, or again: a retried one that died anew has its new id. */
async function showTask(
  { registry, view, pane }: HistoryServices,
  entry: HistoryEntry,
  task: HistoryEntry["tasks"][number],
): Promise<void> {
  const name = oneLine(taskName(task));
  const store = entry.storeKey === null ? undefined : registry.find(entry.storeKey);
  if (store === undefined) {
    void window.showInformationMessage(withoutLinks(`The store of ${name} is not open here: ${entry.store.directory}`));
    return;
  }
  const isDead = (id: string): boolean => store.task(id) !== undefined || store.isUnreadable(id);
  const id = [task.newId, task.id].filter((one) => one !== null).find(isDead);
  if (id !== undefined) await showInList(view, pane, store, id);
  else void window.showInformationMessage(withoutLinks(`${name} is not among the dead tasks now.`));
}

/** All that the view is about, whether or not it is in sight, into a file of the user's choice: by its ending JSON or Markdown. */
async function exportHistory(historyView: HistoryView): Promise<void> {
  const entries = await historyView.everything();
  if (entries.length === 0) {
    void window.showInformationMessage("The history is empty.");
    return;
  }
  const now = Date.now() / 1000;
  const name = `dead-tasks-history-${absoluteTime(now).slice(0, 10)}.md`;
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const target = await window.showSaveDialog({
    title: "Export the History of Dead Tasks",
    saveLabel: "Export",
    filters: { Markdown: ["md"], JSON: ["json"] },
    ...(folder === undefined ? {} : { defaultUri: Uri.joinPath(folder, name) }),
  });
  if (target === undefined) return;
  const isJson = target.path.toLowerCase().endsWith(".json");
  const text = isJson ? historyJson(entries) : historyMarkdown(entries, historyView.names, now);
  await workspace.fs.writeFile(target, Buffer.from(text, "utf8"));
  const open = "Open";
  const exported = `Exported ${counted(entries.length, "entry", "entries")} of the history.`;
  // Not waited for: a notification may stay for hours.
  void window.showInformationMessage(exported, open).then(async (choice) => {
    if (choice === open) await commands.executeCommand("vscode.open", target);
  });
}

async function clearHistory({ service, historyView }: HistoryServices): Promise<void> {
  const isSure = await confirmed({
    message: "Clear the history of all windows and workspaces?",
    detail: "What was done stays done, and what can be undone can be undone afterwards, too.",
    button: "Clear",
  });
  if (!isSure) return;
  await service.clearHistory();
  await historyView.look();
}
