import { commands, workspace } from "vscode";
import { Setting } from "./ids";

/** Names whose values are masked. Whatever in the setting is not text is ignored: masking must not fail over a typing error. */
export function maskedNames(): string[] {
  const value: unknown = workspace.getConfiguration(Setting.section).get(Setting.maskedNames);
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === "string" && name !== "") : [];
}

/** `name`: the setting to show alone. */
export async function openSettings(name?: string): Promise<void> {
  const one = name === undefined ? "" : ` ${Setting.section}.${name}`;
  await commands.executeCommand("workbench.action.openSettings", `@ext:dead-tasks.dead-tasks${one}`);
}
