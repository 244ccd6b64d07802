import { spawn } from "node:child_process";
import { join } from "node:path";

const program = join(__dirname, "../../dist/cli.js");

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
