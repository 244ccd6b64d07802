import { commands, window, type Disposable } from "vscode";
import type { CodeFiles } from "../code/codeFiles";
import { openFailingLine } from "../code/failingLine";
import type { RetryCheck } from "../code/retryCheck";
import type { TaskClasses } from "../code/taskClasses";
import { openTaskClass, showClassTasks } from "../code/taskClassesCommands";
import type { RecordComparison } from "../detail/compareRecords";
import type { DetailPane } from "../detail/detailPane";
import type { EditRetry } from "../editRetry/editRetry";
import { historyHandlers, type HistoryServices } from "../history/historyCommands";
import { Command } from "../ids";
import type { RawFiles } from "../raw/openRaw";
import type { Reporter } from "../reporter";
import { copyConsoleSnippet, generateTest } from "../reproduce/reproduce";
import type { RubyReader } from "../ruby/reader";
import type { TaskRuns } from "../run/taskRuns";
import { openSettings } from "../settings";
import type { StoreService } from "../service/storeService";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import type { WorkspaceStores } from "../stores/workspaceStores";
import { counted } from "../text/labels";
import type { FilteredTasks } from "../tree/filteredTasks";
import { askFilter } from "../tree/filterInput";
import { isTreeNode, type TreeNode } from "../tree/nodes";
import { isPendingNode } from "../tree/pendingTree";
import type { PendingView } from "../tree/pendingView";
import { selectionOf } from "../tree/selection";
import type { TaskView } from "../tree/taskView";
import type { UndoList } from "./undoList";
import { offer } from "./asking";
import { chosenNodes, recordsOf, taskReference, type RecordReference } from "./references";
import { askWhen } from "./retryLater";
import { sendToAnotherStore } from "./sendElsewhere";
import type { TaskActions } from "./taskActions";

export interface CommandServices extends HistoryServices {
  readonly service: StoreService;
  readonly registry: StoreRegistry;
  readonly stores: WorkspaceStores;
  readonly view: TaskView;
  readonly pendingView: PendingView;
  readonly pane: DetailPane;
  readonly actions: TaskActions;
  readonly editRetry: EditRetry;
  readonly undoList: UndoList;
  readonly runs: TaskRuns;
  readonly comparison: RecordComparison;
  readonly rawFiles: RawFiles;
  readonly code: CodeFiles;
  readonly taskClasses: TaskClasses;
  readonly retryCheck: RetryCheck;
  readonly ruby: RubyReader;
  readonly reporter: Reporter;
}

/** `given`: what the command was called with; nothing from a key or the palette, an item and perhaps others from a menu. */
type Handler = (given: readonly unknown[]) => unknown;

