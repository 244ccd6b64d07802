import { existsSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { seededRandom } from "./crowdLog";
import { letLocksGrowStale } from "./faultyDisk";
import type { LineProcess } from "./lineProcess";
import type { secondProcesses } from "./processes";
import type { temporaryFolders } from "./stores";

const seed = Number(process.env["DEAD_TASKS_SEED"] ?? 20_261_129);
const roundsBetweenWorkers = 20;

/** How many processes a test kills. */
export function killsAsked(byDefault: number): number {
  return Number(process.env["DEAD_TASKS_KILLS"] ?? byDefault);
}

// In memory, where a kill falls between any two instructions, and on the disk, where it mostly falls into an fsync.
const places = [...new Set([existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), tmpdir()])];

/** What the killed processes had left behind, so that one sees that they were killed in the middle of something. */
export class Leftovers {
  readonly #counts = new Map<string, number>();

  add(what: string, count = 1): void {
    this.#counts.set(what, this.of(what) + count);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  addFilesIn(path: string): void {
    for (const name of readdirSync(path)) {
      const what = kindOf(name);
      if (what !== null) this.add(what);
    }
    if (readFileSync(join(path, "deferred-dead_tasks-0")).at(-1) !== 0x0a) this.add("torn tails");
  }

  toString(): string {
    return [...this.#counts].map(([what, count]) => `${what} ${count}`).join(", ");
  }
}

const kinds: readonly (readonly [RegExp, string])[] = [
  [/\.busy$/, "locks"],
  [/\.staging$/, "staging files"],
  [/\.receiving-.*\.log$/, "logs in the making"],
  [/\.receiving-/, "marks"],
  [/\.(replay|takeback|sending)-/, "journals"],
];

function kindOf(name: string): string | null {
  return kinds.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/** Stores, what is asked of the processes that work on them, and what must hold whenever those are killed. */
export interface KilledStores {
  /** Their directories, all in the folder of the rounds. In each round a process for each of them is killed. */
  readonly paths: readonly string[];
  /** Has a process see to it that there is something to work on in the store of this number, before the others begin. */
  prepare?(writer: LineProcess, store: number): Promise<void>;
  /** Asks the process that works on the store of this number for one operation. */
  ask(victim: LineProcess, store: number): Promise<void>;
  /** Has another process add: it needs no lock of ours, so it neither waits for the dead nor is it in their way. */
  add(writer: LineProcess, store: number): Promise<void>;
  /** How many operations are not answered. */
  unanswered(): number;
  /** `isSettled`: whether what was interrupted has been finished. */
  check(isSettled: boolean, left: Leftovers): Promise<void>;
  /** The next change by anyone finishes what was begun. */
  settle(left: Leftovers): Promise<void>;
  /** Has a worker of each store start. */
  runLogs(): Promise<void>;
}

/** Kills so many processes, in memory and on the disk, each while it does what it is asked for. Prints and returns the figures. */
export async function killInRounds(
  kills: number,
  processes: ReturnType<typeof secondProcesses>,
  folders: ReturnType<typeof temporaryFolders>,
  setUp: (folder: string, random: () => number) => Promise<KilledStores>,
): Promise<Leftovers> {
  const left = new Leftovers();
  let killed = 0;
  const killInOne = async (place: string, number: number): Promise<void> => {
    const folder = folders.make(place);
    const random = seededRandom(seed + number);
    const stores = await setUp(folder, random);
    const start = (): readonly LineProcess[] => stores.paths.map((path) => processes.ours(path));
    const writers = start();
    const rounds = Math.ceil(kills / places.length / stores.paths.length);
    let next = start();
    for (let round = 1; round <= rounds; round++) {
      const victims = next;
      next = start();
      await Promise.all(victims.map((victim) => victim.request({ do: "ping" })));
      await Promise.all(writers.map(async (writer, store) => stores.prepare?.(writer, store)));
      const working = [
        ...victims.map((victim, store) => untilKilled(() => stores.ask(victim, store))),
        ...writers.map((writer, store) => stores.add(writer, store)),
      ];
      // Looked at below; a failure before that must not count as one that nobody looks at.
      for (const task of working) task.catch(() => undefined);
      await Promise.all(
        victims.map(async (victim) => {
          await delay(random() * 100);
          victim.signal("SIGKILL");
          await victim.exited;
        }),
      );
      await Promise.all(working);
      killed += victims.length;
      left.add("unanswered", stores.unanswered());
      for (const path of stores.paths) left.addFilesIn(path);
      await stores.check(false, left);
      letLocksGrowStale(folder);
      await stores.settle(left);
      await stores.check(true, left);
      if (round % roundsBetweenWorkers === 0) await stores.runLogs();
    }
    await Promise.all([...next, ...writers].map((process) => process.stop()));
  };
  await Promise.all(places.map(killInOne));
  // eslint-disable-next-line no-console -- the figures are part of the result
  console.log(`      ${killed} kills, seed ${seed}; left behind: ${String(left)}`);
  return left;
}

/** Goes on asking until the process no longer answers. */
async function untilKilled(ask: () => Promise<void>): Promise<void> {
  try {
    for (;;) await ask();
  } catch (error) {
    if (!String(error).includes("ended with SIGKILL")) throw error;
  }
}
