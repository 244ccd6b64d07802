import { TabInputText, TabInputTextDiff, window, workspace, type Tab, type TextDocument, type Uri } from "vscode";
import { sideUri } from "./editUris";

/** The document of an address, where the editor has it loaded. */
export function openDocument(uri: Uri): TextDocument | undefined {
  const key = uri.toString();
  return workspace.textDocuments.find((document) => document.uri.toString() === key);
}

/** Whether a tab shows this document, loaded or not. */
export function isInTab(uri: Uri): boolean {
  return tabsOf(uri).length > 0;
}

export async function closeTabs(uri: Uri): Promise<void> {
  await close(tabsOf(uri));
}

/** Closes the diff of what the task of an edited document was and is to be. */
export async function closeDiff(edited: Uri): Promise<void> {
  const after = sideUri(edited, "after").toString();
  await close(
    allTabs().filter(({ input }) => input instanceof TabInputTextDiff && input.modified.toString() === after),
  );
}

function tabsOf(uri: Uri): readonly Tab[] {
  const key = uri.toString();
  return allTabs().filter(({ input }) => input instanceof TabInputText && input.uri.toString() === key);
}

function allTabs(): readonly Tab[] {
  return window.tabGroups.all.flatMap(({ tabs }) => tabs);
}

async function close(tabs: readonly Tab[]): Promise<void> {
  if (tabs.length > 0) await window.tabGroups.close(tabs);
}
