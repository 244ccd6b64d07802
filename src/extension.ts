import { Uri, type ExtensionContext } from "vscode";
import { registerCommands } from "./actions/commands";
import { UndoList } from "./actions/undoList";
import { TaskActions } from "./actions/taskActions";
import { ChangesSinceFailure } from "./code/changes";
import { CodeFiles } from "./code/codeFiles";
import { RecordComparison } from "./detail/compareRecords";
import { HistoryDiff } from "./history/historyDiff";
import { HistoryView } from "./history/historyView";
import { keepHistory } from "./history/keepHistory";
import { FailureDiagnostics } from "./code/failureDiagnostics";
import { TaskLenses } from "./code/lenses";
import { RetryCheck } from "./code/retryCheck";
import { TaskClasses } from "./code/taskClasses";
import { EditRetry } from "./editRetry/editRetry";
import { DetailPane } from "./detail/detailPane";
import { RawFiles } from "./raw/openRaw";
import { PlainFiles } from "./raw/plainFiles";
import { RawRecords } from "./raw/rawRecords";
import { showInList } from "./raw/showInList";
import { Reporter } from "./reporter";
import { TaskRuns } from "./run/taskRuns";
import { rubyReader, type RubyReader } from "./ruby/reader";
import { startStoreService } from "./service/client";
import type { StoreService } from "./service/storeService";
import { StoreRegistry } from "./stores/storeRegistry";
import { WorkspaceStores } from "./stores/workspaceStores";
import { PendingView } from "./tree/pendingView";
import { TaskView } from "./tree/taskView";

/** What the extension offers to its own host tests. No promise to other extensions. */
export interface Testing {
  readonly context: ExtensionContext;
  readonly service: StoreService;
  readonly registry: StoreRegistry;
  readonly stores: WorkspaceStores;
  readonly view: TaskView;
  readonly pendingView: PendingView;
  readonly historyView: HistoryView;
  readonly pane: DetailPane;
  readonly rawFiles: RawFiles;
  readonly ruby: RubyReader;
  readonly changes: ChangesSinceFailure;
  readonly retryCheck: RetryCheck;
  /** Milliseconds that `activate` took. */
  readonly activationTime: number;
}

export function activate(context: ExtensionContext): Testing {
  const started = performance.now();
  const reporter = new Reporter();
  const workerPath = Uri.joinPath(context.extensionUri, "dist", "worker.js").fsPath;
  const service = startStoreService(workerPath, (level, text) => {
    reporter.log(level, text);
  });
  const registry = new StoreRegistry(service);
  const stores = new WorkspaceStores(service, registry, reporter);
  const code = new CodeFiles(reporter);
  const changes = new ChangesSinceFailure(service, code, reporter);
  const view = new TaskView(registry, stores, changes);
  const undoList = new UndoList(service, reporter, context);
  const pendingView = new PendingView(service, registry, undoList, reporter);
  const historyView = new HistoryView(service, registry, undoList, reporter);
  const historyDiff = new HistoryDiff(historyView);
  const ruby = rubyReader(Uri.joinPath(context.extensionUri, "dist", "rubyWorker.js").fsPath);
  const taskClasses = new TaskClasses(ruby, reporter);
  const retryCheck = new RetryCheck(service, taskClasses, reporter);
  const runs: TaskRuns = new TaskRuns({
    context,
    service,
    registry,
    code,
    retryCheck,
    undoList,
    reporter,
    column: () => pane.column,
  });
  const actions = new TaskActions({
    service,
    registry,
    reporter,
    memory: context.globalState,
    changes,
    retryCheck,
    undoList,
    view,
    runs,
  });
  const editRetry = new EditRetry({
    context,
    service,
    stores,
    registry,
    ruby,
    actions,
    undoList,
    retryCheck,
    reporter,
  });
  const rawFiles: RawFiles = new RawFiles({
    context,
    service,
    registry,
    stores,
    reporter,
    plainFiles: new PlainFiles(reporter),
    showTask: (store, id) => showInList(view, pane, store, id),
  });
  const comparison = new RecordComparison(service, registry);
  const pane = new DetailPane({
    context,
    service,
    registry,
    stores,
    actions,
    runs,
    editRetry,
    comparison,
    rawFiles,
    code,
    changes,
    retryCheck,
    reporter,
    view,
  });
  context.subscriptions.push(
    reporter,
    service,
    registry,
    stores,
    changes,
    view,
    pendingView,
    ...keepHistory(service, registry, reporter, context),
    historyView,
    historyDiff,
    actions,
    pane,
    runs,
    stores.onDidLook(() => runs.settleLeft()),
    editRetry,
    comparison,
    rawFiles,
    new RawRecords(service),
    ruby,
    taskClasses,
    retryCheck,
    new TaskLenses(registry, ruby, reporter),
    new FailureDiagnostics({ registry, service, code, reporter }),
    ...registerCommands({
      service,
      registry,
      stores,
      view,
      pendingView,
      historyView,
      historyDiff,
      pane,
      actions,
      editRetry,
      undoList,
      runs,
      comparison,
      rawFiles,
      code,
      taskClasses,
      retryCheck,
      ruby,
      reporter,
    }),
  );
  // Afterwards and not awaited: activation must wait neither for the disk nor for the worker's start.
  const firstLook = setImmediate(() => {
    void stores.look().then(async () => {
      if (registry.stores.length > 0) await undoList.prune();
    });
  });
  context.subscriptions.push({
    dispose: () => {
      clearImmediate(firstLook);
    },
  });
  return {
    context,
    service,
    registry,
    stores,
    view,
    pendingView,
    historyView,
    pane,
    rawFiles,
    ruby,
    changes,
    retryCheck,
    activationTime: performance.now() - started,
  };
}
