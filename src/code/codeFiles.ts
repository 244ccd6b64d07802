import { homedir } from "node:os";
import { dirname, relative } from "node:path";
import { Uri, window, workspace, type Disposable } from "vscode";
import type { ResolvedFrame } from "../detail/taskState";
import { Setting } from "../ids";
import type { Reporter } from "../reporter";
import { openSettings } from "../settings";
import type { StoreModel } from "../stores/storeModel";
import { withoutLinks } from "../text/labels";
import { resolveFrames, type FrameSearch } from "./frameFiles";
import { Gems } from "./gems";
import { parsePathMappings, type PathMapping } from "./pathMappings";

/** Finds the files that backtraces name, for the stores of this window. */
export class CodeFiles implements Disposable {
  readonly #reporter: Reporter;
  readonly #gems = new Map<string, Gems>();
  readonly #shownProblems = new Set<string>();

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  /** The frames of a backtrace, each with the file that it means, or why there is none. */
  async resolve(backtrace: readonly string[], store: StoreModel): Promise<ResolvedFrame[]> {
    return resolveFrames(backtrace, this.#search(store));
  }

  #search(store: StoreModel): FrameSearch {
    const roots = rootsOf(store);
    return { roots, mappings: this.#mappings(store.description.folder), gems: this.#gemsOf(roots) };
  }

  #mappings(folder: string | null): readonly PathMapping[] {
    const scope = folder === null ? null : Uri.file(folder);
    const setting: unknown = workspace.getConfiguration(Setting.section, scope).get(Setting.pathMappings);
    const { mappings, problems } = parsePathMappings(setting, folder);
    for (const problem of problems) void this.#showProblem(problem);
    return mappings;
  }

  /** Each problem once: the setting is read for every backtrace. */
  async #showProblem(problem: string): Promise<void> {
    if (this.#shownProblems.has(problem)) return;
    this.#shownProblems.add(problem);
    this.#reporter.log("warn", problem);
    const open = "Open Settings";
    if ((await window.showWarningMessage(withoutLinks(problem), open)) === open) await openSettings();
  }

  #gemsOf(roots: readonly string[]): Gems {
    const trusted = workspace.isTrusted;
    const key = JSON.stringify([trusted, ...roots]);
    let gems = this.#gems.get(key);
    if (gems === undefined) {
      gems = new Gems({ variables: process.env, home: homedir(), applications: roots, trusted });
      this.#gems.set(key, gems);
    }
    return gems;
  }

  dispose(): void {
    this.#gems.clear();
  }
}

/** Where to look, the likeliest first: the directory that holds the store's, its workspace folder, the other folders. */
function rootsOf({ description }: StoreModel): string[] {
  const folders = (workspace.workspaceFolders ?? [])
    .filter((folder) => folder.uri.scheme === "file")
    .map((folder) => folder.uri.fsPath);
  const application = dirname(description.target.path);
  const isInWorkspace = folders.some((folder) => !relative(folder, application).startsWith(".."));
  const own = description.folder === null ? [] : [description.folder];
  return [...new Set([...(isInWorkspace ? [application] : []), ...own, ...folders])];
}
