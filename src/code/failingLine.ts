import { window } from "vscode";
import type { RecordReference } from "../actions/references";
import type { DetailPane } from "../detail/detailPane";
import type { ResolvedFrame } from "../detail/taskState";
import type { StoreService } from "../service/storeService";
import { openSettings } from "../settings";
import { oneLine, withoutLinks } from "../text/labels";
import type { CodeFiles } from "./codeFiles";
import { openPlace, type CodePlace } from "./openPlace";

/** The first of the application's own frames that has a file here: where a task failed, as far as its developer is concerned. */
export function failingPlace(frames: readonly ResolvedFrame[]): CodePlace | null {
  for (const { frame, file } of frames) {
    if (frame.origin === "application" && file !== null) return { file, line: frame.line };
  }
  return null;
}

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
  const place = failingPlace(frames);
  if (place !== null) await openPlace(place, services.pane.column);
  else await tellNotFound(name, frames);
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
