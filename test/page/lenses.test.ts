import assert from "node:assert/strict";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { json } from "../support/commandLine";
import { useWorkbench } from "./harness";

describe("the code of dead tasks", () => {
  const workbench = useWorkbench({
    settings: { "workbench.colorTheme": "Default Dark Modern", "deadTasks.diagnostics": "warning" },
  });

  async function openFile(path: string): Promise<void> {
    const { page } = workbench();
    await page.keyboard.press("Control+P");
    const input = page.locator(".quick-input-widget input");
    await input.fill(path);
    await page
      .locator(".quick-input-widget .monaco-list-row.focused")
      .filter({ hasText: path.split("/").at(-1)! })
      .waitFor();
    await page.keyboard.press("Enter");
    await workbench().tab(path.split("/").at(-1)!).waitFor();
  }

  function lens(text: RegExp): Locator {
    return workbench().page.locator(".codelens-decoration a").filter({ hasText: text });
  }

  before(async function () {
    this.timeout(60_000);
    await workbench().openView();
    await workbench().row("SendWelcomeEmail").first().waitFor();
  });

  it("has a lens above a task class; a click offers its dead tasks, and Enter shows the newest", async () => {
    await openFile("app/tasks/send_welcome_email.rb");
    const { page } = workbench();
    await lens(/^\d+ dead, last /).waitFor();
    await workbench().screenshot("lens-dark");
    await lens(/^\d+ dead, last /).click();
    const picks = page.locator(".quick-input-widget .monaco-list-row");
    await picks.first().waitFor();
    await page
      .locator(".quick-input-widget")
      .getByText(/^\d+ dead tasks of SendWelcomeEmail$/)
      .waitFor();
    await workbench().screenshot("lens-pick");
    const [first] = await picks.first().locator(".label-name").allInnerTexts();
    await page.keyboard.press("Enter");
    const pane = workbench().webview;
    await pane.getByRole("heading", { name: "SendWelcomeEmail" }).waitFor();
    const [error] = first!.split(":");
    await pane.locator("main").getByText(error!).first().waitFor();
  });

  it("follows the store within a second, in the editor itself", async () => {
    await openFile("app/tasks/send_welcome_email.rb");
    const text = await lens(/^\d+ dead, last /).innerText();
    const count = Number(/^\d+/.exec(text)![0]);
    const storage = join(workbench().folder, "storage");
    const { tasks } = await json<{ tasks: { id: string }[] }>([
      "list",
      "--class",
      "SendWelcomeEmail",
      "--storage",
      storage,
    ]);
    assert.equal(tasks.length, count);
    await json(["delete", tasks[0]!.id, "--storage", storage]);
    await lens(new RegExp(`^${count - 1} dead, last `)).waitFor({ timeout: 1_500 });
  });

  it("leads from the pane's title to perform", async () => {
    await workbench().tab("SendWelcomeEmail").click();
    const pane = workbench().webview;
    await pane.getByRole("button", { name: "SendWelcomeEmail", exact: true }).click();
    await workbench().page.locator(".part.statusbar").getByText("Ln 10, Col 7", { exact: true }).waitFor();
  });

  it("marks failing lines where the setting asks for it", async () => {
    await openFile("app/tasks/resize_image.rb");
    const { page } = workbench();
    await lens(/^\d+ dead, last /).waitFor();
    await page.locator(".squiggly-warning").first().waitFor();
    await workbench().runCommand("Problems: Focus on Problems View");
    await page
      .locator(".markers-panel")
      .getByText(/1 task died here, .*: FrozenError: /)
      .first()
      .waitFor();
    for (const theme of ["Dark Modern", "Light Modern", "High Contrast"]) {
      await workbench().applySettings({
        "workbench.colorTheme": `Default ${theme}`,
        "deadTasks.diagnostics": "information",
      });
      await page.locator(".squiggly-info").first().waitFor();
      await workbench().screenshot(`problems ${theme}`);
      await workbench().applySettings({ "deadTasks.diagnostics": "off" });
      await page.locator(".squiggly-info").first().waitFor({ state: "detached" });
    }
  });

  it("goes from the menu of a task to its class", async () => {
    await workbench().pickFromMenu(workbench().row("Billing::ChargeCard").first(), "Go to Task Class");
    await workbench().tab("charge_card.rb").waitFor();
    await workbench().page.locator(".part.statusbar").getByText("Ln 10, Col 9", { exact: true }).waitFor();
  });
});
