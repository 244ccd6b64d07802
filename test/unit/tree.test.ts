import assert from "node:assert/strict";
import type { recordReference } from "../../src/actions/references";
import { chosenNodes, groupByStore, recordsOf } from "../../src/actions/references";
import {
  deleteConfirmation,
  doneText,
  nameList,
  needsList,
  retryConfirmation,
  troubleText,
} from "../../src/actions/messages";
import type { StoreStatus, TaskSummary } from "../../src/service/protocol";
import { StoreModel } from "../../src/stores/storeModel";
import {
  childNodes,
  isTreeNode,
  nodeId,
  parentNode,
  rootNodes,
  type TreeInput,
  type TreeNode,
} from "../../src/tree/nodes";
import { viewState, type ViewInput } from "../../src/tree/viewState";

function task(number: number, taskClass = "Charge"): TaskSummary {
  return {
    id: `17-1-${number}`,
    taskClass,
    attempts: 1,
    enqueuedAt: 17,
    failedAt: number,
    exceptionClass: "E",
    exceptionMessage: "",
  };
}

function store(
  name: string,
  taskCount: number,
  change: Partial<StoreStatus> = {},
  backend: "disk" | "nil" = "disk",
): StoreModel {
  const target = { key: name, path: `/${name}`, prefix: "deferred-", backend };
  const model = new StoreModel({ target, name, folder: null, source: "test", guess: null });
  model.apply({ type: "tasks", tasks: Array.from({ length: taskCount }, (_, index) => task(index)) });
  model.apply({ type: "status", status: { ...model.status, phase: "ready", exists: true, ...change } });
  return model;
}

function input(stores: readonly StoreModel[], shown = 200, problems: readonly string[] = []): TreeInput {
  const tasks = (one: StoreModel): readonly TaskSummary[] => (one.wasReady ? one.newestFirst() : one.early);
  return { stores, problems, shown: () => shown, tasks, nothingMatches: false };
}

function kinds(nodes: readonly TreeNode[]): string[] {
  return nodes.map(({ kind }) => kind);
}

