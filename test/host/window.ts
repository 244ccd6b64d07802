import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  ConfigurationTarget,
  EventEmitter,
  extensions,
  ProgressLocation,
  window,
  workspace,
  type ProgressOptions,
} from "vscode";
import type { Testing } from "../../src/extension";
import type { StoreDescription, StoreModel } from "../../src/stores/storeModel";
import type { RecordNode, TreeNode } from "../../src/tree/nodes";
import { json } from "../support/commandLine";

/** What the tests in the extension host need of the window that they run in. */

function extension() {
  const found = extensions.getExtension<Testing>("dead-tasks.dead-tasks");
  assert.ok(found, "the extension under development is not known to this window");
  return found;
}

/** The repository's root, which the extension runs from. */
export const root = extension().extensionPath;

/** The extension's own parts, in this very process. */
export async function deadTasks(): Promise<Testing> {
  return extension().activate();
}

export function isActive(): boolean {
  return extension().isActive;
}

/** The opened folder's path. */
export function folder(): string {
  const [first] = workspace.workspaceFolders ?? [];
  assert.ok(first, "this run opens a folder");
  return first.uri.fsPath;
}

/** Waits until `check` no longer throws; returns after how many milliseconds. Its last error is thrown when time is over. */
export async function eventually(check: () => unknown, within = 5_000): Promise<number> {
  const started = performance.now();
  for (;;) {
    try {
      await check();
      return performance.now() - started;
    } catch (error) {
      if (performance.now() - started > within) throw error;
    }
    await delay(20);
  }
}

export interface NamedStore {
  readonly path: string;
  readonly prefix?: string;
  readonly name: string;
}

/** Names stores in the workspace's setting, as a user does, and waits until all are read. The tests' end takes them out. */
export async function openStores(...stores: NamedStore[]): Promise<StoreModel[]> {
  await setStores(stores);
  return Promise.all(
    stores.map(({ path, prefix = "deferred-" }) =>
      openStore(`${path} ${prefix}`, ({ target }) => target.path === path && target.prefix === prefix),
    ),
  );
}

/** `deadTasks.stores` of the workspace: anything, or undefined to take it out. */
export async function setStores(value: unknown): Promise<void> {
  const { stores } = await deadTasks();
  const looked = new Promise<void>((resolve) => {
    const listening = stores.onDidLook(() => {
      listening.dispose();
      resolve();
    });
  });
  const { workspaceValue } = workspace.getConfiguration("deadTasks").inspect("stores") ?? {};
  if (JSON.stringify(workspaceValue) === JSON.stringify(value)) return;
  await workspace.getConfiguration("deadTasks").update("stores", value, ConfigurationTarget.Workspace);
  await looked;
}

/** An open store that has been read to its end. */
export async function storeNamed(name: string): Promise<StoreModel> {
  return openStore(name, (description) => description.name === name);
}

async function openStore(what: string, isMeant: (description: StoreDescription) => boolean): Promise<StoreModel> {
  const { registry } = await deadTasks();
  const found = (): StoreModel => {
    const store = registry.stores.find(({ description }) => isMeant(description));
    assert.ok(store?.wasReady, `no store ${what}, only ${registry.stores.map(({ name }) => name).join(", ")}`);
    return store;
  };
  await eventually(found);
  return found();
}

/** What the tree has below a store; at its top level where the store is the only one. */
export async function nodesOf(store: StoreModel): Promise<TreeNode[]> {
  const { view, registry } = await deadTasks();
  return registry.stores.length === 1 ? view.tree.getChildren() : view.tree.getChildren({ kind: "store", store });
}

/** The tree's items of these records, in this order; of all tasks in sight without `ids`. */
export async function recordNodes(store: StoreModel, ids?: readonly string[]): Promise<RecordNode[]> {
  const { view } = await deadTasks();
  const all = (await nodesOf(store)).flatMap((node) =>
    node.kind === "unreadableGroup" ? view.tree.getChildren(node) : [node],
  );
  if (ids === undefined) return all.filter((node): node is RecordNode => node.kind === "task");
  return ids.map((id) => {
    const found = all.find((node): node is RecordNode => recordId(node) === id);
    assert.ok(found, `no item for ${id}`);
    return found;
  });
}

