import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { useWorkbench } from "./harness";

describe("reproducing one of the demo application's dead tasks", () => {
  const workbench = useWorkbench({
    settings: { "workbench.colorTheme": "Default Dark Modern", "editor.minimap.enabled": false },
  });

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  it("copies what performs it in the console", async () => {
    // The status bar says so for a moment only, perhaps while the menu is still closing.
    await Promise.all([
      workbench().page.getByText("Copied for the console", { exact: true }).waitFor(),
      workbench().pickFromMenu(workbench().row("SendWelcomeEmail").first(), "Copy Console Snippet"),
    ]);
    const text = await workbench().clipboard();
    assert.match(text, /^# Dead task .* at lib\/mailer\.rb:\d+:\n# {3}Net::OpenTimeout: /);
    assert.match(text, /\nSendWelcomeEmail\.new\.perform\("user@example\.com", locale: :en\)\n$/);
  });

  it("opens a test that fails as it did, which is saved at its place", async () => {
    const { page } = workbench();
    await workbench().pickFromMenu(workbench().row("SendWelcomeEmail").first(), "Generate Test");
    const choices = page.locator(".quick-input-widget");
    await choices.getByText("No tests were found in the application").waitFor();
    await choices.getByText("RSpec").click();
    await workbench().tab("send_welcome_email_spec.rb").waitFor();
    // Coloured, as it is a moment later.
    await page.locator(".view-lines span").getByText("SendWelcomeEmail", { exact: true }).first().waitFor();
    await workbench().readmePicture("reproduce", { x: 350, y: 36, width: 900, height: 320 });
    await workbench().setTheme("light");
    await workbench().screenshot("reproduce-light");
    await workbench().setTheme("dark");

    const file = join(workbench().folder, "spec", "tasks", "send_welcome_email_spec.rb");
    assert.ok(!existsSync(file));
    await page.locator(".view-lines").getByText("describe").click();
    await page.keyboard.press("Control+s");
    await workbench().page.locator(".tab.active:not(.dirty)").getByText("send_welcome_email_spec.rb").waitFor();
    assert.match(readFileSync(file, "utf8"), /^require "rage\/rspec"\n\n# Dead task [\s\S]*\nend\n$/);
  });

  it("offers the secrets that it left out", async () => {
    const { page } = workbench();
    // There is a spec directory by now, so nothing is asked.
    await workbench().pickFromMenu(workbench().row("Billing::ChargeCard").first(), "Generate Test");
    await workbench().tab("charge_card_spec.rb").waitFor();
    await page.locator(".view-lines").getByText("[FILTERED] stands for secrets").waitFor();
    await workbench().screenshot("reproduce-masked");
    const offer = workbench().notification("The test has [FILTERED] in place of secrets.");
    await offer.getByRole("button", { name: "Fill In Secrets" }).click();
    await page.locator(".view-lines").getByText("tok_live_77Gh1k").waitFor();
    await page.locator(".view-lines").getByText("[FILTERED]").waitFor({ state: "detached" });
  });

  it("broke no security policy and asked no other machine for anything", () => {
    assert.deepEqual(workbench().refused, []);
    assert.deepEqual(workbench().requestsElsewhere, []);
  });
});
