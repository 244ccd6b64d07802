import assert from "node:assert/strict";
import { taskReference, type RecordReference } from "../../src/actions/references";
import { chooseTrial, FateFollower, stillDead, type Fate } from "../../src/actions/retryTrial";
import type { PendingSummary, PendingTaskLook, TaskSummary } from "../../src/service/protocol";
import { StoreModel } from "../../src/stores/storeModel";

function task(id: string, taskClass = "Charge", failedAt = 20): TaskSummary {
  return {
    id,
    taskClass,
    attempts: 1,
    enqueuedAt: 17,
    failedAt,
    exceptionClass: "Timeout",
    exceptionMessage: "gateway",
  };
}

function storeOf(name: string, tasks: readonly TaskSummary[]): StoreModel {
  const target = { key: name, path: `/${name}`, prefix: "deferred-", backend: "disk" as const };
  const store = new StoreModel({ target, name, folder: null, source: "test", guess: null });
  store.apply({ type: "tasks", tasks });
  store.apply({ type: "status", status: { ...store.status, phase: "ready" } });
  return store;
}

function all(...stores: readonly StoreModel[]): RecordReference[] {
  return stores.flatMap((store) => store.newestFirst().map((one) => taskReference(store, one)));
}

describe("which of several is tried first", () => {
  it("is the newest of the most frequent kind", () => {
    const shop = storeOf("shop", [
      task("1", "Mail", 90),
      task("2", "Charge", 30),
      task("3", "Charge", 50),
      task("4", "Charge", 40),
      task("5", "Mail", 99),
    ]);
    const trial = chooseTrial(all(shop))!;
    assert.equal(trial.tried.id, "3");
    assert.deepEqual(
      trial.rest.map(({ id }) => id),
      ["5", "4", "2", "1"],
    );
  });

  it("is none where no store has two of them, or nobody knows them any more", () => {
    assert.equal(chooseTrial(all(storeOf("shop", [task("1")]), storeOf("blog", [task("1")]))), null);
    const shop = storeOf("shop", [task("1"), task("2")]);
    const records = all(shop);
    shop.apply({ type: "gone", ids: ["1"] });
    assert.equal(chooseTrial(records), null);
  });

  it("leaves of the rest what has gone or died anew since", () => {
    const shop = storeOf(
      "shop",
      ["1", "2", "3", "4"].map((id, index) => task(id, "Charge", index)),
    );
    const trial = chooseTrial(all(shop))!;
    // The same as read again, one that died anew, and one that is gone.
    shop.apply({ type: "tasks", tasks: [task("1", "Charge", 0), task("2", "Charge", 70)] });
    shop.apply({ type: "gone", ids: ["3"] });
    assert.deepEqual(
      stillDead(trial).map(({ id }) => id),
      ["1"],
    );
  });
});

describe("what becomes of a task that was retried", function () {
  this.timeout(20_000);
  const pending: PendingSummary = { id: "new", taskClass: "Charge", attempts: null, enqueuedAt: 1, publishAt: null };

  /** Follows a task through these answers about the logs, one a look; `undefined`: no log changed. The last one stays. */
  async function follow(
    looks: readonly (PendingSummary | null | undefined | Error)[],
    meanwhile: (look: number, store: StoreModel, close: () => void) => void = () => undefined,
  ): Promise<{ fates: Fate[]; warnings: string[]; looked: number }> {
    const store = storeOf("shop", []);
    const fates: Fate[] = [];
    const warnings: string[] = [];
    let looked = 0;
    let isOpen = true;
    const record = { store, id: "old", name: "Charge", readable: true };
    const host = {
      service: {
        pendingTask: (key: string, id: string, known: string | null): Promise<PendingTaskLook> => {
          assert.deepEqual([key, id], ["shop", "new"]);
          if (looked === 0) assert.equal(known, null);
          const look = looks[Math.min(looked, looks.length - 1)];
          meanwhile(looked, store, () => (isOpen = false));
          const fingerprint = String(looked++);
          if (look instanceof Error) return Promise.reject(look);
          return Promise.resolve(look === undefined ? { fingerprint } : { fingerprint, task: look });
        },
        refresh: () => Promise.resolve(),
      },
      registry: { find: () => (isOpen ? store : undefined) },
      failed: (error: unknown) => warnings.push(String(error)),
    };
    const follower = new FateFollower(host, record, "new", (fate) => fates.push(fate), 1);
    await new Promise((resolve) => setTimeout(resolve, 250));
    follower.dispose();
    return { fates, warnings, looked };
  }

  it("is that it ran, once it was found nowhere twice", async () => {
    const { fates, looked } = await follow([pending, undefined, null, undefined]);
    assert.deepEqual(fates, [{ kind: "ran" }]);
    assert.equal(looked, 4);
  });

  it("is nothing yet while a worker moves it from one log to another", async () => {
    const { fates, looked } = await follow([pending, null, pending]);
    assert.deepEqual(fates, []);
    assert.ok(looked > 4);
  });

  it("is that it died again", async () => {
    const died = task("new", "Charge", 99);
    const { fates } = await follow([pending, null], (look, store) => {
      if (look === 1) store.apply({ type: "tasks", tasks: [died] });
    });
    assert.deepEqual(fates, [{ kind: "died", task: died }]);
  });

  it("is told of the first failure, and of the end", async () => {
    const failed = { ...pending, attempts: 1, publishAt: 99 };
    const { fates } = await follow([failed, { ...failed, attempts: 2 }, null, null]);
    assert.deepEqual(fates, [{ kind: "failed", pending: failed }, { kind: "ran" }]);
  });

  it("is not told where it was taken back, or its store closed", async () => {
    const back = await follow([pending, null], (look, store) => {
      if (look === 1) store.apply({ type: "tasks", tasks: [task("old")] });
    });
    assert.deepEqual([back.fates, back.looked], [[], 2]);
    const closed = await follow([pending], (_, __, close) => {
      close();
    });
    assert.deepEqual([closed.fates, closed.looked], [[], 1]);
  });

  it("is looked for again where that failed once", async () => {
    const { fates, warnings } = await follow([pending, new Error("disk gone"), null, null]);
    assert.deepEqual(fates, [{ kind: "ran" }]);
    assert.deepEqual(warnings, ["Error: disk gone"]);
  });
});