export function recordId(node: TreeNode): string | null {
  return node.kind === "task" ? node.task.id : node.kind === "unreadable" ? node.id : null;
}

/** Runs the built command line, another process at the same files; returns what it printed with `--json`. */
export async function commandLine<Shape>(...args: string[]): Promise<Shape> {
  // The desktop's extension host is Electron, which runs as Node when told to.
  return json<Shape>(args, 0, { env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" } });
}

/** Everything that the extension has written to its log. */
export async function logText(): Promise<string> {
  const { context } = await deadTasks();
  const files = (await readdir(context.logUri.fsPath)).filter((file) => file.endsWith(".log"));
  return (await Promise.all(files.map((file) => readFile(join(context.logUri.fsPath, file), "utf8")))).join("");
}

export interface Shown {
  readonly severity: "information" | "warning" | "error";
  readonly text: string;
  /** Null for a notification, which does not block. */
  readonly modalDetail: string | null;
  readonly buttons: readonly string[];
}

/** What the user was shown, and how they answer it. */
export class Dialogs {
  shown: Shown[] = [];
  /** The button that is pressed; undefined closes the message without one. */
  answer: (shown: Shown) => string | undefined = () => undefined;

  /** The only message since the last call. */
  only(): Shown {
    const [first, ...more] = this.shown;
    assert.ok(first, "nothing was shown");
    assert.deepEqual(more, []);
    this.shown = [];
    return first;
  }
}

/**
 * Stands in for the window's messages during each test of a suite. Nothing inside the extension host can press their buttons,
 * and a modal one would block the run for good; all that lies behind them is real, and the page tests press the real buttons.
 */
export function useDialogs(): Dialogs {
  const dialogs = new Dialogs();
  const functions = {
    showInformationMessage: window.showInformationMessage,
    showWarningMessage: window.showWarningMessage,
    showErrorMessage: window.showErrorMessage,
  };
  const severities = {
    showInformationMessage: "information",
    showWarningMessage: "warning",
    showErrorMessage: "error",
  } as const;
  beforeEach(() => {
    dialogs.shown = [];
    dialogs.answer = () => undefined;
    for (const name of Object.keys(functions) as (keyof typeof functions)[]) {
      const stub = (text: string, ...rest: unknown[]): Promise<string | undefined> => {
        const options = rest.find((one) => typeof one === "object") as { modal?: boolean; detail?: string } | undefined;
        const shown: Shown = {
          severity: severities[name],
          text,
          modalDetail: options?.modal === true ? (options.detail ?? "") : null,
          buttons: rest.filter((one) => typeof one === "string"),
        };
        dialogs.shown.push(shown);
        all.push(shown);
        return Promise.resolve(dialogs.answer(shown));
      };
      Reflect.set(window, name, stub);
    }
  });
  const all: Shown[] = [];
  afterEach(() => {
    for (const [name, original] of Object.entries(functions)) Reflect.set(window, name, original);
    for (const { text, modalDetail } of all.splice(0)) {
      assert.doesNotMatch(`${text}\n${modalDetail ?? ""}`, /^\s+at .*:\d+:\d+|node:internal/m, "a stack was shown");
    }
  });
  return dialogs;
}

/**
 * Presses Cancel of each progress notification of a suite's tests as soon as it is offered, from when it is asked to to the end of the
 * test. Answers with the titles of those that were shown.
 */
export function useCancel(): () => readonly string[] {
  const { withProgress } = window;
  afterEach(() => {
    Reflect.set(window, "withProgress", withProgress);
  });
  return () => {
    const titles: string[] = [];
    type Task = (...parameters: unknown[]) => Promise<void>;
    Reflect.set(window, "withProgress", (options: ProgressOptions, task: Task) => {
      if (options.location !== ProgressLocation.Notification) return withProgress(options, task);
      assert.equal(options.cancellable, true);
      titles.push(options.title!);
      const cancelled = new EventEmitter<undefined>();
      const token = { isCancellationRequested: false, onCancellationRequested: cancelled.event };
      const done = task({ report: () => undefined }, token);
      cancelled.fire(undefined);
      return done;
    });
    return titles;
  };
}
