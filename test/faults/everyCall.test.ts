import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StorageError } from "../../src/storage";
import { fsyncDirectory } from "../../src/storage/fileSystem";
import { FaultyDisk, readImage, writeImage } from "../support/faultyDisk";
import { FaultyFileSystem, ProcessEnded, type Fault } from "../support/faultyFileSystem";
import { Inspection, freshJournal, freshStore, restartTime } from "../support/faultChecks";
import {
  afterInterruption,
  bothDeeds,
  dataName,
  interruptedReplay,
  interruptions,
  noDeeds,
  scenarios,
  type Deeds,
  type Scenario,
} from "../support/faultScenarios";
import type { FileCall } from "../support/fileSystems";

const fullParts = [0, 0.03, 0.5, 0.999];
const crashParts = [0, 0.03, 0.5, 0.999];

/** Every way in which one call can go wrong. */
function faultsAt(at: number, { name }: FileCall): Fault[] {
  const codes = ["EIO", "EACCES", "ENOSPC"] as const;
  const refused = codes.map((code): Fault => ({ kind: "refused", at, code }));
  if (name === "read") return [...refused, { kind: "short", at, part: 0.5 }, { kind: "crash", at, part: 0 }];
  if (name !== "write") return [...refused, { kind: "crash", at, part: 0 }];
  return [
    ...refused,
    ...fullParts.map((part): Fault => ({ kind: "full", at, part })),
    ...[0.03, 0.5].map((part): Fault => ({ kind: "short", at, part })),
    ...crashParts.map((part): Fault => ({ kind: "crash", at, part })),
  ];
}

/** What one run of a scenario left. */
interface Run {
  readonly disk: FaultyDisk;
  readonly process: FaultyFileSystem;
  /** Null where the operation was rejected. */
  readonly outcome: Deeds | null;
  readonly error: unknown;
  /** What someone else did meanwhile; null where it did not come to that. */
  readonly others: Deeds | null;
}

async function run(scenario: Scenario, root: string, fault: Fault | null): Promise<Run> {
  writeImage(root, scenario.disk === undefined ? scenario.before : new Map());
  const disk = scenario.disk?.cloneTo(root) ?? new FaultyDisk(root);
  const process = new FaultyFileSystem(disk, fault);
  const { meanwhile } = scenario;
  let others: Deeds | null = null;
  process.onCall = (call) => {
    if (meanwhile === undefined || others !== null || !meanwhile.when(call)) return;
    others = meanwhile.deeds;
    meanwhile.act(new FaultyFileSystem(disk), join(root, "storage", dataName));
  };
  const store = await freshStore(root, process.fileSystem, 4711);
  const other = await freshStore(root, process.fileSystem, 4711, "other");
  const journal = await freshJournal(root, process.fileSystem, 4711);
  let outcome: Deeds | null = null;
  let error: unknown = null;
  try {
    outcome = await scenario.operation(store, journal, other);
  } catch (thrown) {
    error = thrown;
  }
  return { disk, process, outcome, error, others };
}

function openDescriptors(): number {
  return existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0;
}

// In memory where there is such a place: thousands of fsyncs of a real disk take minutes.
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

