// One host run in the code-server, driven by a page in Chromium.
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
  const server = await startServer({ trusted: run.trusted, settings: run.settings, testDriver: true, env });
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
  }
}
