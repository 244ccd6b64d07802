import { commands, workspace } from "vscode";
import { Setting } from "./ids";
import type { UndoLimits } from "./service/protocol";

/** Names whose values are masked. Whatever in the setting is not text is ignored: masking must not fail over a typing error. */
export function maskedNames(): string[] {
  const value: unknown = workspace.getConfiguration(Setting.section).get(Setting.maskedNames);
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === "string" && name !== "") : [];
}

/** How much of what is deleted is kept, and for how long; null for nothing. */
export function undoLimits(): UndoLimits | null {
  return limits(Setting.undoDays, Setting.undoMegabytes);
}

/** The same for the history. */
export function historyLimits(): UndoLimits | null {
  return limits(Setting.historyDays, Setting.historyMegabytes);
}

function limits(daysName: string, megabytesName: string): UndoLimits | null {
  const configuration = workspace.getConfiguration(Setting.section);
  const days: unknown = configuration.get(daysName);
  const megabytes: unknown = configuration.get(megabytesName);
  if (typeof days !== "number" || typeof megabytes !== "number" || days <= 0 || megabytes <= 0) return null;
  return { bytes: megabytes * 1_000_000, age: days * 86_400 };
}

/** `name`: the setting to show alone. */
export async function openSettings(name?: string): Promise<void> {
  const one = name === undefined ? "" : ` ${Setting.section}.${name}`;
  await commands.executeCommand("workbench.action.openSettings", `@ext:dead-tasks.dead-tasks${one}`);
}
