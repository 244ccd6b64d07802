import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { filledDemoInGit } from "../../scripts/lib/workspaces.mjs";
import { useWorkbench } from "./harness";

describe("the way from a dead task into the code", () => {
  const workbench = useWorkbench({
    workspace: filledDemoInGit,
    settings: { "workbench.colorTheme": "Default Dark Modern" },
  });

  /** Waits until the text editor in sight has its cursor on the line of this file on disk that has this text. */
  async function cursorAt(file: string, text: string): Promise<void> {
    const lines = readFileSync(join(workbench().folder, file), "utf8").split("\n");
    await workbench().cursorAt(lines.findIndex((line) => line.includes(text)) + 1);
  }

  function badge(): Locator {
    return workbench().page.locator(".part.activitybar").getByRole("tab", { name: "Dead Tasks" });
  }

  async function closeEditors(): Promise<void> {
    await workbench().runCommand("View: Close All Editors");
    await workbench().page.locator(".tabs-container .tab").first().waitFor({ state: "detached" });
  }

  before(async () => {
    await workbench().badge.getByText("36", { exact: true }).waitFor({ timeout: 30_000 });
  });

  it("is three keys long from the badge to the failing line", async () => {
    const { page } = workbench();
    await badge().focus();
    let keys = 0;
    const press = async (key: string): Promise<void> => {
      await page.keyboard.press(key);
      keys++;
    };
    await press("Enter");
    await workbench().row("SendWelcomeEmail").first().waitFor({ timeout: 30_000 });
    // What the reader waits for, too: the list is there and has the keyboard.
    await workbench().sideBar.locator(".monaco-list:focus").waitFor();
    await page.waitForTimeout(1_000);
    await press("ArrowDown");
    await workbench().sideBar.locator(".monaco-list-row.focused").getByText("Net::OpenTimeout").waitFor();
    await press("Alt+Enter");
    await workbench().tab("mailer.rb").waitFor();
    await cursorAt("lib/mailer.rb", "Net::SMTP.start(HOST");
    await page.waitForFunction("document.activeElement?.closest('.editor-instance') != null");
    assert.equal(keys, 3);
    await workbench().screenshot("code-three-keys");
    await closeEditors();
  });

  it("is two clicks long", async () => {
    await workbench().runCommand("View: Show Explorer");
    let clicks = 0;
    const click = async (target: Locator): Promise<void> => {
      await target.click();
      clicks++;
    };
    await click(badge());
    const row = workbench().row("PaymentGateway::CardDeclined");
    await row.waitFor();
    await workbench().page.waitForTimeout(1_000);
    await row.hover();
    await workbench().screenshot("code-inline-action");
    await click(row.getByRole("button", { name: "Open Failing Line" }));
    await workbench().tab("payment_gateway.rb").waitFor();
    await cursorAt("lib/payment_gateway.rb", "raise CardDeclined");
    assert.equal(clicks, 2);
    await closeEditors();
  });

  it("folds the frames of gems and Ruby, and unfolds them by mouse and keyboard", async () => {
    const { page } = workbench();
    await workbench().row("JSON::NestingError").click();
    const pane = workbench().webview;
    const above = pane.getByRole("button", { name: "2 frames of gems" });
    await above.waitFor();
    assert.equal(await above.getAttribute("aria-expanded"), "false");
    const frame = pane.getByText("json-2.9.1/lib/json/common.rb:445").first();
    assert.equal(await frame.isVisible(), false);
    await workbench().parkMouse();
    await above.scrollIntoViewIfNeeded();
    await workbench().screenshot("code-folded");
    await above.click();
    await frame.waitFor();
    assert.equal(await above.getAttribute("aria-expanded"), "true");
    await above.focus();
    await page.keyboard.press("Enter");
    await frame.waitFor({ state: "hidden" });
    await pane.getByRole("button", { name: "Show All Frames" }).press("Space");
    await frame.waitFor();
    await pane.getByText("rage-rb-1.26.1/lib/rage/logger/logger.rb:118").waitFor();
    const missing = pane.locator("li.gem").filter({ hasText: "(json 2.9.1 is not installed here)" });
    assert.equal(await missing.count(), 2);
    assert.match((await missing.first().getAttribute("title"))!, /\njson 2\.9\.1 is not installed here$/);
    for (const theme of ["light", "high contrast", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`code-all-frames-${theme.replace(" ", "-")}`);
    }
    await workbench().row("PaymentGateway::CardDeclined").click();
    await pane.getByRole("button", { name: "Fold Gems and Ruby" }).waitFor();
    await pane.getByText("rage-rb-1.26.1/lib/rage/logger/logger.rb:118").waitFor();
    await pane.getByRole("button", { name: "Fold Gems and Ruby" }).click();
    await pane.getByText("rage-rb-1.26.1/lib/rage/logger/logger.rb:118").waitFor({ state: "hidden" });
  });

  it("says that the code has changed since, and shows how", async () => {
    const { page } = workbench();
    const file = join(workbench().folder, "lib/payment_gateway.rb");
    appendFileSync(file, "# mended\n");
    const pane = workbench().webview;
    const said = "lib/payment_gateway.rb (changes not committed) has changed since this task died.";
    await pane.locator(".notice").getByText(said).waitFor({ timeout: 30_000 });
    await workbench().row("CardDeclined").getByText("changed since").waitFor();
    await workbench().parkMouse();
    await pane.locator(".notice").scrollIntoViewIfNeeded();
    for (const theme of ["light", "high contrast", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`code-changed-${theme.replace(" ", "-")}`);
    }
    await pane.getByRole("button", { name: "Show Changes" }).click();
    await page.locator(".monaco-diff-editor").waitFor();
    await workbench().tab("payment_gateway.rb (before the failure ↔ now)").waitFor();
    await page.locator(".monaco-diff-editor .modified").getByText("# mended").first().waitFor();
    await workbench().screenshot("code-diff");
  });

  it("broke no security policy", () => {
    assert.deepEqual(workbench().refused, []);
  });
});
