import { commands, window, workspace } from "vscode";
import type { NotificationAction } from "../reporter";
import { withoutLinks } from "../text/labels";
import type { Confirmation } from "./messages";
import type { RecordReference } from "./references";

/** Whether the workspace is trusted; where not, says that dead tasks can be read, not `done` (`retried or deleted`). */
export async function trustedFor(done: string): Promise<boolean> {
  if (workspace.isTrusted) return true;
  const manage = "Manage Workspace Trust";
  const text = `In Restricted Mode dead tasks can be read, not ${done}.`;
  if ((await window.showWarningMessage(text, manage)) === manage) {
    await commands.executeCommand("workbench.trust.manage");
  }
  return false;
}

/** Whether these may be changed; says why where not. The menus hide what cannot be done, but commands can come from anywhere. */
export async function mayChange(
  records: readonly Pick<RecordReference, "store">[],
  done = "retried or deleted",
): Promise<boolean> {
  if (!(await trustedFor(done))) return false;
  const readOnly = records.find((record) => record.store.status.readOnly !== null)?.store;
  if (readOnly === undefined) return true;
  void window.showWarningMessage(withoutLinks(`${readOnly.name} is read-only: ${readOnly.status.readOnly ?? ""}`));
  return false;
}

/** Asks in a modal dialogue; true where its button was pressed. */
export async function confirmed({ button, ...question }: Confirmation): Promise<boolean> {
  return (await chosen(question, button)) === button;
}

/** Asks in a modal dialogue; which of its buttons was pressed, or undefined where it was cancelled. */
export async function chosen<Button extends string>(
  { message, detail }: Pick<Confirmation, "message" | "detail">,
  ...buttons: readonly Button[]
): Promise<Button | undefined> {
  const options = { modal: true, detail: withoutLinks(detail) };
  return await window.showWarningMessage(withoutLinks(message), options, ...buttons);
}

/** A notification with actions. Does not wait for the answer. */
export function offer(
  text: string,
  actions: readonly NotificationAction[],
  severity: "information" | "warning" = "information",
): void {
  const show = severity === "warning" ? window.showWarningMessage : window.showInformationMessage;
  void show(withoutLinks(text), ...actions.map(({ title }) => title)).then((choice) =>
    actions.find(({ title }) => title === choice)?.run(),
  );
}
