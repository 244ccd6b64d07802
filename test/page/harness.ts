import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { source as axe } from "axe-core";
import type { Browser, Frame, FrameLocator, Locator, Page } from "playwright-core";
import { launchBrowser } from "../../scripts/lib/browser.mjs";
import { startServer, type Server } from "../../scripts/lib/server.mjs";
import { root } from "../../scripts/lib/steps.mjs";
import { filledDemo, type Workspace } from "../../scripts/lib/workspaces.mjs";

export interface WorkbenchOptions {
  /** What the window opens. Default: a copy of the filled demo application. */
  readonly workspace?: () => Workspace | Promise<Workspace>;
  /** Default: true. False opens the folder in Restricted Mode. */
  readonly trusted?: boolean;
  /** Machine settings. */
  readonly settings?: Record<string, unknown>;
}

/** The names of themes, of the classes that the window has under them, and of what a webview calls them. */
const themes = {
  light: ["Default Light Modern", "vs", "vscode-light"],
  dark: ["Default Dark Modern", "vs-dark", "vscode-dark"],
  "high contrast": ["Default High Contrast", "hc-black", "vscode-high-contrast"],
  "high contrast light": ["Default High Contrast Light", "hc-light", "vscode-high-contrast-light"],
} as const;

/** Milliseconds in which the side bar stays as it is once it is drawn. */
const quiet = 400;

interface Manifest {
  readonly contributes: { readonly viewsContainers: { readonly activitybar: readonly { readonly title: string }[] } };
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  assert.ok(value, "Page tests need the packaged extension: run them with `npm run test:page -- PART_OF_A_FILE_NAME`.");
  return value;
}

/** A VS Code window in Chromium, 1280 by 800, with the packaged extension, on a workspace of its own that tests may change. */
export class Workbench {
  private constructor(
    private readonly server: Server,
    private readonly workspace: Workspace,
    private readonly browser: Browser,
    readonly page: Page,
    /** What the browser refused to do under a content security policy, in the window or a webview. */
    readonly refused: readonly string[],
    /** What the window and its webviews asked of any machine but this one. */
    readonly requestsElsewhere: readonly string[],
  ) {}

