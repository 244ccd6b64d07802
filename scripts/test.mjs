// Everything, from a clean clone: installs what is missing, runs every check and suite, and counts. The last line is
// `N passed, N failed`; a step that is no suite counts as one test.
import { ensureDependencies } from "./lib/dependencies.mjs";
import { hostRuns } from "./lib/hostRuns.mjs";
import { freshResultsFile, readResults } from "./lib/results.mjs";
import { ensureServer } from "./lib/server.mjs";
import { packageScript, progress, run, StepError } from "./lib/steps.mjs";
import { chromiumNeed, ensureSystem, gitNeed, rubyNeed } from "./lib/system.mjs";

/** @typedef {import("./lib/results.mjs").Counts} Counts */

/** @type {(name: string, ...args: string[]) => Promise<Counts>} */
async function step(name, ...args) {
  const failed = (await run(process.execPath, args)) === 0 ? 0 : 1;
  return { passed: 1 - failed, failed, failures: failed === 0 ? [] : [`${name}: node ${args.join(" ")}`] };
}

/** @type {(suite: string, ...args: string[]) => Promise<Counts>} */
async function mocha(suite, ...args) {
  const program = [packageScript("mocha/bin/mocha.js"), "--forbid-only", "--reporter", "scripts/lib/reporter.cjs"];
  const env = { DEAD_TASKS_RESULTS: freshResultsFile(suite) };
  return readResults(suite, await run(process.execPath, [...program, ...args], { env }));
}

/** @returns {Promise<Counts>} */
async function host() {
  const suites = hostRuns.map(({ name }) => `host-${name}`);
  suites.forEach(freshResultsFile);
  const status = await run(process.execPath, ["scripts/host.mjs"]);
  const counts = suites.map((suite) => readResults(suite, 0));
  const failures = counts.flatMap((count) => count.failures);
  if (status !== 0 && failures.length === 0) failures.push(`host: ended with status ${status}`);
  return { passed: counts.reduce((sum, { passed }) => sum + passed, 0), failed: failures.length, failures };
}

/** @returns {Promise<Counts>} */
async function page() {
  freshResultsFile("page");
  return readResults("page", await run(process.execPath, ["scripts/page.mjs", "--packaged"]));
}

/** @type {[string, () => Promise<Counts>][]} */
const parts = [
  ["check", () => step("check", "scripts/check.mjs")],
  ["build", () => step("build", "esbuild.mjs")],
  ["unit and peers", () => mocha("unit", "test/unit/**/*.test.ts", "test/peers/**/*.test.ts")],
  ["faults", () => mocha("faults", "--parallel", "--jobs", "2", "test/faults/*.test.ts")],
  ["crowd", () => mocha("crowd", "test/crowd/*.test.ts")],
  ["hostile bytes", () => mocha("fuzz", "test/fuzz/**/*.test.ts")],
  ["host", host],
  ["start", () => step("start", "scripts/start.mjs", "--check")],
  ["package", () => step("package", "scripts/package.mjs")],
  ["page", page],
];

/** @returns {Promise<Counts>} */
async function install() {
  try {
    await ensureDependencies();
    await ensureSystem([rubyNeed, gitNeed, chromiumNeed]);
    await ensureServer();
    return { passed: 0, failed: 0, failures: [] };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return { passed: 0, failed: 1, failures: [`install: ${error.message}`] };
  }
}

const total = await install();
if (total.failed === 0) {
  for (const [name, part] of parts) {
    progress(name);
    const started = Date.now();
    const { passed, failed, failures } = await part();
    total.passed += passed;
    total.failed += failed;
    total.failures.push(...failures);
    progress(`${name}: ${passed} passed, ${failed} failed in ${((Date.now() - started) / 1000).toFixed(0)} s`);
  }
}
for (const failure of total.failures) console.log(`FAILED ${failure}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
