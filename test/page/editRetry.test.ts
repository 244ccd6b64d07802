import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { useWorkbench } from "./harness";

describe("editing a dead task and retrying it", () => {
  const workbench = useWorkbench({ settings: { "workbench.colorTheme": "Default Dark Modern" } });

  const question = "Retry SendWelcomeEmail with these arguments?";

  function logs(): string[] {
    return readdirSync(join(workbench().folder, "storage")).filter((name) => name.startsWith("deferred-0-"));
  }

  /** A line of the editor in sight. Monaco's spaces are no plain ones. */
  function line(text: string): Locator {
    const pattern = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "[\\s\\u00a0]");
    return workbench()
      .page.locator(".editor-instance:visible .view-line")
      .filter({ hasText: new RegExp(`^[\\s\\u00a0]*${pattern}$`) });
  }

  function squiggle(): Locator {
    return workbench().page.locator(".editor-instance:visible .squiggly-error");
  }

  /** Writes another line in place of the one that the cursor is in. */
  async function typeLine(text: string): Promise<void> {
    const { keyboard } = workbench().page;
    await keyboard.press("End");
    await keyboard.press("Shift+Home");
    await keyboard.type(text, { delay: 10 });
    await keyboard.press("Escape");
  }

  async function save(): Promise<void> {
    await workbench().page.keyboard.press("Control+s");
  }

  async function answer(button: string): Promise<void> {
    const { dialog } = workbench();
    await dialog.getByRole("button", { name: button, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  }

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  it("opens from the task's menu, marks what cannot be kept while it is typed, and retries nothing then", async () => {
    const data = workbench().dataFile();
    await workbench().pickFromMenu(workbench().row('key not found: "de"'), "Edit and Retry…");
    await workbench().tab("SendWelcomeEmail.rb").waitFor();
    await line('"käthe@example.com",').waitFor();
    await workbench().parkMouse();
    await workbench().screenshot("edit-opened");
    await workbench().page.keyboard.press("ArrowDown");
    await typeLine("locale: de,");
    await squiggle().first().waitFor();
    await workbench().screenshot("edit-problem");
    await save();
    await workbench().notification("SendWelcomeEmail was not retried. Line").waitFor();
    await workbench().screenshot("edit-refused");
    await workbench().dismissNotifications();
    assert.equal(workbench().dataFile(), data);
    assert.deepEqual(logs(), []);
  });

  it("shows what was changed and asks; no keeps the text, yes retries", async () => {
    const { dialog } = workbench();
    await typeLine("locale: :de,");
    await squiggle().first().waitFor({ state: "detached" });
    await save();
    await dialog.getByText(question).waitFor();
    await dialog.getByText("Changed: keyword locale.").waitFor();
    await workbench().parkMouse();
    for (const theme of ["light", "high contrast", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`edit-question-${theme.replace(" ", "-")}`);
    }
    await workbench().readmePicture("edit", { x: 353, y: 36, width: 900, height: 470 });
    await answer("Cancel");
    await line("locale: :de,").waitFor();
    assert.deepEqual(logs(), []);

    await workbench().page.getByRole("button", { name: "Retry with These Arguments" }).click();
    await dialog.getByText(question).waitFor();
    await answer("Review Changes");
    const diff = workbench().tab("SendWelcomeEmail: as It Died ↔ Edited");
    await diff.waitFor();
    await workbench().parkMouse();
    await workbench().screenshot("edit-diff-dark");
    await workbench().setTheme("light");
    await workbench().screenshot("edit-diff-light");
    await workbench().setTheme("dark");
    await workbench().page.getByRole("button", { name: "Retry with These Arguments" }).click();
    await dialog.getByText(question).waitFor();
    await answer("Retry");
    await workbench().notification("Retried SendWelcomeEmail.").waitFor();
    await workbench().waitForBadge(35);
    await diff.waitFor({ state: "detached" });
    await workbench().tab("SendWelcomeEmail.rb").waitFor({ state: "detached" });
    assert.equal(logs().length, 1);
    await workbench().dismissNotifications();
  });

  it("opens from the pane, and says what a placeholder stands for", async () => {
    await workbench().row("PaymentGateway::CardDeclined").click();
    await workbench().webview.getByRole("heading", { name: "Billing::ChargeCard", level: 1 }).waitFor();
    await workbench().parkMouse();
    await workbench().screenshot("edit-pane-dark");
    await workbench().webview.getByRole("button", { name: "Edit and Retry…" }).click();
    await workbench().tab("Billing::ChargeCard.rb").waitFor();
    const first = line("money_1,");
    await first.waitFor();
    for (const theme of ["light", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().parkMouse();
      await workbench().screenshot(`edit-placeholders-${theme}`);
    }
    await workbench().page.getByText("token:").last().waitFor();
    await first.getByText("money_1").hover();
    const hover = workbench().page.locator(".monaco-hover:visible").filter({ hasText: "Stands for this value" });
    await hover.waitFor();
    await workbench().screenshot("edit-hover");
    await workbench().parkMouse();
    assert.ok(!(await workbench().page.locator(".monaco-editor:visible").last().innerText()).includes("tok_live"));
  });

  it("keeps what was typed over a reload of the window, saved or not", async () => {
    const { page } = workbench();
    await line("money_1,").click();
    await typeLine("money_1, 7,");
    await page.waitForTimeout(2_000); // An unsaved text is put down a second after it was typed.
    for (const round of ["not saved", "saved"]) {
      await workbench().reload();
      await workbench().tab("Billing::ChargeCard.rb").click();
      await line("money_1, 7,").waitFor({ timeout: 30_000 });
      await workbench().screenshot(`edit-reloaded, ${round}`);
      await line("money_1, 7,").click();
      await save();
      await workbench().dialog.getByText("Retry Billing::ChargeCard with these arguments?").waitFor();
      await workbench().dialog.getByText("Added: argument 2.").waitFor();
      await answer("Cancel");
      await workbench().tab("Billing::ChargeCard: as It Died ↔ Edited").waitFor({ state: "detached" });
      await page.waitForTimeout(500); // The editor has the focus again, and takes it from no palette.
    }
    assert.equal(logs().length, 1);
  });

  it("broke no security policy and asked no other machine for anything", () => {
    assert.deepEqual(workbench().refused, []);
    assert.deepEqual(workbench().requestsElsewhere, []);
  });
});
