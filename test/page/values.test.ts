import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { rubyContext } from "../support/rubyContext";
import { newTask, taskLine } from "../support/stores";
import { accessibilityViolations, useWorkbench } from "./harness";

describe("arguments and context as trees", () => {
  const workbench = useWorkbench({ settings: { "workbench.colorTheme": "Default Dark Modern" } });

  before(async function () {
    this.timeout(60_000);
    await workbench().openView();
    await workbench().row("SendWelcomeEmail").first().waitFor();
    const file = join(workbench().folder, "storage", "deferred-dead_tasks-0");
    const seconds = Math.floor(Date.now() / 1000);
    for (const [index, name] of (["types", "sharing", "many", "secrets"] as const).entries()) {
      const id = `${seconds}-1-${index}`;
      const exceptionMessage = `about ${name}`;
      const context = rubyContext(name);
      appendFileSync(
        file,
        taskLine(newTask(id, { taskClass: "Charge", exceptionMessage, context, failedAt: seconds })),
      );
      await workbench().row(exceptionMessage).waitFor();
    }
  });

  async function show(name: string): Promise<void> {
    await workbench().row(`about ${name}`).click();
    await workbench().webview.getByText(`about ${name}`).first().waitFor();
    await item("args").waitFor();
  }

  function item(path: string): Locator {
    return workbench().webview.locator(`[id="value-${path}"]`);
  }

  /** What a line says. */
  async function line(path: string): Promise<string> {
    const text = await item(path).locator(".value-line").innerText();
    return text.replace(/\s+/g, " ");
  }

  async function clipboardIs(text: string): Promise<void> {
    for (let tries = 0; tries < 50 && (await workbench().clipboard()) !== text; tries++) {
      await workbench().page.waitForTimeout(100);
    }
    assert.equal(await workbench().clipboard(), text);
  }

  async function focusedId(): Promise<string> {
    return (await workbench().webview.locator(":focus").getAttribute("id")) ?? "";
  }

  it("shows every type in Ruby's words, the first level and small values open", async () => {
    await show("types");
    assert.equal(await item("args").getAttribute("aria-expanded"), "true");
    assert.equal(await line("args.8"), '[8] "caf\\xE9" String (ISO-8859-1)');
    assert.equal(await line("args.25"), "[25] 2026-01-17 15:33:30.469594818 UTC Time zone UTC");
    assert.equal(await line("args.17.1"), "currency :eur Symbol");
    assert.equal(await item("args.17.1").getAttribute("aria-level"), "3");
    assert.equal(await item("args.17").getAttribute("aria-posinset"), "18");
    assert.equal(await item("args.17").getAttribute("aria-setsize"), "36");
    await item("args").scrollIntoViewIfNeeded();
    await workbench().parkMouse();
    await workbench().screenshot("values-dark");
    await item("args.17").scrollIntoViewIfNeeded();
    await workbench().screenshot("values-dark-2");
  });

  it("opens and closes by mouse; bytes as a hex dump", async () => {
    await item("args.10").click();
    const dump = workbench().webview.locator('[id="content-args.10"]');
    await dump.getByText("00000000  89 50 4e 47 0d 0a").waitFor();
    await workbench().screenshot("values-bytes");
    await item("args.10").click();
    await dump.waitFor({ state: "detached" });
  });

  it("is gone through by the keyboard as VS Code's own trees are", async () => {
    await show("sharing");
    const { page } = workbench();
    await item("args").focus();
    const steps: readonly (readonly [key: string, id: string])[] = [
      ["ArrowDown", "value-args.0"],
      ["ArrowRight", "value-args.0.0"],
      ["ArrowDown", "value-args.0.0.0"],
      ["ArrowLeft", "value-args.0.0"],
      ["ArrowLeft", "value-args.0.0"],
      ["ArrowLeft", "value-args.0"],
      ["ArrowLeft", "value-args.0"],
      ["ArrowDown", "value-args.1"],
      ["Home", "value-args"],
      ["End", "value-kwargs.1"],
      ["ArrowUp", "value-kwargs.0"],
      ["Tab", "same-kwargs.0"],
      ["Enter", "value-args.0.0"],
    ];
    for (const [key, id] of steps) {
      await page.keyboard.press(key);
      await workbench().webview.locator(`[id="${id}"]:focus`).waitFor({ timeout: 5_000 });
    }
    assert.equal(await item("args.0").getAttribute("aria-expanded"), "true", "what is around it was opened");
    // Opened by the key, and loaded.
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.equal(await focusedId(), "value-args.0.0");
  });

  it("marks what is the same object, and does not open what is within itself", async () => {
    const inner = item("args.2.1.0");
    await inner.getByText("same object as args[2]").waitFor();
    await inner.getByText("within itself").waitFor();
    assert.equal(await inner.getAttribute("aria-expanded"), null);
    await workbench().parkMouse();
    await workbench().screenshot("values-shared");
    await inner.getByRole("button", { name: "same object as args[2]" }).click();
    await workbench().webview.locator('[id="value-args.2"]:focus').waitFor();
  });

  it("copies one value as Ruby text, by its button and by the key", async () => {
    await item("args.0").hover();
    await item("args.0").getByRole("button", { name: "Copy [0]" }).click();
    await clipboardIs("{user: #<Order @id=1>}");
    await item("args.0.0").focus();
    await workbench().page.keyboard.press("Control+c");
    await clipboardIs("#<Order @id=1>");
  });

  it("reveals one secret, and hides it again", async () => {
    await show("secrets");
    const pane = workbench().webview;
    const secrets = pane.locator("body").getByText(/s3cret-\d/);
    assert.equal(await secrets.count(), 0);
    assert.equal(await line("kwargs.0"), "credentials: [FILTERED]");
    await workbench().parkMouse();
    await workbench().screenshot("values-secrets-hidden");
    await item("args.1.1").getByRole("button", { name: "Reveal password" }).click();
    await item("args.1.1").getByText('"s3cret-4"').waitFor();
    assert.deepEqual([...new Set((await pane.locator("body").innerText()).match(/s3cret-\d+/g))], ["s3cret-4"]);
    await workbench().screenshot("values-secret-revealed");
    await item("args.1.1").focus();
    await workbench().page.keyboard.press("Control+c");
    await clipboardIs('"s3cret-4"');
    // The keyboard's way back.
    await workbench().page.keyboard.press("Enter");
    await item("args.1.1").getByText("[FILTERED]").waitFor();
    assert.equal(await secrets.count(), 0);
    await workbench().page.keyboard.press("Control+c");
    await clipboardIs("[FILTERED]");
    await pane.getByRole("button", { name: "Reveal Secrets" }).click();
    await item("kwargs.1").getByText("s3cret-shared").waitFor();
    await pane.getByRole("button", { name: "Hide Secrets" }).click();
    await item("kwargs.1").getByText("[FILTERED]").waitFor();
    assert.equal(await secrets.count(), 0);
  });

  it("forgets what was revealed when another task is shown", async () => {
    await item("args.1.1").getByRole("button", { name: "Reveal password" }).click();
    await item("args.1.1").getByText('"s3cret-4"').waitFor();
    await show("types");
    await item("args.30").waitFor();
    await show("secrets");
    await item("args.1.1").getByText("[FILTERED]").waitFor();
  });

  it("loads large values as they are opened", async () => {
    await show("many");
    const pane = workbench().webview;
    await item("args.0").click();
    await item("args.0.99").waitFor();
    assert.equal(await item("args.0.100").count(), 0);
    await pane.getByText("Show 100 more of 5,000").click();
    await item("args.0.199").waitFor();
    await item("args.1").click();
    await pane.getByText("Show all 1,800 characters").click();
    await pane.getByText("Show all 1,800 characters").waitFor({ state: "detached" });
    assert.equal((await pane.locator('[id="content-args.1"] pre').innerText()).trimEnd().split("\n").length, 300);
    await item("args.2").click();
    await pane.getByText("Show more of 3,000 bytes").click();
    await pane.getByText("000007f0").waitFor();
    await workbench().screenshot("values-large");
  });

  it("finds in values that were not opened, and goes from one place to the next", async () => {
    const pane = workbench().webview;
    await item("args").focus();
    await workbench().page.keyboard.press("Control+f");
    const box = pane.getByRole("textbox", { name: "Find in arguments and context" });
    await box.fill("498");
    await pane.getByText("1 of 15").waitFor();
    await pane.locator('[id="value-args.0.497"].found.current').waitFor();
    await workbench().page.keyboard.press("Enter");
    await pane.locator('[id="value-args.0.1497"].found.current').waitFor();
    await workbench().page.keyboard.press("Shift+Enter");
    await workbench().page.keyboard.press("Shift+Enter");
    await pane.getByText("15 of 15").waitFor();
    await workbench().screenshot("values-find");
    await box.fill("nothing like it");
    await pane.getByText("No results").waitFor();
    await box.fill("4987");
    await pane.getByText("1 of 1").waitFor();
    await workbench().page.keyboard.press("Escape");
    await pane.locator('[id="value-args.0.4986"]:focus').waitFor();
    assert.equal(await pane.locator(".found").count(), 0);
  });

  it("shows the same as Ruby text, and back", async () => {
    await show("secrets");
    const pane = workbench().webview;
    await pane.getByRole("button", { name: "Ruby", exact: true }).click();
    await pane.locator("pre.code").getByText("{session_id: [FILTERED]}").waitFor();
    assert.equal(await pane.getByRole("tree").count(), 0);
    await workbench().screenshot("values-ruby");
    await pane.getByRole("button", { name: "Tree", exact: true }).click();
    await item("args").waitFor();
    assert.equal(await pane.getByRole("tree").count(), 2);
  });

  it("keeps what is open when the task goes, and can open more of it", async () => {
    await show("many");
    await item("args.0").waitFor();
    await workbench().row("about many").hover();
    await workbench().row("about many").getByRole("button", { name: "Delete…" }).click();
    await workbench().dialog.getByRole("button", { name: "Delete" }).click();
    await workbench().webview.locator("#pane").getByText("You deleted this task.").waitFor();
    await item("args.0").click();
    await item("args.0.99").waitFor();
  });

  it("is accessible, and at home in a light theme and in both of high contrast", async () => {
    await show("secrets");
    await item("args.1.1").focus();
    for (const theme of ["dark", "light", "high contrast", "high contrast light"] as const) {
      await workbench().setTheme(theme);
      assert.deepEqual(await accessibilityViolations(workbench()), [], theme);
      await show("types");
      await item("args").scrollIntoViewIfNeeded();
      await workbench().parkMouse();
      await workbench().screenshot(`values-${theme.replaceAll(" ", "-")}`);
      await show("secrets");
      await workbench().screenshot(`values-secrets-${theme.replaceAll(" ", "-")}`);
    }
    assert.deepEqual(workbench().refused, []);
  });
});
