import { window } from "vscode";
import type { ContextText, TaskDetail } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import { maskedNames } from "../settings";
import { oneLine, withoutLinks } from "../text/labels";
import type { RecordReference } from "./references";

export interface ReadTask {
  readonly task: TaskDetail;
  readonly context: ContextText;
}

/** A task with its arguments as text; null, and said why, where it is gone or cannot be read. `reveal`: with its secrets. */
export async function readTask(
  service: Pick<StoreService, "detail">,
  record: RecordReference,
  reveal: boolean,
): Promise<ReadTask | null> {
  const detail = await service.detail(record.store.key, record.id, { reveal, maskedNames: maskedNames() });
  if (detail.kind === "gone") {
    void window.showInformationMessage(withoutLinks(`${oneLine(record.name)} is no longer among the dead tasks.`));
    return null;
  }
  if (detail.kind === "unreadable" || detail.task.context === null) {
    const reason = detail.kind === "unreadable" ? detail.reason : (detail.task.contextError ?? "");
    void window.showWarningMessage(withoutLinks(`The arguments of ${oneLine(record.name)} cannot be read: ${reason}`));
    return null;
  }
  return { task: detail.task, context: detail.task.context };
}
