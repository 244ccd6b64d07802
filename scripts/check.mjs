// Types, lint and format, side by side: they are independent of one another.
import { spawn } from "node:child_process";
import { packageScript, root } from "./lib/steps.mjs";

/** @type {readonly (readonly [name: string, script: string, args: readonly string[]])[]} */
const checks = [
  ["types", "typescript/bin/tsc", ["-p", "."]],
  ["detail pane types", "typescript/bin/tsc", ["-p", "src/detail/webview"]],
  ["raw view types", "typescript/bin/tsc", ["-p", "src/raw/webview"]],
  ["lint", "eslint/bin/eslint.js", ["--max-warnings", "0", "."]],
  ["format", "prettier/bin/prettier.cjs", ["--check", "--log-level", "warn", "."]],
];

/**
 * @param {(typeof checks)[number]} check
 * @returns {Promise<{ name: string, ok: boolean, output: string }>}
 */
function run([name, script, args]) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [packageScript(script), ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (output += data));
    child.on("error", (error) => resolve({ name, ok: false, output: String(error) }));
    child.on("close", (status) => resolve({ name, ok: status === 0, output }));
  });
}

const results = await Promise.all(checks.map(run));
for (const { name, ok, output } of results) {
  console.log(`${ok ? "ok    " : "FAILED"} ${name}`);
  if (!ok) console.log(output.trimEnd());
}
process.exitCode = results.every((result) => result.ok) ? 0 : 1;
