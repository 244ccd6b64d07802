import assert from "node:assert/strict";
import {
  copyElsewhere,
  moveElsewhere,
  nodeFileSystem,
  retryElsewhere,
  takeBackElsewhere,
  type DeadTaskStore,
  type NewDeadTask,
  type UndoJournal,
} from "../../src/storage";
import { dumpString, writeMarshal } from "../../src/marshal";
import { contextForReplay, contextWithArguments, readContext } from "../../src/storage/context";
import { deadTaskLine, frameLine, logAddLine } from "../../src/storage/frames";
import { array, classNamed, int, nil, str, sym, symbolHash } from "./ruby";
import type { DiskImage, FaultyDisk } from "./faultyDisk";
import type { FaultyFileSystem } from "./faultyFileSystem";
import type { FileCall } from "./fileSystems";
import { newTask, referenceSurvivors, taskLine } from "./stores";

export const dataName = "deferred-dead_tasks-0";
const lockName = "deferred-dead_tasks.lock";

/** What an operation was asked for, or what it said that it had done. */
export interface Deeds {
  readonly added: readonly NewDeadTask[];
  readonly removed: readonly string[];
  readonly retried: readonly string[];
  /** Tasks that had been retried and are dead again. */
  readonly takenBack: readonly string[];
  /** Tasks that are dead in the other store, too. */
  readonly copied: readonly string[];
  /** Tasks that wait in the other store and are dead here all the same. */
  readonly enqueued: readonly string[];
}

export const noDeeds: Deeds = { added: [], removed: [], retried: [], takenBack: [], copied: [], enqueued: [] };

export function bothDeeds(left: Deeds, right: Deeds): Deeds {
  return {
    added: [...left.added, ...right.added],
    removed: [...left.removed, ...right.removed],
    retried: [...left.retried, ...right.retried],
    takenBack: [...left.takenBack, ...right.takenBack],
    copied: [...left.copied, ...right.copied],
    enqueued: [...left.enqueued, ...right.enqueued],
  };
}

/** What someone else does while an operation is under way: once, after the first call that `when` takes. */
export interface Meanwhile {
  readonly when: (call: FileCall) => boolean;
  readonly act: (fileSystem: FaultyFileSystem, data: string) => void;
  readonly deeds: Deeds;
}

/** One operation on one store. Paths of `before` are below a folder in which the store is at `storage`, another at `other`. */
export interface Scenario {
  readonly name: string;
  readonly before: DiskImage;
  /** Holds `before`, where not all of that is durable. */
  readonly disk?: FaultyDisk;
  readonly asked: Deeds;
  /** Returns what it acknowledged. `journal`: beside the store, in `undo`. */
  readonly operation: (store: DeadTaskStore, journal: UndoJournal, other: DeadTaskStore) => Promise<Deeds>;
  readonly meanwhile?: Meanwhile;
  /** What earlier operations were asked for and did not acknowledge. */
  readonly earlier?: Deeds;
  /** Tasks that a worker has taken from a log and run. */
  readonly ran?: readonly string[];
  /** Whether what is retried is retried in the other store. */
  readonly moves?: boolean;
  /** Whether what is removed must be found in the journal. */
  readonly keeps?: boolean;
  /** The data file before the first operation, where that is not `before`'s. */
  readonly original?: Buffer;
  /** Whether a worker that takes the logs right after a crash may run what is dead, too. */
  readonly mayRunTwice?: boolean;
}

/** A task whose context carries its id, so that it is known wherever it stands. */
export function knownTask(id: string): NewDeadTask {
  const context = array(classNamed("SyncInvoice"), array(str(id)), nil(), int(3), nil(), nil(), nil());
  return newTask(id, { context: writeMarshal(context) });
}

const ids = ["1-1-1", "1-1-2", "1-1-3", "1-1-4", "1-1-5"];
/** One that no operation here touches. */
export const bystander = "1-1-5";
const plainLines = ids.map((id) => taskLine(knownTask(id)));
const unretryable = "1-1-7";
const unreadable = "1-1-8";
const corrupt = Buffer.from("0badc0de:dead_task:1-1-1:corrupt\n");
const torn = taskLine(knownTask("1-1-9")).subarray(0, 70);
const messyLines = [
  plainLines[0]!,
  corrupt,
  taskLine(knownTask("1-1-2")),
  Buffer.from("\n"),
  taskLine({ ...knownTask("1-1-1"), failedAt: 1767225999 }),
  plainLines[2]!,
  taskLine(newTask(unretryable, { context: Buffer.from("none") })),
  deadTaskLine(unreadable, Buffer.from('"unreadable"')),
  plainLines[3]!,
  frameLine(Buffer.from("unknown:1-1-1:x")),
  plainLines[4]!,
  torn,
];