/** All commands. Typed by the ids, so that none is forgotten. */
export function registerCommands(services: CommandServices): Disposable[] {
  const { registry, stores, view, pendingView, pane, actions, undoList, runs, comparison, rawFiles, reporter } =
    services;
  const { editRetry } = services;
  const chosen = async (given: readonly unknown[]): Promise<TreeNode[] | null> => {
    const nodes = chosenNodes(given, given.length === 0 ? await selectionOf(view.view) : []);
    if (nodes === null) tellItemGone();
    return nodes;
  };
  /** For commands that act on records. */
  const onRecords =
    (act: (records: RecordReference[]) => Promise<void>): Handler =>
    async (given) => {
      const nodes = await chosen(given);
      if (nodes !== null) await act(recordsOf(nodes));
    };
  /** For commands that act on one record: the item that was clicked, whatever else is selected. */
  const onRecord =
    (act: (record: RecordReference) => Promise<void>): Handler =>
    async (given) => {
      const [record] = recordsOf((await chosen(given.slice(0, 1))) ?? []);
      if (record !== undefined) await act(record);
    };
  /** What is shown of the tasks at this moment, page by page: what comes later is not part of "all", nor what a filter hides. */
  const onAll =
    (verb: string, act: (records: RecordReference[], predicate: string | null) => Promise<void>): Handler =>
    async (given) => {
      const { filtered } = view;
      await filtered.settled();
      const chosen = await chooseStores(registry, filtered, given, verb);
      if (chosen === null) return;
      const records = chosen.flatMap((store) => filtered.newestFirst(store).map((task) => taskReference(store, task)));
      if (records.length === 0 && filtered.filter !== null) tellNothingMatches();
      else await act(records, filtered.filter?.predicate ?? null);
    };
  const retryAll = onAll("Retry", (records, predicate) => actions.retry(records, null, predicate));
  const deleteAll = onAll("Delete", (records, predicate) => actions.delete(records, predicate));
  const handlers: Readonly<Record<Command, Handler>> = {
    [Command.show]: onRecord((record) => pane.show(record.store, record.id)),
    [Command.openFailingLine]: async (given) => {
      const nodes = await chosen(given.slice(0, 1));
      const [record] = recordsOf(nodes ?? []);
      if (record !== undefined) await openFailingLine(record, services);
      else if (nodes !== null) void window.showInformationMessage("Select a dead task first.");
    },
    [Command.openTaskClass]: async (given) => {
      const [name, storeKey] = given;
      if (typeof name === "string") {
        const store = registry.stores.find(({ key }) => key === storeKey) ?? null;
        await openTaskClass({ name, store }, services);
        return;
      }
      const nodes = await chosen(given.slice(0, 1));
      if (nodes === null) return;
      const [record] = recordsOf(nodes).filter(({ readable }) => readable);
      await openTaskClass(record, services);
    },
    [Command.showClassTasks]: (given) => showClassTasks(given, services),
    [Command.retry]: onRecords((records) => actions.retry(records)),
    [Command.retryLater]: onRecords(async (records) => {
      if (records.length === 0) return actions.retry(records);
      const publishAt = await askWhen(records.length);
      if (publishAt !== undefined) await actions.retry(records, publishAt);
    }),
    [Command.editAndRetry]: onRecord((record) => editRetry.open(record)),
    [Command.retryEdited]: ([uri]) => editRetry.retry(uri),
    [Command.send]: onRecords((records) =>
      sendToAnotherStore(records, { ...services, departed: actions.tellDeparture }),
    ),
    [Command.delete]: onRecords((records) => actions.delete(records)),
    [Command.runNow]: onRecord((record) => runs.run(record, "run")),
    [Command.debugNow]: onRecord((record) => runs.run(record, "debug")),
    [Command.copyId]: onRecords((records) => actions.copyIds(records)),
    [Command.copyRuby]: onRecord((record) => actions.copyRuby(record)),
    [Command.copyConsoleSnippet]: onRecord((record) => copyConsoleSnippet(record, services)),
    [Command.generateTest]: onRecord((record) => generateTest(record, services)),
    [Command.openRaw]: async (given) => {
      const [node] = (await chosen(given.slice(0, 1))) ?? [];
      if (node === undefined) return;
      const [record] = recordsOf([node]);
      if (record !== undefined) await rawFiles.openRecord(record.store, record.id);
      else if (node.kind === "damage") await rawFiles.openDamage(node.store);
      else if (node.kind === "store") await rawFiles.openStoreFile(node.store, null);
      else if (node.kind === "otherVersion") await rawFiles.openStoreFile(node.store, node.file);
    },
    [Command.openRawText]: ([uri]) => rawFiles.openText(uri),
    [Command.openRawHex]: ([uri]) => rawFiles.openHex(uri),
    [Command.compare]: onRecords((records) => comparison.compare(records)),
    [Command.selectForCompare]: onRecord((record) => comparison.select(record)),
    [Command.compareWithSelected]: onRecord((record) => comparison.compareWithSelected(record)),
    [Command.retryAll]: retryAll,
    [Command.deleteAll]: deleteAll,
    [Command.retryMatching]: retryAll,
    [Command.deleteMatching]: deleteAll,
    [Command.filter]: () => askFilter(view, registry),
    [Command.changeFilter]: () => askFilter(view, registry),
    [Command.clearFilter]: () => {
      view.setFilter(null);
    },
    [Command.undo]: () => undoList.choose(),
    [Command.takeBack]: async ([item]) => {
      if (isPendingNode(item) && item.kind === "log" && item.undo !== null) await undoList.undo([item.undo]);
      else void window.showInformationMessage("Only tasks that were retried here and wait in a log can be taken back.");
    },
    [Command.forgetUndo]: () => undoList.forget(),
    ...historyHandlers(services),
    [Command.showMore]: async (given) => {
      const [item] = (await chosen(given)) ?? [];
      if (item?.kind === "more") view.tree.showMore(item.store);
    },
    [Command.refresh]: async () => {
      await stores.look();
      await registry.refresh();
      await pendingView.look();
      await services.historyView.look();
    },
    [Command.stopReading]: async ([item]) => {
      const reading = isTreeNode(item) && "store" in item ? [item.store] : registry.stores;
      await registry.stopReading(reading);
    },
    [Command.showLog]: () => {
      reporter.showLog();
    },
    [Command.openSettings]: () => openSettings(),
  };
  return Object.entries(handlers).map(([id, handler]) =>
    commands.registerCommand(id, async (...given: unknown[]) => {
      try {
        await handler(given);
      } catch (error) {
        reporter.failure(`run ${id}`, error);
      }
    }),
  );
}

function tellNothingMatches(): void {
  const clear = {
    title: "Clear Filter",
    run: async () => {
      await commands.executeCommand(Command.clearFilter);
    },
  };
  offer("No dead task matches the filter.", [clear]);
}

function tellItemGone(): void {
  const text = "The list was being drawn anew, and what you clicked was not found in it. Nothing was done; try again.";
  void window.showInformationMessage(text);
}

/** The store that was clicked, or is the only one of which tasks are shown, or what is picked; null for none. */
async function chooseStores(
  registry: StoreRegistry,
  filtered: FilteredTasks,
  given: readonly unknown[],
  verb: string,
): Promise<readonly StoreModel[] | null> {
  const [item] = given;
  if (isTreeNode(item) && "store" in item) return [item.store];
  if (given.length > 0 && registry.stores.length > 1) {
    // With several, the command is in the menu of a store's item; the view's own menu has it only where there is one store.
    tellItemGone();
    return null;
  }
  const isFiltered = filtered.filter !== null;
  const stores = registry.stores.filter((store) => store.wasReady && filtered.count(store) > 0);
  if (stores.length === 0) {
    const isReading = registry.stores.some((store) => !store.wasReady);
    if (isFiltered && !isReading) tellNothingMatches();
    else void window.showInformationMessage(isReading ? "The store is still being read." : "There are no dead tasks.");
    return null;
  }
  if (stores.length === 1) return stores;
  const counts = (of: readonly StoreModel[]): string => {
    const count = counted(
      of.reduce((sum, store) => sum + filtered.count(store), 0),
      "dead task",
    );
    return isFiltered ? `${count} matching` : count;
  };
  const picks = stores.map((store) => ({ label: store.name, description: counts([store]), stores: [store] }));
  // Without a filter that would be one slip away from everything there is.
  if (isFiltered) picks.unshift({ label: `All ${stores.length} stores`, description: counts(stores), stores });
  const what = isFiltered ? "the dead tasks that match" : "all dead tasks";
  return (await window.showQuickPick(picks, { placeHolder: `${verb} ${what} of which store?` }))?.stores ?? null;
}
