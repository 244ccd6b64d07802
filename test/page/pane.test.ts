import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newTask, taskLine } from "../support/stores";
import { accessibilityViolations, focusWebview, useWorkbench, webviewFrame } from "./harness";

describe("reading a failure in the detail pane", () => {
  const workbench = useWorkbench({ settings: { "workbench.colorTheme": "Default Dark Modern" } });

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  /** Waits until the pane shows the record of this row with all that comes after the state. */
  async function show(row: string, heading: string): Promise<void> {
    // A tooltip may lie over the row.
    await workbench().parkMouse();
    await workbench().row(row).first().click();
    await workbench().webview.locator("main").filter({ hasText: row }).waitFor();
    await workbench().webview.getByRole("heading", { name: heading, level: 1 }).waitFor();
    await workbench().webview.getByRole("heading", { name: "Same Failure" }).waitFor();
  }

  function lineOf(file: string, text: string): number {
    const lines = readFileSync(join(workbench().folder, file), "utf8").split("\n");
    return lines.findIndex((line) => line.includes(text)) + 1;
  }

  it("shows what matters first: the error, the failing line, the arguments", async () => {
    await show("Net::OpenTimeout", "SendWelcomeEmail");
    const headings = await workbench().webview.getByRole("heading", { level: 2 }).allInnerTexts();
    assert.deepEqual(
      headings.map((text) => text.toLowerCase()),
      ["error", "failing line", "arguments", "context", "backtrace", "same failure", "record"],
    );
    const failing = workbench().webview.locator(".source-line.failing");
    assert.match(await failing.innerText(), /Net::SMTP\.start\(HOST/);
    assert.equal(await failing.getAttribute("data-line"), String(lineOf("lib/mailer.rb", "Net::SMTP.start(HOST")));
    assert.equal(await workbench().webview.locator(".source-line").count(), 7);
    await workbench().parkMouse();
    await workbench().screenshot("pane-dark-wide");
  });

  it("opens the failing line by a click on it, on its place, and by the action", async () => {
    const line = lineOf("lib/mailer.rb", "Net::SMTP.start(HOST");
    const ways: readonly (readonly [string, number])[] = [
      [".source-line.failing", line],
      [`.source-line[data-line="${line + 2}"]`, line + 2],
      ["#excerpt-open", line],
      ["#openFailingLine", line],
    ];
    for (const [selector, expected] of ways) {
      await workbench().webview.locator(selector).click();
      await workbench().tab("mailer.rb").waitFor();
      await workbench().cursorAt(expected);
      await workbench().page.keyboard.press("Control+w");
      await workbench().tab("mailer.rb").waitFor({ state: "detached" });
    }
  });

  it("follows the file on disk, and says when the line is no longer there", async () => {
    const file = join(workbench().folder, "lib", "mailer.rb");
    const before = readFileSync(file, "utf8");
    try {
      writeFileSync(file, before.replace("Net::SMTP.start(HOST", "Net::SMTP.begin(HOST"));
      await workbench().webview.locator(".source-line.failing").getByText("Net::SMTP.begin(HOST").waitFor();
      writeFileSync(file, "# gone\n");
      await workbench()
        .webview.getByText(/^Line \d+ is not there: the file has 1 line now\.$/)
        .waitFor();
      await workbench().screenshot("pane-line-gone");
    } finally {
      writeFileSync(file, before);
    }
    await workbench().webview.locator(".source-line.failing").getByText("Net::SMTP.start(HOST").waitFor();
  });

  it("lists the others that died alike, shows one, and all in a list to pick from", async () => {
    await show("InvoiceGateway::Unavailable", "SyncInvoice");
    const { webview, page } = workbench();
    await webview.getByText("2 others ·").waitFor();
    const links = await webview.locator(".similar li .link").all();
    const ids = await Promise.all(links.map((link) => link.getAttribute("id")));
    assert.equal(ids.length, 2);
    await webview.locator(".similar li .link").first().click();
    await webview.locator(`#${CSS(ids[0]!)}`).waitFor({ state: "detached" });
    await webview.getByText("2 others ·").waitFor();
    assert.equal(await page.locator(".tabs-container .tab").count(), 1);
  });

  it("compares two in the editor's own diff, masked", async () => {
    await show("missing keyword: :currency", "Billing::ChargeCard");
    const { webview, page } = workbench();
    await webview.locator(".similar li").first().hover();
    await webview
      .getByRole("button", { name: /^Compare with/ })
      .first()
      .click();
    const tab = page.locator(".tabs-container .tab").filter({ hasText: "↔" });
    await tab.waitFor();
    assert.match(await tab.innerText(), /^Billing::ChargeCard \S+ ↔ Billing::ChargeCard \S+$/m);
    const diff = page.locator(".monaco-diff-editor");
    await diff.getByText("24.5").first().waitFor();
    await workbench().screenshot("compare");
    const shown = (await diff.innerText()).replace(/\u00a0/g, " ");
    assert.match(shown, /token: \[FILTERED\]/);
    assert.doesNotMatch(shown, /tok_live/);
    await page.keyboard.press("Control+w");
  });

  it("compares two that are selected in the list, and one with one that was selected before", async () => {
    const { page } = workbench();
    const tab = page.locator(".tabs-container .tab").filter({ hasText: "↔" });
    await workbench().row("key not found: :pt").click();
    await workbench()
      .row('key not found: "de"')
      .click({ modifiers: ["ControlOrMeta"] });
    await workbench().pickFromMenu(workbench().row("key not found: :pt"), "Compare Selected");
    await tab.waitFor();
    await page.keyboard.press("Control+w");
    await tab.waitFor({ state: "detached" });
    await workbench().row("FrozenError").click();
    await workbench().openMenu(workbench().row("FrozenError"));
    assert.equal(await workbench().menuItem("Compare Selected").count(), 0);
    assert.equal(await workbench().menuItem("Compare with Selected").count(), 0);
    await page.keyboard.press("Escape");
    await workbench().pickFromMenu(workbench().row("FrozenError"), "Select for Compare");
    await workbench().pickFromMenu(workbench().row("ZeroDivisionError"), "Compare with Selected");
    await tab.filter({ hasText: "SyncInvoice" }).filter({ hasText: "ResizeImage" }).waitFor();
    await page.keyboard.press("Control+w");
    await tab.waitFor({ state: "detached" });
  });

  it("copies every field and all of it", async () => {
    await show("PaymentGateway::CardDeclined", "Billing::ChargeCard");
    const { webview } = workbench();
    await webview.getByRole("button", { name: "Copy All" }).click();
    await webview.locator("#announcements").getByText("Copied as Markdown").waitFor({ state: "attached" });
    const report = await workbench().clipboard();
    assert.match(report, /^## `Billing::ChargeCard`\n/);
    for (const part of ["PaymentGateway::CardDeclined: Your card", "token: [FILTERED]", "- Id: `", "### Backtrace"])
      assert.ok(report.includes(part), part);
    assert.doesNotMatch(report, /tok_live|sk_b00k5h0p/);
    await webview.locator("dt").filter({ hasText: "Attempts" }).hover();
    await webview.getByRole("button", { name: "Copy Attempts" }).click();
    await webview.locator("#copy-fact-1 .codicon-check").waitFor();
    assert.equal(await workbench().clipboard(), "5");
  });

  it("makes visible what would hide itself, and copies what is really there", async () => {
    const message = "pay \u202eTPM.exe\u202c now\u200b\r\nsecond \u001b[31mline";
    const task = newTask(`${Math.floor(Date.now() / 1000)}-1-99`, {
      taskClass: "Hidden\u202eTask",
      exceptionClass: "Sneaky\u200bError",
      exceptionMessage: message,
      failedAt: Math.floor(Date.now() / 1000),
    });
    appendFileSync(join(workbench().folder, "storage", "deferred-dead_tasks-0"), taskLine(task));
    await workbench().row("Sneaky").first().click();
    const { webview } = workbench();
    await webview.getByRole("heading", { name: "Hidden\\u202ETask", level: 1 }).waitFor();
    await webview.locator("pre.message").getByText("pay \\u202ETPM.exe\\u202C now\\u200B\\r").waitFor();
    assert.equal(
      await webview.locator("pre.message .hidden-character").first().getAttribute("title"),
      "U+202E RIGHT-TO-LEFT OVERRIDE",
    );
    await workbench().parkMouse();
    await workbench().screenshot("pane-hidden-characters");
    await webview
      .locator("section")
      .filter({ has: webview.locator("pre.message") })
      .hover();
    await webview.getByRole("button", { name: "Copy Error" }).click();
    await webview.locator("#copy-error .codicon-check").waitFor();
    assert.equal(await workbench().clipboard(), `Sneaky\u200bError: ${message}`);
  });

  it("keeps the focus while the store changes", async () => {
    await show("Net::OpenTimeout", "SendWelcomeEmail");
    const { webview } = workbench();
    await webview.locator("#copyRuby").focus();
    const others = webview.getByText(/^(\d+ others?|No other)/);
    const before = await others.innerText();
    const similar = newTask(`${Math.floor(Date.now() / 1000)}-1-98`, {
      taskClass: "SendWelcomeEmail",
      exceptionClass: "Net::OpenTimeout",
      exceptionMessage: "Failed to open TCP connection to smtp.example.com:587 (execution expired)",
      backtrace: ["/srv/app/lib/mailer.rb:1:in `deliver'"],
    });
    appendFileSync(join(workbench().folder, "storage", "deferred-dead_tasks-0"), taskLine(similar));
    await others.filter({ hasNotText: before }).waitFor();
    assert.equal(await webview.locator(":focus").getAttribute("id"), "copyRuby");
  });

  it("is reached by the keyboard alone, in the order in which it is read, and shows where one is", async () => {
    await show("PaymentGateway::CardDeclined", "Billing::ChargeCard");
    const { webview, page } = workbench();
    const frame = await webviewFrame(workbench());
    const nameOf = "((one) => one.id || one.getAttribute('aria-label') || one.className)";
    const stops = await frame.evaluate<string[]>(
      `[...document.querySelectorAll("button:enabled, input, [tabindex='0']")]
        .filter((one) => one.checkVisibility() && one.tabIndex === 0)
        .map(${nameOf})`,
    );
    assert.ok(stops.length > 10);
    await focusWebview(workbench());
    const reached: string[] = [];
    while (reached.length < stops.length) {
      await page.keyboard.press("Tab");
      await webview.locator(":focus").waitFor();
      reached.push(await frame.evaluate<string>(`${nameOf}(document.activeElement)`));
      const outline = await frame.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle");
      assert.notEqual(outline, "none", reached.at(-1));
    }
    assert.deepEqual(reached, stops);
    for (const id of ["retry", "delete", "openFailingLine", "copyRuby", "copyAll", "openRaw", "excerpt-open"])
      assert.ok(reached.includes(id), id);
    await workbench().screenshot("pane-keyboard");
  });

  it("gives the focus to its heading when the button that had it can no longer be pressed", async () => {
    await show("ZeroDivisionError", "ResizeImage");
    const { webview, page } = workbench();
    await webview.locator("#retry").focus();
    await page.keyboard.press("Enter");
    await webview.locator(".notice").getByText("You retried this task.").waitFor();
    assert.equal(await webview.locator("#retry").isDisabled(), true);
    assert.equal(await webview.locator(":focus").getAttribute("id"), "title");
    await workbench().dismissNotifications();
  });

  it("passes axe in every theme, wide and narrow", async function () {
    this.timeout(180_000);
    const { page } = workbench();
    for (const [row, heading, name] of [
      ["Billing::ChargeCard", "Billing::ChargeCard", "pane"],
      ["CatalogParser::BadRow", "ImportCatalog", "pane-folded"],
      ["Sneaky", "Hidden\\u202ETask", "pane-hidden"],
    ] as const) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await show(row, heading);
      for (const theme of ["dark", "light", "high contrast", "high contrast light"] as const) {
        await workbench().setTheme(theme);
        // The side bar keeps its width, so that the pane has about 300 pixels where it is narrow.
        for (const [how, width] of [
          ["wide", 1280],
          ["narrow", 660],
        ] as const) {
          await page.setViewportSize({ width, height: 1000 });
          await workbench().screenshot(`${name}-${theme.replaceAll(" ", "-")}-${how}`);
          assert.deepEqual(await accessibilityViolations(workbench()), [], `${name}, ${theme}, ${how}`);
          const frame = await webviewFrame(workbench());
          const overflow = await frame.evaluate<number>(
            "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth",
          );
          assert.equal(overflow, 0, `${name}, ${theme}, ${how}: nothing sticks out`);
        }
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await workbench().setTheme("dark");
  });

  it("broke no security policy", () => {
    assert.deepEqual(workbench().refused, []);
  });

  /** An id as a selector. */
  function CSS(id: string): string {
    return id.replace(/[^\w-]/g, (character) => `\\${character}`);
  }
});
