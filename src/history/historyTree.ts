import { ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import { Command, ItemKind } from "../ids";
import type { HistoryEdit, HistoryEntry, HistoryFailure, HistoryKind, HistoryTask } from "../service/historyProtocol";
import { counted, formatCount, oneLine, shownId } from "../text/labels";
import { absoluteTime } from "../text/times";
import { dayLabel, entryFacts, entryTitle, goneText, taskName, timeOfDay, type PlaceNames } from "./historyTexts";

/** What the list of what was done is made of. */
export type HistoryNode =
  | { readonly kind: "historyDay"; readonly label: string; readonly entries: readonly HistoryEntry[] }
  | { readonly kind: "historyEntry"; readonly entry: HistoryEntry }
  | { readonly kind: "historyTask"; readonly entry: HistoryEntry; readonly task: HistoryTask }
  | { readonly kind: "historyFailure"; readonly entry: HistoryEntry; readonly task: HistoryFailure }
  | { readonly kind: "historyEdit"; readonly entry: HistoryEntry; readonly edit: HistoryEdit }
  | { readonly kind: "historyNotice"; readonly entry: HistoryEntry; readonly text: string }
  | { readonly kind: "historyOlder" };

export function isHistoryNode(value: unknown): value is HistoryNode {
  return typeof value === "object" && value !== null && "kind" in value && /^history[A-Z]/.test(String(value.kind));
}

/** What an item depends on beside its node. */
export interface HistoryContext {
  readonly names: PlaceNames;
  /** Whether entries say which store they are about. */
  readonly tellsStore: boolean;
  /** The names of the changes that can be undone, and of those that were, as far as the list knows. */
  readonly undoable: ReadonlySet<string>;
  readonly undone: ReadonlySet<string>;
}

const icons: Readonly<Record<HistoryKind, string>> = {
  retry: "debug-rerun",
  edit: "edit",
  delete: "trash",
  undo: "discard",
  takeBack: "discard",
  finish: "check-all",
  send: "arrow-right",
  copy: "copy",
  run: "play",
};
const errorIcon = new ThemeIcon("error", new ThemeColor("list.errorForeground"));

/** `more`: whether older entries are kept than these. `now`: Unix seconds. */
export function historyRoots(entries: readonly HistoryEntry[], more: boolean, now: number): HistoryNode[] {
  const days = new Map<string, HistoryEntry[]>();
  for (const entry of entries) {
    const label = dayLabel(entry.at, now);
    const day = days.get(label);
    if (day === undefined) days.set(label, [entry]);
    else day.push(entry);
  }
  const roots: HistoryNode[] = [...days].map(([label, ofDay]) => ({ kind: "historyDay", label, entries: ofDay }));
  return more ? [...roots, { kind: "historyOlder" }] : roots;
}

export function historyChildren(node: HistoryNode): HistoryNode[] {
  if (node.kind === "historyDay") return node.entries.map((entry) => ({ kind: "historyEntry", entry }));
  if (node.kind !== "historyEntry") return [];
  const { entry } = node;
  const notices = [
    ...(entry.count > entry.tasks.length ? [`and ${counted(entry.count - entry.tasks.length, "more task")}`] : []),
    ...(entry.failureCount > entry.failures.length
      ? [`and ${counted(entry.failureCount - entry.failures.length, "more failure")}`]
      : []),
    ...(entry.missing > 0 ? [goneText(entry.missing)] : []),
  ];
  return [
    ...entry.edits.map((edit): HistoryNode => ({ kind: "historyEdit", entry, edit })),
    ...entry.failures.map((task): HistoryNode => ({ kind: "historyFailure", entry, task })),
    ...entry.tasks.map((task): HistoryNode => ({ kind: "historyTask", entry, task })),
    ...notices.map((text): HistoryNode => ({ kind: "historyNotice", entry, text })),
  ];
}

export function historyItem(node: HistoryNode, context: HistoryContext): TreeItem {
  const item = bareItem(node, context);
  item.id = idOf(node);
  return item;
}

function idOf(node: HistoryNode): string {
  switch (node.kind) {
    case "historyDay":
      return node.label;
    case "historyEntry":
      return node.entry.key;
    case "historyTask":
    case "historyFailure":
      return JSON.stringify([node.entry.key, node.kind, node.task.id]);
    case "historyEdit":
      return JSON.stringify([node.entry.key, node.kind, node.edit.id]);
    case "historyNotice":
      return JSON.stringify([node.entry.key, node.text]);
    case "historyOlder":
      return node.kind;
  }
}

function bareItem(node: HistoryNode, context: HistoryContext): TreeItem {
  switch (node.kind) {
    case "historyDay":
      return new TreeItem(node.label, TreeItemCollapsibleState.Expanded);
    case "historyEntry":
      return entryItem(node.entry, context);
    case "historyTask": {
      const { id, newId } = node.task;
      const name = oneLine(taskName(node.task));
      const item = new TreeItem(name);
      item.description = oneLine(newId === null ? shownId(id) : `${shownId(id)} → ${shownId(newId)}`);
      item.tooltip = `${name}\n${item.description}`;
      item.iconPath = new ThemeIcon("circle-small");
      return clickable(item);
    }
    case "historyFailure": {
      const item = new TreeItem(oneLine(taskName(node.task)));
      item.description = oneLine(node.task.error);
      item.tooltip = `${oneLine(shownId(node.task.id))}\n${node.task.error}`;
      item.iconPath = errorIcon;
      return clickable(item);
    }
    case "historyEdit": {
      const item = new TreeItem("Arguments before and after");
      item.iconPath = new ThemeIcon("diff");
      return clickable(item);
    }
    case "historyNotice": {
      const item = new TreeItem(node.text);
      item.iconPath = new ThemeIcon("ellipsis");
      return item;
    }
    case "historyOlder": {
      const item = new TreeItem("Show Older");
      item.iconPath = new ThemeIcon("ellipsis");
      item.command = { command: Command.olderHistory, title: "Show Older" };
      return item;
    }
  }
}

function clickable(item: TreeItem): TreeItem {
  item.command = { command: Command.openHistory, title: "Open" };
  return item;
}

function entryItem(entry: HistoryEntry, { names, tellsStore, undoable, undone }: HistoryContext): TreeItem {
  const title = entryTitle(entry, names);
  const item = new TreeItem(title, TreeItemCollapsibleState.Collapsed);
  const isUndone = entry.undo !== null && undone.has(entry.undo);
  const isUndoable = entry.undo !== null && undoable.has(entry.undo);
  const about = [timeOfDay(entry.at)];
  if (isUndone) about.push("undone");
  if (entry.count > 0 && entry.failureCount > 0) about.push(`${formatCount(entry.failureCount)} failed`);
  if (entry.publishAt !== null) about.push(`to run ${absoluteTime(entry.publishAt).slice(0, -3)}`);
  if (tellsStore) about.push(oneLine(names(entry.store, entry.storeKey), 60));
  if (!entry.own) about.push(`by ${oneLine(entry.window.name, 60)}, process ${entry.window.processId}`);
  item.description = about.join(" · ");
  item.iconPath = entry.count === 0 ? errorIcon : new ThemeIcon(icons[entry.kind]);
  item.contextValue = isUndoable ? ItemKind.historyEntryUndoable : ItemKind.historyEntry;
  const facts = [absoluteTime(entry.at), ...entryFacts(entry), ...(isUndoable ? ["Can be undone"] : [])];
  item.tooltip = [title, ...facts].join("\n");
  // Else all of the tooltip would be read out.
  item.accessibilityInformation = { label: `${title}, ${item.description}` };
  return item;
}
