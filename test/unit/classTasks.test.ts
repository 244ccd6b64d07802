import assert from "node:assert/strict";
import type { TaskSummary } from "../../src/service/protocol";
import { StoreModel } from "../../src/stores/storeModel";

function task(id: string, taskClass: string, failedAt = 1): TaskSummary {
  const error = { exceptionClass: "RuntimeError", exceptionMessage: "" };
  return { id, taskClass, attempts: 1, enqueuedAt: null, failedAt, ...error };
}

describe("the tasks of each class of a store", () => {
  function model(): StoreModel {
    const target = { key: "k", path: "/w/storage", prefix: "deferred-", backend: "disk" } as const;
    return new StoreModel({ target, name: "w", folder: "/w", source: "default", guess: null });
  }

  it("come and go with the store's", () => {
    const store = model();
    store.apply({ type: "tasks", tasks: [task("1", "A"), task("2", "B"), task("3", "A")] });
    assert.deepEqual([...store.classes.names()], ["A", "B"]);
    assert.equal(store.classes.count("A"), 2);
    assert.equal(store.classes.newest("A")!.id, "3");
    assert.deepEqual(
      store.classes.newestFirst("A").map(({ id }) => id),
      ["3", "1"],
    );
    store.apply({ type: "gone", ids: ["3", "unknown"] });
    assert.equal(store.classes.newest("A")!.id, "1");
    store.apply({ type: "gone", ids: ["1"] });
    assert.equal(store.classes.newest("A"), undefined);
    assert.equal(store.classes.count("A"), 0);
    assert.deepEqual(store.classes.newestFirst("A"), []);
    assert.deepEqual([...store.classes.names()], ["B"]);
  });

  it("move with one that died again, even as another class", () => {
    const store = model();
    store.apply({ type: "tasks", tasks: [task("1", "A"), task("2", "A")] });
    store.apply({ type: "tasks", tasks: [task("1", "A", 9)] });
    assert.equal(store.classes.count("A"), 2);
    assert.equal(store.classes.newest("A")!.failedAt, 9);
    store.apply({ type: "tasks", tasks: [task("1", "B")] });
    assert.equal(store.classes.count("A"), 1);
    assert.equal(store.classes.newest("A")!.id, "2");
    assert.equal(store.classes.newest("B")!.id, "1");
  });
});
