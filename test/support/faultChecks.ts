import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  DeadTaskStore,
  UndoJournal,
  copyElsewhere,
  moveElsewhere,
  storageEnvironment,
  type FileSystem,
  type PendingTask,
  type ReplayResult,
  type StorageEnvironment,
} from "../../src/storage";
import { originalId } from "./crowdLog";
import { FaultyDisk, imageKey, letLocksGrowStale, readImage, writeImage, type DiskImage } from "./faultyDisk";
import { FaultyFileSystem } from "./faultyFileSystem";
import { bothDeeds, bystander, dataName, knownTask, noDeeds, undoFolder, type Deeds } from "./faultScenarios";
import { referenceLines, taskLine, type ReferenceLine } from "./stores";

/** What must hold in a directory, given what was asked for and what was acknowledged. */
export interface Expectation {
  /** The data file before the first operation. */
  readonly original: Buffer;
  readonly asked: Deeds;
  readonly acknowledged: Deeds;
  /** Tasks that a worker has taken from a log and run. */
  readonly ran: readonly string[];
  /** Whether a worker that takes the logs right after a crash may run what is dead, too. */
  readonly mayRunTwice: boolean;
  /** Whether what was asked to be removed was to be kept. */
  readonly keeps: boolean;
  /** Whether what is retried is retried in the other store. */
  readonly moves: boolean;
  /** The other store's data file before the first operation. */
  readonly other: Buffer;
  /** Whether whoever came last has done away with everything that was interrupted: no task stands in two places. */
  readonly settled: boolean;
}

const lateTask = knownTask("4-1-1");

/** A store as a fresh process opens it. */
export async function freshStore(
  root: string,
  fileSystem: FileSystem,
  process: number,
  folder: "storage" | "other" = "storage",
): Promise<DeadTaskStore> {
  return new DeadTaskStore(
    { path: join(root, folder), prefix: "deferred-" },
    await freshEnvironment(fileSystem, process),
  );
}

/** What is kept for undoing beside that store, as a fresh process opens it. */
export async function freshJournal(root: string, fileSystem: FileSystem, process: number): Promise<UndoJournal> {
  return new UndoJournal(await freshEnvironment(fileSystem, process), join(root, undoFolder));
}

/** Time stands still, and chance repeats itself, so that equal states are equal bytes. */
async function freshEnvironment(fileSystem: FileSystem, process: number): Promise<StorageEnvironment> {
  let draw = process;
  const replaced: Partial<StorageEnvironment> = {
    fileSystem,
    clock: { now: () => startedAt, sleep: () => Promise.resolve() },
    random: () => (draw = (draw * 16_807) % 2_147_483_647) / 2_147_483_647,
    processId: process,
  };
  return await storageEnvironment(replaced);
}

let startedAt = Date.now();

/** The time of a whole enumeration. Locks are compared with it, so it must not be long ago. */
export function restartTime(): void {
  startedAt = Date.now();
}