describe("tree nodes", () => {
  it("shows the tasks of the only store directly, newest first", () => {
    const nodes = rootNodes(input([store("shop", 3)]));
    assert.deepEqual(nodes.map(nodeId), ["task shop 17-1-2", "task shop 17-1-1", "task shop 17-1-0"]);
    assert.equal(parentNode(nodes[0]!, input([store("shop", 3)])), undefined);
  });

  it("shows several stores as items with their tasks below", () => {
    const tree = input([store("shop", 1), store("blog", 2)]);
    const nodes = rootNodes(tree);
    assert.deepEqual(nodes.map(nodeId), ["store shop", "store blog"]);
    const [first] = childNodes(nodes[1]!, tree);
    assert.equal(nodeId(parentNode(first!, tree)!), "store blog");
  });

  it("ends a page with an item that says how many are left", () => {
    const nodes = rootNodes(input([store("shop", 450)], 200));
    assert.equal(nodes.length, 201);
    assert.deepEqual(nodes.at(-1), { kind: "more", store: (nodes[0] as { store: StoreModel }).store, remaining: 250 });
    assert.equal(nodeId(nodes[199]!), "task shop 17-1-250");
  });

  it("has no such item where the page holds all", () => {
    assert.deepEqual(new Set(kinds(rootNodes(input([store("shop", 200)], 200)))), new Set(["task"]));
  });

  it("puts what is wrong before the tasks", () => {
    const troubled = store("shop", 1, {
      unreadable: [
        { id: "u1", reason: "r" },
        { id: "u2", reason: "r" },
      ],
      damage: { lines: 0, bytes: 0, tornTailBytes: 3 },
      otherVersions: ["deferred-dead_tasks-1"],
    });
    const tree = input([troubled], 200, ["bad setting"]);
    const nodes = rootNodes(tree);
    assert.deepEqual(kinds(nodes), ["settingProblem", "unreadableGroup", "damage", "otherVersion", "task"]);
    const unreadable = childNodes(nodes[1]!, tree);
    assert.deepEqual(unreadable.map(nodeId), ["unreadable shop u1", "unreadable shop u2"]);
    assert.equal(nodeId(parentNode(unreadable[0]!, tree)!), nodeId(nodes[1]!));
  });

  it("waits for the end of the file before it calls any task the newest", () => {
    const model = new StoreModel(store("shop", 0).description);
    model.apply({ type: "tasks", tasks: [task(1)] });
    assert.deepEqual(kinds(rootNodes(input([model]))), ["reading"]);
  });

  it("shows the newest tasks of a store that is long in reading, and how to stop it or to read on", () => {
    const model = new StoreModel(store("shop", 0).description);
    model.apply({ type: "newest", tasks: [task(9), task(8)] });
    model.apply({ type: "tasks", tasks: [task(1)] });
    assert.deepEqual(rootNodes(input([model])).map(nodeId), ["task shop 17-1-9", "task shop 17-1-8", "reading shop"]);
    assert.equal(model.task("17-1-9")?.id, "17-1-9");
    model.apply({ type: "status", status: { ...model.status, phase: "stopped" } });
    model.apply({ type: "gone", ids: ["17-1-9"] });
    assert.deepEqual(rootNodes(input([model])).map(nodeId), ["task shop 17-1-8", "stopped shop"]);
    model.apply({ type: "status", status: { ...model.status, phase: "ready" } });
    assert.deepEqual(rootNodes(input([model])).map(nodeId), ["task shop 17-1-1"]);
  });

  it("keeps the tasks in sight while a store is read again", () => {
    const model = store("shop", 1);
    model.apply({ type: "status", status: { ...model.status, phase: "indexing" } });
    assert.deepEqual(kinds(rootNodes(input([model]))), ["task"]);
  });

  it("shows a failure, and what was read before it", () => {
    const failed = store("shop", 1, { phase: "failed", problem: { code: "io", message: "disk gone" } });
    assert.deepEqual(kinds(rootNodes(input([failed]))), ["failure", "task"]);
  });

  it("has nothing to show of a nil backend", () => {
    assert.deepEqual(rootNodes(input([store("shop", 0, {}, "nil")])), []);
  });

  it("gives every item an id of its own", () => {
    const both = [store("shop", 2, { unreadable: [{ id: "17-1-0", reason: "r" }] }), store("blog", 2)];
    const tree = input(both, 1, ["one", "two"]);
    const all = rootNodes(tree).flatMap((node) => [node, ...childNodes(node, tree)]);
    assert.equal(new Set(all.map(nodeId)).size, all.length);
  });

  it("has one item for no task at all where the filter lets none through, before the stores", () => {
    const tree = { ...input([store("shop", 1), store("blog", 1)]), tasks: () => [], nothingMatches: true };
    assert.deepEqual(kinds(rootNodes(tree)), ["noMatch", "store", "store"]);
    assert.equal(parentNode({ kind: "noMatch" }, tree), undefined);
    assert.deepEqual(childNodes({ kind: "noMatch" }, tree), []);
  });

  it("knows its own nodes from anything else that a command may be given", () => {
    assert.ok(isTreeNode(rootNodes(input([store("shop", 1)]))[0]));
    for (const other of [undefined, null, "task", {}, { kind: "file" }, []]) assert.equal(isTreeNode(other), false);
  });
});

