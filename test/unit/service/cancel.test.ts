import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startStoreService } from "../../../src/service/client";
import type { ChangeProgress } from "../../../src/service/protocol";
import type { SendWay } from "../../../src/service/sendProtocol";
import { ServiceError, type StoreService } from "../../../src/service/storeService";
import { bigDataFile } from "../../support/bigStore";
import { seededRandom } from "../../support/crowdLog";
import { bundle, secondProcesses } from "../../support/processes";
import { openStore, referenceLines, temporaryFolders } from "../../support/stores";

const count = 6_000;
const seed = Number(process.env["DEAD_TASKS_SEED"] ?? 20_261_130);
const rounds = Number(process.env["DEAD_TASKS_CANCELS"] ?? 10);
/** The last three to a store beside the one in which they are. */
const verbs = ["retry", "delete", "send copy", "send retry", "send move"] as const;
type Verb = (typeof verbs)[number];

const isSent = (verb: Verb): boolean => verb.startsWith("send ");
const leaves = (verb: Verb): boolean => verb !== "send copy" && verb !== "send retry";
const otherStore = (path: string): string => join(path, "..", "other");

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
    const begin = (): Promise<{ readonly done: number }> => {
      if (verb === "retry") {
        return service
          .retry(path, chosen, null, undefined, operation)
          .then(({ retried }) => ({ done: retried.length }));
      }
      if (verb === "delete") {
        return service.delete(path, chosen, undefined, operation).then(({ deleted }) => ({ done: deleted.length }));
      }
      const target = { path: otherStore(path), prefix: "deferred-" };
      const way = verb.slice("send ".length) as SendWay;
      return service.send(path, chosen, target, way, undefined, operation).then(({ sent }) => ({ done: sent.length }));
    };
    const follow = when(() => void service.cancel(operation));
    const listening = service.onProgress((name, progress) => {
      assert.equal(name, operation);
      told.push(progress);
      follow(progress);
    });
    try {
      assert.equal((await begin()).done, chosen.length);
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
    const gone = new Set(cancelled || !leaves(verb) ? [] : chosen);
    assert.deepEqual(
      ids.filter((id) => !dead.has(id)),
      ids.filter((id) => gone.has(id)),
    );
    const { tasks } = await store.pending();
    assert.equal(tasks.length, verb === "retry" ? gone.size : 0);
    const left = [path, otherStore(path)].filter(existsSync).flatMap((place) => readdirSync(place));
    assert.deepEqual(
      left.filter((name) => name.startsWith(".") || name.endsWith(".staging")),
      [],
      "nothing is left half done",
    );
    if (isSent(verb)) await assertSent(verb, path, cancelled ? [] : chosen);
  }

  async function assertSent(verb: Verb, path: string, chosen: readonly string[]): Promise<void> {
    const other = await openStore(otherStore(path));
    const copies = await other.list();
    copies.close();
    assert.deepEqual([...copies.ids].sort(), verb === "send copy" ? [...chosen].sort() : []);
    const { tasks } = await other.pending();
    assert.equal(tasks.length, verb === "send copy" ? 0 : chosen.length);
  }

  for (const verb of verbs) {
    it(`leaves all of it undone before there is any of it that others can see: ${verb}`, async () => {
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
      assert.equal(told[0]!.step, verb === "delete" ? "remove" : "enqueue");
      assert.ok(told.every(({ fraction }) => fraction >= 0 && fraction <= 1));
      await assertInOnePlace(verb, path, chosen, true);
      // And it can be done afterwards.
      const { cancelled: again, told: steps } = await change(verb, path, chosen, () => ignore);
      assert.equal(again, false);
      assert.ok(steps.at(-1)!.fraction > 0.5, "it is followed to its end");
      await assertInOnePlace(verb, path, chosen, false);
      const peer = (await processes.ruby(path).request({ do: "list" })) as unknown[];
      assert.equal(peer.length, leaves(verb) ? count - chosen.length : count);
    });
  }

  for (const verb of ["retry", "send move"] as const) {
    it(`lets it go on to its end once its log has its name: ${verb}`, async () => {
      const path = await open();
      const { cancelled, told } = await change(verb, path, ids, (cancel) => ({ step }) => {
        if (step === "remove") cancel();
      });
      assert.equal(cancelled, false);
      const steps = told.map(({ step, fraction }) => `${step} ${fraction.toFixed(2)}`);
      assert.ok(steps.includes("remove 0.00"));
      assert.deepEqual(steps, [...steps].sort(), "it never goes backwards");
      await assertInOnePlace(verb, path, ids, false);
    });
  }

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
    const times = new Map<Verb, number>();
    for (const verb of verbs) {
      const path = await open();
      const started = performance.now();
      await change(verb, path, ids, () => ignore);
      times.set(verb, performance.now() - started);
    }
    const counts = { cancelled: 0, late: 0 };
    for (let round = 0; round < rounds; round++) {
      const verb = verbs[round % verbs.length]!;
      const path = await open();
      const chosen = ids.filter(() => random() < 0.7);
      const { cancelled } = await change(verb, path, chosen, (cancel) => {
        void delay(random() * times.get(verb)!).then(cancel);
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
