import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import type { StoreUpdate, TaskSummary } from "../../src/service/protocol";
import type { StoreService } from "../../src/service/storeService";
import { StoreRegistry } from "../../src/stores/storeRegistry";
import type { StoreModel } from "../../src/stores/storeModel";
import { FilteredTasks } from "../../src/tree/filteredTasks";
import { groupFilter, onlyThese, textFilter } from "../../src/tree/taskFilter";

function task(change: Partial<TaskSummary> = {}): TaskSummary {
  return {
    id: "17-1-1",
    taskClass: "Billing::ChargeCard",
    attempts: 1,
    enqueuedAt: 17,
    failedAt: 20,
    exceptionClass: "Net::OpenTimeout",
    exceptionMessage: "gateway said:\n  card  declined (503)",
    ...change,
  };
}

describe("the text of a filter", () => {
  const matching: readonly string[] = [
    "timeout",
    "TIMEOUT charge 503",
    "17-1-1",
    '"said: card declined"',
    '"card declined',
    "class:billing exception:Open message:gateway id:17",
    'CLASS:"ChargeCard" message:"(503)"',
    "Billing::Charge",
    "class: timeout",
  ];
  for (const text of matching) {
    it(`lets the task through: ${text}`, () => {
      assert.ok(textFilter(text)!.matches(task(), "shop"));
    });
  }

  const others: readonly string[] = [
    "timeouts",
    "timeout refund",
    '"declined card"',
    "class:timeout",
    "message:charge",
    "exception:503",
    "id:billing",
    "5.3",
    "gateway.*503",
    "ChargeCardNet",
  ];
  for (const text of others) {
    it(`keeps the task out: ${text}`, () => {
      assert.equal(textFilter(text)!.matches(task(), "shop"), false);
    });
  }

  it("asks for nothing without a word", () => {
    for (const text of ["", "  ", '""', '"', "class:", 'class:"" message:']) assert.equal(textFilter(text), null, text);
  });

  it("takes a class that is called like a field for a class", () => {
    const filter = textFilter("Message::Deliver")!;
    assert.ok(filter.matches(task({ taskClass: "Message::Deliver" }), "shop"));
    assert.equal(filter.matches(task({ exceptionMessage: ":Deliver" }), "shop"), false);
  });

  it("finds what the list shows for what is not there, and letters of any alphabet in upper or lower case", () => {
    assert.ok(textFilter("exception:anonymous")!.matches(task({ exceptionClass: null }), "shop"));
    assert.ok(textFilter("ÉCHEC größe")!.matches(task({ exceptionMessage: "échec: Größe" }), "shop"));
  });

  it("is named as it was typed, in one short line", () => {
    const filter = textFilter(`  time\tout ${"x".repeat(100)}`)!;
    assert.match(filter.label, /^Filter: time out x+…$/);
    assert.ok(filter.predicate.startsWith("match “time out x") && filter.predicate.length < 80);
  });

  it("is exactly a group, as it died, in its own store", () => {
    const group = groupFilter("shop", task(), [task(), task({ id: "17-1-2" })]);
    assert.equal(group.label, "Same failure as Billing::ChargeCard · Net::OpenTimeout: gateway said: card …");
    assert.ok(group.matches(task({ id: "17-1-2" }), "shop"));
    assert.equal(group.matches(task(), "blog"), false);
    assert.equal(group.matches(task({ id: "17-1-3" }), "shop"), false);
    assert.equal(group.matches(task({ failedAt: 21 }), "shop"), false, "it died anew");
  });
});

/** A registry whose stores get their updates from the test. */
class Stage {
  #tell: (key: string, update: StoreUpdate) => void = () => undefined;
  readonly registry = new StoreRegistry({
    open: () => Promise.resolve(),
    close: () => Promise.resolve(),
    onUpdate: (listener: typeof this.send) => {
      this.#tell = listener;
      return { dispose: () => undefined };
    },
  } as unknown as StoreService);
  readonly filtered = new FilteredTasks(this.registry);

  async open(...names: readonly string[]): Promise<StoreModel[]> {
    await this.registry.setStores(
      names.map((name) => ({
        target: { key: name, path: `/${name}`, prefix: "deferred-", backend: "disk" },
        name,
        folder: null,
        source: "test",
        guess: null,
      })),
    );
    for (const store of this.registry.stores) {
      this.send(store.key, { type: "status", status: { ...store.status, phase: "ready" } });
    }
    return [...this.registry.stores];
  }

  readonly send = (key: string, update: StoreUpdate): void => {
    this.#tell(key, update);
  };

  ids(store: StoreModel): string[] {
    return this.filtered.newestFirst(store).map(({ id }) => id);
  }
}

