import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Assignment, Outcome } from "./protocol";

/** How long one input may keep a process busy, by the clock, before the process is ended. A loaded machine is slow. */
const hangMilliseconds = 60_000;

/** Runs an assignment in a process of its own, with a heap of 256 MB, and ends it where an input hangs. */
export async function fuzz(assignment: Omit<Assignment, "progressFile">): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "dead-tasks-fuzz-progress-"));
  const progressFile = join(folder, "progress");
  try {
    return await runChild({ ...assignment, progressFile });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runChild(assignment: Assignment): Promise<Outcome> {
  const script = join(__dirname, "child.ts");
  const parameters = ["--max-old-space-size=256", "--import", "tsx", script, JSON.stringify(assignment)];
  const child = spawn(process.execPath, parameters, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const found = { hang: false };
  let last = progressOf(assignment);
  let since = Date.now();
  const watch = setInterval(() => {
    const progress = progressOf(assignment);
    if (progress !== last) {
      last = progress;
      since = Date.now();
    } else if (Date.now() - since > hangMilliseconds) {
      found.hang = true;
      child.kill("SIGKILL");
    }
  }, 250);
  const how = await new Promise<string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      resolve(signal ?? `status ${code ?? "?"}`);
    });
  }).finally(() => {
    clearInterval(watch);
  });
  if (output.endsWith("\n")) return JSON.parse(output) as Outcome;
  const index = progressOf(assignment) ?? assignment.from;
  return {
    inputs: index - assignment.from,
    accepted: 0,
    slowest: { index, milliseconds: 0 },
    peakBytes: 0,
    failure: {
      index,
      message: found.hang ? "it hangs" : `the process ended with ${how}: ${errors.slice(-2000)}`,
      input: "",
    },
  };
}

/** The input that is being checked; null before the first. */
function progressOf({ progressFile }: Assignment): number | null {
  try {
    const bytes = readFileSync(progressFile);
    return bytes.length === 8 ? bytes.readDoubleLE() : null;
  } catch {
    // Not there yet.
    return null;
  }
}
