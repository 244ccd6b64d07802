import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, filledDemo, type Workspace } from "../../scripts/lib/workspaces.mjs";
import { dumpString } from "../../src/marshal";
import { deadTaskLine } from "../../src/storage/frames";
import { writeBigStore } from "../support/bigStore";
import { LineProcess } from "../support/lineProcess";
import { taskMessage } from "../support/processes";
import { newTask, referenceLines } from "../support/stores";
import { accessibilityViolations, useWorkbench } from "./harness";

const dataName = "deferred-dead_tasks-0";
const settings = { "workbench.colorTheme": "Default Dark Modern" };

/** What the tests know of an element in the page. */
interface Scrolled {
  scrollTop: number;
  readonly scrollHeight: number;
  readonly clientHeight: number;
}

/** The demo with damage of each kind: its sixth task died a second time, and lines at the end are corrupt, unreadable, torn. */
async function damagedDemo(): Promise<Workspace> {
  const workspace = await filledDemo();
  const file = join(workspace.folder, "storage", dataName);
  const sixth = referenceLines(readFileSync(file)).lines[5]!.bytes;
  appendFileSync(file, Buffer.concat([sixth, Buffer.from("not a frame\n")]));
  appendFileSync(file, deadTaskLine("1764000000-7-2", dumpString(Buffer.from("\x04\b0", "latin1"))));
  appendFileSync(file, "0badc0de:dead_task:17-1-1:x\n1234abcd:dead_");
  return workspace;
}

