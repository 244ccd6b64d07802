import { commands, Disposable, window, workspace, type TreeView } from "vscode";
import type { ChangesSinceFailure } from "../code/changes";
import { ContextKey, View } from "../ids";
import type { StoreRegistry } from "../stores/storeRegistry";
import type { WorkspaceStores } from "../stores/workspaceStores";
import { FilteredTasks } from "./filteredTasks";
import type { TreeNode } from "./nodes";
import type { TaskFilter } from "./taskFilter";
import { TaskTree } from "./taskTree";
import { viewState } from "./viewState";

/** How often "5 min ago" is brought up to date, in milliseconds. */
const timesInterval = 30_000;
/** How long a store may be read before a progress bar says so, in milliseconds. */
const quietReading = 1_000;

/** The view in the side bar: the tree, its badge, message, progress and the keys that its menus and welcome texts go by. */
export class TaskView implements Disposable {
  readonly tree: TaskTree;
  readonly view: TreeView<TreeNode>;
  readonly filtered: FilteredTasks;
  readonly #registry: StoreRegistry;
  readonly #stores: WorkspaceStores;
  readonly #disposables: { dispose(): unknown }[] = [];
  #readingTimer: NodeJS.Timeout | null = null;
  #endReading: (() => void) | null = null;

  constructor(registry: StoreRegistry, stores: WorkspaceStores, changes: ChangesSinceFailure) {
    this.#registry = registry;
    this.#stores = stores;
    // Before anyone who asks it what is shown is told of a change.
    this.filtered = new FilteredTasks(registry);
    this.tree = new TaskTree(
      registry,
      () => stores.problems,
      this.filtered,
      (store, task) => {
        // Nobody looks at what a view that is not shown lists.
        if (this.view.visible) changes.lookSoon(store, task);
        return changes.known(task).length > 0;
      },
    );
    this.view = window.createTreeView(View.tasks, {
      treeDataProvider: this.tree,
      canSelectMany: true,
      showCollapseAll: true,
    });
    const update = (): void => {
      this.#update();
    };
    const times = setInterval(() => {
      if (this.view.visible) this.tree.refresh();
    }, timesInterval);
    this.#disposables.push(
      this.tree,
      this.view,
      this.filtered,
      this.filtered.onDidChange(update),
      registry.onDidChange(update),
      registry.onDidChangeStores(update),
      changes.onDidChange(() => {
        this.tree.refresh();
      }),
      stores.onDidLook(update),
      workspace.onDidGrantWorkspaceTrust(update),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) this.tree.refresh();
      }),
      new Disposable(() => {
        clearInterval(times);
      }),
    );
    update();
  }

  /** Shows the tasks that it lets through, and those that come later; null for all of them. */
  setFilter(filter: TaskFilter | null): void {
    this.filtered.set(filter);
    this.tree.showFirstPages();
  }

  /** The same, in sight. */
  async showOnly(filter: TaskFilter): Promise<void> {
    this.setFilter(filter);
    await commands.executeCommand(`${View.tasks}.focus`);
  }

  #update(): void {
    const { filter } = this.filtered;
    const state = viewState({
      folderCount: workspace.workspaceFolders?.length ?? 0,
      looked: this.#stores.looked,
      trusted: workspace.isTrusted,
      stores: this.#registry.stores,
      problems: this.#stores.problems,
      filter: filter === null ? null : { label: filter.label, ...this.filtered.counts },
    });
    if (this.view.description !== state.description) this.view.description = state.description;
    if (this.view.message !== state.message) this.view.message = state.message;
    if (this.view.badge?.value !== state.badge?.value) this.view.badge = state.badge;
    setContext(ContextKey.situation, state.situation);
    setContext(ContextKey.storeCount, this.#registry.stores.length);
    setContext(ContextKey.hasChangeableTasks, state.hasChangeableTasks);
    setContext(ContextKey.filtered, filter !== null);
    this.#showReading(!this.#stores.looked || this.#registry.stores.some((store) => store.status.phase === "indexing"));
    this.tree.refresh();
  }

  #showReading(reading: boolean): void {
    if (!reading) {
      if (this.#readingTimer !== null) clearTimeout(this.#readingTimer);
      this.#readingTimer = null;
      this.#endReading?.();
      this.#endReading = null;
    } else if (this.#readingTimer === null && this.#endReading === null) {
      this.#readingTimer = setTimeout(() => {
        this.#readingTimer = null;
        const end = new Promise<void>((resolve) => (this.#endReading = resolve));
        void window.withProgress({ location: { viewId: View.tasks } }, () => end);
      }, quietReading);
    }
  }

  dispose(): void {
    this.#showReading(false);
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

const lastContext = new Map<string, unknown>();

/** Each context key crosses to the window and re-evaluates menus there, so only changes are sent. */
function setContext(key: (typeof ContextKey)[keyof typeof ContextKey], value: unknown): void {
  if (lastContext.get(key) === value) return;
  lastContext.set(key, value);
  void commands.executeCommand("setContext", key, value);
}
