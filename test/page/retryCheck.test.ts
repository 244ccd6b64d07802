import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { useWorkbench } from "./harness";

describe("a retry that the code does not bear out", () => {
  const workbench = useWorkbench({ settings: { "workbench.colorTheme": "Default Dark Modern" } });

  const doubt = "Its perform has no keyword locale:.";

  function logs(): string[] {
    return readdirSync(join(workbench().folder, "storage")).filter((name) => name.startsWith("deferred-0-"));
  }

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  it("is warned of in the pane, asked about, and done when wanted", async () => {
    await workbench().row("Net::OpenTimeout").first().click();
    const pane = workbench().webview;
    await pane.getByRole("heading", { name: "SendWelcomeEmail", level: 1 }).waitFor();
    assert.equal(await pane.locator(".notice").count(), 0);
    const file = join(workbench().folder, "app/tasks/send_welcome_email.rb");
    writeFileSync(file, readFileSync(file, "utf8").replace("(email, locale: :en)", "(email, language: :en)"));
    await pane.locator(".notice.warning").getByText(doubt).waitFor({ timeout: 15_000 });
    await workbench().parkMouse();
    for (const theme of ["light", "high contrast", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`retry-check-${theme.replace(" ", "-")}`);
    }
    const { dialog } = workbench();
    await pane.locator("#retry").click();
    await dialog.getByText("Retry the dead task SendWelcomeEmail from bookshop?").waitFor();
    await dialog.getByText(`${doubt} As the code stands, it would fail again.`).waitFor();
    await workbench().screenshot("retry-check-dialog");
    await workbench().readmePicture("check", { x: 350, y: 36, width: 900, height: 560 });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.deepEqual(logs(), []);

    await pane.locator("#retry").click();
    await dialog.getByRole("button", { name: "Retry Anyway" }).click();
    await pane.locator(".notice").getByText("You retried this task.").waitFor();
    assert.equal(await pane.locator(".notice.warning").count(), 0);
    assert.equal(logs().length, 1);
  });
});