  static async open(options: WorkbenchOptions = {}): Promise<Workbench> {
    const { workspace: prepare = filledDemo, trusted = true, settings = {} } = options;
    const extensionsDirectory = fromEnvironment("DEAD_TASKS_EXTENSIONS");
    const workspace = await prepare();
    const server = await startServer({ extensionsDirectory, trusted, settings });
    try {
      const browser = await launchBrowser();
      const page = await browser.newPage({
        viewport: { width: 1280, height: 800 },
        permissions: ["clipboard-read", "clipboard-write"],
      });
      page.setDefaultTimeout(15_000);
      const refused: string[] = [];
      page.on("console", (message) => {
        if (/content security policy/i.test(message.text())) refused.push(message.text());
      });
      const requestsElsewhere: string[] = [];
      page.on("request", (request) => {
        const { protocol, host } = new URL(request.url());
        // VS Code's own service worker answers for the resources of webviews: they come from this server.
        const isHere = host === server.authority || host.endsWith(".vscode-resource.vscode-cdn.net");
        if (/^(https?|wss?):$/.test(protocol) && !isHere) requestsElsewhere.push(request.url());
      });
      // Two servers may be starting at once.
      await page.goto(server.address(workspace.folder), { timeout: 60_000 });
      await page.locator(".monaco-workbench .part.statusbar").waitFor({ timeout: 30_000 });
      return new Workbench(server, workspace, browser, page, refused, requestsElsewhere);
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** The opened folder, absolute. */
  get folder(): string {
    return this.workspace.folder;
  }

  /** Opens another folder in the same window, or none. */
  async openFolder(folder: string | null): Promise<void> {
    const address = new URL(this.server.address(folder ?? ""));
    if (folder === null) {
      address.searchParams.delete("folder");
      address.searchParams.set("ew", "true");
    }
    await this.page.goto(address.href);
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor({ timeout: 30_000 });
  }

  /** Reloads the window as a user does, with all that VS Code puts down before. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent("load");
    await this.runCommand("Developer: Reload Window");
    await loaded;
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor({ timeout: 30_000 });
  }

  /** Shows the extension's view container and waits for what it lists or says. */
  async openView(): Promise<void> {
    const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
    const title = manifest.contributes.viewsContainers.activitybar[0]!.title;
    const icon = this.page.locator(".part.activitybar").getByRole("tab", { name: title });
    if ((await icon.getAttribute("aria-selected")) !== "true") await icon.click();
    const shown = this.sideBar.locator('[role="treeitem"], .welcome-view-content, .message').filter({ visible: true });
    await shown.first().waitFor({ timeout: 30_000 });
  }

  /** The same for the filled demo application, until all of its tasks stand in the list and it is not drawn anew any more. */
  async openFilledView(): Promise<void> {
    await this.openView();
    await this.waitForBadge(36);
    await this.listSettled();
  }

  /** A menu's entry that is picked while the list is drawn anew does not know its task, and says so. */
  async listSettled(): Promise<void> {
    await this.page.evaluate(`new Promise((resolve) => {
      const settled = () => {
        observer.disconnect();
        resolve();
      };
      let timer = setTimeout(settled, ${quiet});
      const observer = new MutationObserver(() => {
        clearTimeout(timer);
        timer = setTimeout(settled, ${quiet});
      });
      observer.observe(document.querySelector(".part.sidebar"), { subtree: true, childList: true, characterData: true });
    })`);
  }

  get sideBar(): Locator {
    return this.page.locator(".part.sidebar");
  }

  /** Drags the edge of the side bar, so that what is in it has more CSS pixels. */
  async widenSideBar(by: number): Promise<void> {
    const edge = (await this.sideBar.boundingBox())!;
    await this.page.mouse.move(edge.x + edge.width, 400);
    await this.page.mouse.down();
    await this.page.mouse.move(edge.x + edge.width + by, 400, { steps: 5 });
    await this.page.mouse.up();
    await this.parkMouse();
  }

  /** The rows of the view that are in the page: VS Code renders those in sight. */
  get rows(): Locator {
    return this.sideBar.locator('[role="treeitem"]');
  }

  row(text: string | RegExp): Locator {
    return this.rows.filter({ hasText: text });
  }

  async openMenu(row: Locator): Promise<void> {
    await row.click({ button: "right" });
    await this.page.locator(".monaco-menu").waitFor();
  }

  /** An entry of the menu that is open, by the start of its text or a pattern. */
  menuItem(text: string | RegExp): Locator {
    const name = typeof text === "string" ? new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`) : text;
    return this.page.locator(".monaco-menu").getByRole("menuitem", { name });
  }

  async pickFromMenu(row: Locator, text: string | RegExp): Promise<void> {
    await this.pick(() => this.openMenu(row), text);
  }

  /** Opens the menu of a section's title bar, which shows its buttons while the mouse is over the section. */
  async openTitleMenu(section: string): Promise<void> {
    // What its view says beside the title is a part of its name.
    const header = this.sideBar.locator(`.pane-header[aria-label^="${section}"]`);
    await header.hover();
    await header.getByRole("button", { name: /More Actions/ }).click();
    await this.page.locator(".monaco-menu").waitFor();
  }

  async pickFromTitleMenu(section: string, text: string | RegExp): Promise<void> {
    await this.pick(() => this.openTitleMenu(section), text);
  }

  private async pick(open: () => Promise<void>, text: string | RegExp): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt++) {
      await open();
      const isReady = await this.focusMenuItem(text);
      await this.page.keyboard.press(isReady ? "Enter" : "Escape");
      await this.page.locator(".monaco-menu").waitFor({ state: "detached" });
      if (isReady) return;
    }
    assert.fail(`The menu never had ${String(text)}.`);
  }

  /**
   * Whether an entry of the open menu has the focus within some seconds. What a menu has is settled when it opens, and what was done just
   * before may not be known then; and it closes by itself where something else takes the focus, an editor that is only now shown, for one.
   */
  private async focusMenuItem(text: string | RegExp): Promise<boolean> {
    const entry = this.menuItem(text);
    const focused = this.page.locator(".monaco-menu .action-item.focused").filter({ hasText: text });
    const until = Date.now() + 3_000;
    while (Date.now() < until) {
      if (await focused.isVisible()) return true;
      // A menu ignores the mouse for its first moments.
      await this.parkMouse();
      await entry.hover({ timeout: 1_000 }).catch(() => undefined);
      await this.page.waitForTimeout(50);
    }
    return false;
  }

  /** What the extension's icon says of the number of dead tasks. */
  get badge(): Locator {
    return this.page.locator(".part.activitybar").getByRole("tab", { name: "Dead Tasks" }).locator(".badge-content");
  }

  /** `within`: milliseconds. */
  async waitForBadge(count: number, within = 30_000): Promise<void> {
    await this.badge.getByText(String(count), { exact: true }).waitFor({ timeout: within });
  }

  /** The demo application's data file, a character for each byte. */
  dataFile(): string {
    return readFileSync(join(this.folder, "storage", "deferred-dead_tasks-0"), "latin1");
  }

  /** The lines of all logs in which the demo application's tasks wait. */
  logLines(): string[] {
    const storage = join(this.folder, "storage");
    const logs = readdirSync(storage).filter((name) => name.startsWith("deferred-0-"));
    return logs.flatMap((name) => readFileSync(join(storage, name), "latin1").split("\n").slice(0, -1));
  }

  /** Moves the mouse to where it shows no tooltip. */
  async parkMouse(): Promise<void> {
    await this.page.mouse.move(640, 790);
  }

  async clipboard(): Promise<string> {
    return this.page.evaluate<string>("navigator.clipboard.readText()");
  }

  /** A modal dialogue of VS Code. */
  get dialog(): Locator {
    return this.page.locator(".monaco-dialog-box");
  }

  notification(text: string | RegExp): Locator {
    return this.page.locator(".notification-toast").filter({ hasText: text });
  }

  async dismissNotifications(): Promise<void> {
    await this.runCommand("Notifications: Clear All Notifications");
    await this.page.locator(".notification-toast").first().waitFor({ state: "detached" });
  }

  /** The tab of an editor, by its whole title. */
  tab(title: string): Locator {
    return this.page.locator(".tabs-container .tab").filter({ has: this.page.getByText(title, { exact: true }) });
  }

  /** Waits until the text editor in sight has its cursor at the beginning of this line, 1-based. */
  async cursorAt(line: number): Promise<void> {
    await this.page.locator(".part.statusbar").getByText(`Ln ${line}, Col 1`, { exact: true }).waitFor();
  }

  /** The document of the webview that is in sight. */
  get webview(): FrameLocator {
    return this.page.locator("iframe.webview.ready:visible").first().contentFrame().frameLocator("#active-frame");
  }

  /** Runs a command from the palette by its whole title. */
  async runCommand(title: string): Promise<void> {
    const first = await this.findCommand(title);
    await first.click();
  }

  /** The same without the mouse. */
  async typeCommand(title: string): Promise<void> {
    await this.findCommand(title);
    await this.page.keyboard.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  private async findCommand(title: string): Promise<Locator> {
    const palette = this.page.locator(".quick-input-widget");
    const found = palette.locator(".monaco-list-row.focused").filter({ hasText: title });
    for (let attempt = 0; attempt < 4 && !(await found.isVisible()); attempt++) {
      await this.page.keyboard.press("F1");
      try {
        await palette.locator("input").fill(`>${title}`, { timeout: 3_000 });
        await found.waitFor({ timeout: 3_000 });
      } catch {
        // The palette closes when something else takes the focus, a panel that was just hidden, for one.
      }
    }
    await found.waitFor();
    return found;
  }

  /** Applies settings to the running window: `workbench.colorTheme`, for one. Settings that are left out go back to default. */
  async applySettings(settings: Record<string, unknown>): Promise<void> {
    await this.server.applySettings(settings);
  }

  async setTheme(name: keyof typeof themes): Promise<void> {
    const [theme, base, kind] = themes[name];
    await this.applySettings({ "workbench.colorTheme": theme });
    await this.page.locator(`.monaco-workbench.${base}`).waitFor();
    if ((await this.page.locator("iframe.webview.ready:visible").count()) === 0) return;
    await this.webview.locator(`body[data-vscode-theme-kind="${kind}"]`).waitFor();
  }

  /** Keeps a picture of the whole window as `out/screenshots/NAME.png`. */
  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: await this.pictureFile(name), animations: "disabled" });
  }

  /**
   * Keeps a picture for the README, `out/screenshots/readme-NAME.png`, of this part of the window: CSS pixels from its top left
   * corner. `npm run pictures` makes `media/readme/NAME.png` of it.
   */
  async readmePicture(name: string, part: { x?: number; y?: number; width: number; height: number }): Promise<void> {
    await this.parkMouse();
    await this.page.waitForTimeout(300); // What fades in has done so.
    await this.page.screenshot({ path: await this.pictureFile(`readme-${name}`), clip: { x: 0, y: 0, ...part } });
  }

  private async pictureFile(name: string): Promise<string> {
    const directory = fromEnvironment("DEAD_TASKS_SCREENSHOTS");
    await mkdir(directory, { recursive: true });
    return join(directory, `${name}.png`);
  }

  /** Keeps what the window looks like, and in a second picture the notifications that are no longer in sight. */
  async keepFailure(title: string): Promise<void> {
    await this.screenshot(`failed ${title}`);
    try {
      await this.runCommand("Notifications: Show Notifications");
      await this.screenshot(`failed ${title}, notifications`);
      await this.page.keyboard.press("Escape");
    } catch {
      // A dialogue is in the way: the first picture shows it.
    }
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
    this.workspace.remove();
  }
}

/** The webview that is in sight, to ask its page for the value of an expression. */
export async function webviewFrame({ page }: Workbench): Promise<Frame> {
  const inner = page.locator("iframe.webview.ready:visible").first().contentFrame().locator("#active-frame");
  const frame = await (await inner.elementHandle()).contentFrame();
  assert.ok(frame, "there is a webview");
  return frame;
}

/** Puts the keyboard into the webview that is in sight, as the editor's command does, and waits until keys arrive there. */
export async function focusWebview(workbench: Workbench): Promise<void> {
  await workbench.typeCommand("View: Focus Active Editor Group");
  const frame = await webviewFrame(workbench);
  // `waitForFunction` evaluates text within the page, whose policy forbids that.
  for (let attempt = 0; !(await frame.evaluate<boolean>("document.hasFocus()")); attempt++) {
    assert.ok(attempt < 100, "the webview never has the focus");
    await workbench.page.waitForTimeout(50);
  }
}

/**
 * What axe finds wrong with the webview that is in sight, one line for each element. The page is asked by the debugger, so its security
 * policy, which lets no other script run, stays as it is.
 */
export async function accessibilityViolations(workbench: Workbench): Promise<string[]> {
  const frame = await webviewFrame(workbench);
  await frame.evaluate(axe);
  // What shows through the page lies outside of it, where axe cannot see it.
  await frame.evaluate('document.documentElement.style.background = "var(--vscode-editor-background)"');
  return frame.evaluate<string[]>(`axe
    .run(document, { resultTypes: ["violations"] })
    .then(({ violations }) =>
      violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, any }) => [id, html, ...any.map(({ message }) => message)].join(" | ")),
      ),
    )`);
}

/**
 * One window for the surrounding `describe`, opened before its first test and closed after its last. A failed test leaves
 * pictures `failed TITLE….png`.
 */
export function useWorkbench(options?: WorkbenchOptions): () => Workbench {
  let workbench: Workbench | null = null;
  before(async function () {
    this.timeout(90_000);
    workbench = await Workbench.open(options);
  });
  afterEach(async function () {
    const test = this.currentTest;
    if (workbench === null || test?.state !== "failed") return;
    await workbench.keepFailure(test.fullTitle().replace(/[^\w ]+/g, "-"));
  });
  after(async () => {
    await workbench?.close();
    workbench = null;
  });
  return () => {
    assert.ok(workbench, "The window is there from the first test of this describe to its last.");
    return workbench;
  };
}
