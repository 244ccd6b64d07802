import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { useWorkbench } from "./harness";

describe("the history", () => {
  const workbench = useWorkbench();

  function section(name: string): Locator {
    return workbench().sideBar.getByRole("button", { name: `${name} Section` });
  }

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  it("says so where nothing was done", async () => {
    await section("History").click();
    await workbench().sideBar.getByText("Nothing was retried, deleted or undone yet.").waitFor();
  });

  it("lists what was done as it is done, and undoes it from there", async () => {
    await workbench().pickFromMenu(workbench().row("PaymentGateway::CardDeclined"), /^Retry$/);
    await workbench().waitForBadge(35);
    await workbench()
      .row(/Retried Billing::ChargeCard\s*\d\d:\d\d/)
      .waitFor();
    await workbench().row("Today").waitFor();
    await workbench().pickFromMenu(workbench().row("FrozenError"), "Delete…");
    await workbench().dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await workbench().waitForBadge(34);
    const deletion = workbench().row(/Deleted \S+/);
    await deletion.waitFor();
    await workbench().dismissNotifications();
    await deletion.hover();
    await deletion.getByRole("button", { name: "Undo", exact: true }).click();
    await workbench().waitForBadge(35);
    await workbench()
      .row(/Brought back \S+/)
      .waitFor();
    await workbench()
      .row(/Deleted \S+\s*\d\d:\d\d · undone/)
      .waitFor();
    assert.equal(await deletion.getByRole("button", { name: "Undo", exact: true }).count(), 0);
  });

  it("shows which tasks, and what became of them", async () => {
    await workbench().parkMouse();
    await workbench().row("Retried Billing::ChargeCard").click();
    // What is told of the row that the mouse is on would cover the next one.
    await workbench().parkMouse();
    await workbench()
      .row(/Billing::ChargeCard\s*\S+ → \d+-\d+-\d+/)
      .click();
    await workbench().notification("Billing::ChargeCard is not among the dead tasks now.").waitFor();
    await workbench().dismissNotifications();
    await workbench().parkMouse();
    await workbench()
      .row(/Brought back/)
      .click();
    await workbench().parkMouse();
    await workbench()
      .rows.filter({ hasText: /^\S+\s*\d+-\d+-\d+$/ })
      .first()
      .click();
    await workbench().webview.locator("main").filter({ hasText: "FrozenError" }).waitFor();
  });

  it("looks as it should in the light and in the dark", async () => {
    await section("Dead Tasks").click();
    await workbench().widenSideBar(250);
    for (const theme of ["light", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().parkMouse();
      await workbench().screenshot(`history-${theme}`);
    }
    await workbench().readmePicture("history", { x: 44, y: 36, width: 560, height: 250 });
    await section("Dead Tasks").click();
  });

  it("is exported where the user says", async () => {
    await section("History").hover();
    await workbench().sideBar.getByRole("button", { name: "Export History…" }).click();
    const path = workbench().page.locator(".quick-input-widget input[type=text]");
    await path.waitFor();
    let name = "";
    // The dialogue is there before it says where to.
    while (!/^dead-tasks-history-\d{4}-\d\d-\d\d\.md$/.test(name)) {
      await workbench().page.waitForTimeout(50);
      name = (await path.inputValue()).split("/").at(-1)!;
    }
    await workbench().screenshot("history-export");
    await workbench().page.keyboard.press("Enter");
    await workbench().notification("Exported 3 entries of the history.").waitFor();
    const markdown = readFileSync(join(workbench().folder, name), "utf8");
    assert.match(
      markdown,
      /^### \d\d:\d\d:\d\d Brought back `.*?\n### \d\d:\d\d:\d\d Deleted `.*?\n### \d\d:\d\d:\d\d Retried `Billing::ChargeCard`$/ms,
    );
    await workbench().notification("Exported").getByRole("button", { name: "Open" }).click();
    await workbench().tab(name).waitFor();
    await workbench().screenshot("history-exported");
  });

  it("is cleared once that is confirmed", async () => {
    await workbench().pickFromTitleMenu("History", "Clear History…");
    await workbench().dialog.getByText("Clear the history of all windows and workspaces?").waitFor();
    await workbench().screenshot("history-clear");
    await workbench().dialog.getByRole("button", { name: "Clear", exact: true }).click();
    await workbench().sideBar.getByText("Nothing was retried, deleted or undone yet.").waitFor();
  });

  it("broke no security policy and asked no other machine for anything", () => {
    assert.deepEqual(workbench().refused, []);
    assert.deepEqual(workbench().requestsElsewhere, []);
  });
});
