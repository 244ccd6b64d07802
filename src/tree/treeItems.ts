import { MarkdownString, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState } from "vscode";
import { Command, ItemKind } from "../ids";
import type { TaskSummary } from "../service/protocol";
import type { StoreModel } from "../stores/storeModel";
import {
  counted,
  damageLine,
  errorLine,
  exceptionName,
  formatBytes,
  formatCount,
  oneLine,
  shownId,
} from "../text/labels";
import { absoluteTime, relativeTime, shortTime } from "../text/times";
import { nodeId, pageSize, storeChildren, type TreeInput, type TreeNode } from "./nodes";
import { storeWarnings } from "./viewState";

const warningIcon = new ThemeIcon("warning", new ThemeColor("list.warningForeground"));
const errorIcon = new ThemeIcon("error", new ThemeColor("list.errorForeground"));

/** What an item shows of what its node does not know. */
export interface ItemInput extends Pick<TreeInput, "shown" | "tasks"> {
  /** Whether `tasks` are what a filter lets through. */
  readonly isFiltered: boolean;
  /** Whether a task's code has changed since it died. */
  hasChanged(store: StoreModel, task: TaskSummary): boolean;
}

/** A node as the tree shows it; `now` in Unix seconds. The tooltip comes later, from `tooltip`, for the item hovered over. */
export function treeItem(node: TreeNode, now: number, input: ItemInput): TreeItem {
  const item = bareItem(node, now, input);
  item.id = nodeId(node);
  return item;
}

function bareItem(node: TreeNode, now: number, input: ItemInput): TreeItem {
  switch (node.kind) {
    case "store":
      return storeItem(node.store, input);
    case "task": {
      const item = new TreeItem(node.task.taskClass === "" ? "(no class)" : oneLine(node.task.taskClass));
      // The time first: an error is as long as it likes, and would push the time out of a narrow side bar.
      const changed = input.hasChanged(node.store, node.task) ? " · changed since" : "";
      item.description = `${shortTime(node.task.failedAt, now)}${changed} · ${errorLine(node.task)}`;
      item.iconPath = errorIcon;
      item.contextValue = isReadOnly(node.store) ? ItemKind.taskReadOnly : ItemKind.task;
      item.command = { command: Command.show, title: "Show" };
      return item;
    }
    case "more": {
      const count = Math.min(pageSize, node.remaining);
      const item = new TreeItem(`Show ${formatCount(count)} More…`);
      item.description = `of ${formatCount(node.remaining)}`;
      item.iconPath = new ThemeIcon("ellipsis");
      item.contextValue = ItemKind.more;
      item.command = { command: Command.showMore, title: "Show More" };
      return item;
    }
    case "unreadableGroup": {
      const count = node.store.status.unreadable.length;
      const item = new TreeItem(`${counted(count, "record")} cannot be read`, TreeItemCollapsibleState.Collapsed);
      item.iconPath = warningIcon;
      item.contextValue = ItemKind.unreadableGroup;
      return item;
    }
    case "unreadable": {
      const item = new TreeItem(oneLine(shownId(node.id)));
      item.description = oneLine(node.reason);
      item.iconPath = new ThemeIcon("question");
      item.contextValue = isReadOnly(node.store) ? ItemKind.unreadableReadOnly : ItemKind.unreadable;
      item.command = { command: Command.show, title: "Show" };
      return item;
    }
    case "damage": {
      const item = new TreeItem("Damage");
      item.description = damageLine(node.store.status.damage);
      item.iconPath = warningIcon;
      item.contextValue = ItemKind.damage;
      return item;
    }
    case "otherVersion": {
      const item = new TreeItem(oneLine(node.file));
      item.description = "storage version not understood; left alone";
      item.iconPath = warningIcon;
      item.contextValue = ItemKind.otherVersion;
      return item;
    }
    case "reading": {
      const item = new TreeItem("Reading the store…");
      item.description = readingProgress(node.store);
      item.iconPath = new ThemeIcon("loading~spin");
      item.contextValue = ItemKind.reading;
      return item;
    }
    case "stopped": {
      const item = new TreeItem("Reading Stopped: Read On");
      item.description = readingProgress(node.store);
      item.iconPath = new ThemeIcon("debug-continue");
      item.contextValue = ItemKind.notice;
      item.command = { command: Command.refresh, title: "Read On" };
      return item;
    }
    case "failure":
      return noticeItem("Cannot be read", node.message, { command: Command.showLog, title: "Show Log" });
    case "guess":
      return noticeItem("The directory is a guess", "name it in the settings", openSettings);
    case "settingProblem":
      return noticeItem("Check the setting", node.message, openSettings);
    case "noMatch": {
      const item = new TreeItem("No task matches the filter");
      item.description = "Clear Filter";
      item.iconPath = new ThemeIcon("filter");
      item.contextValue = ItemKind.notice;
      item.command = { command: Command.clearFilter, title: "Clear Filter" };
      return item;
    }
  }
}

const openSettings = { command: Command.openSettings, title: "Open Settings" };

