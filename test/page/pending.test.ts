import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { useWorkbench } from "./harness";

describe("the list of pending tasks", () => {
  const workbench = useWorkbench();

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  it("says so where nothing waits", async () => {
    await workbench().sideBar.getByRole("button", { name: "Pending Tasks Section" }).click();
    await workbench().sideBar.getByText("No task waits in the logs of Rage's workers.").waitFor();
  });

  it("shows a retry at its time, and takes it back", async () => {
    const before = workbench().dataFile();
    await workbench().pickFromMenu(workbench().row("PaymentGateway::CardDeclined"), "Retry Later…");
    const choices = workbench().page.locator(".quick-input-widget");
    await choices.getByText("In an hour").waitFor();
    await workbench().screenshot("retry-later");
    await choices.getByText("In an hour").click();
    await workbench().waitForBadge(35);
    await workbench().row("Waiting for a Rage worker to start").waitFor();
    await workbench()
      .row(/Billing::ChargeCard\s*in (59 min|1 h)/)
      .waitFor();
    await workbench().dismissNotifications();
    await workbench().parkMouse();
    await workbench().screenshot("pending");
    await workbench().setTheme("dark");
    await workbench().widenSideBar(250);
    await workbench().readmePicture("pending", { x: 44, y: 424, width: 560, height: 280 });
    const log = workbench().row("Waiting for a Rage worker to start");
    await log.hover();
    await log.getByRole("button", { name: "Take Back" }).click();
    await workbench().waitForBadge(36);
    await workbench().row("PaymentGateway::CardDeclined").waitFor();
    await workbench().sideBar.getByText("No task waits in the logs of Rage's workers.").waitFor();
    assert.deepEqual(workbench().dataFile().split("\n").sort(), before.split("\n").sort());
    const logs = readdirSync(join(workbench().folder, "storage")).filter((name) => name.startsWith("deferred-0-"));
    assert.equal(logs.length, 1, "the log stays, and says that nothing of it is to be run");
  });

  it("broke no security policy and asked no other machine for anything", () => {
    assert.deepEqual(workbench().refused, []);
    assert.deepEqual(workbench().requestsElsewhere, []);
  });
});
