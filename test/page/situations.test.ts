import assert from "node:assert/strict";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillDemo } from "../demo-app/fill";
import { useWorkbench } from "./harness";

const titles = ["Open Folder", "Look Again", "settings", "Refresh"] as const;

describe("what the view says where there is something else than a list of tasks", () => {
  const workbench = useWorkbench({ settings: { "workbench.colorTheme": "Default Dark Modern" } });

  /** A folder beside the demo application's copy. */
  function folder(name: string): string {
    const made = join(workbench().folder, "..", name);
    mkdirSync(made, { recursive: true });
    return made;
  }

  /** A copy of the demo application, its storage filled. */
  async function copyOfDemo(name: string, damage = false): Promise<string> {
    const copy = folder(name);
    cpSync(workbench().folder, copy, { recursive: true });
    rmSync(join(copy, "storage"), { recursive: true });
    await fillDemo(copy, { damage });
    return copy;
  }

  async function open(place: string | null): Promise<void> {
    await workbench().openFolder(place);
    await workbench().openView();
    await workbench().parkMouse();
  }

  async function welcome(text: string, ...links: (typeof titles)[number][]): Promise<void> {
    const shown = workbench().sideBar.locator(".welcome-view-content");
    await shown.getByText(text).first().waitFor();
    for (const title of titles) {
      const link = shown.getByText(title, { exact: true });
      assert.equal(await link.count(), links.includes(title) ? 1 : 0, title);
    }
    assert.equal(await workbench().rows.count(), 0);
    assert.equal((await workbench().badge.innerText()).trim(), "");
  }

  it("a damaged store: what is wrong first, then the tasks", async () => {
    await open(await copyOfDemo("damaged", true));
    await workbench().row("1 record cannot be read").click();
    await workbench().row("1764000000-7-2").waitFor();
    await workbench()
      .row("Damage")
      .getByText(/1 line, \d+ bytes skipped; unfinished last line of 40 bytes/)
      .waitFor();
    await workbench().row("1764000000-7-2").click();
    const pane = workbench().webview;
    await pane.getByRole("heading", { name: "A record that cannot be read" }).waitFor();
    await pane.getByText("It can be opened raw and deleted, not retried.").waitFor();
    await workbench().parkMouse();
    await workbench().screenshot("damaged");
    await workbench().row("Damage").hover();
    await workbench().row("Damage").getByRole("button", { name: "Open Raw Storage File" }).click();
    await workbench().tab("deferred-dead_tasks-0").waitFor();
    await workbench().screenshot("damaged-raw");
  });

  it("several stores: each an item of its own, its tasks below", async () => {
    const parent = folder("company");
    cpSync(await copyOfDemo("bookshop-2"), join(parent, "bookshop"), { recursive: true });
    cpSync(join(parent, "bookshop"), join(parent, "warehouse"), { recursive: true });
    rmSync(join(parent, "warehouse", "storage"), { recursive: true });
    await open(parent);
    await workbench().row("SendWelcomeEmail").first().click();
    await workbench().webview.locator(".summary").getByText("bookshop").waitFor();
    await workbench().badge.getByText("36", { exact: true }).waitFor();
    await workbench().parkMouse();
    await workbench().screenshot("several-stores");
    await workbench().sideBar.getByRole("button", { name: "Collapse All" }).click();
    await workbench().row("SendWelcomeEmail").first().waitFor({ state: "detached" });
    assert.deepEqual(
      (await workbench().rows.allInnerTexts()).map((text) => text.replace(/\s+/g, "")),
      ["bookshop36", "warehouse0"],
    );
    await workbench().screenshot("several-stores-collapsed");
  });

  it("an application without dead tasks", async () => {
    const empty = await copyOfDemo("quiet");
    rmSync(join(empty, "storage"), { recursive: true });
    await open(empty);
    await welcome("No dead tasks. One that fails for the last time appears here by itself.", "Refresh");
    await workbench().screenshot("empty");
    await fillDemo(empty);
    await workbench().row("SendWelcomeEmail").first().waitFor();
    await workbench().badge.getByText("36", { exact: true }).waitFor();
  });

  it("an application that keeps nothing", async () => {
    const place = folder("forgetful");
    writeFileSync(join(place, "Gemfile"), 'gem "rage-rb"\n');
    mkdirSync(join(place, "config"), { recursive: true });
    writeFileSync(
      join(place, "config", "application.rb"),
      'require "rage/all"\nRage.configure do\n  config.deferred.backend = nil\nend\n',
    );
    await open(place);
    await welcome("config.deferred.backend = nil", "Look Again", "settings");
    await workbench().screenshot("nil");
  });

  it("a path that only the running application knows", async () => {
    const place = folder("guessed");
    writeFileSync(join(place, "Gemfile"), 'gem "rage-rb"\n');
    mkdirSync(join(place, "config"), { recursive: true });
    writeFileSync(
      join(place, "config", "application.rb"),
      'require "rage/all"\nRage.configure do\n  config.deferred.backend = :disk, path: ENV["STORE"]\nend\n',
    );
    await open(place);
    await workbench().row("The directory is a guess").waitFor();
    await workbench().screenshot("guess");
    await workbench().row("The directory is a guess").click();
    await workbench().page.locator(".settings-editor").getByText("Dead Tasks: Stores").first().waitFor();
    await workbench().screenshot("settings");
  });

  it("a folder of something else", async () => {
    await open(folder("notes"));
    await welcome("No Rage application was found here", "Look Again", "settings");
    await workbench().screenshot("no-store");
  });

  it("no folder at all", async () => {
    await open(null);
    await welcome("Open the folder of a Rage application to see its dead background tasks.", "Open Folder", "settings");
    await workbench().screenshot("no-folder");
  });
});
