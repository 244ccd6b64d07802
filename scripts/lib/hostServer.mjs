// One host run in the code-server, driven by a page in Chromium.
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { format } from "node:util";
import { launchBrowser } from "./browser.mjs";
import { startServer } from "./server.mjs";
import { root } from "./steps.mjs";

const timeoutMs = 300_000;

/**
 * @typedef {object} HostJob
 * @property {import("./hostRuns.mjs").HostRun} run
 * @property {string} folder
 * @property {string} index The module whose `run()` the extension host calls.
 * @property {NodeJS.ProcessEnv} env
 */

/**
 * @param {HostJob} job
 * @returns {Promise<{ status: number, log: string }>} `status`: 0 when the extension host ended well. `log`: what the window,
 *   the extension host and the server printed.
 */
export async function runInServer({ run, folder, index, env }) {
  const extensionsDirectory = await copyExtensions(run.extensions ?? []);
  const { trusted, settings } = run;
  const server = await startServer({ trusted, settings, extensionsDirectory, testDriver: true, env });
  /** @type {string[]} */
  const lines = [];
  try {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      page.on("pageerror", (error) => lines.push(String(error)));
      // Everything that the window and the extension host print, with the format string that they used.
      await page.exposeFunction("codeAutomationLog", (/** @type {string} */ type, /** @type {unknown[]} */ args) => {
        lines.push(`${type}: ${format(...args)}`);
      });
      /** @type {(status: number) => void} */
      let finish = () => undefined;
      /** @type {Promise<number>} */
      const finished = new Promise((resolve) => (finish = resolve));
      const giveUp = (/** @type {string} */ why) => {
        lines.push(why);
        finish(1);
      };
      await page.exposeFunction("codeAutomationExit", (/** @type {number} */ status) => finish(status));
      page.on("crash", () => giveUp("The page crashed."));
      void server.ended.then(() => giveUp("The server ended."));
      const timer = setTimeout(() => giveUp(`No result within ${timeoutMs / 1000} s.`), timeoutMs);
      const remote = `vscode-remote://${server.authority}`;
      await page.goto(
        server.address(folder, [
          ["skipWelcome", "true"],
          ["extensionDevelopmentPath", remote + root],
          ["extensionTestsPath", remote + index],
        ]),
      );
      const status = await finished;
      clearTimeout(timer);
      return { status, log: ["--- window and extension host", ...lines, "--- server", server.output()].join("\n") };
    } finally {
      await browser.close();
    }
  } finally {
    await server.stop();
    await rm(extensionsDirectory, { recursive: true, force: true });
  }
}

/**
 * A directory of extensions for a server that has none yet: it takes in what lies there when it first starts. A window's address
 * can name no more than one extension under development.
 * @param {readonly string[]} folders
 * @returns {Promise<string>}
 */
async function copyExtensions(folders) {
  const directory = await mkdtemp(join(tmpdir(), "dead-tasks-extensions-"));
  for (const folder of folders) await cp(folder, join(directory, basename(folder)), { recursive: true });
  return directory;
}