describe("viewState", () => {
  const base: ViewInput = { folderCount: 1, looked: true, trusted: true, stores: [], problems: [], filter: null };

  const situations: readonly (readonly [string, Partial<ViewInput>])[] = [
    ["looking", { looked: false }],
    ["noFolder", { folderCount: 0 }],
    ["noStore", {}],
    ["nil", { stores: [store("shop", 0, {}, "nil")] }],
    ["empty", { stores: [store("shop", 0)] }],
    ["listed", { stores: [store("shop", 1)] }],
    ["listed", { stores: [store("shop", 0), store("blog", 0)] }],
    ["listed", { problems: ["bad setting"] }],
    ["listed", { stores: [store("shop", 0, { damage: { lines: 1, bytes: 9, tornTailBytes: 0 } })] }],
    ["listed", { stores: [store("shop", 0, { unreadable: [{ id: "u", reason: "r" }] })] }],
    ["listed", { stores: [store("shop", 0, { otherVersions: ["x"] })] }],
    ["listed", { stores: [new StoreModel(store("shop", 0).description)] }],
  ];
  situations.forEach(([situation, change], index) => {
    it(`is “${situation}” (${index})`, () => {
      assert.equal(viewState({ ...base, ...change }).situation, situation);
    });
  });

  it("has a welcome text exactly where the tree is empty", () => {
    for (const [situation, change] of situations) {
      const { stores, problems } = { ...base, ...change };
      assert.equal(rootNodes(input(stores, 200, problems)).length === 0, situation !== "listed", situation);
    }
  });

  it("counts all tasks on the badge, and has none for none", () => {
    assert.deepEqual(viewState({ ...base, stores: [store("a", 1), store("b", 1200)] }).badge, {
      value: 1201,
      tooltip: "1,201 dead tasks",
    });
    assert.equal(viewState({ ...base, stores: [store("a", 0)] }).badge, undefined);
  });

  it("says why nothing can be changed", () => {
    const readOnly = store("shop", 1, { readOnly: "no flock here" });
    assert.equal(viewState({ ...base, stores: [readOnly] }).message, "Read-only: no flock here");
    assert.match(viewState({ ...base, trusted: false, stores: [readOnly] }).message, /^Restricted Mode/);
    assert.match(viewState({ ...base, stores: [readOnly, store("blog", 1)] }).message, /^1 of 2 stores/);
    assert.equal(viewState({ ...base, stores: [store("shop", 1)] }).message, "");
  });

  it("says what the filter shows, before anything else, and counts all on the badge", () => {
    const stores = [store("shop", 1_200, { readOnly: "no flock here" })];
    const state = viewState({ ...base, stores, filter: { label: "Filter: timeout", shown: 12, all: 1_200 } });
    assert.equal(state.message, "Filter: timeout · 12 of 1,200\nRead-only: no flock here");
    assert.equal(state.description, "12 of 1,200");
    assert.equal(state.badge?.value, 1_200);
    assert.equal(viewState({ ...base, stores }).description, "");
  });

  it("says what is wrong with the only store in full", () => {
    const failed = store("shop", 0, { phase: "failed", problem: { code: "io", message: "disk gone" } });
    assert.equal(viewState({ ...base, stores: [failed] }).message, "disk gone");
    const guessed = new StoreModel({ ...failed.description, guess: "the path is ENV" });
    assert.equal(viewState({ ...base, stores: [guessed] }).message, "the path is ENV");
  });

  it("warns of a network file system", () => {
    const remote = store("shop", 1, { networkFileSystem: "nfs" });
    assert.match(viewState({ ...base, stores: [remote] }).message, /network file system \(nfs\)/);
  });

  it("offers “all” only where a store with tasks can be changed", () => {
    const readOnly = store("shop", 1, { readOnly: "no flock here" });
    assert.equal(viewState({ ...base, stores: [readOnly, store("blog", 0)] }).hasChangeableTasks, false);
    assert.equal(viewState({ ...base, stores: [readOnly, store("blog", 1)] }).hasChangeableTasks, true);
  });
});

describe("what a command acts on", () => {
  const shop = store("shop", 4);
  const nodes = rootNodes(input([shop]));
  const [a, b, c] = [nodes[0]!, nodes[1]!, nodes[2]!];

  it("is the selection for a key, the item for a menu outside of it, and all for one inside", () => {
    assert.deepEqual(chosenNodes([], [a, b]), [a, b]);
    assert.deepEqual(chosenNodes([c, [a, b]], [a, b]), [c]);
    assert.deepEqual(chosenNodes([a, [a, b]], [a, b]), [a, b]);
    assert.deepEqual(chosenNodes([a, undefined], [b]), [a]);
  });

  it("is not the selection where a menu's item is gone: that would be another task than the one clicked", () => {
    assert.equal(chosenNodes([undefined, undefined], [b]), null);
    assert.equal(chosenNodes([null], [b]), null);
    assert.equal(chosenNodes([{ kind: "other" }, [a]], [b]), null);
  });

  it("is records alone, by store", () => {
    const blog = store("blog", 1, { unreadable: [{ id: "u\udcff", reason: "r" }] });
    const others: TreeNode[] = [
      { kind: "store", store: blog },
      { kind: "unreadable", store: blog, id: "u\udcff", reason: "r" },
    ];
    const records = recordsOf([a, ...others, b]);
    assert.deepEqual(
      records.map(({ name, readable }) => [name, readable]),
      [
        ["Charge", true],
        ["u\ufffd", false],
        ["Charge", true],
      ],
    );
    assert.deepEqual(
      groupByStore(records).map((group) => [group.store.name, group.records.length]),
      [
        ["shop", 2],
        ["blog", 1],
      ],
    );
  });
});

