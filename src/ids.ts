/**
 * Every name that the manifest and the code share. A test holds the two against each other, so a command that is declared
 * and not registered, or the other way round, does not get far.
 */

export const Command = {
  show: "deadTasks.show",
  openFailingLine: "deadTasks.openFailingLine",
  openTaskClass: "deadTasks.openTaskClass",
  showClassTasks: "deadTasks.showClassTasks",
  retry: "deadTasks.retry",
  retryLater: "deadTasks.retryLater",
  editAndRetry: "deadTasks.editAndRetry",
  retryEdited: "deadTasks.retryEdited",
  send: "deadTasks.send",
  delete: "deadTasks.delete",
  runNow: "deadTasks.runNow",
  debugNow: "deadTasks.debugNow",
  copyId: "deadTasks.copyId",
  copyRuby: "deadTasks.copyRuby",
  copyConsoleSnippet: "deadTasks.copyConsoleSnippet",
  generateTest: "deadTasks.generateTest",
  openRaw: "deadTasks.openRaw",
  openRawText: "deadTasks.openRawText",
  openRawHex: "deadTasks.openRawHex",
  compare: "deadTasks.compare",
  selectForCompare: "deadTasks.selectForCompare",
  compareWithSelected: "deadTasks.compareWithSelected",
  retryAll: "deadTasks.retryAll",
  deleteAll: "deadTasks.deleteAll",
  /** The same two under names that say what they act on while the list is filtered. */
  retryMatching: "deadTasks.retryMatching",
  deleteMatching: "deadTasks.deleteMatching",
  filter: "deadTasks.filter",
  changeFilter: "deadTasks.changeFilter",
  clearFilter: "deadTasks.clearFilter",
  undo: "deadTasks.undo",
  takeBack: "deadTasks.takeBack",
  forgetUndo: "deadTasks.forgetUndo",
  openHistory: "deadTasks.openHistory",
  undoHistory: "deadTasks.undoHistory",
  copyHistory: "deadTasks.copyHistory",
  olderHistory: "deadTasks.olderHistory",
  showAllHistory: "deadTasks.showAllHistory",
  showOpenHistory: "deadTasks.showOpenHistory",
  exportHistory: "deadTasks.exportHistory",
  clearHistory: "deadTasks.clearHistory",
  showMore: "deadTasks.showMore",
  refresh: "deadTasks.refresh",
  stopReading: "deadTasks.stopReading",
  showLog: "deadTasks.showLog",
  openSettings: "deadTasks.openSettings",
} as const;
export type Command = (typeof Command)[keyof typeof Command];

export const View = {
  container: "deadTasks",
  tasks: "deadTasks.tasks",
  pending: "deadTasks.pending",
  history: "deadTasks.history",
} as const;

export const ContextKey = {
  /** One of `ViewSituation`: what the welcome text of an empty view is about. */
  situation: "deadTasks.situation",
  /** How many stores are open. */
  storeCount: "deadTasks.storeCount",
  /** Whether a store that can be changed has tasks, for "Retry All" and "Delete All". */
  hasChangeableTasks: "deadTasks.hasChangeableTasks",
  /** Whether the list shows only what a filter lets through. */
  filtered: "deadTasks.filtered",
  /** Whether a record was selected to be compared with another. */
  selectedForCompare: "deadTasks.selectedForCompare",
  /** Whether the history is that of all workspaces. */
  historyOfAll: "deadTasks.historyOfAll",
} as const;

export const Setting = {
  section: "deadTasks",
  stores: "stores",
  maskedNames: "maskedNames",
  undoDays: "undo.days",
  undoMegabytes: "undo.megabytes",
  historyDays: "history.days",
  historyMegabytes: "history.megabytes",
  codeLens: "codeLens",
  diagnostics: "diagnostics",
  pathMappings: "pathMappings",
  runCommand: "runCommand",
} as const;

/** `TreeItem.contextValue`: what an item is, and so which commands its menu has. */
export const ItemKind = {
  task: "task",
  taskReadOnly: "taskReadOnly",
  unreadable: "unreadable",
  unreadableReadOnly: "unreadableReadOnly",
  unreadableGroup: "unreadableGroup",
  damage: "damage",
  otherVersion: "otherVersion",
  more: "more",
  notice: "notice",
  reading: "reading",
  store: "store",
  storeReadOnly: "storeReadOnly",
  storeEmpty: "storeEmpty",
  /** A log of pending tasks, and one that this editor wrote and can take back. */
  log: "log",
  logOfOurs: "logOfOurs",
  /** An entry of the history, and one that can be undone. */
  historyEntry: "historyEntry",
  historyEntryUndoable: "historyEntryUndoable",
} as const;
export type ItemKind = (typeof ItemKind)[keyof typeof ItemKind];

export const detailViewType = "deadTasks.detail";
/** The custom editor for data files. */
export const rawViewType = "deadTasks.rawStore";
/** Microsoft's Hex Editor, and the custom editor that it brings. */
export const hexEditorExtension = "ms-vscode.hexeditor";
export const hexEditorViewType = "hexEditor.hexedit";
export const rawScheme = "dead-task-record";
/** Records as texts to compare. */
export const recordTextScheme = "dead-task-text";
/** Arguments before and after an edit, as the history keeps them. */
export const historyTextScheme = "dead-task-history";
/** The call of a task that is being edited, and what it was before and is now, to compare. */
export const editScheme = "dead-task-edit";
export const editDiffScheme = "dead-task-edit-diff";
/** The language of raw storage files: none at all, so that the editor colours no brackets in them. */
export const rawLanguage = "rage-storage";
/** Where "Don't Show Again" of the hint after a retry is remembered, in the extension's global state. */
export const retryHintHiddenKey = "retryHintHidden";
