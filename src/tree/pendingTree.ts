import { ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import { ItemKind } from "../ids";
import type { PendingLog, PendingSummary } from "../service/protocol";
import type { StoreModel } from "../stores/storeModel";
import { counted, formatCount, oneLine, shownId } from "../text/labels";
import { absoluteTime, relativeTime } from "../text/times";

/** What the list of pending tasks is made of. A log of ours that can be taken back says by which name. */
export type PendingNode =
  | { readonly kind: "pendingStore"; readonly store: StoreModel; readonly logs: readonly PendingLog[] }
  | { readonly kind: "log"; readonly store: StoreModel; readonly log: PendingLog; readonly undo: string | null }
  | { readonly kind: "pendingTask"; readonly log: PendingLog; readonly task: PendingSummary; readonly storeKey: string }
  | { readonly kind: "pendingRest"; readonly log: PendingLog; readonly storeKey: string };

export function isPendingNode(value: unknown): value is PendingNode {
  return (
    typeof value === "object" &&
    value !== null &&
    "kind" in value &&
    ["pendingStore", "log", "pendingTask", "pendingRest"].includes(String(value.kind))
  );
}

/** `now`: Unix seconds. */
export function pendingItem(node: PendingNode, now: number): TreeItem {
  switch (node.kind) {
    case "pendingStore": {
      const item = new TreeItem(node.store.name, TreeItemCollapsibleState.Expanded);
      item.id = node.store.key;
      item.description = counted(
        node.logs.reduce((sum, { count }) => sum + count, 0),
        "pending task",
      );
      item.iconPath = new ThemeIcon("archive");
      return item;
    }
    case "log":
      return logItem(node.store.key, node.log, node.undo !== null, now);
    case "pendingTask":
      return taskItem(node.storeKey, node.log, node.task, now);
    case "pendingRest": {
      const item = new TreeItem(`and ${formatCount(node.log.count - node.log.tasks.length)} more`);
      item.id = `${node.storeKey} ${node.log.name} rest`;
      item.iconPath = new ThemeIcon("ellipsis");
      return item;
    }
  }
}

function logItem(storeKey: string, log: PendingLog, isOurs: boolean, now: number): TreeItem {
  const item = new TreeItem(holderOf(log), TreeItemCollapsibleState.Expanded);
  item.id = `${storeKey} ${log.name}`;
  item.description = counted(log.count, "task");
  item.iconPath = new ThemeIcon(log.worker === "none" ? "watch" : "server-process");
  item.contextValue = isOurs ? ItemKind.logOfOurs : ItemKind.log;
  const since = Math.min(...log.tasks.map(({ enqueuedAt }) => enqueuedAt ?? Infinity));
  const about = [log.name, `${holderOf(log)}.`];
  if (log.worker === "none") about.push("A running worker does not look for new logs: the tasks run when one starts.");
  if (log.worker === "unknown") about.push("Whether a worker holds it cannot be told on this machine.");
  if (Number.isFinite(since)) about.push(`The oldest task was enqueued ${relativeTime(since, now)}.`);
  item.tooltip = about.join("\n");
  return item;
}

function holderOf({ worker, name }: PendingLog): string {
  if (worker === "none") return "Waiting for a Rage worker to start";
  if (worker === "unknown") return name;
  return worker.processId > 0 ? `Held by the worker ${worker.processId}` : "Held by a worker";
}

function taskItem(storeKey: string, log: PendingLog, task: PendingSummary, now: number): TreeItem {
  const item = new TreeItem(task.taskClass === null ? "(cannot be read)" : oneLine(task.taskClass));
  item.id = `${storeKey} ${log.name} ${task.id}`;
  const later = task.publishAt !== null && task.publishAt > now ? task.publishAt : null;
  const when = later === null ? "at once" : relativeTime(later, now);
  const enqueued = task.enqueuedAt === null ? [] : [`enqueued ${relativeTime(task.enqueuedAt, now)}`];
  const failures = task.attempts === null || task.attempts === 0 ? [] : [counted(task.attempts, "failure")];
  item.description = [when, ...enqueued, ...failures].join(" · ");
  item.iconPath = new ThemeIcon(later === null ? "play-circle" : "clock");
  item.tooltip = [
    oneLine(shownId(task.id)),
    task.publishAt === null ? "Runs at once" : `Runs at ${absoluteTime(task.publishAt)}`,
    ...(task.enqueuedAt === null ? [] : [`Enqueued at ${absoluteTime(task.enqueuedAt)}`]),
  ].join("\n");
  return item;
}

/** The nodes at the top: stores where there are several, else logs. */
export function pendingRoots(
  stores: readonly { readonly store: StoreModel; readonly logs: readonly PendingLog[] }[],
  undoOf: (store: StoreModel, log: PendingLog) => string | null,
): PendingNode[] {
  const waiting = stores.filter(({ logs }) => logs.length > 0);
  if (stores.length > 1) return waiting.map(({ store, logs }) => ({ kind: "pendingStore", store, logs }));
  return waiting.flatMap(({ store, logs }) => logNodes(store, logs, undoOf));
}

export function pendingChildren(
  node: PendingNode,
  undoOf: (store: StoreModel, log: PendingLog) => string | null,
): PendingNode[] {
  if (node.kind === "pendingStore") return logNodes(node.store, node.logs, undoOf);
  if (node.kind !== "log") return [];
  const { log } = node;
  const storeKey = node.store.key;
  const tasks: PendingNode[] = log.tasks.map((task) => ({ kind: "pendingTask", log, task, storeKey }));
  return log.count > log.tasks.length ? [...tasks, { kind: "pendingRest", log, storeKey }] : tasks;
}

function logNodes(
  store: StoreModel,
  logs: readonly PendingLog[],
  undoOf: (store: StoreModel, log: PendingLog) => string | null,
): PendingNode[] {
  return logs.map((log) => ({ kind: "log", store, log, undo: log.worker === "none" ? undoOf(store, log) : null }));
}
