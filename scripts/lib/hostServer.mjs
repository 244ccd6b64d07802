// One host run in the code-server, driven by a page in Chromium.
import { format } from "node:util";
import { launchBrowser } from "./browser.mjs";
import { startServer } from "./server.mjs";
import { root } from "./steps.mjs";

const timeoutMs = 180_000;

/**
 * @typedef {object} HostJob
 * @property {import("./hostRuns.mjs").HostRun} run
 * @property {string} folder
 * @property {string} index The module whose `run()` the extension host calls.
 * @property {NodeJS.ProcessEnv} env
 */

/**
 * After a failure, prints what the window, the extension host and the server printed.
 * @param {HostJob} job
 * @returns {Promise<number>} 0 when every test passed.
 */
export async function runInServer({ run, folder, index, env }) {
  const server = await startServer({ trusted: run.trusted, settings: run.settings, testDriver: true, env });
  /** @type {string[]} */
  const log = [];
  try {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      page.on("pageerror", (error) => log.push(String(error)));
      // Everything that the window and the extension host print, with the format string that they used.
      await page.exposeFunction("codeAutomationLog", (/** @type {string} */ type, /** @type {unknown[]} */ args) => {
        log.push(`${type}: ${format(...args)}`);
      });
      /** @type {Promise<number>} */
      const finished = new Promise((resolve) => {
        void page.exposeFunction("codeAutomationExit", (/** @type {number} */ code) => resolve(code));
        void server.ended.then(() => resolve(1));
        setTimeout(() => {
          log.push(`No result within ${timeoutMs / 1000} s.`);
          resolve(1);
        }, timeoutMs).unref();
      });
      const remote = `vscode-remote://${server.authority}`;
      await page.goto(
        server.address(folder, [
          ["skipWelcome", "true"],
          ["extensionDevelopmentPath", remote + root],
          ["extensionTestsPath", remote + index],
        ]),
      );
      const status = await finished;
      if (status !== 0)
        console.log(["--- window and extension host", ...log, "--- server", server.output()].join("\n"));
      return status;
    } finally {
      await browser.close();
    }
  } finally {
    await server.stop();
  }
}