function storeImage(lines: readonly Uint8Array[]): DiskImage {
  return new Map([
    ["storage", null],
    [`storage/${dataName}`, Buffer.concat(lines)],
    [`storage/${lockName}`, Buffer.alloc(0)],
  ]);
}

const plain = storeImage(plainLines);
const messy = storeImage(messyLines);

/** With another store beside it. */
function withOther(image: DiskImage, ...lines: readonly Uint8Array[]): DiskImage {
  return new Map([...image, ["other", null], [`other/${dataName}`, Buffer.concat(lines)]]);
}

function adding(id: string): Pick<Scenario, "asked" | "operation"> {
  const asked = { ...noDeeds, added: [knownTask(id)] };
  return {
    asked,
    operation: async (store) => {
      for (const task of asked.added) await store.add(task);
      return asked;
    },
  };
}

function removing(...removed: readonly string[]): Pick<Scenario, "asked" | "operation"> {
  return {
    asked: { ...noDeeds, removed },
    operation: async (store) => ({ ...noDeeds, removed: (await store.remove(removed)).removed }),
  };
}

/** What was run with success: removed where the very line stands that was run. */
function removingExpected(...removed: readonly string[]): Pick<Scenario, "asked" | "operation"> {
  const expected = new Map(removed.map((id) => [id, checksumOf(taskLine(knownTask(id)))]));
  return {
    asked: { ...noDeeds, removed },
    operation: async (store) => ({ ...noDeeds, removed: (await store.remove(removed, { expected })).removed }),
  };
}

function checksumOf(line: Buffer): number {
  return Number.parseInt(line.toString("latin1", 0, 8), 16);
}

/** Where what is removed is kept, below the scenario's folder, and the name of an entry that is there. */
export const undoFolder = "undo";
const entryName = "1767225637000-1-a.undo";
const header = { version: 1, title: "Deleted", at: 1767225637, directory: "storage", prefix: "deferred-", log: null };

function removingAndKeeping(...removed: readonly string[]): Pick<Scenario, "asked" | "operation" | "keeps"> {
  return {
    asked: { ...noDeeds, removed },
    operation: async (store, journal) => {
      const { title, at, directory, prefix, log } = header;
      const keep = (): ReturnType<UndoJournal["begin"]> => journal.begin({ title, at, directory, prefix, log });
      return { ...noDeeds, removed: (await store.remove(removed, { keep })).removed };
    },
    keeps: true,
  };
}

/** A store from which tasks were removed, and the journal that keeps them. */
function withKept(image: DiskImage, ...kept: readonly NewDeadTask[]): DiskImage {
  const entry = Buffer.concat([frameLine(Buffer.from(JSON.stringify(header))), ...kept.map(taskLine)]);
  return new Map([...image, [undoFolder, null], [`${undoFolder}/${entryName}`, entry]]);
}

function restoring(...restored: readonly NewDeadTask[]): Pick<Scenario, "asked" | "operation"> {
  const asked = { ...noDeeds, added: restored };
  return {
    asked,
    operation: async (store, journal) => {
      await store.restore(() => journal.lines(entryName));
      journal.remove(entryName);
      return asked;
    },
  };
}

function copying(...copied: readonly string[]): Pick<Scenario, "asked" | "operation"> {
  return {
    asked: { ...noDeeds, copied },
    operation: async (store, _, other) => {
      const result = await copyElsewhere(store, other, copied);
      return { ...noDeeds, copied: result.copied.map(({ id }) => id) };
    },
  };
}

function retryingElsewhere(...enqueued: readonly string[]): Pick<Scenario, "asked" | "operation"> {
  return {
    asked: { ...noDeeds, enqueued },
    operation: async (store, _, other) => {
      const { retried } = await retryElsewhere(store, other, enqueued, null);
      return { ...noDeeds, enqueued: retried.map(({ id }) => id) };
    },
  };
}

function moving(...requested: readonly string[]): Pick<Scenario, "asked" | "operation" | "moves"> {
  return {
    asked: { ...noDeeds, retried: requested },
    operation: async (store, _, other) => {
      const { retried } = await moveElsewhere(store, other, requested, null);
      return { ...noDeeds, retried: retried.map(({ id }) => id) };
    },
    moves: true,
  };
}

