import { homedir } from "node:os";
import path, { dirname } from "node:path";
import { Uri, window, workspace } from "vscode";
import type { ResolvedFrame } from "../detail/taskState";
import { Setting } from "../ids";
import type { Reporter } from "../reporter";
import { openSettings } from "../settings";
import { isClassName } from "../ruby/textFilter";
import type { StoreModel } from "../stores/storeModel";
import { withoutLinks } from "../text/labels";
import { FrameFinder, isFile } from "./frameFiles";
import { insideOf } from "./frames";
import { Gems } from "./gems";
import { parsePathMappings, type PathMapping } from "./pathMappings";
import { conventionalPath } from "./taskClassesNames";

const taskDirectories = ["app/tasks", "app/jobs", "app", "lib"];

/** Finds the files that backtraces name, for the stores of this window. */
export class CodeFiles {
  readonly #reporter: Reporter;
  readonly #gems = new Map<string, Gems>();
  readonly #shownProblems = new Set<string>();

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  /** The frames of a backtrace, each with the file that it means, or why there is none. */
  async resolve(backtrace: readonly string[], store: StoreModel): Promise<ResolvedFrame[]> {
    return this.finder(store).resolve(backtrace);
  }

  /** For one round of looking at backtraces of a store. */
  finder(store: StoreModel): FrameFinder {
    const roots = rootsOf(store);
    return new FrameFinder({ roots, mappings: this.#mappings(store.description.folder), gems: this.#gemsOf(roots) });
  }

  /** Where Ruby's convention puts a class, below the directories in which an application has its tasks. Null where that is not. */
  async classFile(store: StoreModel, taskClass: string): Promise<string | null> {
    if (!isClassName(taskClass)) return null;
    const file = conventionalPath(taskClass);
    for (const root of rootsOf(store)) {
      for (const directory of taskDirectories) {
        const candidate = path.join(root, directory, file);
        if (await isFile(candidate)) return candidate;
      }
    }
    return null;
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
}

/** Where to look, the likeliest first: the directory that holds the store's, its workspace folder, the other folders. */
export function rootsOf({ description }: StoreModel): string[] {
  const folders = (workspace.workspaceFolders ?? [])
    .filter((folder) => folder.uri.scheme === "file")
    .map((folder) => folder.uri.fsPath);
  const application = dirname(description.target.path);
  const isInWorkspace = folders.some(
    (folder) => folder === application || insideOf(folder, application, path) !== null,
  );
  const own = description.folder === null ? [] : [description.folder];
  return [...new Set([...(isInWorkspace ? [application] : []), ...own, ...folders])];
}
