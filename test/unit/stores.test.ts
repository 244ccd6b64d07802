import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import type { DiscoveredStore, StoreStatus, StoreUpdate, TaskSummary } from "../../src/service/protocol";
import { ServiceError, type StoreService } from "../../src/service/storeService";
import { combineStores, storeKey } from "../../src/stores/combineStores";
import { StoreModel, type StoreDescription } from "../../src/stores/storeModel";
import { StoreRegistry } from "../../src/stores/storeRegistry";

const folderPath = resolve("/work/shop");
const folder = { name: "shop", path: folderPath };

function discovered(path: string, extra: Partial<DiscoveredStore> = {}): DiscoveredStore {
  return {
    path: resolve(folderPath, path),
    prefix: "deferred-",
    backend: "disk",
    source: "default",
    problem: null,
    ...extra,
  };
}

describe("combineStores", () => {
  it("takes what discovery finds, named after the folder", () => {
    const { stores, problems } = combineStores([{ folder, setting: [], discovered: [discovered("storage")] }]);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      stores.map(({ name, target }) => [name, target.path, target.key]),
      [["shop", join(folderPath, "storage"), storeKey(join(folderPath, "storage"), "deferred-", "disk")]],
    );
  });

  it("names the applications of a monorepo after their folders", () => {
    const found = [discovered("api/storage"), discovered("mailer/storage")];
    const { stores } = combineStores([{ folder, setting: [], discovered: found }]);
    assert.deepEqual(
      stores.map(({ name }) => name),
      ["api", "mailer"],
    );
  });

  it("tells two stores of one directory apart by their prefix", () => {
    const found = [discovered("storage"), discovered("storage", { prefix: "jobs" })];
    const { stores } = combineStores([{ folder, setting: [], discovered: found }]);
    assert.deepEqual(
      stores.map(({ name }) => name),
      ["shop", "shop (jobs-)"],
    );
  });

  it("opens a store once, under the name of the setting", () => {
    const setting = [{ path: "storage", prefix: "deferred", name: "Queue" }];
    const { stores } = combineStores([{ folder, setting, discovered: [discovered("storage")] }]);
    assert.deepEqual(
      stores.map(({ name }) => name),
      ["Queue"],
    );
  });

  it("resolves a relative path in each folder that the setting holds for", () => {
    const other = { name: "blog", path: resolve("/work/blog") };
    const setting = [{ path: "tmp/queue" }];
    const { stores } = combineStores([
      { folder, setting, discovered: [] },
      { folder: other, setting, discovered: [] },
    ]);
    assert.deepEqual(
      stores.map(({ target }) => target.path),
      [join(folderPath, "tmp", "queue"), join(other.path, "tmp", "queue")],
    );
  });

  it("drops a guess once the user has said where the stores are, and keeps it before", () => {
    const guess = discovered("storage", { problem: "path is ENV" });
    const before = combineStores([{ folder, setting: [], discovered: [guess] }]);
    assert.deepEqual(
      before.stores.map((store) => store.guess),
      ["path is ENV"],
    );
    const after = combineStores([{ folder, setting: [{ path: "elsewhere" }], discovered: [guess] }]);
    assert.deepEqual(
      after.stores.map(({ target }) => target.path),
      [join(folderPath, "elsewhere")],
    );
  });

  it("keeps a nil backend apart from a store on disk at the same place", () => {
    const setting = [{ path: "storage" }];
    const { stores } = combineStores([{ folder, setting, discovered: [discovered("storage", { backend: "nil" })] }]);
    assert.deepEqual(
      stores.map(({ target }) => target.backend),
      ["disk", "nil"],
    );
    assert.equal(new Set(stores.map(({ target }) => target.key)).size, 2);
  });

  const invalid: readonly (readonly [string, unknown, RegExp])[] = [
    ["no list", { path: "storage" }, /must be a list/],
    ["an entry that is no object", ["storage"], /entry 1: must be an object/],
    ["no path", [{ prefix: "x-" }], /entry 1: “path”/],
    ["an empty path", [{ path: " " }], /entry 1: “path”/],
    ["a prefix with a slash", [{ path: "a", prefix: "b/c" }], /entry 1: “prefix”/],
    ["an empty prefix", [{ path: "a", prefix: "" }], /entry 1: “prefix”/],
    ["a name that is no text", [{ path: "a", name: 7 }], /entry 1: “name”/],
  ];
  for (const [what, setting, problem] of invalid) {
    it(`reports ${what}, and goes on`, () => {
      const { stores, problems } = combineStores([{ folder, setting, discovered: [discovered("storage")] }]);
      assert.equal(problems.length, 1);
      assert.match(problems[0]!, problem);
      assert.equal(stores.length, 1);
    });
  }

  it("takes absolute paths, and only those, without a folder", () => {
    const absolute = resolve("/srv/queue");
    const setting = [{ path: absolute }, { path: "queue" }];
    const { stores, problems } = combineStores([{ folder: null, setting, discovered: [] }]);
    assert.deepEqual(
      stores.map(({ name, target }) => [name, target.path]),
      [["queue", absolute]],
    );
    assert.match(problems[0]!, /entry 2: “queue” is relative/);
  });
});

function describeStore(key: string): StoreDescription {
  const target = { key, path: `/${key}`, prefix: "deferred-", backend: "disk" } as const;
  return { target, name: key, folder: null, source: "test", guess: null };
}

