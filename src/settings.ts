import { commands, workspace } from "vscode";
import { Setting } from "./ids";

/** Names whose values are masked. Whatever in the setting is not text is ignored: masking must not fail over a typing error. */
export function maskedNames(): string[] {
  const value: unknown = workspace.getConfiguration(Setting.section).get(Setting.maskedNames);
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === "string" && name !== "") : [];
}

export async function openSettings(): Promise<void> {
  await commands.executeCommand("workbench.action.openSettings", `@ext:dead-tasks.dead-tasks`);
}
