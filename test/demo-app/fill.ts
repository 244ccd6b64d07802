import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { dumpString, writeMarshal } from "../../src/marshal";
import { DeadTaskStore, storageEnvironment, type NewDeadTask } from "../../src/storage";
import { deadTaskLine } from "../../src/storage/frames";
import { array, classNamed, int, nil, str, symbolHash } from "../support/ruby";
import type { Deployment } from "./backtrace";
import { demoTasks, type DemoTask } from "./deadTasks";

/**
 * Fills the storage of the demo application anew: `npx tsx test/demo-app/fill.ts [DIR] [--damage]`. DIR is a copy of the
 * demo; without it the demo itself is filled. But for the time, the result is always the same.
 */
export interface FillOptions {
  /** Adds a corrupt line, a record that cannot be read, and an unfinished last line. */
  readonly damage?: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly now?: number;
}

/** Returns the number of dead tasks. */
export async function fillDemo(directory: string = __dirname, options: FillOptions = {}): Promise<number> {
  const { damage = false, now = Date.now() } = options;
  const root = resolve(directory);
  const storage = join(root, "storage");
  if (existsSync(storage) && !isDemo(root))
    throw new Error(`${root} is not a copy of the demo: its storage stays as it is.`);
  rmSync(storage, { recursive: true, force: true });

  const store = new DeadTaskStore({ path: storage, prefix: "deferred-" }, await storageEnvironment());
  const tasks = demoTasks(Math.floor(now / 1000));
  for (const [index, task] of tasks.entries()) {
    await store.add(newDeadTask(task, index, root));
    if (damage && index === 11) appendFileSync(store.names.dataFile, corruptLine + unreadableLine);
  }
  if (damage) appendFileSync(store.names.dataFile, unreadableLine.slice(0, 40));
  return tasks.length;
}

const corruptLine = '0badc0de:dead_task:1764000000-7-1:"\\x04\\b{\\x0E:\\aidI\\"\\x16"\n';
const unreadableLine = deadTaskLine(
  "1764000000-7-2",
  dumpString(Buffer.from("\x04\b{\x06:\x07id", "latin1")),
).toString();

function isDemo(root: string): boolean {
  const name = "app/tasks/send_welcome_email.rb";
  const copy = join(root, name);
  return existsSync(copy) && readFileSync(copy).equals(readFileSync(join(__dirname, name)));
}

function newDeadTask(task: DemoTask, index: number, root: string): NewDeadTask {
  const deployment: Deployment = task.inContainer ? { root: "/srv/app", ruby: "3.3" } : { root, ruby: "3.4" };
  const enqueuedAt = task.failedAt - secondsOfRetries(task.attempts);
  return {
    id: `${enqueuedAt}-${task.inContainer ? 17 : 4101}-${index + 1}`,
    taskClass: task.taskClass,
    attempts: task.attempts,
    enqueuedAt,
    failedAt: task.failedAt,
    exceptionClass: task.exceptionClass,
    exceptionMessage: inRuby(deployment, task.message),
    backtrace: task.frames.map((frame) => frame(deployment)).slice(0, 20),
    context: contextOf(task, index),
  };
}

/** Ruby 3.3 still opened a quoted method name with a backtick. */
function inRuby({ ruby }: Deployment, message: string): string {
  return ruby === "3.3" ? message.replace(/method '/, "method `") : message;
}

/** Rage waits n⁴ + 10 seconds and a little at random after the nth attempt. */
function secondsOfRetries(attempts: number): number {
  let seconds = 0;
  for (let attempt = 1; attempt < attempts; attempt++) seconds += attempt ** 4 + 10 + 7 * attempt;
  return seconds;
}

function contextOf(task: DemoTask, index: number): Uint8Array {
  const requestId = (0x5f3c_a1b0 + index * 0x9e37_79b1).toString(16).slice(-8);
  const logTags = task.requestPath === null ? nil() : array(str(requestId));
  const logContext = task.requestPath === null ? nil() : symbolHash({ request_path: str(task.requestPath) });
  return writeMarshal(
    array(
      classNamed(task.taskClass),
      task.args ?? nil(),
      task.kwargs ?? nil(),
      int(task.attempts),
      logTags,
      logContext,
      task.userContext ?? nil(),
    ),
  );
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { damage: { type: "boolean" } }, allowPositionals: true });
  const directory = positionals[0] ?? __dirname;
  const count = await fillDemo(directory, { damage: values.damage === true });
  process.stdout.write(`${count} dead tasks in ${join(resolve(directory), "storage")}\n`);
}

if (require.main === module) {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
