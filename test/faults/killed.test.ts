import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { RemovalResult, ReplayResult } from "../../src/storage";
import { OperationLog, originalId, seededRandom } from "../support/crowdLog";
import { knownTask } from "../support/faultScenarios";
import { letLocksGrowStale } from "../support/faultyDisk";
import type { LineProcess } from "../support/lineProcess";
import { secondProcesses, taskMessage } from "../support/processes";
import { openStore } from "../support/stores";

const rounds = Number(process.env["DEAD_TASKS_KILLS"] ?? 60);
const seed = Number(process.env["DEAD_TASKS_SEED"] ?? 20_261_129);
const worthKeeping = 12;
const roundsBetweenWorkers = 20;

/** What the killed processes had left behind, so that one sees that they were killed in the middle of something. */
interface Leftovers {
  unanswered: number;
  journals: number;
  staging: number;
  tornTails: number;
  locks: number;
}

describe("a store whose processes are killed at random moments", function () {
  this.timeout(60_000 + rounds * 2_000);
  const processes = secondProcesses();
  const folders: string[] = [];

  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  // In memory, where a kill falls between any two instructions, and on the disk, where it mostly falls into an fsync.
  const places = [...new Set([existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), tmpdir()])];

  it(`loses nothing and does nothing twice in ${rounds} rounds`, async () => {
    const left: Leftovers = { unanswered: 0, journals: 0, staging: 0, tornTails: 0, locks: 0 };
    const share = Math.ceil(rounds / places.length);
    await Promise.all(places.map((place, index) => killRounds(place, share, seededRandom(seed + index), left)));
    const found = Object.entries(left).map(([what, count]) => `${what} ${count}`);
    // eslint-disable-next-line no-console -- the figures are part of the result
    console.log(`      ${share * places.length} kills, seed ${seed}; left behind: ${found.join(", ")}`);
    assert.ok(left.unanswered > rounds / 4, "most were killed in the middle of an operation");
  });

  async function killRounds(place: string, count: number, random: () => number, left: Leftovers): Promise<void> {
    const folder = mkdtempSync(join(place, "dead-tasks-"));
    folders.push(folder);
    const path = join(folder, "storage");
    const log = new OperationLog();
    const store = await openStore(path);
    let number = 0;
    const nextId = (who: string): string => `1767225637-${who}-${++number}`;
    await store.add(knownTask("1767225637-0-0"));
    log.ended(["1767225637-0-0"], "dead");

    const writer = processes.ours(path);
    let next = processes.ours(path);
    for (let round = 1; round <= count; round++) {
      const victim = next;
      next = processes.ours(path);
      await victim.request({ do: "ping" });
      const working = work(victim, log, random, nextId);
      // Meanwhile another process adds: it needs no lock of ours, so it neither waits for the dead nor is it in their way.
      const adding = addOne(writer, log, nextId("w"));
      // Looked at below; a failure before that must not count as one that nobody looks at.
      for (const task of [working, adding]) task.catch(() => undefined);
      await delay(random() * 100);
      victim.signal("SIGKILL");
      await Promise.all([victim.exited, working, adding]);

      if (log.open.size > 0) left.unanswered += 1;
      const names = readdirSync(path);
      left.journals += names.filter((name) => name.includes(".replay-")).length;
      left.staging += names.filter((name) => name.endsWith(".staging")).length;
      left.locks += names.filter((name) => name.endsWith(".busy")).length;
      if (readFileSync(join(path, "deferred-dead_tasks-0")).at(-1) !== 0x0a) left.tornTails += 1;
      await log.check(path, false);
      // The next change by anyone finishes what was begun.
      letLocksGrowStale(folder);
      await store.remove(["none"]);
      await log.check(path, true);
      if (round % roundsBetweenWorkers === 0) await runLogs(path, log);
    }
    await Promise.all([next.stop(), writer.stop()]);
  }

  async function addOne(writer: LineProcess, log: OperationLog, id: string): Promise<void> {
    log.began([id], "added");
    await writer.request({ do: "add", task: taskMessage(knownTask(id)) });
    log.ended([id], "dead");
  }

  /** Asks for one operation after the other until the process no longer answers. */
  async function work(
    victim: LineProcess,
    log: OperationLog,
    random: () => number,
    nextId: (who: string) => string,
  ): Promise<void> {
    const some = (): string[] => {
      const ids = [...log.dead];
      return Array.from({ length: 1 + Math.floor(random() * 3) }, () => ids[Math.floor(random() * ids.length)]!);
    };
    try {
      for (;;) {
        const choice = random();
        if (log.dead.size < worthKeeping || choice < 0.25) {
          await addOne(victim, log, nextId("v"));
        } else if (choice < 0.45) {
          const ids = [...new Set(some())];
          log.began(ids, "removed");
          const { removed } = (await victim.request({ do: "remove", ids })) as RemovalResult;
          assert.deepEqual(removed, ids);
          log.ended(ids, "gone");
        } else {
          const ids = [...new Set(some())];
          log.began(ids, "replayed");
          const { retried } = (await victim.request({ do: "replay", ids })) as ReplayResult;
          assert.deepEqual(retried.map(({ id }) => id).sort(), ids.sort());
          log.ended(ids, "replayed");
        }
      }
    } catch (error) {
      if (!String(error).includes("ended with SIGKILL")) throw error;
    }
  }

  /** As a starting worker does: takes over all logs, runs what is in them, and leaves none. */
  async function runLogs(path: string, log: OperationLog): Promise<void> {
    const { tasks } = await (await openStore(path)).pending();
    log.ran(tasks.map(originalId));
    for (const name of new Set(tasks.map((task) => task.log))) unlinkSync(join(path, name));
  }
});