/** A store of which these were retried, with the log that no worker has claimed yet and what is kept of them. */
function takingBack(place: "storage" | "other", ...ids: readonly string[]): Scenario {
  const tasks = ids.map((id, number) => {
    const line = taskLine(knownTask(id));
    return { id, checksum: checksumOf(line), newId: `1767226000-1-${number}` };
  });
  const log = "deferred-0-20260101-1-a";
  const pending = tasks.map(({ id, newId }) =>
    logAddLine(newId, null, dumpString(contextForReplay(knownTask(id).context))),
  );
  const replayed = Buffer.from(JSON.stringify({ ...header, log }));
  const entry = [
    frameLine(replayed),
    frameLine(Buffer.from(JSON.stringify(tasks))),
    ...ids.map((id) => taskLine(knownTask(id))),
  ];
  const data = Buffer.concat(plainLines);
  const before = new Map([
    ...plain,
    [`storage/${dataName}`, referenceSurvivors(data, ids)],
    ...(place === "other" ? [["other", null] as const] : []),
    [`${place}/${log}`, Buffer.concat(pending)],
    [undoFolder, null],
    [`${undoFolder}/${entryName}`, Buffer.concat(entry)],
  ]);
  return {
    name: `take back ${ids.length} from ${place}`,
    before,
    original: data,
    earlier: { ...noDeeds, retried: ids },
    asked: { ...noDeeds, takenBack: ids },
    moves: place === "other",
    operation: async (store, journal, other) => {
      const replayed = { log, tasks: journal.replayedTasks(entryName) };
      const read = (): ReturnType<UndoJournal["lines"]> => journal.lines(entryName);
      const { restored } = await (place === "storage"
        ? store.takeBack(replayed, read)
        : takeBackElsewhere(store, other.names, replayed, read));
      return { ...noDeeds, takenBack: restored };
    },
    mayRunTwice: true,
  };
}

function replaying(
  requested: readonly string[],
  publishAt: number | null = null,
): Pick<Scenario, "asked" | "operation"> {
  return {
    asked: { ...noDeeds, retried: requested },
    operation: async (store) => {
      const { retried } = await store.replay(requested, publishAt);
      return { ...noDeeds, retried: retried.map(({ id }) => id) };
    },
  };
}

/** A replay of a task as another line of it, or this one, was edited. */
function replayingEdited(id: string, line: Buffer, retried: readonly string[]): Pick<Scenario, "asked" | "operation"> {
  const checksum = Number.parseInt(line.toString("latin1", 0, 8), 16);
  const args = array(str(id), str("edited"));
  const context = contextWithArguments(readContext(knownTask(id).context), args, symbolHash({ locale: sym("en") }));
  return {
    asked: { ...noDeeds, retried },
    operation: async (store) => {
      const result = await store.replay([id], null, { edited: new Map([[id, { checksum, context }]]) });
      assert.equal(result.failed.length, result.retried.length === 0 ? 1 : 0);
      return { ...noDeeds, retried: result.retried.map(({ id }) => id) };
    },
  };
}

/** When the copy of the survivors has been synced for the first time, which is without the lock. */
function isCopied({ name, path }: FileCall): boolean {
  return name === "fsync" && path.includes("compaction");
}

/** Another writer's durable append. */
function appended(id: string): Meanwhile {
  return {
    when: isCopied,
    act: ({ fileSystem }, data) => {
      const descriptor = fileSystem.open(data, 0x401);
      const line = taskLine(knownTask(id));
      fileSystem.write(descriptor, line, 0, line.length);
      fileSystem.fsync(descriptor);
      fileSystem.close(descriptor);
    },
    deeds: { ...noDeeds, added: [knownTask(id)] },
  };
}

/** Another writer's compaction, as Rage makes it. */
function compacted(id: string): Meanwhile {
  return {
    when: isCopied,
    act: ({ fileSystem }, data) => {
      const kept = referenceSurvivors(nodeFileSystem.readFile(data), [id]);
      const descriptor = fileSystem.open(`${data}.tmp`, 0x241, 0o644);
      fileSystem.write(descriptor, kept, 0, kept.length);
      fileSystem.fsync(descriptor);
      fileSystem.close(descriptor);
      fileSystem.rename(`${data}.tmp`, data);
      const directory = fileSystem.open(data.slice(0, data.lastIndexOf("/")), 0);
      fileSystem.fsync(directory);
      fileSystem.close(directory);
    },
    deeds: { ...noDeeds, removed: [id] },
  };
}

