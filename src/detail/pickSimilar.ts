import { ThemeIcon, window, type QuickPickItem } from "vscode";
import type { TaskSummary } from "../service/protocol";
import { oneLine, shownId } from "../text/labels";
import { absoluteTime, relativeTime } from "../text/times";

interface SimilarPick extends QuickPickItem {
  readonly id: string;
}

/** Lets one of the tasks be picked, or compared with its button; the id of the picked one, null for none. */
export async function pickSimilar(
  tasks: readonly TaskSummary[],
  compare: (id: string) => Promise<void>,
): Promise<string | null> {
  const now = Date.now() / 1000;
  const button = { iconPath: new ThemeIcon("diff"), tooltip: "Compare with the shown task" };
  const picker = window.createQuickPick<SimilarPick>();
  picker.title = "Tasks That Died Alike";
  picker.placeholder = "Show which task?";
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  picker.items = tasks.map(({ id, failedAt, exceptionMessage }) => ({
    id,
    label: relativeTime(failedAt, now),
    description: `${absoluteTime(failedAt)} · ${shownId(id)}`,
    detail: oneLine(exceptionMessage),
    buttons: [button],
  }));
  try {
    return await new Promise((resolve, reject) => {
      picker.onDidAccept(() => {
        resolve(picker.selectedItems[0]?.id ?? null);
      });
      picker.onDidTriggerItemButton(({ item }) => {
        compare(item.id).then(() => {
          resolve(null);
        }, reject);
      });
      picker.onDidHide(() => {
        resolve(null);
      });
      picker.show();
    });
  } finally {
    picker.dispose();
  }
}
