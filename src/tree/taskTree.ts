import { EventEmitter, type Disposable, type TreeDataProvider, type TreeItem } from "vscode";
import type { TaskSummary } from "../service/protocol";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import { relativeTime } from "../text/times";
import type { FilteredTasks } from "./filteredTasks";
import { childNodes, pageSize, parentNode, rootNodes, type TreeInput, type TreeNode } from "./nodes";
import { tooltip, treeItem, type ItemInput } from "./treeItems";

/**
 * Updates come in bursts while a store is read; the tree is drawn anew at most this often, in milliseconds. More than the 200 for which
 * VS Code itself waits for another change before it draws: with less, a store that is written to all the time would never be drawn.
 */
const refreshInterval = 300;

/** The tree of stores and tasks, over the registry's models. It reads no file and keeps nothing but how far pages go. */
export class TaskTree implements TreeDataProvider<TreeNode>, TreeInput, ItemInput, Disposable {
  readonly #registry: StoreRegistry;
  readonly #problems: () => readonly string[];
  readonly #filtered: FilteredTasks;
  readonly #changed = new EventEmitter<undefined>();
  readonly #shown = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #pending = false;
  /** Of what the editor shows; null where that is not known. */
  #drawn: readonly unknown[] | null = null;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(
    registry: StoreRegistry,
    problems: () => readonly string[],
    filtered: FilteredTasks,
    readonly hasChanged: (store: StoreModel, task: TaskSummary) => boolean,
  ) {
    this.#registry = registry;
    this.#problems = problems;
    this.#filtered = filtered;
  }

  get stores(): readonly StoreModel[] {
    return this.#registry.stores;
  }

  get problems(): readonly string[] {
    return this.#problems();
  }

  shown(store: StoreModel): number {
    return this.#shown.get(store.key) ?? pageSize;
  }

  get isFiltered(): boolean {
    return this.#filtered.filter !== null;
  }

  tasks(store: StoreModel): readonly TaskSummary[] {
    if (store.wasReady) return this.#filtered.newestFirst(store);
    const { filter } = this.#filtered;
    return filter === null ? store.early : store.early.filter((task) => filter.matches(task, store.key));
  }

  get nothingMatches(): boolean {
    const { isSettled, counts } = this.#filtered;
    return this.isFiltered && isSettled && counts.shown === 0 && counts.all > 0;
  }

  /** Begins with the first page of each store again. */
  showFirstPages(): void {
    this.#shown.clear();
    this.refresh();
  }

  showMore(store: StoreModel): void {
    this.#shown.set(store.key, this.shown(store) + pageSize);
    this.refresh();
  }

  /**
   * Has the tree drawn anew, at once, or with the next turn where the last was just now, and only if that would show anything
   * else: while the editor draws, a click on an item is lost.
   */
  refresh(): void {
    if (this.#timer !== null) {
      this.#pending = true;
      return;
    }
    this.#pending = false;
    const picture = this.#picture(rootNodes(this));
    const drawn = this.#drawn;
    if (picture.length !== drawn?.length || picture.some((part, index) => part !== drawn[index])) {
      this.#drawn = picture;
      this.#changed.fire(undefined);
    }
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#pending) this.refresh();
    }, refreshInterval);
  }

  /** What all that can be seen of these nodes, and of those below them, depends on; equal part by part where nothing changed. */
  #picture(nodes: readonly TreeNode[]): unknown[] {
    const now = Date.now() / 1000;
    return nodes.flatMap((node) => {
      if (node.kind === "task") {
        const { task, store } = node;
        // A task that changes is another object. Thousands may be shown, so their items and tooltips are not made for this.
        return [task, relativeTime(task.failedAt, now), store.status.readOnly, this.hasChanged(store, task)];
      }
      const { id, label, description, contextValue, collapsibleState } = treeItem(node, now, this);
      const below = this.#picture(childNodes(node, this));
      return [id, label, description, contextValue, collapsibleState, tooltip(node, now)?.value, ...below];
    });
  }

  getChildren(node?: TreeNode): TreeNode[] {
    // The editor asks when it likes, also between a change and the refresh that is to come for it. What it then shows may be over by that
    // time, and all be as it was when it was last told to draw.
    if (this.#pending) this.#drawn = null;
    return node === undefined ? rootNodes(this) : childNodes(node, this);
  }

  getParent(node: TreeNode): TreeNode | undefined {
    return parentNode(node, this);
  }

  getTreeItem(node: TreeNode): TreeItem {
    return treeItem(node, Date.now() / 1000, this);
  }

  resolveTreeItem(item: TreeItem, node: TreeNode): TreeItem {
    const text = tooltip(node, Date.now() / 1000);
    if (text !== undefined) item.tooltip = text;
    return item;
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#changed.dispose();
  }
}
