import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startStoreService } from "../../../src/service/client";
import type { ChangeProgress } from "../../../src/service/protocol";
import { ServiceError, type StoreService } from "../../../src/service/storeService";
import { bigDataFile } from "../../support/bigStore";
import { seededRandom } from "../../support/crowdLog";
import { bundle, secondProcesses } from "../../support/processes";
import { openStore, referenceLines, temporaryFolders } from "../../support/stores";

const count = 6_000;
const seed = Number(process.env["DEAD_TASKS_SEED"] ?? 20_261_130);
const rounds = Number(process.env["DEAD_TASKS_CANCELS"] ?? 8);
type Verb = "retry" | "delete";

const ignore = (): void => undefined;

describe("cancelling a change of many", function () {
  this.timeout(120_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const content = bigDataFile(count);
  const ids = referenceLines(content).lines.map(({ id }) => id!);
  let service: StoreService;

  before(() => {
    service = startStoreService(bundle("src/service/worker.ts"), () => undefined);
  });

  after(() => {
    service.dispose();
  });

  async function open(): Promise<string> {
    const path = join(folders.make(), "storage");
    await (await openStore(path)).add({ ...placeholder });
    writeFileSync(join(path, "deferred-dead_tasks-0"), content);
    await service.open({ key: path, path, prefix: "deferred-", backend: "disk" });
    return path;
  }

  const placeholder = {
    id: "1-1-1",
    taskClass: "A",
    attempts: 1,
    enqueuedAt: 1,
    failedAt: 1,
    exceptionClass: "E",
    exceptionMessage: "",
    backtrace: [],
    context: new Uint8Array(),
  };

  /** Changes these, and has them cancelled by `when`. What was told meanwhile, and whether it was cancelled. */
  async function change(
    verb: Verb,
    path: string,
    chosen: readonly string[],
    when: (cancel: () => void) => (progress: ChangeProgress) => void,
  ): Promise<{ readonly cancelled: boolean; readonly told: readonly ChangeProgress[] }> {
    const told: ChangeProgress[] = [];
    const operation = `${verb} ${path}`;
    const changing =
      verb === "retry"
        ? service.retry(path, chosen, null, undefined, operation)
        : service.delete(path, chosen, undefined, operation);
    const follow = when(() => void service.cancel(operation));
    const listening = service.onProgress((name, progress) => {
      assert.equal(name, operation);
      told.push(progress);
      follow(progress);
    });
    try {
      const result = await changing;
      const done = "retried" in result ? result.retried : result.deleted;
      assert.equal(done.length, chosen.length);
      return { cancelled: false, told };
    } catch (error) {
      assert.ok(error instanceof ServiceError && error.code === "cancelled", String(error));
      return { cancelled: true, told };
    } finally {
      listening.dispose();
    }
  }

  /** Where the chosen tasks are: all of them dead, or all of them where they were to go; the others are dead in any case. */
  async function assertInOnePlace(
    verb: Verb,
    path: string,
    chosen: readonly string[],
    cancelled: boolean,
  ): Promise<void> {
    const store = await openStore(path);
    const listing = await store.list();
    listing.close();
    const dead = new Set(listing.ids);
    const gone = new Set(cancelled ? [] : chosen);
    assert.deepEqual(
      ids.filter((id) => !dead.has(id)),
      ids.filter((id) => gone.has(id)),
    );
    const { tasks } = await store.pending();
    assert.equal(tasks.length, verb === "retry" ? gone.size : 0);
    const left = readdirSync(path).filter((name) => name.startsWith(".") || name.endsWith(".staging"));
    assert.deepEqual(left, [], "nothing is left half done");
  }

  for (const verb of ["retry", "delete"] as const) {
    it(`leaves all of it undone before the ${verb === "retry" ? "log has its name" : "data file is replaced"}`, async () => {
      const path = await open();
      const chosen = ids.filter((_, index) => index % 2 === 0);
      const { cancelled, told } = await change(verb, path, chosen, (cancel) => {
        let isAsked = false;
        return () => {
          if (!isAsked) cancel();
          isAsked = true;
        };
      });
      assert.equal(cancelled, true);
      assert.equal(told[0]!.step, verb === "retry" ? "enqueue" : "remove");
      assert.ok(told.every(({ fraction }) => fraction >= 0 && fraction <= 1));
      await assertInOnePlace(verb, path, chosen, true);
      // And it can be done afterwards.
      const { cancelled: again } = await change(verb, path, chosen, () => ignore);
      assert.equal(again, false);
      await assertInOnePlace(verb, path, chosen, false);
      const peer = (await processes.ruby(path).request({ do: "list" })) as unknown[];
      assert.equal(peer.length, count - chosen.length);
    });
  }

  it("lets a retry go on to its end once its log has its name", async () => {
    const path = await open();
    const { cancelled, told } = await change("retry", path, ids, (cancel) => ({ step }) => {
      if (step === "remove") cancel();
    });
    assert.equal(cancelled, false);
    const steps = told.map(({ step, fraction }) => `${step} ${fraction.toFixed(2)}`);
    assert.ok(steps.includes("remove 0.00"));
    assert.deepEqual(steps, [...steps].sort(), "it never goes backwards");
    await assertInOnePlace("retry", path, ids, false);
  });

  it("stops one that waits for another window, too", async () => {
    const path = await open();
    // What another window's lock looks like. It would be taken for a dead one's in ten seconds.
    mkdirSync(join(path, ".deferred-dead_tasks.busy"));
    const started = performance.now();
    const { cancelled } = await change("delete", path, ids, (cancel) => {
      void delay(300).then(cancel);
      return ignore;
    });
    assert.equal(cancelled, true);
    assert.ok(performance.now() - started < 5_000);
    rmSync(join(path, ".deferred-dead_tasks.busy"), { recursive: true });
    await assertInOnePlace("delete", path, ids, true);
  });

  it(`has every task in exactly one place after ${rounds} cancellations at random moments (seed ${seed})`, async function () {
    const random = seededRandom(seed);
    const times: Record<Verb, number> = { retry: 0, delete: 0 };
    for (const verb of ["retry", "delete"] as const) {
      const path = await open();
      const started = performance.now();
      await change(verb, path, ids, () => ignore);
      times[verb] = performance.now() - started;
    }
    const counts = { cancelled: 0, late: 0 };
    for (let round = 0; round < rounds; round++) {
      const verb = round % 2 === 0 ? "retry" : "delete";
      const path = await open();
      const chosen = ids.filter(() => random() < 0.7);
      const { cancelled } = await change(verb, path, chosen, (cancel) => {
        void delay(random() * times[verb]).then(cancel);
        return ignore;
      });
      counts[cancelled ? "cancelled" : "late"] += 1;
      await assertInOnePlace(verb, path, chosen, cancelled);
    }
    this.test!.title += `: ${counts.cancelled} in time, ${counts.late} too late`;
  });

  it("does nothing where no such operation is under way", async () => {
    await service.cancel("nobody");
  });
});
