import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { accessibilityViolations, useWorkbench } from "./harness";

describe("many tasks at once", () => {
  const workbench = useWorkbench();

  function storage(): string {
    return join(workbench().folder, "storage");
  }

  /** Presses a button of the list's title bar, which shows them while the mouse is over the list. */
  async function pressTitle(name: string): Promise<void> {
    await workbench().rows.first().hover();
    await workbench().sideBar.getByRole("button", { name, exact: true }).click();
  }

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  it("filters the list while the count is seen, and says so", async () => {
    const { page } = workbench();
    await pressTitle("Filter…");
    const box = page.locator(".quick-input-widget");
    await box.locator("input").fill("nowhere");
    await box.getByText("None of 36 tasks matches.").waitFor();
    await box.locator("input").fill("class:charge declined");
    await box.getByText(/^[12] of 36 tasks$/).waitFor();
    await workbench().screenshot("filter-typed");
    await box.locator("input").fill("class:chargecard");
    const count = Number(/^(\d+) of/.exec(await box.getByText(/^([3-9]|1\d) of 36 tasks$/).innerText())?.[1]);
    assert.ok(count > 2 && count < 20);
    await page.keyboard.press("Enter");
    await workbench().sideBar.getByText(`Filter: class:chargecard · ${count} of 36`).waitFor();
    await workbench().row("SyncInvoice").first().waitFor({ state: "detached" });
    assert.equal(await workbench().row("Billing::ChargeCard").count(), count);
    await workbench().waitForBadge(36);
    await workbench().rows.first().hover();
    for (const theme of ["dark", "light"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`filter-${theme}`);
    }
    await workbench().setTheme("dark");
  });

  it("says that nothing matches, with the way out in the list itself", async () => {
    const { page } = workbench();
    await pressTitle("Change Filter…");
    const input = page.locator(".quick-input-widget input");
    assert.equal(await input.inputValue(), "class:chargecard");
    await input.fill("nowhere");
    await page.keyboard.press("Enter");
    const none = workbench().row("No task matches the filter");
    await none.waitFor();
    await workbench().screenshot("filter-nothing");
    await none.click();
    await workbench().row("SyncInvoice").first().waitFor();
    assert.equal(await workbench().sideBar.getByText("Filter: ").count(), 0);
  });

  it("tries one of what matches first, and retries exactly the others on demand", async () => {
    const { page, dialog } = workbench();
    await pressTitle("Filter…");
    await page.locator(".quick-input-widget input").fill("class:ChargeCard");
    await page.keyboard.press("Enter");
    await workbench().sideBar.getByText("Filter: class:ChargeCard").waitFor();
    const count = await workbench().row("Billing::ChargeCard").count();
    await workbench().openTitleMenu("Dead Tasks");
    assert.equal(await workbench().menuItem("Retry All…").count(), 0);
    await workbench().menuItem("Retry All That Match…").waitFor();
    await workbench().screenshot("filter-menu");
    await page.keyboard.press("Escape");
    await workbench().runCommand("Dead Tasks: Retry All That Match…");
    await dialog.getByText(`Retry the ${count} dead tasks from bookshop that match “class:ChargeCard”?`).waitFor();
    for (const theme of ["light", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`retry-matching-${theme}`);
    }
    await workbench().readmePicture("many", { x: 44, y: 36, width: 900, height: 520 });
    await dialog.getByRole("button", { name: "Try One First" }).click();
    const told = workbench().notification(`Retried one of ${count}: Billing::ChargeCard.`);
    await told.waitFor();
    await workbench().waitForBadge(35);
    assert.equal(workbench().logLines().length, 1);
    await workbench().screenshot("try-one-first");
    await told.getByRole("button", { name: `Retry the Other ${count - 1} Now` }).click();
    await workbench().waitForBadge(36 - count);
    assert.equal(workbench().logLines().length, count);
    await workbench().row("No task matches the filter").click();
    await workbench().row("SyncInvoice").first().waitFor();
    await workbench().dismissNotifications();
  });

  it("cancels what waits, and everything is where it was", async () => {
    const before = readFileSync(join(storage(), "deferred-dead_tasks-0"));
    // As another window does that is at work in the store.
    const lock = join(storage(), ".deferred-dead_tasks.busy");
    mkdirSync(lock);
    try {
      await workbench().runCommand("Dead Tasks: Delete All…");
      await workbench()
        .dialog.getByRole("button", { name: /^Delete \d+$/ })
        .click();
      const progress = workbench().notification(/^.*Deleting \d+ tasks…/);
      await progress.waitFor();
      await workbench().screenshot("cancel");
      await progress.getByRole("button", { name: "Cancel" }).click();
      await workbench().notification("Cancelled. Nothing was deleted.").waitFor();
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
    assert.deepEqual(readFileSync(join(storage(), "deferred-dead_tasks-0")), before);
    await workbench().dismissNotifications();
  });

  it("lists and retries all that died alike, from the pane", async () => {
    const { webview, dialog } = workbench();
    await workbench().row("InvoiceGateway::Unavailable").first().click();
    const summary = webview.getByText(/^\d+ others? ·$/);
    await summary.waitFor();
    const others = Number(/^\d+/.exec(await summary.innerText())![0]);
    const noun = others === 1 ? "Other" : "Others";
    const retry = webview.getByRole("button", { name: `Retry This and ${others} ${noun}…` });
    await retry.scrollIntoViewIfNeeded();
    assert.deepEqual(await accessibilityViolations(workbench()), []);
    for (const theme of ["light", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`same-failure-${theme}`);
    }
    await webview.getByRole("button", { name: "Show in List" }).click();
    await workbench()
      .sideBar.getByText(/^Same failure as SyncInvoice · InvoiceGateway::Unavailable.* · \d of \d+$/)
      .waitFor();
    await workbench().row("ImportCatalog").first().waitFor({ state: "detached" });
    assert.equal(await workbench().row("SyncInvoice").count(), others + 1);
    const waiting = workbench().logLines().length;
    const left = Number(await workbench().badge.innerText());
    await retry.click();
    await dialog
      .getByText(`Retry the ${others + 1} dead tasks from bookshop that died like SyncInvoice · InvoiceGateway`)
      .waitFor();
    await dialog.getByRole("button", { name: `Retry ${others + 1}` }).click();
    await workbench().waitForBadge(left - others - 1);
    assert.equal(workbench().logLines().length, waiting + others + 1);
    await webview.getByText("You retried this task.").first().waitFor();
    assert.equal(await retry.count(), 0, "what has gone cannot be retried");
    await pressTitle("Clear Filter");
    await workbench().row("ImportCatalog").first().waitFor();
  });

  it("broke no security policy and asked no other machine for anything", () => {
    assert.deepEqual(workbench().refused, []);
    assert.deepEqual(workbench().requestsElsewhere, []);
  });
});
