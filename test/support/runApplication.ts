import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { newTask, taskLine } from "./stores";

/** A small application whose tasks are run by the real script in a real Ruby, on a stand-in for the framework. */

export const standIn = join(__dirname, "standInRage");
const script = resolve(__dirname, "..", "..", "src", "run", "runDeadTask.rb");

export interface Failure {
  readonly class: string | null;
  readonly message: string;
  readonly backtrace: readonly string[];
}

export interface Outcome {
  readonly state: string;
  readonly kind?: string;
  readonly failure?: Failure | null;
}

export interface Finished {
  readonly status: number | null;
  readonly output: string;
  /** Null where none was written. */
  readonly outcome: Outcome | null;
}

/** Copies the application to `root`. */
export function makeApplication(root: string): void {
  cpSync(join(__dirname, "runApp"), root, { recursive: true });
  mkdirSync(join(root, "storage"), { recursive: true });
}

/** The Marshal of a context that the application itself would write: `context` is a Ruby expression for it. */
export function applicationContext(root: string, context: string): Buffer {
  const program = `require "./config/application"; print [Marshal.dump(${context})].pack("m0")`;
  const run = spawnSync("ruby", ["-W0", "-I", standIn, "-e", program], { cwd: root, encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
  return Buffer.from(run.stdout, "base64");
}

/** A dead task's line with that context. */
export function applicationLine(root: string, id: string, context: string, taskClass = "NoteDown"): Buffer {
  return taskLine(newTask(id, { taskClass, context: applicationContext(root, context) }));
}

/** Starts the script for a run that is there. */
export function startScript(root: string, directory: string): ChildProcess {
  const env = { ...process.env, DEAD_TASKS_APPLICATION: root, DEAD_TASKS_RUN: directory };
  return spawn("ruby", ["-I", standIn, script], { cwd: "/", env });
}

/** A run as the editor asks for it. */
export class RunOfScript {
  readonly directory: string;
  readonly #root: string;
  readonly #environment: NodeJS.ProcessEnv;

  /** Asks for `line`; `lines` is what the store holds. */
  constructor(root: string, directory: string, line: Buffer, lines = [line], environment: NodeJS.ProcessEnv = {}) {
    this.directory = directory;
    this.#root = root;
    this.#environment = environment;
    const dataFile = join(root, "storage", "deferred-dead_tasks-0");
    writeFileSync(dataFile, Buffer.concat(lines));
    mkdirSync(directory, { recursive: true });
    const [checksum, , id] = line.toString("latin1").split(":", 3);
    const request = { version: 1, dataFile, idHex: Buffer.from(id ?? "", "latin1").toString("hex"), checksum };
    writeFileSync(join(directory, "run.json"), JSON.stringify(request));
  }

  start(): ChildProcess {
    return startScript(this.#root, this.directory);
  }

  run(): Finished {
    const options = { cwd: "/", env: this.#variables(), encoding: "utf8", timeout: 60_000 } as const;
    const { status, stdout, stderr } = spawnSync("ruby", ["-I", standIn, script], options);
    return { status, output: stdout + stderr, outcome: this.outcome() };
  }

  outcome(): Outcome | null {
    const file = join(this.directory, "outcome.json");
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Outcome) : null;
  }

  #variables(): NodeJS.ProcessEnv {
    const own = { DEAD_TASKS_APPLICATION: this.#root, DEAD_TASKS_RUN: this.directory };
    return { ...process.env, ...own, ...this.#environment };
  }
}
