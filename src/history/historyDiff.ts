import { commands, Uri, workspace, type Disposable, type TextDocumentContentProvider } from "vscode";
import { historyTextScheme } from "../ids";
import { userMessage } from "../reporter";
import type { HistoryEdit, HistoryEntry } from "../service/historyProtocol";
import { oneLine, shownId } from "../text/labels";
import { taskName } from "./historyTexts";
import type { HistoryView } from "./historyView";

type Side = "before" | "after";

/** The arguments of a task before and after an edit, in the editor's own diff. */
export class HistoryDiff implements TextDocumentContentProvider, Disposable {
  readonly #view: HistoryView;
  readonly #registration: Disposable;

  constructor(view: HistoryView) {
    this.#view = view;
    this.#registration = workspace.registerTextDocumentContentProvider(historyTextScheme, this);
  }

  async show(entry: HistoryEntry, edit: HistoryEdit): Promise<void> {
    const task = entry.tasks.find(({ id }) => id === edit.id);
    const name = oneLine(task === undefined ? shownId(edit.id) : taskName(task), 60);
    const [before, after] = (["before", "after"] as const).map((side) => addressOf(name, entry, edit, side));
    await commands.executeCommand("vscode.diff", before, after, `${name}: Arguments Before ↔ After`, { preview: true });
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const [key, id, side] = partsOf(uri);
    try {
      const entry = key === undefined ? undefined : await this.#view.entry(key);
      const edit = entry?.edits.find((one) => one.id === id);
      if (edit === undefined) return "# The history keeps this no longer.\n";
      return `${side === "before" ? edit.before : edit.after}\n`;
    } catch (error) {
      return `# The history could not be read: ${userMessage(error)}\n`;
    }
  }

  dispose(): void {
    this.#registration.dispose();
  }
}

/** The arguments themselves stand in no address, since the editor remembers those. */
function addressOf(name: string, entry: HistoryEntry, edit: HistoryEdit, side: Side): Uri {
  const path = `/${name.replaceAll("/", "_")} ${side}.rb`;
  return Uri.from({ scheme: historyTextScheme, path, query: JSON.stringify([entry.key, edit.id, side]) });
}

function partsOf(uri: Uri): readonly (string | undefined)[] {
  try {
    const parts: unknown = JSON.parse(uri.query);
    return Array.isArray(parts) ? parts.map((part) => (typeof part === "string" ? part : undefined)) : [];
  } catch {
    return []; // not JSON: someone else's address
  }
}
