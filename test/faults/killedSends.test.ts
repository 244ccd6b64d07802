import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { UndoneChange } from "../../src/service/protocol";
import type { SendOutcome, SendWay } from "../../src/service/sendProtocol";
import { undoChange, undoableEntries } from "../../src/service/undo";
import {
  StorageError,
  UndoJournal,
  moveElsewhere,
  storageEnvironment,
  type DeadTaskStore,
  type StorageEnvironment,
  type UndoEntry,
} from "../../src/storage";
import { killInRounds, killsAsked, type KilledStores, type Leftovers } from "../support/killRounds";
import type { LineProcess } from "../support/lineProcess";
import { secondProcesses, taskMessage } from "../support/processes";
import { SendingLog, otherSide, sentTask, sides, type Fate, type Side } from "../support/sendingLog";
import { openStore, taskLine, temporaryFolders } from "../support/stores";

const kills = killsAsked(32);
const worthKeeping = 12;
const worthUndoing = 3;
// A move has the most steps.
const ways = ["move", "move", "retry", "copy"] as const;

describe("two stores that send to one another, and the processes are killed at random moments", function () {
  this.timeout(60_000 + kills * 2_000);
  const processes = secondProcesses();
  const folders = temporaryFolders();

  it(`lose nothing, send nothing twice and undo nothing by halves in ${kills} kills`, async () => {
    const left = await killInRounds(kills, processes, folders, async (folder, random) => {
      const paths = [join(folder, "one", "storage"), join(folder, "other", "storage")] as const;
      const stores = [await openStore(paths[0]), await openStore(paths[1])] as const;
      const environment = await storageEnvironment();
      return new SendingStores(paths, stores, environment, join(folder, "undo"), random);
    });
    assert.ok(left.of("unanswered") > kills / 4, "most were killed in the middle of an operation");
    assert.ok(left.of("locks") > kills / 20, "and many of them while they had a store to themselves");
  });
});

/** What was sent and can be undone. */
interface Kept {
  readonly name: string;
  readonly way: SendWay;
  /** Of the store that it was sent from. */
  readonly side: Side;
  readonly ids: readonly string[];
}

/** Two stores between which tasks are copied, retried and moved both ways, and that undone, so that long locks cross. */
class SendingStores implements KilledStores {
  readonly paths: readonly [string, string];
  readonly #stores: readonly [DeadTaskStore, DeadTaskStore];
  readonly #environment: StorageEnvironment;
  readonly #undoDirectory: string;
  readonly #random: () => number;
  readonly #log: SendingLog;
  #kept: readonly Kept[] = [];
  #fates: ReadonlyMap<string, Fate> = new Map();
  #unanswered = 0;
  #number = 0;

  constructor(
    paths: readonly [string, string],
    stores: readonly [DeadTaskStore, DeadTaskStore],
    environment: StorageEnvironment,
    undoDirectory: string,
    random: () => number,
  ) {
    this.paths = paths;
    this.#stores = stores;
    this.#environment = environment;
    this.#undoDirectory = undoDirectory;
    this.#random = random;
    this.#log = new SendingLog(paths);
  }