describe("confirmations and outcomes", () => {
  const shop = store("shop", 1);
  const record = (name: string, readable = true, of = shop): ReturnType<typeof recordReference> => ({
    store: of,
    id: `id of ${name}`,
    name,
    readable,
  });

  it("name eight and count the rest", () => {
    const many = Array.from({ length: 12 }, (_, index) => record(`Task${index}`));
    assert.deepEqual(nameList([...many, many[0]!]).split("\n"), [
      "Task0 ×2",
      ...Array.from({ length: 7 }, (_, index) => `Task${index + 1}`),
      "and 4 more",
    ]);
  });

  it("say what is deleted, how many and from where", () => {
    assert.equal(deleteConfirmation([record("Charge")], "note").message, "Delete the dead task Charge from shop?");
    const mixed = deleteConfirmation([record("Charge"), record("Mail"), record("u", false)], "It is gone.");
    assert.equal(mixed.detail, "Charge\nMail\nu\n\nIt is gone.");
    assert.equal(mixed.message, "Delete 2 dead tasks and 1 record that cannot be read from shop?");
    assert.equal(mixed.button, "Delete 3");
    const apart = [record("Charge"), record("Mail", true, store("blog", 1))];
    const retry = retryConfirmation(apart, { changed: 0, doubts: [] });
    assert.equal(retry.message, "Retry 2 dead tasks from 2 stores?");
    assert.equal(retry.detail, "Charge\nMail\n\nThey run when a Rage worker next starts.");
    const detail = (changed: number, doubts: readonly string[] = []): string =>
      retryConfirmation(apart, { changed, doubts: doubts.map((named) => ({ text: "", named })) }).detail;
    assert.match(detail(1), /\n\nThe code of 1 of them has changed since they died\.$/);
    assert.match(detail(2), /\n\nThe code of all of them has changed since they died\.$/);
    assert.match(detail(0, ["A.", "A."]), /starts\.\n\nFor all of them the check found: A\.$/);
    assert.match(
      detail(1, ["A.", "B.", "C.", "D.", "E.", "B."]),
      /died\.\nFor all of them the check found: B\.\nFor 1 of them the check found: A\.\nFor 1 .*: C\.\nFor 2 more it found other reasons why they would fail again\.$/,
    );
  });

  it("name the filter whose tasks they ask about", () => {
    const apart = [record("Charge"), record("Mail")];
    const retry = (records: typeof apart): string =>
      retryConfirmation(records, { changed: 0, doubts: [] }, null, "match “mail”").message;
    assert.equal(retry(apart), "Retry the 2 dead tasks from shop that match “mail”?");
    assert.equal(retry(apart.slice(1)), "Retry the 1 dead task from shop that matches “mail”?");
    assert.equal(
      deleteConfirmation(apart, "", "died like Charge · E").message,
      "Delete the 2 dead tasks from shop that died like Charge · E?",
    );
  });

  it("name what was done, what had gone and what failed", () => {
    const nothing = { done: [], missing: [], failed: [], cancelled: false, left: [] };
    assert.equal(doneText("retried", { ...nothing, done: [record("Charge")] }), "Retried Charge.");
    assert.equal(doneText("deleted", { ...nothing, done: [record("A"), record("B")] }), "Deleted 2 dead tasks.");
    assert.equal(doneText("deleted", nothing), null);
    assert.equal(troubleText("retried", nothing), null);
    assert.equal(troubleText("retried", { ...nothing, missing: [record("Charge")] }), "Charge was already gone.");
    assert.equal(
      troubleText("retried", {
        ...nothing,
        missing: [record("A"), record("B")],
        failed: [{ record: record("C"), error: "no context" }],
      }),
      "2 dead tasks were already gone. 1 task could not be retried. C (id of C): no context.",
    );
  });

  it("say what was cancelled, where something had been done by then, and that it was too late", () => {
    const cancelled = { done: [], missing: [], failed: [], cancelled: true, left: [] };
    const blog = record("B", true, store("blog", 1));
    const news = record("N", true, store("news", 1));
    assert.equal(doneText("retried", { ...cancelled, left: [record("A")] }), "Cancelled. Nothing was retried.");
    assert.equal(
      doneText("retried", { ...cancelled, done: [record("A"), record("C")], left: [blog] }),
      "Cancelled after shop: 2 retried; blog was left as it is.",
    );
    assert.equal(
      doneText("deleted", { ...cancelled, done: [record("A")], left: [blog, news] }),
      "Cancelled after shop: 1 deleted; blog and news were left as they are.",
    );
    assert.equal(
      doneText("deleted", { ...cancelled, done: [record("A"), record("C")] }),
      "It was too late to cancel: Deleted 2 dead tasks.",
    );
  });

  it("name three that failed by class and id, and have a list for more", () => {
    const failed = ["A", "B", "C", "D", "E"].map((name) => ({ record: record(name, name !== "B"), error: "why" }));
    const outcome = { done: [], missing: [], failed, cancelled: false, left: [] };
    assert.equal(
      troubleText("retried", outcome),
      "5 tasks could not be retried. A (id of A): why. id of B: why. C (id of C): why. And 2 more.",
    );
    assert.equal(needsList(outcome), true);
    assert.equal(needsList({ ...outcome, failed: failed.slice(0, 3), missing: [record("A")] }), false);
    assert.equal(needsList({ ...outcome, failed: [], missing: [record("A"), record("B")] }), true);
  });
});
