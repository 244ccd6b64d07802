import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/lib/steps.mjs";
import { useWorkbench } from "./harness";

const onStandIn = { "deadTasks.runCommand": ["ruby", "-I", join(root, "test", "support", "standInRage")] };

describe("running a dead task now", function () {
  this.timeout(90_000);
  const workbench = useWorkbench({ settings: onStandIn });
  const row = () =>
    workbench()
      .row(/SendWelcomeEmail.*"de"/s)
      .first();
  const taskFile = () => join(workbench().folder, "app", "tasks", "send_welcome_email.rb");

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  // What a terminal shows is a picture to the page; the outcome is told by the notification.
  const terminal = () => workbench().page.locator(".part.panel").getByText("Run SendWelcomeEmail");

  it("asks, and shows the run and what was raised when it fails again", async () => {
    await row().click();
    await workbench().pickFromMenu(row(), "Run Now");
    await workbench().dialog.getByText("Run SendWelcomeEmail now in").waitFor();
    await workbench().screenshot("run-now-question");
    await workbench().dialog.getByRole("button", { name: "Run", exact: true }).click();
    await terminal().first().waitFor({ timeout: 30_000 });
    const failed = workbench().notification(/SendWelcomeEmail failed again: KeyError: key not found: "de"/);
    await failed.waitFor({ timeout: 30_000 });
    await workbench().webview.locator("#pane").getByText("You ran this task, and it failed again: KeyError").waitFor();
    await workbench().parkMouse();
    await workbench().readmePicture("now", { x: 349, y: 36, width: 923, height: 310 });
    for (const theme of ["light", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`run-now-failed-${theme}`);
    }
    await failed.getByRole("button", { name: "Open Failing Line" }).click();
    await workbench().tab("send_welcome_email.rb").waitFor();
    await workbench().waitForBadge(36);
  });

  it("takes the task out of the list when it succeeds, once its code is mended", async () => {
    const mended = readFileSync(taskFile(), "utf8")
      .replace("SUBJECTS.fetch(locale)", "SUBJECTS.fetch(locale.to_sym)")
      .replace(/ {4}Mailer\.deliver\([^]*?\n {4}\)\n/, `    puts "To: #{user&.first_name}, #{subject(locale)}"\n`);
    assert.ok(mended.includes("puts"));
    writeFileSync(taskFile(), mended);
    await workbench().applySettings(onStandIn);
    await workbench().dismissNotifications();
    await workbench().pickFromMenu(row(), "Run Now");
    await workbench().dialog.getByRole("button", { name: "Run", exact: true }).click();
    await workbench().waitForBadge(35);
    const done = workbench().notification(
      /SendWelcomeEmail ran and succeeded\. It is no longer among the dead tasks\./,
    );
    await done.waitFor();
    await workbench().parkMouse();
    for (const theme of ["light", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`run-now-succeeded-${theme}`);
    }
    await done.getByRole("button", { name: "Bring Back" }).click();
    await workbench().waitForBadge(36);
  });

  it("says what to do where the application's gems are not installed", async () => {
    await workbench().applySettings({ "deadTasks.runCommand": ["ruby"] });
    await workbench().dismissNotifications();
    await workbench().pickFromMenu(row(), "Run Now");
    await workbench().dialog.getByRole("button", { name: "Run", exact: true }).click();
    const unbooted = workbench().notification(/could not be booted\..*Install the application's gems/s);
    await unbooted.waitFor({ timeout: 30_000 });
    await workbench().screenshot("run-now-no-gem");
    await workbench().waitForBadge(36);
  });
});
