import { EventEmitter, window, type Disposable, type TreeDataProvider, type TreeItem, type TreeView } from "vscode";
import type { UndoList } from "../actions/undoList";
import { View } from "../ids";
import type { Reporter } from "../reporter";
import type { PendingLog, UndoableChange } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import { lookWhileSeen } from "./lookWhileSeen";
import { pendingChildren, pendingItem, pendingRoots, type PendingNode } from "./pendingTree";

/** How often the logs are looked at while the view is seen, in milliseconds. */
const lookInterval = 1_500;
/** How often "in 5 min" is brought up to date, in milliseconds. */
const timesInterval = 30_000;

interface Known {
  readonly fingerprint: string;
  readonly logs: readonly PendingLog[];
}

/** The list of what waits in the logs. Nothing is read as long as nobody looks at it. */
export class PendingView implements TreeDataProvider<PendingNode>, Disposable {
  readonly view: TreeView<PendingNode>;
  readonly #service: StoreService;
  readonly #registry: StoreRegistry;
  readonly #undoList: UndoList;
  readonly #reporter: Reporter;
  readonly #changed = new EventEmitter<undefined>();
  readonly #known = new Map<StoreModel, Known>();
  readonly #disposables: { dispose(): unknown }[];
  #undoable: readonly UndoableChange[] = [];
  #looking: Promise<void> | null = null;
  #drawnAt = 0;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(service: StoreService, registry: StoreRegistry, undoList: UndoList, reporter: Reporter) {
    this.#service = service;
    this.#registry = registry;
    this.#undoList = undoList;
    this.#reporter = reporter;
    this.view = window.createTreeView(View.pending, { treeDataProvider: this, showCollapseAll: true });
    const happenings = [registry.onDidChangeStores, undoList.onDidChange];
    const looking = lookWhileSeen(this.view, lookInterval, () => this.look(), happenings);
    this.#disposables = [looking, this.view, this.#changed];
  }

  /** Brings the list up to date. Never rejects. */
  async look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  async #look(): Promise<void> {
    let isNews = Date.now() - this.#drawnAt > timesInterval;
    const { stores } = this.#registry;
    for (const store of this.#known.keys()) if (!stores.includes(store) && this.#known.delete(store)) isNews = true;
    for (const store of stores) {
      try {
        const { fingerprint, logs } = await this.#service.pendingLogs(
          store.key,
          this.#known.get(store)?.fingerprint ?? null,
        );
        if (logs === null) continue;
        this.#known.set(store, { fingerprint, logs });
        isNews = true;
      } catch (error) {
        this.#reporter.failureOnce(`read the pending tasks of ${store.name}`, error);
      }
    }
    if (!isNews) return;
    this.#undoable = await this.#undoList.changes();
    this.#drawnAt = Date.now();
    const count = [...this.#known.values()].reduce(
      (sum, { logs }) => sum + logs.reduce((all, log) => all + log.count, 0),
      0,
    );
    this.view.description = count === 0 ? "" : String(count);
    this.#changed.fire(undefined);
  }

  /** By which name what waits in this log can be taken back; null where it is not of this editor's doing. */
  readonly #undoOf = (store: StoreModel, log: PendingLog): string | null => {
    const { path } = store.description.target;
    const isOf = (change: UndoableChange): boolean =>
      (change.elsewhere ?? change).directory === path && change.log === log.name;
    return this.#undoable.find(isOf)?.name ?? null;
  };

  getChildren(node?: PendingNode): PendingNode[] {
    if (node !== undefined) return pendingChildren(node, this.#undoOf);
    const stores = this.#registry.stores.map((store) => ({ store, logs: this.#known.get(store)?.logs ?? [] }));
    return pendingRoots(stores, this.#undoOf);
  }

  getTreeItem(node: PendingNode): TreeItem {
    return pendingItem(node, Date.now() / 1000);
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
