import {
  commands,
  type Disposable,
  EventEmitter,
  window,
  type TreeDataProvider,
  type TreeItem,
  type TreeView,
} from "vscode";
import type { UndoList } from "../actions/undoList";
import { ContextKey, View } from "../ids";
import type { Reporter } from "../reporter";
import type { HistoryEntry } from "../service/historyProtocol";
import type { StoreService } from "../service/storeService";
import { historyLimits } from "../settings";
import type { StoreRegistry } from "../stores/storeRegistry";
import { lookWhileSeen } from "../tree/lookWhileSeen";
import { shortPlace, type PlaceNames } from "./historyTexts";
import { historyChildren, historyItem, historyRoots, type HistoryNode } from "./historyTree";

/** How often it is looked at while the view is seen, in milliseconds. */
const lookInterval = 1_500;
/** How often it is looked what can still be undone, in milliseconds, where nothing else is new. */
const undoInterval = 15_000;
/** Entries that are read at once. */
const pageSize = 200;
const exportPageSize = 1_000;

/** The list of what was done to dead tasks. Nothing is read as long as nobody looks at it. */
export class HistoryView implements TreeDataProvider<HistoryNode>, Disposable {
  readonly view: TreeView<HistoryNode>;
  readonly #service: StoreService;
  readonly #registry: StoreRegistry;
  readonly #undoList: UndoList;
  readonly #reporter: Reporter;
  readonly #changed = new EventEmitter<undefined>();
  readonly #disposables: { dispose(): unknown }[];
  #entries: readonly HistoryEntry[] = [];
  #more = false;
  #shown = pageSize;
  /** Null before the first look. */
  #fingerprint: string | null = null;
  #ofAll = false;
  #undoable: ReadonlySet<string> = new Set();
  #undone: ReadonlySet<string> = new Set();
  #looking: Promise<void> | null = null;
  #checkedAt = 0;
  #drawn = "";

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(service: StoreService, registry: StoreRegistry, undoList: UndoList, reporter: Reporter) {
    this.#service = service;
    this.#registry = registry;
    this.#undoList = undoList;
    this.#reporter = reporter;
    this.view = window.createTreeView(View.history, { treeDataProvider: this, showCollapseAll: true });
    const happenings = [registry.onDidChangeStores, undoList.onDidChange];
    const looking = lookWhileSeen(this.view, lookInterval, () => this.look(), happenings);
    this.#disposables = [looking, this.view, this.#changed];
  }

  /** Whether entries of all stores are shown, be they open here or not. */
  get ofAll(): boolean {
    return this.#ofAll;
  }

  async showAll(ofAll: boolean): Promise<void> {
    this.#ofAll = ofAll;
    this.#shown = pageSize;
    this.view.description = ofAll ? "all workspaces" : "";
    void commands.executeCommand("setContext", ContextKey.historyOfAll, ofAll);
    await this.lookAnew();
  }

  async showOlder(): Promise<void> {
    this.#shown += pageSize;
    await this.lookAnew();
  }

  /** Brings the list up to date. Never rejects. */
  async look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  /** The same where what was asked for is another. */
  async lookAnew(): Promise<void> {
    await this.#looking;
    this.#fingerprint = null;
    await this.look();
  }

  async #look(): Promise<void> {
    try {
      const { fingerprint, entries, more } = await this.#page(null, this.#shown, this.#fingerprint);
      const isNews = entries !== null;
      if (isNews) {
        this.#entries = entries;
        this.#more = more;
        this.#undone = new Set(entries.flatMap(({ undone }) => undone?.name ?? []));
      }
      this.#fingerprint = fingerprint;
      if (!isNews && Date.now() - this.#checkedAt < undoInterval) return;
      this.#checkedAt = Date.now();
      this.#undoable = new Set((await this.#undoList.changes()).map(({ name }) => name));
      const message = historyLimits() === null ? "Nothing is kept here, by the settings." : "";
      if (this.view.message !== message) this.view.message = message;
      // Drawn anew only where something reads otherwise: that takes the list from under whoever is clicking in it.
      const drawn = JSON.stringify([fingerprint, [...this.#undoable], new Date().toDateString()]);
      if (!isNews && drawn === this.#drawn) return;
      this.#drawn = drawn;
      this.#changed.fire(undefined);
    } catch (error) {
      this.#reporter.failureOnce("read the history", error);
    }
  }

  #page(after: string | null, limit: number, known: string | null): ReturnType<StoreService["history"]> {
    const stores = this.#ofAll ? null : this.#registry.stores.map(({ key }) => key);
    return this.#service.history({ stores, after, limit, known });
  }

  /** All that is kept of what the list is about, newest first. */
  async everything(): Promise<readonly HistoryEntry[]> {
    const all: HistoryEntry[] = [];
    for (;;) {
      const { entries, more } = await this.#page(all.at(-1)?.key ?? null, exportPageSize, null);
      all.push(...(entries ?? []));
      if (!more) return all;
    }
  }

  /** Undefined where it is not kept any more. */
  async entry(key: string): Promise<HistoryEntry | undefined> {
    const isMeant = (entry: HistoryEntry): boolean => entry.key === key;
    return this.#entries.find(isMeant) ?? (await this.everything()).find(isMeant);
  }

  /** What people call a store. */
  readonly names: PlaceNames = (place, key) => {
    const store = key === null ? undefined : this.#registry.find(key);
    return store?.name ?? shortPlace(place);
  };

  async getChildren(node?: HistoryNode): Promise<HistoryNode[]> {
    if (node !== undefined) return historyChildren(node);
    if (this.#fingerprint === null) await this.look();
    return historyRoots(this.#entries, this.#more, Date.now() / 1000);
  }

  getTreeItem(node: HistoryNode): TreeItem {
    return historyItem(node, {
      names: this.names,
      tellsStore: this.#ofAll || this.#registry.stores.length > 1,
      undoable: this.#undoable,
      undone: this.#undone,
    });
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
