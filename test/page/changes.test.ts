import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { LineProcess } from "../support/lineProcess";
import { useWorkbench } from "./harness";

describe("changing the demo application's dead tasks", () => {
  const workbench = useWorkbench({ settings: { "workbench.colorTheme": "Default Dark Modern" } });

  function storage(): string {
    return join(workbench().folder, "storage");
  }

  /** Shows the task with this error; returns its id, as the pane names it. */
  async function idOfShown(error: string): Promise<string> {
    await workbench().row(error).click();
    return workbench().webview.locator("main").filter({ hasText: error }).locator("dd .mono").innerText();
  }

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  it("retries with the button in the row", async () => {
    const row = workbench().row("PaymentGateway::CardDeclined");
    await row.hover();
    await row.getByRole("button", { name: "Retry" }).click();
    const toast = workbench().notification("Retried Billing::ChargeCard. It runs when a Rage worker next starts.");
    await toast.waitFor();
    await workbench().parkMouse();
    await workbench().screenshot("retried");
    await workbench().waitForBadge(35, 5_000);
    await row.waitFor({ state: "detached" });
    const [line, ...more] = workbench().logLines();
    assert.deepEqual(more, []);
    assert.match(line!, /^[0-9a-f]{8}:add:\d+-\d+-\d+:0:".*Billing::ChargeCard/);
    assert.match(line!, /tok_live_77Gh1k/);
    assert.doesNotMatch(workbench().dataFile(), /tok_live_77Gh1k/);
    await workbench().dismissNotifications();
  });

  it("retries from the pane, which says so and offers nothing more", async () => {
    await workbench().row("PaymentGateway::Timeout").click();
    const pane = workbench().webview;
    await pane.getByRole("button", { name: "Retry", exact: true }).click();
    await pane.locator(".notice").getByText("You retried this task. It runs when a Rage worker next starts.").waitFor();
    await workbench().notification("Retried Billing::ChargeCard.").waitFor();
    assert.equal(await pane.getByRole("button", { name: "Retry", exact: true }).isDisabled(), true);
    assert.equal(await pane.getByRole("button", { name: "Delete…", exact: true }).isDisabled(), true);
    assert.equal(await pane.getByRole("button", { name: "Open Raw" }).isDisabled(), true);
    await workbench().waitForBadge(34, 5_000);
    assert.equal(workbench().logLines().length, 2);
    await workbench().dismissNotifications();
    await workbench().screenshot("retried-in-pane");
  });

  it("asks before it deletes several, names and counts them, and deletes them", async () => {
    const chosen = ["key not found: :pt", 'key not found: "de"', "accounting said 422"];
    const before = workbench().dataFile();
    await workbench().row(chosen[0]!).click();
    for (const text of chosen.slice(1))
      await workbench()
        .row(text)
        .click({ modifiers: ["ControlOrMeta"] });
    await workbench().pickFromMenu(workbench().row(chosen[1]!), "Delete…");
    const { dialog } = workbench();
    await dialog.getByText("Delete 3 dead tasks from bookshop?").waitFor();
    await dialog.getByText("SendWelcomeEmail ×2").waitFor();
    await dialog.getByText("SyncInvoice").waitFor();
    await workbench().screenshot("delete-dialog");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(workbench().dataFile(), before);

    await workbench().page.keyboard.press("Delete");
    await dialog.getByRole("button", { name: "Delete 3" }).click();
    await workbench().waitForBadge(31, 5_000);
    for (const text of chosen) await workbench().row(text).waitFor({ state: "detached" });
    assert.equal(workbench().dataFile().split("\n").length, before.split("\n").length - 3);
    const told = workbench().page.locator(".notification-toast", { hasText: "Deleted 3 dead tasks." });
    await told.waitFor();
    await workbench().screenshot("deleted");
    assert.equal(workbench().logLines().length, 2);

    await told.getByRole("button", { name: "Undo" }).click();
    await workbench().waitForBadge(34, 5_000);
    for (const text of chosen) await workbench().row(text).waitFor();
    assert.deepEqual(workbench().dataFile().split("\n").sort(), before.split("\n").sort());

    // Once more, from the keyboard, and brought back by it.
    await workbench().row(chosen[0]!).click();
    await workbench().page.keyboard.press("Delete");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await workbench().waitForBadge(33, 5_000);
    await workbench().dismissNotifications();
    await workbench().row("accounting said 422").click();
    await workbench().page.keyboard.press("ControlOrMeta+z");
    const choices = workbench().page.locator(".quick-input-widget");
    await choices.getByText("SendWelcomeEmail").waitFor();
    await workbench().screenshot("undo-choices");
    await workbench().readmePicture("undo", { x: 44, y: 0, width: 900, height: 420 });
    await workbench().page.keyboard.press("Enter");
    await workbench().waitForBadge(34, 5_000);
    await workbench().row(chosen[0]!).waitFor();

    for (const [index, text] of chosen.entries())
      await workbench()
        .row(text)
        .click(index === 0 ? {} : { modifiers: ["ControlOrMeta"] });
    await workbench().page.keyboard.press("Delete");
    await dialog.getByRole("button", { name: "Delete 3" }).click();
    await workbench().waitForBadge(31, 5_000);
    await workbench().dismissNotifications();
  });

  it("copies the ids of the selection and a task as Ruby from the menu", async () => {
    const row = workbench().row("slack said channel_not_found").first();
    await row.click();
    await workbench().webview.getByText("slack said channel_not_found").waitFor();
    await workbench().pickFromMenu(row, "Copy as Ruby");
    await workbench().page.getByText("Copied as Ruby", { exact: true }).waitFor();
    assert.equal(
      await workbench().clipboard(),
      'NotifySlack.enqueue("#sign-ups", {text: "margaret@example.com signed up"})',
    );
    await row.click();
    await workbench().page.keyboard.press("Control+c");
    await workbench().page.getByText("Copied 1 id").waitFor();
    assert.match(await workbench().clipboard(), /^\d+-4101-33$/);
  });

  it("says in the pane when someone else took the task out", async () => {
    const id = await idOfShown("FrozenError");
    const pane = workbench().webview;
    const peer = new LineProcess("ruby", ["test/peers/peer.rb", storage(), "deferred-"]);
    try {
      await peer.request({ do: "remove", ids: [id] });
      await pane
        .locator(".notice")
        .getByText("This task is no longer among the dead. It was retried or deleted elsewhere.")
        .waitFor();
    } finally {
      await peer.stop();
    }
    await workbench().waitForBadge(30, 5_000);
    await workbench().parkMouse();
    await workbench().screenshot("gone");
  });

  it("says clearly when a worker holds the lock, and shows the log when asked to", async () => {
    const peer = new LineProcess("ruby", ["test/peers/peer.rb", storage(), "deferred-"]);
    const before = workbench().dataFile();
    try {
      const held = assert.rejects(peer.request({ do: "hold", seconds: 60 }));
      await peer.notice("held");
      const row = workbench().row("ZeroDivisionError");
      await row.hover();
      await row.getByRole("button", { name: "Retry" }).click();
      const toast = workbench().notification("Could not retry 1 task of bookshop");
      await toast
        .getByText(/stayed locked by another process for 1\.45 seconds\. Nothing was changed; try again/)
        .waitFor();
      await workbench().parkMouse();
      await workbench().screenshot("locked");
      assert.equal(workbench().dataFile(), before);
      await toast.getByRole("button", { name: "Show Log" }).click();
      await workbench().page.locator(".part.panel .view-line").getByText("Could not retry").waitFor();
      await workbench().screenshot("log");
      await peer.stop();
      await held;
    } finally {
      await peer.stop();
    }
    await workbench().runCommand("View: Hide Panel");
  });

  it("deletes all with one question, and the list says that there are none", async () => {
    await workbench().runCommand("Dead Tasks: Delete All…");
    await workbench().dialog.getByText("Delete 30 dead tasks from bookshop?").waitFor();
    await workbench().screenshot("delete-all-dialog");
    await workbench().dialog.getByRole("button", { name: "Delete 30" }).click();
    await workbench()
      .sideBar.getByText("No dead tasks. One that fails for the last time appears here by itself.")
      .waitFor();
    await workbench().badge.waitFor({ state: "hidden" });
    await workbench().screenshot("none-left");
    assert.equal(workbench().dataFile(), "");
    assert.ok(existsSync(join(storage(), "deferred-dead_tasks.lock")));
  });
});
