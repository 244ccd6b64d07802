// The host suite: Mocha inside a real VS Code extension host, in the windows of scripts/lib/hostRuns.mjs, two at a time.
//   npm run test:host [-- WORD…]      through the code-server of .vscode-test/ and Chromium
//   npm run test:desktop [-- WORD…]   through the desktop's VS Code, which @vscode/test-electron downloads
// WORD: the name of a run, or a part of the name of a test file
import { ensureServer } from "./lib/server.mjs";
import { bundleHostTests, hostRuns, hostWindows } from "./lib/hostRuns.mjs";
import { runInDesktop } from "./lib/hostDesktop.mjs";
import { runInServer } from "./lib/hostServer.mjs";
import { freshResultsFile, printResults, readResults } from "./lib/results.mjs";
import { main, mustRun, progress, sideBySide, StepError } from "./lib/steps.mjs";
import { chromiumNeed, ensureSystem, gitNeed, rubyNeed } from "./lib/system.mjs";

await main(async () => {
  const desktop = process.argv.includes("--desktop");
  const words = process.argv.slice(2).filter((word) => word !== "--desktop");
  const windows = await hostWindows(words);
  if (windows.length === 0) {
    const names = hostRuns.map(({ name }) => name).join(", ");
    throw new StepError(`No file of test/host/ has ${words.join(" or ")} in its name, and the runs are ${names}.`);
  }
  await ensureSystem(desktop ? [rubyNeed, gitNeed] : [rubyNeed, gitNeed, chromiumNeed]);
  if (!desktop) await ensureServer();
  await mustRun("Mend the build first.", process.execPath, ["esbuild.mjs"]);
  const { index, bundleOf } = await bundleHostTests();

  /** @param {import("./lib/hostRuns.mjs").HostWindow} window @returns {Promise<number>} how many tests failed */
  async function runWindow({ suite, run, files }) {
    const { folder, remove } = await run.prepareFolder();
    const env = {
      DEAD_TASKS_HOST_FILES: JSON.stringify(files.map(bundleOf)),
      DEAD_TASKS_RESULTS: freshResultsFile(suite),
    };
    const started = Date.now();
    try {
      const { status, log } = await (desktop ? runInDesktop : runInServer)({ run, folder, index, env });
      const counts = readResults(suite, status);
      progress(`${suite}: ${run.what}, ${((Date.now() - started) / 1000).toFixed(0)} s`);
      if (counts.failed > 0) console.log(log);
      printResults(suite, counts);
      return counts.failed;
    } finally {
      remove();
    }
  }

  let failed = 0;
  for (const [width, alone] of /** @type {const} */ ([
    [desktop ? 1 : 2, false],
    [1, true],
  ])) {
    const now = windows.filter(({ run }) => (run.alone ?? false) === alone);
    const jobs = now.map((window) => () => runWindow(window));
    for (const count of await sideBySide(width, jobs)) failed += count;
  }
  if (failed > 0) process.exitCode = 1;
});
