import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { useWorkbench } from "./harness";

describe("Restricted Mode", () => {
  const workbench = useWorkbench({ trusted: false, settings: { "workbench.colorTheme": "Default Dark Modern" } });

  it("lists and shows, and offers neither retry nor delete", async () => {
    const { dialog, page } = workbench();
    await workbench().openView();
    await workbench().row("SendWelcomeEmail").first().click();
    const pane = workbench().webview;
    await pane
      .locator(".notice")
      .getByText("Restricted Mode: trust this workspace to retry or delete the task.")
      .waitFor();
    assert.equal(await pane.getByRole("button", { name: "Retry", exact: true }).isDisabled(), true);
    assert.equal(await pane.getByRole("button", { name: "Delete…", exact: true }).isDisabled(), true);
    await workbench()
      .sideBar.getByText("Restricted Mode: dead tasks can be read. Trust this workspace to retry or delete them.")
      .waitFor();
    await workbench().parkMouse();
    await workbench().screenshot("restricted");

    await workbench().openMenu(workbench().row("SendWelcomeEmail").first());
    await workbench().menuItem("Copy ID").waitFor();
    assert.equal(await workbench().menuItem("Retry").count(), 0);
    assert.equal(await workbench().menuItem("Delete").count(), 0);
    await workbench().screenshot("restricted-menu");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Delete");
    assert.equal(await dialog.count(), 0);
  });

  it("ends when the workspace is trusted, and everything works at once", async () => {
    await workbench().runCommand("Workspaces: Manage Workspace Trust");
    await workbench()
      .page.locator(".workspace-trust-editor")
      .getByRole("button", { name: "Trust", exact: true })
      .click();
    await workbench().sideBar.getByText("Restricted Mode: dead tasks").waitFor({ state: "hidden" });
    // The page about trust covers the window.
    await workbench()
      .page.locator(".monaco-modal-editor-block")
      .getByRole("button", { name: /^Close/ })
      .first()
      .click();
    const pane = workbench().webview;
    await pane.locator(".notice").waitFor({ state: "detached" });
    await pane.getByRole("button", { name: "Retry", exact: true }).click();
    await workbench().notification("Retried SendWelcomeEmail.").waitFor();
    const logs = readdirSync(join(workbench().folder, "storage")).filter((name) => name.startsWith("deferred-0-"));
    assert.equal(logs.length, 1);
    await workbench().screenshot("trusted");
  });
});
