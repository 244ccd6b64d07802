import { Uri, workspace, type ExtensionContext } from "vscode";
import { Setting } from "../ids";
import { userMessage, type Reporter } from "../reporter";
import type { StoreService } from "../service/storeService";
import { historyLimits } from "../settings";
import type { StoreRegistry } from "../stores/storeRegistry";

/**
 * Has the storage worker keep a history of what this window does, in the extension's own storage outside of every workspace:
 * from the first store on, since without any there is nothing to be done.
 */
export function keepHistory(
  service: Pick<StoreService, "keepHistory">,
  registry: StoreRegistry,
  reporter: Reporter,
  { globalStorageUri }: Pick<ExtensionContext, "globalStorageUri">,
): { dispose(): unknown }[] {
  const directory = Uri.joinPath(globalStorageUri, "history").fsPath;
  let isKept = false;
  const keep = (): void => {
    isKept = true;
    const window = { name: workspace.name ?? "without a folder", processId: process.pid };
    service.keepHistory({ directory, window, limits: historyLimits() }).catch((error: unknown) => {
      // Nobody asked for it, and nothing that is done depends on it.
      reporter.log("warn", `The history could not be tidied up: ${userMessage(error)}`);
    });
  };
  return [
    // Told before the stores are opened, and so before anything can be done to one.
    registry.onDidChangeStores(() => {
      if (!isKept && registry.stores.length > 0) keep();
    }),
    workspace.onDidChangeConfiguration((event) => {
      if (isKept && event.affectsConfiguration(`${Setting.section}.history`)) keep();
    }),
    workspace.onDidChangeWorkspaceFolders(() => {
      if (isKept) keep();
    }),
  ];
}
