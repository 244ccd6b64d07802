// The host suite: Mocha inside a real VS Code extension host, once for each kind of window in scripts/lib/hostRuns.mjs.
//   npm run test:host [-- RUN…]      through the code-server of .vscode-test/ and Chromium
//   npm run test:desktop [-- RUN…]   through the desktop's VS Code, which @vscode/test-electron downloads
import { ensureServer } from "./lib/server.mjs";
import { bundleHostTests, hostRuns } from "./lib/hostRuns.mjs";
import { runInDesktop } from "./lib/hostDesktop.mjs";
import { runInServer } from "./lib/hostServer.mjs";
import { freshResultsFile, printResults, readResults } from "./lib/results.mjs";
import { main, mustRun, progress, StepError } from "./lib/steps.mjs";
import { chromiumNeed, ensureSystem, gitNeed, rubyNeed } from "./lib/system.mjs";

await main(async () => {
  const words = process.argv.slice(2);
  const desktop = words.includes("--desktop");
  const names = words.filter((word) => word !== "--desktop");
  const unknown = names.find((name) => !hostRuns.some((run) => run.name === name));
  if (unknown !== undefined) {
    throw new StepError(`No host run is called ${unknown}. There are: ${hostRuns.map(({ name }) => name).join(", ")}.`);
  }
  await ensureSystem(desktop ? [rubyNeed, gitNeed] : [rubyNeed, gitNeed, chromiumNeed]);
  if (!desktop) await ensureServer();
  await mustRun("Mend the build first.", process.execPath, ["esbuild.mjs"]);
  const tests = await bundleHostTests();

  let failed = 0;
  for (const run of hostRuns.filter(({ name }) => names.length === 0 || names.includes(name))) {
    progress(`Host suite, ${run.name}: ${run.what}`);
    const suite = `host-${run.name}`;
    const { folder, remove } = await run.prepareFolder();
    const env = {
      DEAD_TASKS_HOST_FILES: JSON.stringify(tests.filesOf(run)),
      DEAD_TASKS_RESULTS: freshResultsFile(suite),
    };
    try {
      const { status, log } = await (desktop ? runInDesktop : runInServer)({ run, folder, index: tests.index, env });
      const counts = readResults(suite, status);
      if (counts.failed > 0) console.log(log);
      printResults(suite, counts);
      failed += counts.failed;
    } finally {
      remove();
    }
  }
  if (failed > 0) process.exitCode = 1;
});
