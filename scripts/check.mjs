// Types, lint and format, side by side: the three are independent and each is mostly waiting for one core.
import { spawn } from "node:child_process";

const checks = [
  ["types", "tsc", ["-p", "."]],
  ["webview types", "tsc", ["-p", "src/detail/webview"]],
  ["lint", "eslint", ["--max-warnings", "0", "--cache", "--cache-location", "out/eslintcache", "."]],
  ["format", "prettier", ["--check", "--log-level", "warn", "."]],
];

function run([name, command, args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], shell: process.platform === "win32" });
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