describe("a store, when any one call of an operation goes wrong", function () {
  this.timeout(120_000);
  let folder: string;
  const total = { points: 0, states: 0 };

  before(() => {
    folder = mkdtempSync(join(place, "dead-tasks-"));
  });

  beforeEach(restartTime);

  after(() => {
    rmSync(folder, { recursive: true, force: true });
    // eslint-disable-next-line no-console -- the figures are part of the result
    console.log(`    ${total.points} points of failure, ${total.states} different states after them`);
  });

  async function enumerate(scenario: Scenario): Promise<void> {
    const root = join(folder, "store");
    const inspection = new Inspection(folder);
    const clean = await run(scenario, root, null);
    assert.equal(clean.error, null);
    assert.notEqual(clean.outcome, null);
    assert.equal(clean.others !== null, scenario.meanwhile !== undefined, "someone else came in between");
    await inspect(scenario, root, clean, inspection);
    let points = 0;
    for (const [at, call] of clean.process.calls.entries()) {
      for (const fault of faultsAt(at, call)) {
        points += 1;
        const what = `${JSON.stringify(fault)} at ${call.name} ${call.path.replace(root, "")}`;
        try {
          const descriptors = openDescriptors();
          const failed = await run(scenario, root, fault);
          assert.ok(failed.process.met, "the fault was met");
          if (fault.kind === "crash") failed.process.end();
          // Fewer are no fault: what Node itself had open for its start.
          assert.ok(openDescriptors() <= descriptors, "no descriptor is left open");
          await inspect(scenario, root, failed, inspection, fault);
        } catch (error) {
          if (error instanceof Error) error.message = `after ${what}: ${error.message}`;
          throw error;
        }
      }
    }
    // eslint-disable-next-line no-console -- the figures are part of the result
    console.log(`      ${clean.process.calls.length} calls, ${points} points, ${inspection.states} states`);
    total.points += points;
    total.states += inspection.states;
  }

  async function inspect(
    scenario: Scenario,
    root: string,
    { disk, process, outcome, error, others }: Run,
    inspection: Inspection,
    fault: Fault | null = null,
  ): Promise<void> {
    const { before, asked, earlier = noDeeds, ran = [], keeps = false, mayRunTwice = false, moves = false } = scenario;
    if (fault === null || fault.kind === "short") assert.equal(error, null, "nothing has gone wrong");
    if (error !== null) assert.ok(error instanceof (fault?.kind === "crash" ? ProcessEnded : StorageError));
    const expected = {
      original: scenario.original ?? before.get(`storage/${dataName}`) ?? Buffer.alloc(0),
      asked: bothDeeds(bothDeeds(earlier, asked), others ?? noDeeds),
      acknowledged: bothDeeds(outcome ?? noDeeds, others ?? noDeeds),
      ran,
      keeps,
      mayRunTwice,
      moves,
      other: before.get(`other/${dataName}`) ?? Buffer.alloc(0),
      settled: false,
    };
    assert.equal(process.open, 0);
    const locks = [...readImage(root).keys()].filter((path) => path.endsWith(".busy"));
    // One that could not be looked at, or not be removed, stays and is stale in ten seconds.
    const isAboutTheLock = fault !== null && process.calls[fault.at]?.path.endsWith(".busy") === true;
    if (fault?.kind !== "crash" && !isAboutTheLock) assert.deepEqual(locks, [], "the lock among our own is free");
    await inspection.disk(disk, expected);
  }

  for (const scenario of scenarios) {
    it(scenario.name, () => enumerate(scenario));
  }

  describe("of what an interrupted replay left", () => {
    for (const [when, firstMissing] of Object.entries(interruptions)) {
      for (const workerTookLog of when.startsWith("after") ? [false, true] : [false]) {
        const name = `${when}${workerTookLog ? " and taken by a worker" : ""}`;
        for (const [index, what] of [
          "replay again",
          "remove another",
          "remove the same",
          "replay an edited one",
        ].entries()) {
          it(`${what} ${name}`, async () => {
            const disk = await interrupted(firstMissing, workerTookLog);
            await enumerate(afterInterruption(name, disk, workerTookLog)[index]!);
          });
        }
      }
    }
  });

  /** The disk of a replay that was killed before this call. */
  async function interrupted(
    firstMissing: (calls: readonly FileCall[]) => number,
    workerTookLog: boolean,
  ): Promise<FaultyDisk> {
    const root = join(folder, "interrupted");
    const { process } = await run(interruptedReplay, root, null);
    const at = firstMissing(process.calls);
    const { process: killed, disk } = await run(interruptedReplay, root, { kind: "crash", at, part: 0 });
    killed.end();
    const names = [...disk.image().keys()];
    assert.ok(
      names.some((path) => path.includes(".replay-")),
      "there is a journal",
    );
    const { fileSystem } = new FaultyFileSystem(disk);
    for (const path of names) if (path.endsWith(".busy")) fileSystem.rmdir(join(root, path));
    if (workerTookLog) {
      for (const path of names) if (path.startsWith("storage/deferred-0-")) fileSystem.unlink(join(root, path));
      fsyncDirectory(fileSystem, join(root, "storage"));
    }
    return disk;
  }
});
