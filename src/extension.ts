import { Uri, type ExtensionContext } from "vscode";
import { registerCommands } from "./actions/commands";
import { TaskActions } from "./actions/taskActions";
import { ChangesSinceFailure } from "./code/changes";
import { CodeFiles } from "./code/codeFiles";
import { RecordComparison } from "./detail/compareRecords";
import { DetailPane } from "./detail/detailPane";
import { RawFiles } from "./raw/openRaw";
import { RawRecords } from "./raw/rawRecords";
import { Reporter } from "./reporter";
import { startStoreService } from "./service/client";
import type { StoreService } from "./service/storeService";
import { StoreRegistry } from "./stores/storeRegistry";
import { WorkspaceStores } from "./stores/workspaceStores";
import { TaskView } from "./tree/taskView";

/** What the extension offers to its own host tests. No promise to other extensions. */
export interface Testing {
  readonly context: ExtensionContext;
  readonly service: StoreService;
  readonly registry: StoreRegistry;
  readonly stores: WorkspaceStores;
  readonly view: TaskView;
  readonly pane: DetailPane;
  readonly changes: ChangesSinceFailure;
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
  const actions = new TaskActions(service, reporter, context.globalState, changes);
  const rawFiles = new RawFiles(service, reporter);
  const comparison = new RecordComparison(service, registry);
  const pane = new DetailPane({ context, service, registry, stores, actions, comparison, rawFiles, code, changes, reporter });
  context.subscriptions.push(
    reporter,
    service,
    registry,
    stores,
    changes,
    view,
    pane,
    comparison,
    new RawRecords(service),
    ...registerCommands({ service, registry, stores, view, pane, actions, rawFiles, code, reporter }),
  );
  // Afterwards and not awaited: activation must wait neither for the disk nor for the worker's start.
  const firstLook = setImmediate(() => void stores.look());
  context.subscriptions.push({
    dispose: () => {
      clearImmediate(firstLook);
    },
  });
  return { context, service, registry, stores, view, pane, changes, activationTime: performance.now() - started };
}
