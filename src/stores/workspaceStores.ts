import { commands, RelativePattern, window, workspace, type WorkspaceFolder } from "vscode";
import { Command, Setting } from "../ids";
import type { Reporter } from "../reporter";
import type { StoreService } from "../service/storeService";
import { combineStores, type FolderInput } from "./combineStores";
import { Emitter, type Disposable } from "./emitter";
import { withoutLinks } from "../text/labels";
import type { StoreRegistry } from "./storeRegistry";

/** Files whose text says what an application uses, in the folder itself and in its direct sub-folders. */
const configurationFiles = "{Gemfile,config.ru,config/**/*.rb,*/Gemfile,*/config.ru,*/config/**/*.rb}";
/** Data files that may appear where no application's text points. */
const dataFiles = "{storage,*/storage}/*dead_tasks-0";
/** Editors save several files at once and branches switch hundreds; look once they are done, in milliseconds. */
const settleTime = 300;

/** Keeps the registry's stores what the workspace says they are. */
export class WorkspaceStores implements Disposable {
  readonly #service: StoreService;
  readonly #registry: StoreRegistry;
  readonly #reporter: Reporter;
  readonly #looked = new Emitter<undefined>();
  readonly #disposables: Disposable[] = [];
  readonly #shownProblems = new Set<string>();
  #watchers: Disposable[] = [];
  #timer: NodeJS.Timeout | null = null;
  #round = 0;

  looked = false;
  /** What is wrong with the setting `deadTasks.stores`. */
  problems: readonly string[] = [];

  /** A look has ended, whether or not something changed. */
  readonly onDidLook = this.#looked.event;

  constructor(service: StoreService, registry: StoreRegistry, reporter: Reporter) {
    this.#service = service;
    this.#registry = registry;
    this.#reporter = reporter;
    this.#disposables.push(
      this.#looked,
      workspace.onDidChangeWorkspaceFolders(() => {
        this.#watch();
        void this.look();
      }),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${Setting.section}.${Setting.stores}`)) void this.look();
      }),
      // Trust makes the workspace's own setting count.
      workspace.onDidGrantWorkspaceTrust(() => {
        void this.look();
      }),
    );
    this.#watch();
  }

  /** Looks for stores now. Failures are reported to the user, never thrown. */
  async look(): Promise<void> {
    const round = ++this.#round;
    const folders = (workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
    const inputs =
      folders.length === 0 ? [settingOnly()] : await Promise.all(folders.map((folder) => this.#read(folder)));
    // A later look knows better.
    if (round !== this.#round) return;
    const { stores, problems } = combineStores(inputs);
    this.problems = problems;
    this.looked = true;
    try {
      await this.#registry.setStores(stores);
    } catch (error) {
      this.#reporter.failureOnce("open the stores", error);
    }
    if (workspace.isTrusted) void this.#finishInterrupted();
    this.#looked.fire(undefined);
    if (problems.length > 0) void this.#showProblems(problems);
  }

  /** What a window or command line that was closed in the middle of a retry has left. */
  async #finishInterrupted(): Promise<void> {
    try {
      await Promise.all(this.#registry.stores.map(({ key }) => this.#service.finishInterrupted(key)));
    } catch (error) {
      this.#reporter.failureOnce("finish interrupted retries", error);
    }
  }

  async #read(folder: WorkspaceFolder): Promise<FolderInput> {
    const setting: unknown = workspace.getConfiguration(Setting.section, folder.uri).get(Setting.stores);
    const named = { name: folder.name, path: folder.uri.fsPath };
    try {
      return { folder: named, setting, discovered: await this.#service.discover(folder.uri.fsPath) };
    } catch (error) {
      this.#reporter.failureOnce(`look for stores in ${folder.uri.fsPath}`, error);
      return { folder: named, setting, discovered: [] };
    }
  }

  /** One notification, whatever their number, and only for what was not shown before; the view lists them all. */
  async #showProblems(problems: readonly string[]): Promise<void> {
    const fresh = problems.filter((problem) => !this.#shownProblems.has(problem));
    const [first] = fresh;
    if (first === undefined) return;
    for (const problem of fresh) {
      this.#shownProblems.add(problem);
      this.#reporter.log("warn", problem);
    }
    const more = fresh.length > 1 ? ` The view “Dead Tasks” lists ${fresh.length - 1} more.` : "";
    const openSettings = "Open Settings";
    if ((await window.showWarningMessage(withoutLinks(`${first}${more}`), openSettings)) === openSettings) {
      await commands.executeCommand(Command.openSettings);
    }
  }

  #lookSoon(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.look();
    }, settleTime);
  }

  #watch(): void {
    for (const watcher of this.#watchers) watcher.dispose();
    this.#watchers = [];
    const look = (): void => {
      this.#lookSoon();
    };
    for (const folder of workspace.workspaceFolders ?? []) {
      if (folder.uri.scheme !== "file") continue;
      const configuration = workspace.createFileSystemWatcher(new RelativePattern(folder, configurationFiles));
      // Once a data file is known, the worker watches it; only its first appearance is news here.
      const data = workspace.createFileSystemWatcher(new RelativePattern(folder, dataFiles), false, true, true);
      this.#watchers.push(
        configuration,
        configuration.onDidCreate(look),
        configuration.onDidChange(look),
        configuration.onDidDelete(look),
        data,
        data.onDidCreate(look),
      );
    }
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const disposable of [...this.#watchers, ...this.#disposables]) disposable.dispose();
  }
}

function settingOnly(): FolderInput {
  return { folder: null, setting: workspace.getConfiguration(Setting.section).get(Setting.stores), discovered: [] };
}