export const scenarios: readonly Scenario[] = [
  { name: "create a store and its directory", before: new Map(), ...adding("2-1-1") },
  { name: "create a store in its directory", before: new Map([["storage", null]]), ...adding("2-1-1") },
  { name: "add", before: plain, ...adding("2-1-1") },
  { name: "add after a torn tail", before: messy, ...adding("2-1-1") },
  { name: "remove one", before: plain, ...removing("1-1-2") },
  { name: "remove many among damage", before: messy, ...removing("1-1-1", "1-1-3", unreadable, "9-9-9") },
  { name: "remove none", before: messy, ...removing("9-9-9") },
  { name: "remove during an append", before: plain, ...removing("1-1-2"), meanwhile: appended("3-1-1") },
  { name: "remove during a compaction", before: messy, ...removing("1-1-2"), meanwhile: compacted("1-1-4") },
  { name: "remove an expected line", before: messy, ...removingExpected("1-1-3") },
  {
    name: "remove an expected line during an append",
    before: plain,
    ...removingExpected("1-1-2"),
    meanwhile: appended("3-1-1"),
  },
  { name: "remove and keep for undo", before: plain, ...removingAndKeeping("1-1-2", "1-1-4") },
  { name: "remove and keep among damage", before: messy, ...removingAndKeeping("1-1-1", unreadable) },
  {
    name: "remove and keep during an append",
    before: plain,
    ...removingAndKeeping("1-1-2"),
    meanwhile: appended("1-1-2"),
  },
  {
    name: "restore what was removed",
    before: withKept(messy, knownTask("2-1-1"), knownTask("2-1-2")),
    ...restoring(knownTask("2-1-1"), knownTask("2-1-2")),
  },
  takingBack("storage", "1-1-2"),
  takingBack("storage", "1-1-1", "1-1-3", "1-1-4"),
  takingBack("other", "1-1-1", "1-1-3"),
  { name: "copy to a store that is not there yet", before: plain, ...copying("1-1-1", "1-1-2") },
  {
    name: "copy among damage",
    before: withOther(messy, taskLine(knownTask("1-1-3")), corrupt, torn),
    ...copying("1-1-1", unreadable, "1-1-3", "9-9-9"),
  },
  { name: "retry elsewhere and keep", before: withOther(messy), ...retryingElsewhere("1-1-1", unretryable, "1-1-2") },
  { name: "move one to a store that is not there yet", before: plain, ...moving("1-1-2") },
  {
    name: "move many among damage",
    before: withOther(messy, taskLine(knownTask("1-1-3")), torn),
    ...moving("1-1-1", "1-1-2", "1-1-3", unretryable, "9-9-9"),
  },
  { name: "move during a compaction", before: withOther(plain), ...moving("1-1-2"), meanwhile: compacted("1-1-4") },
  { name: "replay one", before: plain, ...replaying(["1-1-2"]) },
  { name: "replay many among damage", before: messy, ...replaying(["1-1-1", "1-1-2", "1-1-3"], null) },
  { name: "replay scheduled", before: plain, ...replaying(["1-1-1", "1-1-3"], 4_102_444_800) },
  {
    name: "replay with some that cannot be",
    before: messy,
    ...replaying(["1-1-2", unretryable, unreadable, "9-9-9"]),
  },
  { name: "replay an edited one", before: messy, ...replayingEdited("1-1-3", plainLines[2]!, ["1-1-3"]) },
  { name: "leave an edited one that died anew", before: messy, ...replayingEdited("1-1-1", plainLines[0]!, []) },
  {
    name: "replay an edited one during a compaction",
    before: plain,
    ...replayingEdited("1-1-2", plainLines[1]!, ["1-1-2"]),
    meanwhile: compacted("1-1-4"),
  },
  { name: "replay during an append", before: plain, ...replaying(["1-1-2"]), meanwhile: appended("3-1-1") },
  { name: "replay during a compaction", before: plain, ...replaying(["1-1-2"]), meanwhile: compacted("1-1-4") },
];

/** Where a replay can be interrupted so that it leaves its journal: the first call that it does not come to. */
export const interruptions: Readonly<Record<string, (calls: readonly FileCall[]) => number>> = {
  "before its journal's name was durable": (calls) => renameOf("journal", calls) + 1,
  "before its log was published": (calls) => renameOf("log", calls),
  "before its log's name was durable": (calls) => renameOf("log", calls) + 1,
  "after its log was published": (calls) => calls.findIndex(({ path }) => path.includes(".deferred-compaction-")),
};

function renameOf(what: string, calls: readonly FileCall[]): number {
  return calls.findIndex(({ name, path }) => name === "rename" && path.includes(`.deferred-${what}-`));
}

/** Scenarios that begin with what an interrupted replay of these left. */
export function afterInterruption(name: string, disk: FaultyDisk, workerTookLog: boolean): Scenario[] {
  const interrupted = ["1-1-2", "1-1-3"];
  const rest = workerTookLog ? { ran: interrupted } : {};
  const common = { before: disk.image(), disk, earlier: { ...noDeeds, retried: interrupted }, ...rest };
  return [
    { name: `replay again ${name}`, ...common, ...replaying(["1-1-2", "1-1-3", "1-1-4"]) },
    { name: `remove another ${name}`, ...common, ...removing("1-1-1") },
    { name: `remove the same ${name}`, ...common, ...removing("1-1-2") },
    { name: `replay an edited one ${name}`, ...common, ...replayingEdited("1-1-2", plainLines[1]!, ["1-1-2"]) },
  ];
}

export const interruptedReplay: Scenario = { name: "", before: messy, ...replaying(["1-1-2", "1-1-3"]) };
