import { commands, window, type Disposable } from "vscode";
import type { DetailPane } from "../detail/detailPane";
import { Command } from "../ids";
import type { RawFiles } from "../raw/openRaw";
import type { Reporter } from "../reporter";
import { openSettings } from "../settings";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import type { WorkspaceStores } from "../stores/workspaceStores";
import { counted } from "../text/labels";
import { isTreeNode, type TreeNode } from "../tree/nodes";
import type { TaskView } from "../tree/taskView";
import { chosenNodes, recordReference, recordsOf, type RecordReference } from "./references";
import type { TaskActions } from "./taskActions";

export interface CommandServices {
  readonly registry: StoreRegistry;
  readonly stores: WorkspaceStores;
  readonly view: TaskView;
  readonly pane: DetailPane;
  readonly actions: TaskActions;
  readonly rawFiles: RawFiles;
  readonly reporter: Reporter;
}

type Handler = (item: unknown, items: unknown) => unknown;

/** All commands. Typed by the ids, so that none is forgotten. */
export function registerCommands(services: CommandServices): Disposable[] {
  const { registry, stores, view, pane, actions, rawFiles, reporter } = services;
  const chosen = (item: unknown, items: unknown): TreeNode[] => chosenNodes(item, items, view.view.selection);
  const records = (item: unknown, items: unknown): RecordReference[] => recordsOf(chosen(item, items));
  const handlers: Readonly<Record<Command, Handler>> = {
    [Command.show]: async (item) => {
      const [record] = records(item, undefined);
      if (record !== undefined) await pane.show(record.store, record.id);
    },
    [Command.retry]: (item, items) => actions.retry(records(item, items)),
    [Command.delete]: (item, items) => actions.delete(records(item, items)),
    [Command.copyId]: (item, items) => actions.copyIds(records(item, items)),
    [Command.copyRuby]: async (item) => {
      const [record] = records(item, undefined);
      if (record !== undefined) await actions.copyRuby(record);
    },
    [Command.openRaw]: async (item) => {
      const [node] = chosen(item, undefined);
      if (node === undefined) return;
      const [record] = recordsOf([node]);
      if (record !== undefined) await rawFiles.openRecord(record.store, record.id);
      else if (node.kind === "damage" || node.kind === "store") await rawFiles.openStoreFile(node.store, null);
      else if (node.kind === "otherVersion") await rawFiles.openStoreFile(node.store, node.file);
    },
    [Command.retryAll]: async (item) => {
      const store = await chooseStore(registry, item, "Retry all dead tasks of which store?");
      if (store !== undefined) await actions.retry(allTasks(store));
    },
    [Command.deleteAll]: async (item) => {
      const store = await chooseStore(registry, item, "Delete all dead tasks of which store?");
      if (store !== undefined) await actions.delete(allTasks(store));
    },
    [Command.showMore]: (item) => {
      if (isTreeNode(item) && item.kind === "more") view.tree.showMore(item.store);
    },
    [Command.refresh]: async () => {
      await stores.look();
      await registry.refresh();
    },
    [Command.stopReading]: async (item) => {
      const reading = isTreeNode(item) && "store" in item ? [item.store] : registry.stores;
      await registry.stopReading(reading);
    },
    [Command.showLog]: () => {
      reporter.showLog();
    },
    [Command.openSettings]: () => openSettings(),
  };
  return Object.entries(handlers).map(([id, handler]) =>
    commands.registerCommand(id, async (item?: unknown, items?: unknown) => {
      try {
        await handler(item, items);
      } catch (error) {
        reporter.failure(`run ${id}`, error);
      }
    }),
  );
}

/** The tasks that are shown at this moment, page by page: what comes later is not part of "all". */
function allTasks(store: StoreModel): RecordReference[] {
  return store.newestFirst().map((task) => recordReference(store, task.id));
}

async function chooseStore(registry: StoreRegistry, item: unknown, prompt: string): Promise<StoreModel | undefined> {
  if (isTreeNode(item) && "store" in item) return item.store;
  const stores = registry.stores.filter((store) => store.wasReady && store.taskCount > 0);
  if (stores.length === 0) {
    const isReading = registry.stores.some((store) => !store.wasReady);
    void window.showInformationMessage(isReading ? "The store is still being read." : "There are no dead tasks.");
  }
  if (stores.length <= 1) return stores[0];
  const picks = stores.map((store) => ({
    label: store.name,
    description: counted(store.taskCount, "dead task"),
    store,
  }));
  return (await window.showQuickPick(picks, { placeHolder: prompt }))?.store;
}