describe("the raw view of a store", () => {
  const workbench = useWorkbench({ workspace: damagedDemo, settings });

  const file = (): string => join(workbench().folder, "storage", dataName);
  const rows = () => workbench().webview.locator("#lines .layer .row");
  const selected = () => workbench().webview.locator('#lines [aria-selected="true"]');
  const lower = () => workbench().webview.locator("#line");

  async function lineShown(line: number): Promise<void> {
    await lower()
      .getByRole("heading", { name: `Line ${line}`, exact: true })
      .waitFor();
  }

  async function press(key: string): Promise<void> {
    await workbench().page.keyboard.press(key);
  }

  before(async function () {
    this.timeout(60_000);
    await workbench().openFilledView();
  });

  it("opens at a task's line, with its record decoded and its secrets masked", async () => {
    const row = workbench().row("PaymentGateway::CardDeclined").first();
    await workbench().pickFromMenu(row, "Open Raw Storage File");
    await workbench().tab(dataName).waitFor();
    const { lines } = referenceLines(readFileSync(file()));
    const index = lines.findIndex(({ bytes }) => bytes.includes("tok_live_77Gh1k"));
    await lineShown(index + 1);
    assert.equal(await selected().getAttribute("aria-rowindex"), String(index + 2));
    await lower().getByText("{token: [FILTERED], currency: :eur, invoice_id: 1042}").waitFor();
    assert.equal(await workbench().webview.locator("#lines").getAttribute("aria-rowcount"), String(lines.length + 2));
    await workbench().parkMouse();
    await workbench().screenshot("raw-dark");
    await lower().getByRole("button", { name: "Reveal Secrets" }).click();
    await lower().getByText('{token: "tok_live_77Gh1k"').waitFor();
    await lower().getByRole("button", { name: "Hide Secrets" }).click();
    await lower().getByText("{token: [FILTERED], currency: :eur, invoice_id: 1042}").waitFor();
  });

  it("shows the line's bytes with their offsets, and its text, when asked", async () => {
    const { lines } = referenceLines(readFileSync(file()));
    const { bytes, offset } = lines.reduce((longest, line) =>
      line.bytes.length > longest.bytes.length ? line : longest,
    );
    assert.ok(bytes.length > 2048 && bytes.length < 4096);
    await workbench().webview.locator("#lines").focus();
    await press("Home");
    for (const { offset: above } of lines) {
      if (above === offset) break;
      await press("ArrowDown");
    }
    await lineShown(1 + lines.findIndex((line) => line.offset === offset));
    assert.equal(await lower().locator("#hex-content").isVisible(), false);
    await lower().getByText("Bytes", { exact: true }).click();
    const dump = lower().locator("#hex-content");
    await dump.getByText(offset.toString(16).padStart(8, "0")).waitFor();
    const [first] = (await dump.innerText()).split("\n");
    const hex = [...bytes.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, "0"));
    const wanted = [offset.toString(16).padStart(8, "0"), hex.slice(0, 8).join(" "), hex.slice(8).join(" ")];
    assert.equal(first, `${wanted.join("  ")}  ${bytes.toString("latin1", 0, 16)}`);
    await lower().getByRole("button", { name: "Next 2,048 Bytes" }).last().click();
    await dump.getByText((offset + 2048).toString(16).padStart(8, "0")).waitFor();
    await workbench().screenshot("raw-hex");
    await lower().getByText("Text in the File", { exact: true }).click();
    await lower()
      .locator("#text-content")
      .getByText(bytes.toString("latin1", 0, 40))
      .waitFor();
  });

  it("copies offset, id and line", async () => {
    const line = Number((await lower().getAttribute("data-line"))!);
    const { bytes, offset, id } = referenceLines(readFileSync(file())).lines[line - 1]!;
    for (const [name, text] of [
      ["Copy Offset", String(offset)],
      ["Copy ID", id],
      ["Copy Line", bytes.toString("latin1").trimEnd()],
    ] as const) {
      await lower().getByRole("button", { name }).click();
      await lower().getByRole("button", { name }).locator(".codicon-check").waitFor();
      assert.equal(await workbench().clipboard(), text);
    }
  });

  it("says what is damaged and where, goes from damage to damage, and lists it alone", async () => {
    const pane = workbench().webview;
    const { lines, tornTail } = referenceLines(readFileSync(file()));
    const [size, from] = [readFileSync(file()).length, lines.at(-1)!.offset + lines.at(-1)!.bytes.length];
    const range = `${from.toLocaleString("en-US")}–${size.toLocaleString("en-US")}`;
    await pane.getByText(`2 corrupt lines, 40 bytes; a torn tail of ${tornTail.length} bytes at ${range}`).waitFor();
    for (const line of [38, 40, 41, 38]) {
      await pane.getByRole("button", { name: "Next Damage" }).click();
      await lineShown(line);
    }
    await pane.getByRole("button", { name: "Previous Damage" }).click();
    await lineShown(41);
    await pane.getByRole("button", { name: "Damage 3" }).click();
    await rows().nth(2).waitFor();
    assert.equal(await rows().count(), 3);
    await rows().nth(0).getByText("it does not begin with a checksum").waitFor();
    await rows().nth(1).getByText("its checksum does not match").waitFor();
    await rows().nth(2).getByText(`bytes ${range}: an unfinished write`).waitFor();
    assert.equal(await selected().getAttribute("aria-rowindex"), "4", "the selection stays");
    await workbench().parkMouse();
    await workbench().screenshot("raw-damage");
    await pane.getByRole("button", { name: "Unreadable 1" }).click();
    await rows().getByText("the record is not a Hash").waitFor();
    await pane.getByRole("button", { name: "All 41" }).click();
  });

  it("is worked by keyboard alone", async () => {
    const pane = workbench().webview;
    await pane.locator("#lines").focus();
    await press("Home");
    await lineShown(1);
    await press("ArrowDown");
    await press("ArrowDown");
    await lineShown(3);
    await press("PageDown");
    const line = Number((await lower().getAttribute("data-line"))!);
    assert.ok(line >= 3);
    await press("End");
    await lineShown(41);
    await lower().getByText("an unfinished write").waitFor();
    await press("Enter");
    assert.equal(await pane.locator(":focus").getAttribute("id"), "line");
    await press("Tab");
    assert.equal(await pane.locator(":focus").getAttribute("id"), "close-line");
    await workbench().screenshot("raw-keyboard");
    await press("Escape");
    assert.equal(await pane.locator(":focus").getAttribute("id"), "lines");
  });

  it("tells a superseded line, and goes from it to the current one and to the task", async () => {
    const pane = workbench().webview;
    await pane.getByRole("button", { name: "Superseded 1" }).click();
    await rows().getByText("superseded by 37").click();
    await lineShown(6);
    await lower().getByRole("button", { name: "Go to Line 37" }).click();
    await lineShown(37);
    const id = await lower().locator("dd").first().innerText();
    await pane.getByRole("button", { name: "Superseded 1" }).click();
    await rows().getByText("superseded by 37").click();
    await lineShown(6);
    await lower().getByRole("button", { name: "Show Task" }).click();
    await workbench().webview.locator("main").getByText(id).first().waitFor();
    await workbench().sideBar.locator('[role="treeitem"][aria-selected="true"]').waitFor();
    await workbench().tab(dataName).click();
    await lineShown(37);
  });

  it("follows an append within a second or so, and keeps its place and selection", async () => {
    const peer = new LineProcess("ruby", ["test/peers/peer.rb", join(workbench().folder, "storage"), "deferred-"]);
    try {
      await workbench().webview.getByRole("button", { name: "All 41" }).click();
      await workbench().webview.locator("#lines").focus();
      await press("Home");
      for (let line = 1; line < 6; line++) await press("ArrowDown");
      await lineShown(6);
      const top = await workbench()
        .webview.locator("#lines")
        .evaluate(({ scrollTop }: Scrolled) => scrollTop);
      await peer.request({ do: "add", task: taskMessage(newTask("1764000000-9-9")) });
      // It took the torn tail away.
      const all = workbench().webview.getByRole("button", { name: "All 41" });
      await workbench().webview.getByRole("button", { name: "Current 37" }).waitFor({ timeout: 3_000 });
      await all.waitFor();
      await workbench().webview.getByText("2 corrupt lines, 40 bytes", { exact: true }).waitFor();
      await lineShown(6);
      assert.equal(await selected().getAttribute("aria-rowindex"), "7");
      assert.equal(
        await workbench()
          .webview.locator("#lines")
          .evaluate(({ scrollTop }: Scrolled) => scrollTop),
        top,
      );
    } finally {
      await peer.stop();
    }
  });

  it("says that lines moved when the file is compacted, and finds the selected one again", async () => {
    const peer = new LineProcess("ruby", ["test/peers/peer.rb", join(workbench().folder, "storage"), "deferred-"]);
    try {
      await workbench().webview.locator("#lines").focus();
      await press("End");
      await lineShown(41);
      const { lines } = referenceLines(readFileSync(file()));
      await peer.request({ do: "remove", ids: [lines[0]!.id!] });
      await workbench()
        .webview.locator(".notice")
        .getByText("The file was compacted; lines moved.")
        .waitFor({ timeout: 3_000 });
      // One line was removed, and the two corrupt ones with it.
      await lineShown(38);
      await workbench().screenshot("raw-compacted");
      await workbench().webview.getByRole("button", { name: "Dismiss" }).click();
    } finally {
      await peer.stop();
    }
  });

  it("opens as text at the selected line, read-only, and offers to look for the hex editor", async () => {
    await workbench().webview.getByRole("button", { name: "Open as Text" }).click();
    await workbench().cursorAt(38);
    await workbench().page.keyboard.type("x");
    await workbench().page.getByText("Editor is read-only").first().waitFor();
    await press("Control+w");
    await workbench().typeCommand("Dead Tasks: Open in Hex Editor");
    const toast = workbench().notification("The extension Hex Editor is not installed.");
    await toast.getByRole("button", { name: "Search the Extensions" }).waitFor();
    await workbench().dismissNotifications();
  });

  it("comes back as it was after a reload of the window", async () => {
    await workbench().reload();
    await lineShown(38);
    assert.equal(await selected().getAttribute("aria-rowindex"), "39");
  });

  it("is at home in a light theme and in both of high contrast", async () => {
    await lower().getByText("Bytes", { exact: true }).click();
    await workbench().parkMouse();
    for (const theme of ["light", "high contrast", "high contrast light"] as const) {
      await workbench().setTheme(theme);
      await workbench().screenshot(`raw-${theme.replaceAll(" ", "-")}`);
    }
    await workbench().setTheme("dark");
  });

  it("has nothing that axe finds fault with", async () => {
    assert.deepEqual(await accessibilityViolations(workbench()), []);
  });

  it("broke no security policy and asked no other machine for anything", () => {
    assert.deepEqual(workbench().refused, []);
    assert.deepEqual(workbench().requestsElsewhere, []);
  });
});

