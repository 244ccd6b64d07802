import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filledDemo } from "../../scripts/lib/workspaces.mjs";
import { useWorkbench } from "./harness";

/** The demo application, with a colleague's export of another one beside its storage. */
async function demoWithExport(): ReturnType<typeof filledDemo> {
  const workspace = await filledDemo();
  mkdirSync(join(workspace.folder, "colleague", "storage"), { recursive: true });
  writeFileSync(join(workspace.folder, "colleague", "storage", "deferred-dead_tasks-0"), "");
  return workspace;
}

describe("sending to another store", () => {
  const workbench = useWorkbench({
    workspace: demoWithExport,
    settings: { "workbench.colorTheme": "Default Dark Modern" },
  });

  function dataFile(...path: readonly string[]): string {
    return readFileSync(join(workbench().folder, ...path, "storage", "deferred-dead_tasks-0"), "latin1");
  }

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  it("goes by menu, store, way and question into the other store's list, and back", async () => {
    const before = dataFile();
    const { page, dialog } = workbench();
    const choices = page.locator(".quick-input-widget");
    await workbench().pickFromMenu(workbench().row("PaymentGateway::CardDeclined").first(), "Send to Another Store…");
    await choices.getByText("colleague", { exact: true }).waitFor();
    await workbench().parkMouse();
    for (const theme of ["light", "dark"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`send-store-${theme}`);
    }
    await choices.getByText("colleague", { exact: true }).click();
    await choices.getByText("Retry There and Remove Here").waitFor();
    await workbench().parkMouse();
    await workbench().screenshot("send-way");
    await workbench().readmePicture("elsewhere", { x: 46, width: 900, height: 300 });
    await choices.getByText("Copy There as Dead Tasks, Keep Here").click();
    await dialog.getByText(/^Copy the dead task Billing::ChargeCard from .* to colleague\?$/).waitFor();
    await workbench().screenshot("send-dialog");
    await dialog.getByRole("button", { name: "Copy", exact: true }).click();
    const told = workbench().notification("Copied Billing::ChargeCard to colleague.");
    await told.waitFor();
    await workbench().badge.getByText("37", { exact: true }).waitFor();
    await workbench().screenshot("send-done");
    assert.equal(dataFile(), before);
    const copy = dataFile("colleague");
    assert.ok(copy.length > 100 && before.includes(copy), "the very line");
    await told.getByRole("button", { name: "Undo" }).click();
    await workbench().badge.getByText("36", { exact: true }).waitFor();
    assert.equal(dataFile("colleague"), "");
  });

  it("broke no security policy and asked no other machine for anything", () => {
    assert.deepEqual(workbench().refused, []);
    assert.deepEqual(workbench().requestsElsewhere, []);
  });
});
