// Everything, from a clean clone: installs what is missing, runs every check and suite, and counts. The last line is
// `N passed, N failed`; a step that is no suite counts as one test.
import { ensureDependencies } from "./lib/dependencies.mjs";
import { hostWindows } from "./lib/hostRuns.mjs";
import { freshResultsFile, readResults } from "./lib/results.mjs";
import { ensureServer } from "./lib/server.mjs";
import { packageScript, progress, run, StepError } from "./lib/steps.mjs";
import { chromiumNeed, ensureSystem, gitNeed, rspecNeed, rubyNeed } from "./lib/system.mjs";

/** @typedef {import("./lib/results.mjs").Counts} Counts */

/** For the suites: a test that was singled out must not hide the others. */
const strict = { CI: "true" };

/** @type {(name: string, ...args: string[]) => Promise<Counts>} */
async function step(name, ...args) {
  const failed = (await run(process.execPath, args)) === 0 ? 0 : 1;
  return { passed: 1 - failed, failed, failures: failed === 0 ? [] : [`${name}: node ${args.join(" ")}`] };
}

/** @type {(suite: string, ...args: string[]) => Promise<Counts>} */
async function mocha(suite, ...args) {
  const program = [packageScript("mocha/bin/mocha.js"), "--forbid-only", "--reporter", "scripts/lib/reporter.cjs"];
  const env = { DEAD_TASKS_RESULTS: freshResultsFile(suite), DEAD_TASKS_BUILT: "true" };
  return readResults(suite, await run(process.execPath, [...program, ...args], { env }));
}

/** @returns {Promise<Counts>} */
async function host() {
  const suites = (await hostWindows([])).map(({ suite }) => suite);
  suites.forEach(freshResultsFile);
  const status = await run(process.execPath, ["scripts/host.mjs"], { env: strict });
  const counts = suites.map((suite) => readResults(suite, 0));
  const failures = counts.flatMap((count) => count.failures);
  if (status !== 0 && failures.length === 0) failures.push(`host: ended with status ${status}`);
  return { passed: counts.reduce((sum, { passed }) => sum + passed, 0), failed: failures.length, failures };
}

/** @returns {Promise<Counts>} */
async function page() {
  freshResultsFile("page");
  return readResults("page", await run(process.execPath, ["scripts/page.mjs", "--packaged"], { env: strict }));
}

/** Two processes for what tests without measuring: most of them wait a third of the time, and the machine has two processors. */
const twoAtOnce = ["--parallel", "--jobs", "2", "--timeout", "40000"];

/** @typedef {[name: string, part: () => Promise<Counts>]} Part */

/** What needs no VS Code and measures no time. @type {Part[]} */
const withoutServer = [
  ["check", () => step("check", "scripts/check.mjs")],
  ["build", () => step("build", "esbuild.mjs")],
  ["unit and peers", () => mocha("unit", ...twoAtOnce, "test/unit/**/*.test.ts", "test/peers/**/*.test.ts")],
];

/** @type {Part[]} */
const afterwards = [
  ["faults", () => mocha("faults", ...twoAtOnce, "test/faults/*.test.ts")],
  ["crowd", () => mocha("crowd", "test/crowd/*.test.ts")],
  ["hostile bytes", () => mocha("fuzz", ...twoAtOnce, "test/fuzz/**/*.test.ts")],
  ["host", host],
  ["start", () => step("start", "scripts/start.mjs", "--check")],
  ["package", () => step("package", "scripts/package.mjs")],
  ["page", page],
];

/** @type {Counts} */
const total = { passed: 0, failed: 0, failures: [] };

/** One after the other. @type {(parts: readonly Part[]) => Promise<void>} */
async function count(parts) {
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

/** Counts as one failure where it fails, and as nothing where it does not. @type {(needed: Promise<unknown>) => Promise<boolean>} */
async function installed(needed) {
  try {
    await needed;
    return true;
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    total.failed += 1;
    total.failures.push(`install: ${error.message}`);
    return false;
  }
}

async function everything() {
  const needs = ensureSystem([rubyNeed, rspecNeed, gitNeed, chromiumNeed]);
  const isReady = await Promise.all([installed(ensureDependencies()), installed(needs)]);
  if (isReady.includes(false)) return;
  // To install the server is to wait for the network, and for one compiler.
  const [server] = await Promise.all([installed(ensureServer()), count(withoutServer)]);
  if (server) await count(afterwards);
}

await everything();
for (const failure of total.failures) console.log(`FAILED ${failure}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
