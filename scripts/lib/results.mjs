// What the suites report, in Mocha's JSON: counted, never guessed from printed text.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "./steps.mjs";

/**
 * @typedef {{ passed: number, failed: number, failures: string[] }} Counts `failures`: one line each.
 *
 * @typedef {{ fullTitle: string, err: { message?: string, stack?: string } }} MochaTest
 * @typedef {{ passes: MochaTest[], failures: MochaTest[], pending: MochaTest[] }} MochaResults
 */

const directory = join(root, "out", "results");

/** @param {string} suite */
function resultsFile(suite) {
  return join(directory, `${suite}.json`);
}

/** Where a suite's results go; an earlier run's are removed. @param {string} suite @returns {string} */
export function freshResultsFile(suite) {
  mkdirSync(directory, { recursive: true });
  rmSync(resultsFile(suite), { force: true });
  return resultsFile(suite);
}

/** @param {string} suite @returns {MochaResults | null} null when the suite did not get as far as its results. */
function load(suite) {
  return existsSync(resultsFile(suite)) ? JSON.parse(readFileSync(resultsFile(suite), "utf8")) : null;
}

/**
 * A suite's counts. No results, no test at all, or a bad exit status without a failed test is one failure more.
 * @param {string} suite
 * @param {number} status The exit status of what ran it.
 * @returns {Counts}
 */
export function readResults(suite, status) {
  const results = load(suite);
  if (results === null)
    return { passed: 0, failed: 1, failures: [`${suite}: ended without results (status ${status})`] };
  for (const { fullTitle } of results.pending) console.log(`  skipped ${suite}: ${fullTitle}`);
  const passed = results.passes.length;
  const failures = results.failures.map(({ fullTitle }) => `${suite}: ${fullTitle}`);
  if (passed + failures.length === 0) failures.push(`${suite}: ran no test`);
  else if (status !== 0 && failures.length === 0) failures.push(`${suite}: ended with status ${status}`);
  return { passed, failed: failures.length, failures };
}

/**
 * Prints a suite that could not print its progress itself.
 * @param {string} suite
 * @param {Counts} counts
 */
export function printResults(suite, counts) {
  const results = load(suite);
  for (const { fullTitle } of results?.passes ?? []) console.log(`  ok      ${fullTitle}`);
  for (const { err } of results?.failures ?? []) console.log(err.stack ?? err.message ?? "");
  for (const failure of counts.failures) console.log(`  FAILED  ${failure}`);
}
