import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildSync } from "esbuild";
import type { NewDeadTask } from "../../src/storage";
import { LineProcess } from "./lineProcess";

const root = resolve(__dirname, "..", "..");

const built = new Map<string, string>();

/** Bundles a source file for Node into `out/`, once in a run; returns the bundle's path. */
export function bundle(source: string): string {
  const known = built.get(source);
  if (known !== undefined) return known;
  // A name of this process's own: two runs in one checkout must not overwrite each other's.
  const folder = join(root, "out", "test", String(process.pid));
  mkdirSync(folder, { recursive: true });
  if (built.size === 0) {
    process.on("exit", () => {
      rmSync(folder, { recursive: true, force: true });
    });
  }
  const outfile = join(folder, `${source.replaceAll(/[\\/]/g, "-").replace(/\.ts$/, "")}.js`);
  buildSync({
    absWorkingDir: root,
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["koffi"],
    sourcemap: "inline",
    logLevel: "error",
  });
  built.set(source, outfile);
  return outfile;
}

/** Second processes for a suite's tests; whatever still runs after a test is ended. */
export function secondProcesses(): {
  ours(path: string, prefix?: string): LineProcess;
  ruby(path: string, prefix?: string): LineProcess;
} {
  const started: LineProcess[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((process) => process.stop()));
  });
  const start = (command: string, parameters: readonly string[]): LineProcess => {
    const process = new LineProcess(command, parameters);
    started.push(process);
    return process;
  };
  return {
    ours: (path, prefix = "deferred-") =>
      start(process.execPath, ["--enable-source-maps", bundle("test/support/storeProcess.ts"), path, prefix]),
    ruby: (path, prefix = "deferred-") => start("ruby", [join(root, "test", "peers", "peer.rb"), path, prefix]),
  };
}

/** A task in the form in which the second processes take it. */
export function taskMessage(task: NewDeadTask): Readonly<Record<string, unknown>> {
  return {
    id: task.id,
    task_class: task.taskClass,
    attempts: task.attempts,
    enqueued_at: task.enqueuedAt,
    failed_at: task.failedAt,
    exception_class: task.exceptionClass,
    exception_message: task.exceptionMessage,
    backtrace: task.backtrace,
    context: Buffer.from(task.context).toString("base64"),
  };
}
