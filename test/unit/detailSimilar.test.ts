import assert from "node:assert/strict";
import { candidatesFor, mostCandidates, similarView, type Death } from "../../src/detail/similar";
import { SimilarFollower, type SimilarHost } from "../../src/detail/similarFollower";
import type { SimilarView } from "../../src/detail/protocol";
import type { StoreUpdate, TaskSummary } from "../../src/service/protocol";
import { Emitter } from "../../src/stores/emitter";
import { StoreModel } from "../../src/stores/storeModel";
import type { StoreChange } from "../../src/stores/storeRegistry";

const death: Death = {
  reference: { storeKey: "shop", id: "own" },
  taskClass: "Charge",
  exceptionClass: "PaymentError",
  message: "order 17 was declined",
  backtrace: ["app/tasks/charge.rb:12:in 'Charge#perform'"],
  failedAt: 1_000,
};

function summary(id: string, change: Partial<TaskSummary> = {}): TaskSummary {
  return {
    id,
    taskClass: "Charge",
    attempts: 3,
    enqueuedAt: 1,
    failedAt: 1_000,
    exceptionClass: "PaymentError",
    exceptionMessage: "order 18 was declined",
    ...change,
  };
}

describe("candidatesFor", () => {
  const wanted = (): boolean => true;

  it("takes those of the same class, error and normalised message, and not the task itself", async () => {
    const tasks = [
      summary("alike"),
      summary("own"),
      summary("other class", { taskClass: "Refund" }),
      summary("other error", { exceptionClass: "Timeout" }),
      summary("anonymous", { exceptionClass: null }),
      summary("other message", { exceptionMessage: "order 18 is unknown" }),
      summary("alike, too", { exceptionMessage: "order 1,999 was declined" }),
    ];
    const found = await candidatesFor(death, tasks, wanted);
    assert.deepEqual(
      found?.tasks.map(({ id }) => id),
      ["alike", "alike, too"],
    );
    assert.equal(found.atLeast, false);
  });

  it("says so where there may be more than it looks at", async () => {
    const exactly = Array.from({ length: mostCandidates }, (_, index) => summary(String(index)));
    assert.equal((await candidatesFor(death, exactly, wanted))?.atLeast, false);
    const more = await candidatesFor(death, [...exactly, summary("one more")], wanted);
    assert.deepEqual([more?.tasks.length, more?.atLeast], [mostCandidates, true]);
    const unlike = Array.from({ length: 20_001 }, (_, index) => summary(String(index), { exceptionMessage: "no" }));
    assert.deepEqual(await candidatesFor(death, unlike, wanted), { tasks: [], atLeast: true });
  });

  it("lets others have their turn, and stops once nobody wants its answer", async () => {
    const many = Array.from({ length: 20_000 }, (_, index) =>
      summary(String(index), { exceptionMessage: `x ${index}` }),
    );
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await candidatesFor(death, many, wanted);
    clearInterval(timer);
    assert.ok(turns > 2, `${turns} turns`);
    const fresh = many.map((task) => ({ ...task }));
    assert.equal(await candidatesFor(death, fresh, () => false), null);
  });
});

describe("similarView", () => {
  it("counts the others, says when the kind was first and last seen, and lists the nearest, newest first", () => {
    const times = [5_000, 1_400, 1_200, 1_100, 900, 800, 10];
    const tasks = times.map((failedAt) => summary(`at ${failedAt}`, { failedAt }));
    const view = similarView(death, tasks, false);
    assert.deepEqual([view.count, view.first, view.last, view.atLeast], [7, 10, 5_000, false]);
    assert.deepEqual(
      view.nearest.map(({ failedAt }) => failedAt),
      [1_400, 1_200, 1_100, 900, 800],
    );
  });

  it("repeats no message that is the same", () => {
    const view = similarView(death, [summary("1", { exceptionMessage: death.message }), summary("2")], false);
    assert.deepEqual(
      view.nearest.map(({ message }) => message),
      ["", "order 18 was declined"],
    );
  });

  it("is of the task alone where there are no others", () => {
    assert.deepEqual(similarView(death, [], true), { count: 0, atLeast: true, first: 1_000, last: 1_000, nearest: [] });
  });
});