function counted(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Reads a directory without our own reader where it can, and asserts what may never be otherwise. Returns the pending tasks. */
export async function assertNothingLost(root: string, expected: Expectation): Promise<readonly PendingTask[]> {
  const { original, asked, acknowledged, ran, settled, keeps, mayRunTwice } = expected;
  const image = readImage(root);
  const data = image.get(`storage/${dataName}`) ?? Buffer.alloc(0);
  const { lines } = referenceLines(data);
  const before = referenceLines(original).lines;
  assertNoneDamaged(lines, before, asked);

  const dead = new Set(lines.flatMap(({ id }) => id ?? []));
  const { fileSystem } = new FaultyFileSystem(new FaultyDisk(root));
  const there = await (await freshStore(root, fileSystem, 1, "other")).pending();
  const here = await (await freshStore(root, fileSystem, 1)).pending();
  const tasks = [...here.tasks, ...there.tasks.filter((task) => !asked.enqueued.includes(originalId(task)))];
  const damage = {
    lines: here.damage.lines + there.damage.lines,
    bytes: here.damage.bytes + there.damage.bytes,
    tornTailBytes: here.damage.tornTailBytes + there.damage.tornTailBytes,
  };
  assertEnqueued(there.tasks.map(originalId), expected);
  assertCopied(image.get(`other/${dataName}`) ?? Buffer.alloc(0), expected);
  // What is taken back is appended to its log, and the next change mends what a crash leaves of that.
  const tornTailBytes = mayRunTwice && !settled ? damage.tornTailBytes : 0;
  assert.deepEqual(damage, { lines: 0, bytes: 0, tornTailBytes }, "the logs are whole");
  const pending = counted([...tasks.map(originalId), ...ran]);

  for (const { id } of acknowledged.added) {
    if (![...asked.removed, ...asked.retried].includes(id)) assert.ok(dead.has(id), `acknowledged ${id} is there`);
  }
  for (const id of acknowledged.removed) assert.ok(!dead.has(id), `acknowledged as removed, ${id} does not come back`);
  for (const id of acknowledged.retried) {
    assert.ok(!dead.has(id), `acknowledged as retried, ${id} is no longer dead`);
    if (!(mayRunTwice && ran.includes(id))) {
      assert.equal(pending.get(id), 1, `acknowledged as retried, ${id} is pending once`);
    }
  }
  for (const id of acknowledged.takenBack) {
    assert.ok(dead.has(id), `acknowledged as taken back, ${id} is dead`);
    assert.equal(pending.get(id), undefined, `acknowledged as taken back, ${id} is pending no longer`);
  }
  if (keeps) assertKept(image, lines, before, asked.removed);
  for (const { id } of before) {
    if (id === null || asked.removed.includes(id)) continue;
    if (!asked.retried.includes(id)) {
      assert.ok(dead.has(id), `${id}, of which nothing was asked, is there`);
      assert.equal(pending.get(id), undefined);
    } else {
      assert.ok(dead.has(id) || pending.has(id), `${id} is in neither place`);
      const isAllowed = mayRunTwice && ran.includes(id);
      if (settled) assert.ok(isAllowed || !(dead.has(id) && pending.has(id)), `${id} is in both places`);
    }
  }
  for (const [id, count] of pending) {
    assert.ok(asked.retried.includes(id), `${id} was never asked to be retried`);
    const most = mayRunTwice && ran.includes(id) ? 2 : 1;
    assert.ok(count <= most, `${id} was replayed ${count} times`);
  }
  return tasks;
}

/** What was to wait in the other store waits there once, if at all. */
function assertEnqueued(pending: readonly string[], { asked, acknowledged }: Expectation): void {
  const counts = counted(pending);
  for (const id of asked.enqueued) assert.ok((counts.get(id) ?? 0) <= 1, `${id} waits there more than once`);
  for (const id of acknowledged.enqueued) assert.equal(counts.get(id), 1, `acknowledged, ${id} waits there`);
}

/** The other store has its own lines, and copies of the lines that stand for what was asked for; each once. */
function assertCopied(data: Buffer, { original, other, asked, acknowledged }: Expectation): void {
  const text = ({ bytes }: ReferenceLine): string => bytes.toString("latin1");
  const own = referenceLines(other).lines.map(text);
  const lines = referenceLines(data).lines.map(text);
  assert.deepEqual(lines.slice(0, own.length), own, "its own lines are as they were");
  const copies = lines.slice(own.length);
  const current = new Map(referenceLines(original).lines.map((line) => [line.id, text(line)]));
  for (const line of copies)
    assert.ok(
      asked.copied.some((id) => current.get(id) === line),
      "a copy of none of these",
    );
  assert.equal(new Set(copies).size, copies.length, "a task was copied twice");
  for (const id of acknowledged.copied) {
    assert.ok(copies.includes(current.get(id) ?? ""), `acknowledged as copied, ${id} is there`);
  }
}

/** Every line that has left the data file is in the journal, byte for byte. */
function assertKept(
  image: DiskImage,
  lines: readonly ReferenceLine[],
  before: readonly ReferenceLine[],
  removed: readonly string[],
): void {
  const entries = [...image].filter(([path]) => path.startsWith(`${undoFolder}/`) && path.endsWith(".undo"));
  const kept = entries.map(([, content]) => content?.toString("latin1") ?? "").join("");
  const there = new Set(lines.map(({ bytes }) => bytes.toString("latin1")));
  for (const { id, bytes } of before) {
    if (id === null || !removed.includes(id)) continue;
    const text = bytes.toString("latin1");
    assert.ok(there.has(text) || kept.includes(`\n${text}`), `a line of ${id} is neither dead nor kept`);
  }
}

/** Every complete line is one that was there, or one that someone asked to add; those that were there are in their order. */
function assertNoneDamaged(lines: readonly ReferenceLine[], before: readonly ReferenceLine[], asked: Deeds): void {
  const addable = [...asked.added, ...asked.takenBack.map(knownTask)].map((task) => taskLine(task).toString("latin1"));
  const originals = before.map(({ bytes }) => bytes.toString("latin1"));
  let position = 0;
  for (const { bytes } of lines) {
    const text = bytes.toString("latin1");
    const found = originals.indexOf(text, position);
    if (found >= 0) position = found + 1;
    else assert.ok(addable.includes(text), `a line that nobody wrote: ${text.slice(0, 90)}`);
  }
  const left = new Set(lines.map(({ bytes }) => bytes.toString("latin1")));
  const touchable = new Set([...asked.removed, ...asked.retried]);
  for (const { id, bytes } of before) {
    if (id !== null && !touchable.has(id)) assert.ok(left.has(bytes.toString("latin1")), `a line of ${id} is gone`);
  }
}

/** What a fresh process may do next; `again` repeats what was asked for. */
const nextOperations = {
  again: async (store: DeadTaskStore, { asked, moves }: Expectation, other: DeadTaskStore): Promise<Deeds> => {
    for (const task of asked.added) await store.add(task);
    const removed = asked.removed.length > 0 ? (await store.remove(asked.removed)).removed : [];
    const retry = (): Promise<ReplayResult> =>
      moves ? moveElsewhere(store, other, asked.retried, null) : store.replay(asked.retried, null);
    const retried = asked.retried.length > 0 ? (await retry()).retried : [];
    const copied = asked.copied.length > 0 ? (await copyElsewhere(store, other, asked.copied)).copied : [];
    return {
      ...noDeeds,
      added: asked.added,
      removed,
      retried: retried.map(({ id }) => id),
      copied: copied.map(({ id }) => id),
    };
  },
  add: async (store: DeadTaskStore): Promise<Deeds> => {
    await store.add(lateTask);
    return { ...noDeeds, added: [lateTask] };
  },
  remove: async (store: DeadTaskStore): Promise<Deeds> => ({
    ...noDeeds,
    removed: (await store.remove([bystander])).removed,
  }),
  replay: async (store: DeadTaskStore): Promise<Deeds> => ({
    ...noDeeds,
    retried: (await store.replay([bystander], null)).retried.map(({ id }) => id),
  }),
} as const;

type NextOperation = keyof typeof nextOperations;

const askedNext: Readonly<Record<NextOperation, (asked: Deeds) => Deeds>> = {
  again: (asked) => asked,
  add: () => ({ ...noDeeds, added: [lateTask] }),
  remove: () => ({ ...noDeeds, removed: [bystander] }),
  replay: () => ({ ...noDeeds, retried: [bystander] }),
};

function isStored(expected: Expectation, id: string): boolean {
  return referenceLines(expected.original).lines.some((line) => line.id === id);
}

/** Runs one more operation in a fresh process; returns what must hold after it. */
async function goOn(
  root: string,
  fileSystem: FileSystem,
  process: number,
  name: NextOperation,
  expected: Expectation,
): Promise<{ readonly before: Expectation; readonly after: Expectation }> {
  const asked = bothDeeds(expected.asked, askedNext[name](expected.asked));
  const store = await freshStore(root, fileSystem, process);
  const deeds = await nextOperations[name](store, expected, await freshStore(root, fileSystem, process, "other"));
  if ((name === "remove" || name === "replay") && isStored(expected, bystander)) {
    assert.equal(deeds.removed.length + deeds.retried.length, 1, `${name} works`);
  }
  // What was taken back may be retried again.
  const acknowledged = bothDeeds({ ...expected.acknowledged, takenBack: [] }, deeds);
  // The next operations keep nothing.
  const next = { ...expected, asked, keeps: false };
  const { removed, retried } = askedNext[name](expected.asked);
  const changes = removed.length + retried.length > 0 && isStored(expected, bystander);
  return {
    before: next,
    after: { ...next, acknowledged, settled: expected.settled || changes },
  };
}

/** Counts what was checked, and checks no state twice. */
export class Inspection {
  readonly #folder: string;
  readonly #seen = new Set<string>();
  /** Where the disk was, of which states are looked at. */
  #home = "";
  states = 0;

  /** `folder` is its own to fill. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  #isNew(...parts: readonly string[]): boolean {
    const key = parts.join();
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  /** All that can become of a disk from here on. */
  async disk(disk: FaultyDisk, expected: Expectation): Promise<void> {
    if (!this.#isNew(disk.fingerprint(), keyOf(expected))) return;
    this.#home = disk.root;
    await this.#image(disk.image(), expected);
    const images = disk.afterPowerLoss();
    for (const image of images) await this.#image(image, expected);
    if (images.length > 1) await this.#laterPowerLoss(disk, expected);
  }

  /** A directory as the next process finds it: nothing is lost in it, reading changes nothing, and everything works. */
  async #image(image: DiskImage, expected: Expectation): Promise<void> {
    if (!this.#isNew(imageKey(image), keyOf(expected))) return;
    this.states += 1;
    const root = join(this.#folder, "image");
    writeImage(root, image);
    const pending = await assertNothingLost(root, expected);
    await assertReadable(root, image);
    for (const name of Object.keys(nextOperations) as NextOperation[]) {
      writeImage(root, image);
      await this.#next(root, name, expected);
    }
    if (pending.length === 0) return;
    // A worker starts, takes over all logs and runs what is in them, before anyone looks at the store again.
    const taken = new Map([...image].filter(([path]) => !/^(storage|other)\/deferred-0-/.test(path)));
    writeImage(root, taken);
    await this.#next(root, "again", { ...expected, ran: [...expected.ran, ...pending.map(originalId)] });
  }

  async #next(root: string, name: NextOperation, expected: Expectation): Promise<void> {
    const process = new FaultyFileSystem(new FaultyDisk(root), null, this.#home);
    const { after } = await goOn(root, process.fileSystem, 2, name, expected);
    await assertNothingLost(root, after);
    assert.equal(process.open, 0, "no descriptor is left open");
    // What is in the making in the other store alone is an orphan for the next operation there.
    const isStrange = expected.moves ? /^(storage|other)\/\./ : /^storage\/\./;
    const strange = [...readImage(root).keys()].filter((path) => isStrange.test(path));
    if (after.settled) assert.deepEqual(strange, [], `nothing is left over after ${name}`);
  }

  /** Power is lost only after a fresh process has done something more, without knowing what is not durable yet. */
  async #laterPowerLoss(disk: FaultyDisk, expected: Expectation): Promise<void> {
    for (const name of ["add", "remove", "replay"] as const) {
      const root = join(this.#folder, "later");
      rmSync(root, { recursive: true, force: true });
      const later = disk.cloneTo(root);
      letLocksGrowStale(root);
      const process = new FaultyFileSystem(later, null, this.#home);
      const { after } = await goOn(root, process.fileSystem, 3, name, expected);
      const image = join(this.#folder, "image");
      for (const left of later.afterPowerLoss()) {
        if (!this.#isNew(imageKey(left), keyOf(after), "later")) continue;
        this.states += 1;
        writeImage(image, left);
        // An interrupted replay of before may come back as it was, and is finished then.
        await assertNothingLost(image, { ...after, settled: false });
        await this.#next(image, "again", after);
      }
    }
  }
}

function keyOf({ asked, acknowledged, ran, settled, keeps }: Expectation): string {
  const names = ({ added, ...others }: Deeds): unknown => [added.map(({ id }) => id), others];
  return JSON.stringify([names(asked), names(acknowledged), ran, settled, keeps]);
}

async function assertReadable(root: string, image: DiskImage): Promise<void> {
  const process = new FaultyFileSystem(new FaultyDisk(root));
  const store = await freshStore(root, process.fileSystem, 1);
  const listing = await store.list();
  for await (const { id } of listing.fronts("newest")) assert.ok(listing.ids.includes(id));
  listing.close();
  await store.find(bystander);
  assert.equal(store.readOnlyReason(), null);
  assert.equal(imageKey(readImage(root)), imageKey(image), "reading changes nothing");
  assert.equal(process.open, 0, "no descriptor is left open");
}
