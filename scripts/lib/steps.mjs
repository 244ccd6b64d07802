// Progress lines, child processes and failures that say what to do. Node built-ins only: used before `npm ci` has run.
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A failure whose message already says what happened and what to do: printed without a stack trace. */
export class StepError extends Error {}

/** @param {string} text */
export function progress(text) {
  console.log(`> ${text}`);
}

/**
 * Runs a script's body; a `StepError` is printed as its message alone, anything else with its stack, and either ends in
 * exit status 1.
 * @param {() => Promise<void>} body
 */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    console.error(error instanceof StepError ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}

/**
 * Runs a command with its output shown, without standard input.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string, timeoutMs?: number }} [options] `env` is added to the process's own.
 * @returns {Promise<number>} the exit status; 1 when it was ended by a signal, could not be started or ran out of time.
 */
export function run(command, args, { env = {}, cwd = root, timeoutMs = 0 } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "inherit", "inherit"],
      shell: process.platform === "win32",
      timeout: timeoutMs,
    });
    child.on("error", (error) => {
      console.error(`${command} could not be started: ${error.message}`);
      resolve(1);
    });
    child.on("close", (status, signal) => {
      if (signal !== null) console.error(`${command} was ended by ${signal}`);
      resolve(status ?? 1);
    });
  });
}

/**
 * As `run`, but a failure is a `StepError` with this advice.
 * @param {string} advice
 * @param {string} command
 * @param {readonly string[]} args
 * @param {Parameters<typeof run>[2]} [options]
 */
export async function mustRun(advice, command, args, options) {
  const status = await run(command, args, options);
  if (status !== 0) throw new StepError(`\`${[command, ...args].join(" ")}\` failed (status ${status}). ${advice}`);
}

/**
 * The script of a command that an npm package brings, for `node`: so it works outside `npm run` and on every platform.
 * @param {string} file Below node_modules/.
 */
export function packageScript(file) {
  return join(root, "node_modules", file);
}

/**
 * Paths of test files, from the largest to the smallest: for what runs side by side, since the largest mostly take longest.
 * @param {string} folder Below the root.
 * @param {readonly string[]} files
 */
export function largestFirst(folder, files) {
  const size = (/** @type {string} */ file) => statSync(join(root, file)).size;
  return files.map((file) => join(folder, file)).sort((left, right) => size(right) - size(left));
}

/**
 * Runs jobs side by side, not more than `width` of them at once, begun in their order.
 * @template Result
 * @param {number} width
 * @param {readonly (() => Promise<Result>)[]} jobs
 * @returns {Promise<Result[]>} in the order of the jobs; rejected with the first failure when all that was begun has ended.
 */
export async function sideBySide(width, jobs) {
  /** @type {Result[]} */
  const results = [];
  const waiting = [...jobs.entries()];
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, job] = next;
      try {
        results[index] = await job();
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: width }, lane));
  for (const ended of lanes) if (ended.status === "rejected") throw ended.reason;
  return results;
}
