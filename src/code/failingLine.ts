import { window } from "vscode";
import type { RecordReference } from "../actions/references";
import type { DetailPane } from "../detail/detailPane";
import type { ResolvedFrame } from "../detail/taskState";
import type { StoreService } from "../service/storeService";
import { openSettings } from "../settings";
import { oneLine, withoutLinks } from "../text/labels";
import type { CodeFiles } from "./codeFiles";
import { failingFrame } from "./frameFiles";
import { openPlace } from "./openPlace";

export interface FailingLineServices {
  readonly service: Pick<StoreService, "backtraces">;
  readonly code: CodeFiles;
  readonly pane: DetailPane;
}

/** Opens the line where the task failed, or says why that cannot be. */
export async function openFailingLine(record: RecordReference, services: FailingLineServices): Promise<void> {
  const { store, id } = record;
  if (!record.readable) {
    void window.showInformationMessage("A record that cannot be read names no line.");
    return;
  }
  const [found] = await services.service.backtraces(store.key, [id]);
  const name = oneLine(record.name);
  if (found === undefined) {
    void window.showInformationMessage(withoutLinks(`${name} is no longer among the dead tasks.`));
    return;
  }
  const frames = await services.code.resolve(found.backtrace, store);
  const failing = failingFrame(frames);
  const file = failing?.file ?? null;
  if (failing === null || file === null) await tellNotFound(name, frames);
  else await openPlace({ file, line: failing.frame.line }, services.pane.column);
}

async function tellNotFound(name: string, frames: readonly ResolvedFrame[]): Promise<void> {
  if (frames.length === 0) {
    void window.showInformationMessage(withoutLinks(`${name} has no backtrace: its error was never raised.`));
    return;
  }
  const own = frames.find(({ frame }) => frame.origin === "application" && frame.file !== null);
  if (own === undefined) {
    const text = `No line of the backtrace of ${name} is the application's own.`;
    void window.showInformationMessage(withoutLinks(text));
    return;
  }
  const where = oneLine(`${own.frame.file ?? ""}:${own.frame.line}`);
  const text =
    `${where} was not found in the workspace. Where the task died elsewhere, the setting “deadTasks.pathMappings” says ` +
    "which directory here its path means.";
  const open = "Open Settings";
  if ((await window.showWarningMessage(withoutLinks(text), open)) === open) await openSettings("pathMappings");
}
