import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";

const root = join(__dirname, "../..");
const program = join(root, "dist/cli.js");
/** Who has built `dist/` before and runs suites side by side says so: they must not build it under each other's hands. */
let isBuilt = process.env["DEAD_TASKS_BUILT"] === "true";

/** Builds `dist/`, once for all suites of a run. */
export function buildCommandLine(): void {
  if (!isBuilt) execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "pipe" });
  isBuilt = true;
}

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
  /** For Node itself, before the program. */
  readonly nodeOptions?: readonly string[];
}

/** Runs the built command line and waits for its end. */
export function deadTasks(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { nodeOptions = [], ...spawnOptions } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...nodeOptions, program, ...args], {
      ...spawnOptions,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", reject);
    child.on("close", (status) => {
      const text = (chunks: Buffer[]): string => Buffer.concat(chunks).toString("utf8");
      resolve({ status, stdout: text(stdout), stderr: text(stderr) });
    });
  });
}

/** The same as a line for a shell. */
export function shellCommand(args: readonly string[]): string {
  return [process.execPath, program, ...args].map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(" ");
}

/** Runs with `--json` and returns what it printed; it must have ended with this status. */
export async function json<Shape>(args: readonly string[], status = 0, options: CommandOptions = {}): Promise<Shape> {
  const result = await deadTasks([...args, "--json"], options);
  assert.equal(result.status, status, result.stderr);
  return JSON.parse(result.stdout) as Shape;
}

export function assertOneLineError(result: CommandResult, status: number, message: RegExp): void {
  assert.equal(result.status, status, result.stderr);
  assert.match(result.stderr, message);
  assert.match(result.stderr, /^dead-tasks: [^\n]+\n$/, "one line, and no stack");
}

export interface ListJson {
  readonly tasks: readonly Record<string, unknown>[];
  readonly unreadable: readonly string[];
  readonly damage: { readonly lines: number; readonly bytes: number; readonly torn_tail_bytes: number };
}
export interface RetryJson {
  readonly retried: readonly { readonly id: string; readonly new_id: string }[];
  readonly missing: readonly string[];
  readonly failed: readonly { readonly id: string; readonly error: string }[];
  readonly log: string | null;
}
export interface DeleteJson {
  readonly deleted: readonly string[];
  readonly missing: readonly string[];
  readonly failed: readonly unknown[];
}