describe("SimilarFollower", () => {
  /** A store and a worker's answers under the test's control. */
  class Stage {
    readonly changed = new Emitter<StoreChange>();
    readonly asked: (readonly string[])[] = [];
    readonly failures: unknown[] = [];
    readonly shown: (SimilarView | null)[] = [];
    answer: (ids: readonly string[]) => Promise<readonly string[]> = (ids) => Promise.resolve(ids);
    readonly store = new StoreModel({
      target: { key: "shop", path: "/shop", prefix: "deferred-", backend: "disk" },
      name: "shop",
      folder: null,
      source: "test",
      guess: null,
    });
    readonly host: SimilarHost = {
      service: {
        failedAtSamePlace: (_key, _backtrace, ids) => {
          this.asked.push(ids);
          return this.answer(ids);
        },
      },
      registry: { find: (key) => (key === "shop" ? this.store : undefined), onDidChange: this.changed.event },
      failed: (error) => this.failures.push(error),
    };
    readonly follower = new SimilarFollower(this.host);

    constructor() {
      this.follower.onDidChange((view) => this.shown.push(view));
    }

    update(update: StoreUpdate): void {
      this.store.apply(update);
      this.changed.fire({ store: this.store, update });
    }

    ready(): void {
      this.update({ type: "status", status: { ...this.store.status, phase: "ready" } });
    }

    async until(check: () => boolean, what: string): Promise<void> {
      const deadline = Date.now() + 4_000;
      while (!check()) {
        assert.ok(Date.now() < deadline, what);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  }

  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => {
    stage.follower.dispose();
  });

  it("looks once the store has been read, and asks only about candidates", async () => {
    stage.update({ type: "tasks", tasks: [summary("1"), summary("2", { taskClass: "Refund" })] });
    stage.follower.follow(death);
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.deepEqual(stage.asked, []);
    stage.ready();
    await stage.until(() => stage.shown.length === 1, "it is shown");
    assert.deepEqual(stage.asked, [["1"]]);
    assert.equal(stage.follower.view?.count, 1);
    assert.deepEqual(
      stage.follower.tasks.map(({ id }) => id),
      ["1"],
    );
  });

  it("leaves out those that failed elsewhere in the code", async () => {
    stage.answer = (ids) => Promise.resolve(ids.filter((id) => id !== "2"));
    stage.update({ type: "tasks", tasks: [summary("1"), summary("2"), summary("3")] });
    stage.ready();
    stage.follower.follow(death);
    await stage.until(() => stage.shown.length === 1, "it is shown");
    assert.deepEqual(
      stage.follower.tasks.map(({ id }) => id),
      ["3", "1"],
    );
  });

  it("follows the store, not more often than its interval, and only where something may have changed", async function () {
    this.timeout(8_000);
    stage.ready();
    stage.follower.follow(death);
    await stage.until(() => stage.shown.length === 1, "it is shown");
    for (let index = 0; index < 20; index++) stage.update({ type: "tasks", tasks: [summary(String(index))] });
    stage.update({ type: "tasks", tasks: [summary("x", { taskClass: "Refund" })] });
    await stage.until(() => stage.follower.view?.count === 20, "the new ones are shown");
    assert.equal(stage.asked.length, 1, "one look for all of them");
    stage.update({ type: "gone", ids: ["x"] });
    stage.update({ type: "gone", ids: ["0", "1"] });
    await stage.until(() => stage.follower.view?.count === 18, "the gone ones are taken out");
  });

  it("takes away at once what was found for another, and never shows it late", async () => {
    stage.update({ type: "tasks", tasks: [summary("1")] });
    stage.ready();
    let late: (ids: readonly string[]) => void = () => undefined;
    stage.answer = () => new Promise((resolve) => (late = resolve));
    stage.follower.follow(death);
    await stage.until(() => stage.asked.length === 1, "it has asked");
    stage.answer = (ids) => Promise.resolve(ids);
    stage.follower.follow({ ...death, reference: { storeKey: "shop", id: "1" }, taskClass: "Refund" });
    late(["1"]);
    await stage.until(() => stage.shown.length > 0, "the second is shown");
    assert.deepEqual(
      stage.shown.map((view) => view?.count),
      [0],
    );
    stage.follower.follow(null);
    assert.equal(stage.follower.view, null);
  });

  it("does not look again for the status that its own look brings", async function () {
    this.timeout(5_000);
    stage.update({ type: "tasks", tasks: [summary("1")] });
    stage.answer = (ids) => {
      stage.ready();
      return Promise.resolve(ids);
    };
    stage.ready();
    stage.follower.follow(death);
    await stage.until(() => stage.shown.length === 1, "it is shown");
    await new Promise((resolve) => setTimeout(resolve, 1_800));
    assert.equal(stage.asked.length, 1);
  });

  it("tells a failed look and looks again with the next change", async function () {
    this.timeout(8_000);
    stage.update({ type: "tasks", tasks: [summary("1")] });
    stage.ready();
    stage.answer = () => Promise.reject(new Error("disk gone"));
    stage.follower.follow(death);
    await stage.until(() => stage.failures.length === 1, "it is told");
    stage.answer = (ids) => Promise.resolve(ids);
    stage.update({ type: "tasks", tasks: [summary("2")] });
    await stage.until(() => stage.follower.view?.count === 2, "it is shown after all");
  });
});