describe("the raw view of a long file", () => {
  const count = 600_000;

  /** More lines than an element could be tall; and a store of real tasks beside it. */
  function longFiles(): Workspace {
    const workspace = emptyFolder("long");
    const storage = join(workspace.folder, "storage");
    mkdirSync(storage);
    writeBigStore(storage, 3_000);
    writeFileSync(join(storage, `long-${dataName.slice("deferred-".length)}`), "x\n".repeat(count));
    return workspace;
  }
  const workbench = useWorkbench({
    workspace: longFiles,
    settings: { ...settings, "workbench.editorAssociations": { "*-dead_tasks-0": "deadTasks.rawStore" } },
  });

  it("scrolls through all of its lines, and each of them can be reached", async () => {
    await workbench().openView();
    await workbench().typeCommand("View: Show Explorer");
    await workbench().page.locator(".explorer-folders-view").getByText("storage").click();
    await workbench().page.locator(".explorer-folders-view").getByText("long-dead_tasks-0").dblclick();
    const pane = workbench().webview;
    const lines = pane.locator("#lines");
    await pane.getByRole("button", { name: "All 600,000" }).waitFor({ timeout: 20_000 });
    assert.ok((await lines.evaluate(({ scrollHeight }: Scrolled) => scrollHeight)) < 11_000_000);
    await lines.focus();
    await workbench().page.keyboard.press("End");
    await pane.getByRole("heading", { name: "Line 600,000" }).waitFor();
    await workbench().page.keyboard.press("ArrowUp");
    await pane.getByRole("heading", { name: "Line 599,999" }).waitFor();
    await lines.evaluate((list: Scrolled) => {
      list.scrollTop = (list.scrollHeight - list.clientHeight) / 2;
    });
    const first = pane.locator("#lines .layer .row").first();
    await pane.locator("#lines .layer .row.corrupt").first().waitFor();
    const middle = Number(await first.getAttribute("data-index"));
    assert.ok(Math.abs(middle - count / 2) < 100, String(middle));
    await lines.hover();
    await workbench().page.mouse.wheel(0, 220);
    await pane.locator(`#lines .layer .row[data-index="${middle + 12}"]`).waitFor();
    const after = Number(await first.getAttribute("data-index"));
    assert.ok(Math.abs(after - middle - 10) <= 1, `${after - middle} rows for ten rows' worth of the wheel`);
    assert.ok((await pane.locator("#lines .layer .row").count()) < 60, "only what is in sight is in the page");
    await workbench().screenshot("raw-long");
  });

  it("leaves the plain click in the explorer to the user's own choice", async () => {
    await workbench().page.locator(".explorer-folders-view").getByText("deferred-dead_tasks-0").dblclick();
    await workbench().webview.getByRole("button", { name: "Current 3,000" }).waitFor();
    await workbench().applySettings(settings);
    const text = workbench().page.locator(".monaco-editor .view-line").first();
    for (let attempt = 0; attempt < 10 && !(await text.isVisible()); attempt++) {
      // Until the window knows of the changed settings, it opens the raw view again.
      await workbench().page.keyboard.press("Control+w");
      await workbench().page.waitForTimeout(500);
      await workbench().page.locator(".explorer-folders-view").getByText("deferred-dead_tasks-0").dblclick();
      await workbench().page.waitForTimeout(500);
    }
    await text.waitFor();
  });
});