function task(id: string, failedAt = 0): TaskSummary {
  return {
    id,
    taskClass: "T",
    attempts: 1,
    enqueuedAt: null,
    failedAt,
    exceptionClass: "E",
    exceptionMessage: "",
  };
}

function status(change: Partial<StoreStatus>): StoreUpdate {
  const model = new StoreModel(describeStore("any"));
  return { type: "status", status: { ...model.status, ...change } };
}

describe("StoreModel", () => {
  it("lists the newest first, whatever the times say", () => {
    const model = new StoreModel(describeStore("a"));
    model.apply({ type: "tasks", tasks: [task("1", 50), task("2", 10)] });
    model.apply({ type: "tasks", tasks: [task("3", 20)] });
    assert.deepEqual(
      model.newestFirst().map(({ id }) => id),
      ["3", "2", "1"],
    );
  });

  it("moves a task that died again to the top", () => {
    const model = new StoreModel(describeStore("a"));
    model.apply({ type: "tasks", tasks: [task("1", 1), task("2", 2)] });
    model.apply({ type: "tasks", tasks: [task("1", 3)] });
    assert.deepEqual(
      model.newestFirst().map(({ id, failedAt }) => [id, failedAt]),
      [
        ["1", 3],
        ["2", 2],
      ],
    );
    assert.equal(model.taskCount, 2);
  });

  it("gives snapshots that later updates do not touch", () => {
    const model = new StoreModel(describeStore("a"));
    model.apply({ type: "tasks", tasks: [task("1"), task("2")] });
    const before = model.newestFirst();
    model.apply({ type: "gone", ids: ["1", "unknown"] });
    assert.deepEqual(
      before.map(({ id }) => id),
      ["2", "1"],
    );
    assert.deepEqual(
      model.newestFirst().map(({ id }) => id),
      ["2"],
    );
    assert.equal(model.task("1"), undefined);
  });

  it("was ready once it has been read to its end, and stays so while it is read again", () => {
    const model = new StoreModel(describeStore("a"));
    assert.equal(model.wasReady, false);
    model.apply(status({ phase: "ready" }));
    model.apply(status({ phase: "indexing" }));
    assert.equal(model.wasReady, true);
  });
});

/** The worker's end of the interface: what was asked of it, and a way to send updates. */
class RecordedService implements Pick<StoreService, "open" | "close" | "refresh" | "onUpdate"> {
  readonly calls: string[] = [];
  readonly failing = new Set<string>();
  send: (key: string, update: StoreUpdate) => void = () => undefined;

  open = (target: { key: string }): Promise<void> => {
    this.calls.push(`open ${target.key}`);
    return this.failing.has(target.key) ? Promise.reject(new ServiceError("io", "no such disk")) : Promise.resolve();
  };
  close = (key: string): Promise<void> => {
    this.calls.push(`close ${key}`);
    return Promise.resolve();
  };
  refresh = (key: string): Promise<void> => {
    this.calls.push(`refresh ${key}`);
    return Promise.resolve();
  };
  onUpdate = (listener: (key: string, update: StoreUpdate) => void): { dispose(): void } => {
    this.send = listener;
    return { dispose: () => (this.send = () => undefined) };
  };
}

describe("StoreRegistry", () => {
  function setUp(): { service: RecordedService; registry: StoreRegistry } {
    const service = new RecordedService();
    // The registry calls nothing else of the service.
    return { service, registry: new StoreRegistry(service as unknown as StoreService) };
  }

  it("opens what is new, closes what is gone and keeps what it knows of the rest", async () => {
    const { service, registry } = setUp();
    await registry.setStores([describeStore("a"), describeStore("b")]);
    service.send("a", { type: "tasks", tasks: [task("1")] });
    service.calls.length = 0;
    await registry.setStores([describeStore("c"), { ...describeStore("a"), name: "renamed" }]);
    assert.deepEqual(service.calls.sort(), ["close b", "open c"]);
    assert.deepEqual(
      registry.stores.map(({ name }) => name),
      ["c", "renamed"],
    );
    assert.equal(registry.find("a")!.taskCount, 1);
  });

  it("passes updates on, and drops those of a store that was closed", async () => {
    const { service, registry } = setUp();
    await registry.setStores([describeStore("a")]);
    const seen: string[] = [];
    registry.onDidChange(({ store, update }) => seen.push(`${store.key} ${update.type}`));
    service.send("a", { type: "tasks", tasks: [task("1")] });
    await registry.setStores([]);
    service.send("a", { type: "gone", ids: ["1"] });
    assert.deepEqual(seen, ["a tasks"]);
  });

  it("shows a store that cannot be opened, with the reason", async () => {
    const { service, registry } = setUp();
    service.failing.add("a");
    await registry.setStores([describeStore("a"), describeStore("b")]);
    assert.equal(registry.find("a")!.status.phase, "failed");
    assert.deepEqual(registry.find("a")!.status.problem, { code: "io", message: "no such disk" });
    assert.equal(registry.find("b")!.status.phase, "indexing");
  });

  it("refreshes every store", async () => {
    const { service, registry } = setUp();
    await registry.setStores([describeStore("a"), describeStore("b")]);
    await registry.refresh();
    assert.deepEqual(service.calls.slice(-2), ["refresh a", "refresh b"]);
  });
});
