import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import type { StoreUpdate } from "../../src/service/protocol";
import { bigStoreId, newestBigStoreId, writeBigStore } from "../support/bigStore";
import { deadTasks, eventually, nodesOf, recordId, root, setStores, useDialogs } from "./window";

const count = 100_000;

/** The longest that this thread's event loop stood still while `work` went on, in milliseconds. */
async function longestStandstill(work: () => Promise<unknown>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  await work();
  delays.disable();
  // A timer that is due after 5 ms is not late by these.
  return delays.max / 1e6 - 5;
}

/**
 * How long this thread is held up by the machine alone, in milliseconds: while another thread is as busy as the storage worker
 * would be, and says nothing. On a machine with nothing else to do it is a few.
 */
async function noise(): Promise<number> {
  const busy = new Worker("const end = Date.now() + 1500; while (Date.now() < end);", { eval: true });
  return longestStandstill(() => once(busy, "exit"));
}

describe("activation", function () {
  this.timeout(20_000);

  it("takes less than 30 ms, the loading of the bundle included", async function () {
    const { activationTime } = await deadTasks();
    const bundle = join(root, "dist", "extension.js");
    const load = createRequire(bundle);
    const loads = [0, 1, 2].map(() => {
      // As if for the first time; the first and real load was before any test could look.
      Reflect.deleteProperty(load.cache, load.resolve(bundle));
      const started = performance.now();
      load(bundle);
      return performance.now() - started;
    });
    const loadTime = Math.min(...loads);
    this.test!.title += ` (${loadTime.toFixed(1)} ms to load, ${activationTime.toFixed(1)} ms to activate)`;
    assert.ok(loadTime + activationTime < 30 + (await noise()));
  });
});

describe("a store of 250 MB", function () {
  this.timeout(120_000);
  useDialogs();
  let parent: string;

  before(() => {
    parent = mkdtempSync(join(tmpdir(), "dead-tasks-"));
    writeBigStore(join(parent, "storage"), count);
  });

  after(async () => {
    await setStores(undefined);
    rmSync(parent, { recursive: true, force: true });
  });

  /** Opens the store, waits until all of it is known, and returns when what was first to be seen. */
  async function open(): Promise<{ readonly standstill: number; readonly early: number; readonly all: number }> {
    const { service, registry } = await deadTasks();
    const path = join(parent, "storage");
    const opened = (): boolean => registry.stores.some(({ description }) => description.target.path === path);
    const updates: { readonly at: number; readonly update: StoreUpdate }[] = [];
    const listening = service.onUpdate((key, update) => {
      if (key.startsWith(path)) updates.push({ at: performance.now(), update });
    });
    const started = performance.now();
    let earlyNodes: (string | null)[] = [];
    const standstill = await longestStandstill(async () => {
      await setStores([{ path, name: "huge" }]);
      await eventually(async () => {
        const store = registry.stores.find(({ name }) => name === "huge");
        assert.ok(store);
        if (earlyNodes.length === 0 && !store.wasReady) earlyNodes = (await nodesOf(store)).map(recordId).slice(0, 3);
        assert.ok(store.wasReady && store.taskCount === count);
      }, 60_000);
    });
    listening.dispose();
    await setStores(undefined);
    await eventually(() => {
      assert.equal(opened(), false);
    });
    const at = (isMeant: (update: StoreUpdate) => boolean): number =>
      (updates.find(({ update }) => isMeant(update))?.at ?? NaN) - started;
    const early = at((update) => update.type === "newest");
    const all = at((update) => update.type === "status" && update.status.phase === "ready");
    assert.ok(early < all, "the newest tasks come before the rest");
    if (earlyNodes[0] !== null && earlyNodes.length > 1) {
      assert.deepEqual(earlyNodes, [newestBigStoreId(count), bigStoreId(count - 2), bigStoreId(count - 3)]);
    }
    return { standstill, early, all };
  }

  it("is indexed without holding up the extension host for 50 ms, and its newest tasks are there first", async function () {
    // Other programs on the machine hold this thread up, too: the best of some rounds is what we do ourselves.
    const rounds: Awaited<ReturnType<typeof open>>[] = [];
    const best = (figure: "standstill" | "early" | "all"): number => Math.min(...rounds.map((round) => round[figure]));
    while (rounds.length < 2 || (best("standstill") > 50 && rounds.length < 12)) rounds.push(await open());
    const megabytes = statSync(join(parent, "storage", "deferred-dead_tasks-0")).size / 1e6;
    // Into the title, since that is what a run prints of a test that went well.
    const [standstill, early, all] = [best("standstill"), best("early"), best("all")].map(Math.round);
    this.test!.title += ` (${Math.round(megabytes)} MB: newest after ${early} ms, all after ${all} ms, standstill ${standstill} ms)`;
    assert.ok(best("standstill") < 50 + (await noise()), `the extension host stood still for ${standstill} ms`);
  });
});