  #nextId(): string {
    return `1767225637-1-${(++this.#number).toString(8)}`;
  }

  async add(writer: LineProcess, store: number): Promise<void> {
    const id = this.#nextId();
    this.#log.began([id], "add", sideOf(store));
    await writer.request({ do: "add", task: taskMessage(sentTask(id)) });
    this.#log.ended([id]);
  }

  async prepare(writer: LineProcess, store: number): Promise<void> {
    const side = sideOf(store);
    while (this.#log.restingIn(side).length < worthKeeping) await this.add(writer, store);
    while (this.#undoable(side).length < worthUndoing) await this.#send(writer, side, this.#undoDirectory);
  }

  async ask(victim: LineProcess, store: number): Promise<void> {
    const side = sideOf(store);
    const random = this.#random;
    const undoable = this.#undoable(side);
    const kept = undoable[Math.floor(random() * undoable.length)];
    this.#unanswered += 1;
    const choice = random();
    if (kept !== undefined && choice < 0.4) {
      await this.#undo(victim, kept);
    } else if (choice < 0.45 || this.#log.restingIn(side).length === 0) {
      await this.add(victim, store);
    } else {
      await this.#send(victim, side, random() < 0.75 ? this.#undoDirectory : null);
    }
    this.#unanswered -= 1;
  }

  /** Of one, two or three tasks. */
  async #send(process: LineProcess, side: Side, undoDirectory: string | null): Promise<void> {
    const random = this.#random;
    const way = ways[Math.floor(random() * ways.length)]!;
    const resting = this.#log.restingIn(side);
    const ids = new Set(
      Array.from({ length: 1 + Math.floor(random() * 3) }, () => resting[Math.floor(random() * resting.length)]!),
    );
    const isPresent = (id: string): boolean => way === "copy" && this.#log.isDead(id, otherSide(side));
    const present = [...ids].filter(isPresent);
    this.#log.began([...ids], way, side);
    const outcome = (await process.request({
      do: "send",
      way,
      ids: [...ids],
      folder: this.paths[otherSide(side)],
      ...(undoDirectory === null ? {} : { undoDirectory }),
    })) as SendOutcome;
    this.#log.ended([...ids]);
    const { sent, missing, failed, undo } = outcome;
    assert.deepEqual([sent.length + outcome.present.length, missing, failed], [ids.size, [], []]);
    assert.deepEqual([...outcome.present].sort(), present.sort());
    assert.ok(sent.every((id) => ids.has(id)));
    if (undo !== undefined) this.#kept = [...this.#kept, { name: undo, way, side, ids: sent }];
  }

  async #undo(victim: LineProcess, kept: Kept): Promise<void> {
    const { name, way, side, ids } = kept;
    this.#kept = this.#kept.filter((other) => other !== kept);
    const present = this.#backAlready(kept);
    this.#log.began(ids, `undo ${way}`, side);
    const undone = await victim.request({ do: "undo", name, undoDirectory: this.#undoDirectory });
    this.#log.ended(ids);
    assertUndone(kept, present, undone as UndoneChange);
  }

  #undoable(side: Side): Kept[] {
    return this.#kept.filter((kept) => kept.side === side && this.#canBeUndone(kept));
  }

  #canBeUndone({ ids }: Kept): boolean {
    return ids.every((id) => this.#log.isResting(id));
  }

  /** What has come back under its id since, as a copy from there, and so need not be brought back. */
  #backAlready({ way, side, ids }: Kept): string[] {
    return way === "move" ? ids.filter((id) => this.#log.isDead(id, side)) : [];
  }

  unanswered(): number {
    return this.#unanswered;
  }

  async check(isSettled: boolean, left: Leftovers): Promise<void> {
    this.#unanswered = 0;
    if (isSettled) {
      this.#fates = await this.#log.checkSettled();
      await this.#undoWhatIsLeft(left);
    } else {
      for (const what of await this.#log.checkInterrupted()) left.add(`tasks in both places by "${what}"`);
    }
  }

  async settle(left: Leftovers): Promise<void> {
    const random = this.#random;
    for (const side of sides) {
      if (random() < 0.2) {
        this.#tear(side);
        left.add("unfinished lines of others");
      }
      // Had a worker run what is just being taken back, it would be run and dead.
      const isTakingBack = this.#log.openOnes("undo move", otherSide(side)).length > 0;
      if (random() < 0.1 && !isTakingBack) {
        await this.#runLogs(side);
        left.add("workers before the next change");
      }
    }
    await this.#log.checkInterrupted();
    const order = random() < 0.5 ? sides : [...sides].reverse();
    const next = (side: Side): Promise<void> =>
      random() < 0.3 ? this.#askAgain(side, left) : this.#changeNothing(side);
    if (random() < 0.5) await Promise.all(order.map(next));
    else for (const side of order) await next(side);
  }

  async #changeNothing(side: Side): Promise<void> {
    await this.#stores[side].remove(["none"]);
  }

  /** What an interrupted move has enqueued is not enqueued again. */
  async #askAgain(side: Side, left: Leftovers): Promise<void> {
    const ids = this.#log.openOnes("move", side);
    if (ids.length === 0) {
      await this.#changeNothing(side);
      return;
    }
    const [here, there] = [this.#stores[side], this.#stores[otherSide(side)]];
    const { retried, missing, failed } = await moveElsewhere(here, there, ids, null);
    assert.deepEqual([...retried.map(({ id }) => id), ...missing].sort(), ids.sort());
    assert.deepEqual(failed, []);
    this.#log.askedAgain(ids);
    left.add("moves asked for again");
  }

  /** A worker that was killed while it added a task leaves a part of its line. */
  #tear(side: Side): void {
    const line = taskLine(sentTask(this.#nextId()));
    const part = line.subarray(0, 1 + Math.floor(this.#random() * (line.length - 1)));
    appendFileSync(join(this.paths[side], "deferred-dead_tasks-0"), part);
  }

  async runLogs(): Promise<void> {
    for (const side of sides) await this.#runLogs(side);
  }

  async #runLogs(side: Side): Promise<void> {
    await this.#log.runLogs(side);
    // What was sent there and has run cannot be undone any more.
    this.#kept = this.#kept.filter(({ way, side: source }) => way === "copy" || otherSide(source) !== side);
  }

  /** Whoever was killed may have kept what it did: exactly what it did can be undone then. */
  async #undoWhatIsLeft(left: Leftovers): Promise<void> {
    const known = new Set(this.#kept.map(({ name }) => name));
    const entries = undoableEntries(this.#environment, this.#undoDirectory).filter(({ name }) => !known.has(name));
    for (const entry of entries) await this.#undoLeft(entry, left);
    if (entries.length > 0) assert.equal((await this.#log.checkSettled()).size, 0);
  }

  async #undoLeft({ name, directory, elsewhere }: UndoEntry, left: Leftovers): Promise<void> {
    const journal = new UndoJournal(this.#environment, this.#undoDirectory);
    const ids = journal.replayedTasks(name).map(({ id }) => id);
    const side = sideOf(this.paths.indexOf(directory));
    const { way } = elsewhere!;
    // Of a copy that is gone already, too, it is said that it is gone.
    const isThere = way === "copy" || ids.every((id) => this.#isSent(id, way));
    const kept: Kept = { name, way, side, ids };
    if (this.#canBeUndone(kept)) {
      const present = this.#backAlready(kept);
      if (isThere) this.#log.began(ids, `undo ${way}`, side);
      const undoing = undoChange(this.#environment, this.#undoDirectory, name, this.#stores);
      if (isThere) assertUndone(kept, present, await undoing);
      else await assert.rejects(undoing, (error) => error instanceof StorageError && error.code === "claimed");
      if (isThere) this.#log.ended(ids);
      left.add(isThere ? "entries to undo" : "entries of what was undone");
    }
    journal.remove(name);
  }

  /** Whether what was not answered ended with the task in the other store's log. */
  #isSent(id: string, way: SendWay): boolean {
    const fate = this.#fates.get(id);
    assert.ok(fate !== undefined, `${id} is kept by somebody who was killed just now`);
    assert.ok(fate.what === way || fate.what === `undo ${way}`);
    assert.ok(fate.isDone || fate.what !== "move", `what was not moved is not kept: ${id}`);
    return fate.isDone === (fate.what === way);
  }
}

function sideOf(store: number): Side {
  assert.ok(store === 0 || store === 1);
  return store;
}

/** `present`: what had come back before. */
function assertUndone({ way, ids }: Kept, present: readonly string[], undone: UndoneChange): void {
  assert.ok(undone.found);
  const expected = way === "move" ? ids.filter((id) => !present.includes(id)) : [];
  assert.deepEqual([[...undone.restored].sort(), [...undone.present].sort()], [expected.sort(), [...present].sort()]);
  const gone = way === "move" ? undefined : [...ids].sort();
  assert.deepEqual(undone.elsewhere && [...undone.elsewhere.gone].sort(), gone);
  assert.deepEqual(undone.elsewhere?.changed ?? [], []);
}
