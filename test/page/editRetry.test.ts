import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { useWorkbench } from "./harness";

describe("editing a dead task and retrying it", () => {
  const workbench = useWorkbench({ settings: { "workbench.colorTheme": "Default Dark Modern" } });

  function dataFile(): string {
    return readFileSync(join(workbench().folder, "storage", "deferred-dead_tasks-0"), "latin1");
  }

  function logs(): string[] {
    return readdirSync(join(workbench().folder, "storage")).filter((name) => name.startsWith("deferred-0-"));
  }

  function waitForBadge(count: number): Promise<void> {
    return workbench().badge.getByText(String(count), { exact: true }).waitFor({ timeout: 30_000 });
  }

  /** The text in sight, with Monaco's spaces as spaces. */
  async function editorText(): Promise<string> {
    const lines = workbench().page.locator(".editor-instance .view-lines").last();
    return (await lines.innerText()).replaceAll("\u00a0", " ");
  }

  before(async function () {
    this.timeout(60_000);
    await workbench().openView();
    await waitForBadge(36);
    await workbench().page.waitForTimeout(2_000);
  });
});