function noticeItem(label: string, message: string, command: { command: string; title: string }): TreeItem {
  const item = new TreeItem(label);
  item.description = oneLine(message);
  item.iconPath = warningIcon;
  item.contextValue = ItemKind.notice;
  item.command = command;
  return item;
}

function storeItem(store: StoreModel, input: ItemInput): TreeItem {
  const isEmpty = storeChildren(store, input).length === 0;
  const item = new TreeItem(store.name, isEmpty ? TreeItemCollapsibleState.None : TreeItemCollapsibleState.Expanded);
  const isNil = store.description.target.backend === "nil";
  item.iconPath = new ThemeIcon("archive");
  if (isNil) item.description = "keeps no tasks";
  else if (store.status.phase === "failed") item.description = "cannot be read";
  else if (store.status.phase === "stopped") item.description = "reading stopped";
  else if (!store.wasReady) item.description = "reading…";
  else {
    const shown = input.isFiltered ? `${formatCount(input.tasks(store).length)} of ` : "";
    item.description = `${shown}${formatCount(store.taskCount)}${isReadOnly(store) ? " · read-only" : ""}`;
  }
  if (!store.wasReady || input.tasks(store).length === 0) item.contextValue = ItemKind.storeEmpty;
  else item.contextValue = isReadOnly(store) ? ItemKind.storeReadOnly : ItemKind.store;
  return item;
}

function isReadOnly(store: StoreModel): boolean {
  return store.status.readOnly !== null;
}

function readingProgress({ status }: StoreModel): string {
  if (status.bytesTotal === 0) return "";
  return `${formatBytes(status.bytesRead)} of ${formatBytes(status.bytesTotal)}`;
}

/** What the item does not say, for the one that is hovered over. All data is appended as text: no link, image or HTML of it. */
export function tooltip(node: TreeNode, now: number): MarkdownString | undefined {
  switch (node.kind) {
    case "task":
      return taskTooltip(node.task, now);
    case "store":
      return storeTooltip(node.store);
    case "unreadable":
      return lines([
        ["Id", shownId(node.id)],
        ["Reason", node.reason],
        ["", "It can be opened raw and deleted, not retried."],
      ]);
    case "unreadableGroup":
      return lines([
        [
          "",
          "Their checksums are right, but this program cannot decode them. They can be opened raw and deleted, not retried.",
        ],
      ]);
    case "damage":
      return lines([
        ["", damageLine(node.store.status.damage)],
        ["", "Lines without a valid checksum are skipped, by the application as well. The next deletion drops them."],
      ]);
    case "otherVersion":
      return lines([["", "Another version of Rage wrote this file. Nothing here reads or changes it."]]);
    case "failure":
      return lines([
        ["", node.message],
        ["", "Click to show the log."],
      ]);
    case "guess":
    case "settingProblem":
      return lines([
        ["", node.message],
        ["", "Click to open the settings."],
      ]);
    case "stopped":
      return lines([["", "Only the newest tasks are listed. Click to read the rest of the store."]]);
    case "noMatch":
      return lines([["", "Click to show all tasks again."]]);
    case "reading":
    case "more":
      return undefined;
  }
}

function taskTooltip(task: TaskSummary, now: number): MarkdownString {
  const text = new MarkdownString();
  text.appendMarkdown("**").appendText(oneLine(task.taskClass)).appendMarkdown("**\n\n");
  text.appendText(exceptionName(task.exceptionClass));
  if (task.exceptionMessage !== "") text.appendText(`: ${task.exceptionMessage}`);
  text.appendMarkdown("\n\n---\n\n");
  const facts: [string, string][] = [
    ["Failed", withRelative(task.failedAt, now)],
    ["Enqueued", task.enqueuedAt === null ? "unknown" : withRelative(task.enqueuedAt, now)],
    ["Attempts", formatCount(task.attempts)],
    ["Id", shownId(task.id)],
  ];
  appendLines(text, facts);
  return text;
}

function storeTooltip(store: StoreModel): MarkdownString {
  const { description } = store;
  const facts: [string, string][] = [
    ["Directory", description.target.path],
    ["Prefix", description.target.prefix],
    ["Found by", description.source],
  ];
  for (const warning of storeWarnings(store)) facts.push(["", warning]);
  if (description.target.backend === "nil") {
    facts.push(["", "The application is configured with “config.deferred.backend = nil” and keeps no tasks."]);
  }
  return lines(facts);
}

function withRelative(seconds: number, now: number): string {
  return `${absoluteTime(seconds)} (${relativeTime(seconds, now)})`;
}

function lines(facts: readonly (readonly [string, string])[]): MarkdownString {
  const text = new MarkdownString();
  appendLines(text, facts);
  return text;
}

function appendLines(text: MarkdownString, facts: readonly (readonly [string, string])[]): void {
  for (const [name, value] of facts) {
    if (name !== "") text.appendMarkdown(`${name}: `);
    text.appendText(value).appendMarkdown("\n\n");
  }
}
