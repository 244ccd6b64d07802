import assert from "node:assert/strict";
import { join } from "node:path";
import type { DeadTaskStore, RemovalResult, ReplayResult } from "../../src/storage";
import { OperationLog, runLogs } from "../support/crowdLog";
import { knownTask } from "../support/faultScenarios";
import { killInRounds, killsAsked, type KilledStores } from "../support/killRounds";
import type { LineProcess } from "../support/lineProcess";
import { secondProcesses, taskMessage } from "../support/processes";
import { openStore, temporaryFolders } from "../support/stores";

const kills = killsAsked(60);
const worthKeeping = 12;

describe("a store whose processes are killed at random moments", function () {
  this.timeout(60_000 + kills * 2_000);
  const processes = secondProcesses();
  const folders = temporaryFolders();

  it(`loses nothing and does nothing twice in ${kills} rounds`, async () => {
    const left = await killInRounds(kills, processes, folders, async (folder, random) => {
      const path = join(folder, "storage");
      const store = await openStore(path);
      const log = new OperationLog();
      await store.add(knownTask("1767225637-0-0"));
      log.ended(["1767225637-0-0"], "dead");
      return new KilledStore(path, store, log, random);
    });
    assert.ok(left.of("unanswered") > kills / 4, "most were killed in the middle of an operation");
  });
});

/** One store, in which is added, removed and replayed. */
class KilledStore implements KilledStores {
  readonly paths: readonly string[];
  readonly #path: string;
  readonly #store: DeadTaskStore;
  readonly #log: OperationLog;
  readonly #random: () => number;
  #number = 0;

  constructor(path: string, store: DeadTaskStore, log: OperationLog, random: () => number) {
    this.paths = [path];
    this.#path = path;
    this.#store = store;
    this.#log = log;
    this.#random = random;
  }

  async add(writer: LineProcess): Promise<void> {
    const id = `1767225637-1-${++this.#number}`;
    this.#log.began([id], "added");
    await writer.request({ do: "add", task: taskMessage(knownTask(id)) });
    this.#log.ended([id], "dead");
  }

  async ask(victim: LineProcess): Promise<void> {
    const [log, random] = [this.#log, this.#random];
    const choice = random();
    if (log.dead.size < worthKeeping || choice < 0.25) {
      await this.add(victim);
      return;
    }
    const all = [...log.dead];
    const some = Array.from({ length: 1 + Math.floor(random() * 3) }, () => all[Math.floor(random() * all.length)]!);
    const ids = [...new Set(some)];
    if (choice < 0.45) {
      log.began(ids, "removed");
      const { removed } = (await victim.request({ do: "remove", ids })) as RemovalResult;
      assert.deepEqual(removed, ids);
      log.ended(ids, "gone");
    } else {
      log.began(ids, "replayed");
      const { retried } = (await victim.request({ do: "replay", ids })) as ReplayResult;
      assert.deepEqual(retried.map(({ id }) => id).sort(), ids.sort());
      log.ended(ids, "replayed");
    }
  }

  unanswered(): number {
    return this.#log.open.size > 0 ? 1 : 0;
  }

  async check(isSettled: boolean): Promise<void> {
    await this.#log.check(this.#path, isSettled);
  }

  async settle(): Promise<void> {
    await this.#store.remove(["none"]);
  }

  async runLogs(): Promise<void> {
    this.#log.ran(await runLogs(this.#path));
  }
}