describe("the tasks that a filter lets through", () => {
  let stage: Stage;
  let shop: StoreModel;
  let blog: StoreModel;

  beforeEach(async () => {
    stage = new Stage();
    [shop, blog] = (await stage.open("shop", "blog")) as [StoreModel, StoreModel];
    stage.send("shop", { type: "tasks", tasks: ["1", "2", "3"].map((id) => task({ id, taskClass: `Task${id}` })) });
    stage.send("blog", { type: "tasks", tasks: [task({ id: "9", taskClass: "Task2" })] });
  });

  it("are all without a filter, and those of each store with one", () => {
    const { filtered } = stage;
    assert.deepEqual(stage.ids(shop), ["3", "2", "1"]);
    assert.deepEqual(filtered.counts, { shown: 4, all: 4 });
    filtered.set(textFilter("Task2"));
    assert.deepEqual([stage.ids(shop), stage.ids(blog)], [["2"], ["9"]]);
    assert.deepEqual(filtered.counts, { shown: 2, all: 4 });
    filtered.set(
      onlyThese(
        shop
          .newestFirst()
          .slice(0, 2)
          .map((one) => ({ storeKey: "shop", task: one })),
        "",
        "",
      ),
    );
    assert.deepEqual([stage.ids(shop), stage.ids(blog)], [["3", "2"], []]);
    filtered.set(null);
    assert.deepEqual(filtered.counts, { shown: 4, all: 4 });
  });

  it("come and go with the tasks, at once, in the list's order", () => {
    stage.filtered.set(textFilter("class:Task"));
    stage.send("shop", { type: "tasks", tasks: [task({ id: "4", taskClass: "Task4" }), task({ id: "5" })] });
    assert.deepEqual(stage.ids(shop), ["4", "3", "2", "1"]);
    stage.send("shop", { type: "tasks", tasks: [task({ id: "2", taskClass: "Task2" })] });
    assert.deepEqual(stage.ids(shop), ["2", "4", "3", "1"], "one that died anew is the newest");
    stage.send("shop", { type: "tasks", tasks: [task({ id: "3", taskClass: "Other" })] });
    stage.send("shop", { type: "gone", ids: ["1", "nobody"] });
    assert.deepEqual(stage.ids(shop), ["2", "4"]);
  });

  it("follow stores that come and go", async () => {
    stage.filtered.set(textFilter("Task"));
    const [first, news] = (await stage.open("blog", "news")) as [StoreModel, StoreModel];
    stage.send("news", { type: "tasks", tasks: [task({ id: "7", taskClass: "Task7" })] });
    assert.equal(first, blog);
    assert.deepEqual([stage.ids(shop), stage.ids(blog), stage.ids(news)], [[], ["9"], ["7"]]);
  });

  it("are a snapshot that later changes leave as it is", () => {
    stage.filtered.set(textFilter("Task"));
    const before = stage.filtered.newestFirst(shop);
    stage.send("shop", { type: "gone", ids: ["1", "2", "3"] });
    assert.equal(before.length, 3);
    assert.equal(stage.filtered.newestFirst(shop).length, 0);
  });

  describe("of a hundred thousand", function () {
    this.timeout(20_000);
    const count = 100_000;
    const message = "SMTP timeout after 30 s, to smtp.example.com ".repeat(10);

    beforeEach(() => {
      const tasks = Array.from({ length: count }, (_, number) =>
        // Of one piece, as a message from the worker is.
        task({ id: `id${number}`, exceptionMessage: Buffer.from(`${message}${number}`).toString() }),
      );
      stage.send("shop", { type: "tasks", tasks });
    });

    /** Processor time of this process so far, in milliseconds: other programs on the machine do not lengthen it. */
    function processorTime(): number {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    }

    it("are found without holding the thread up, newest first from the beginning, whatever changes meanwhile", async function () {
      const turns: number[] = [];
      const watch = async (): Promise<void> => {
        while (!stage.filtered.isSettled) {
          const before = processorTime();
          await turn();
          turns.push(processorTime() - before);
        }
      };
      const begin = processorTime();
      stage.filtered.set(textFilter('"smtp timeout" message:7'));
      turns.push(processorTime() - begin);
      assert.equal(stage.filtered.isSettled, false);
      const early = stage.ids(shop);
      assert.equal(early[0], "id99997");
      const watching = watch();
      // While the first look goes on: one that was passed already, one that is still to come, and new ones.
      stage.send("shop", { type: "gone", ids: ["id99997", "id7"] });
      stage.send("shop", { type: "tasks", tasks: [task({ id: "new", exceptionMessage: "SMTP timeout 7" })] });
      stage.send("shop", { type: "tasks", tasks: [task({ id: "id17", exceptionMessage: "SMTP timeout 8" })] });
      await stage.filtered.settled();
      const took = processorTime() - begin;
      await watching;
      const expected = shop
        .newestFirst()
        .filter(({ exceptionMessage }) => /smtp timeout/i.test(exceptionMessage) && exceptionMessage.includes("7"))
        .map(({ id }) => id);
      assert.deepEqual(stage.ids(shop), expected);
      assert.equal(expected[0], "new");
      const started = processorTime();
      stage.send("shop", { type: "tasks", tasks: [task({ id: "another", exceptionMessage: "SMTP timeout 7" })] });
      assert.equal(stage.ids(shop)[0], "another");
      const live = processorTime() - started;
      const longest = Math.max(...turns);
      this.test!.title += ` (${took.toFixed(0)} ms, longest turn ${longest.toFixed(1)} ms, a new one ${live.toFixed(1)} ms)`;
      // One may have a garbage collection in it.
      assert.ok(turns.filter((time) => time > 20).length <= 1, `turns of ${turns.join(", ")} ms`);
    });

    it("are not looked for any further once another filter is asked for", async () => {
      stage.filtered.set(textFilter("message:7"));
      stage.filtered.set(textFilter("id:id99999"));
      await stage.filtered.settled();
      assert.deepEqual(stage.ids(shop), ["id99999"]);
      assert.deepEqual(stage.filtered.counts, { shown: 1, all: count + 4 });
    });
  });

  it("says when more is known, and nothing after its end", async () => {
    let told = 0;
    stage.filtered.onDidChange(() => told++);
    stage.filtered.set(textFilter("Task"));
    assert.equal(told, 1);
    stage.filtered.dispose();
    stage.send("shop", { type: "gone", ids: ["1"] });
    await turn();
    assert.equal(told, 1);
  });
});
