import assert from "node:assert/strict";
import { parsePaneMessage } from "../../src/detail/protocol";
import { parseFrame } from "../../src/code/frames";
import { RecordFollower } from "../../src/detail/recordFollower";
import { answerValueQuestion } from "../../src/detail/valueRequests";
import type { DetailOptions } from "../../src/service/protocol";
import { Emitter } from "../../src/stores/emitter";
import { StoreModel } from "../../src/stores/storeModel";
import type { StoreChange } from "../../src/stores/storeRegistry";
import { taskDetail } from "../support/taskDetail";

describe("what the page may ask about values", () => {
  const taken: readonly object[] = [
    { name: "values", wanted: null },
    { name: "values", wanted: [{ path: "args.0.12", from: 100 }] },
    { name: "valueContent", path: "kwargs.3", from: 0 },
    { name: "findValues", text: "ada" },
    { name: "copyValue", path: "userContext" },
    { name: "setRevealed", path: "logTags.1", shown: false },
  ];
  for (const request of taken) {
    it(`takes ${JSON.stringify(request)}`, () => {
      const message = { type: "request", sequence: 1, request };
      assert.deepEqual(parsePaneMessage(message), message);
    });
  }

  const rejected: readonly object[] = [
    { name: "values", wanted: [{ path: "args/0", from: 0 }] },
    { name: "values", wanted: [{ path: "args", from: -1 }] },
    { name: "values", wanted: [null] },
    { name: "values" },
    { name: "values", wanted: Array.from({ length: 1_001 }, () => ({ path: "args", from: 0 })) },
    { name: "valueContent", path: "args", from: 0.5 },
    { name: "findValues", text: "x".repeat(1_001) },
    { name: "findValues", text: 1 },
    { name: "copyValue", path: "__proto__" },
    { name: "setRevealed", path: "args.0", shown: "yes" },
  ];
  for (const request of rejected) {
    it(`rejects ${JSON.stringify(request).slice(0, 80)}`, () => {
      assert.equal(parsePaneMessage({ type: "request", sequence: 1, request }), null);
    });
  }

  it("is asked of the worker about the shown task, as masked as that is", async () => {
    const asked: unknown[] = [];
    const note =
      (name: string) =>
      (...parameters: unknown[]) => {
        asked.push([name, ...parameters]);
        return Promise.resolve(null);
      };
    const service = { values: note("values"), valueContent: note("valueContent"), findValues: note("findValues") };
    const options: DetailOptions = { reveal: false, maskedNames: ["token"], revealed: ["args.0"] };
    const reference = { storeKey: "shop", id: "1-1-1" };
    await answerValueQuestion(service, reference, options, { name: "values", wanted: null });
    await answerValueQuestion(service, reference, options, { name: "valueContent", path: "args", from: 5 });
    await answerValueQuestion(service, reference, options, { name: "findValues", text: "a" });
    assert.deepEqual(asked, [
      ["values", "shop", "1-1-1", options, null],
      ["valueContent", "shop", "1-1-1", options, "args", 5],
      ["findValues", "shop", "1-1-1", options, "a"],
    ]);
  });
});

describe("a follower of a task with secrets", () => {
  it("shows one of them until it is hidden again, until all are, or another task is shown", async () => {
    const asked: (readonly string[])[] = [];
    const store = new StoreModel({
      target: { key: "shop", path: "/shop", prefix: "deferred-", backend: "disk" },
      name: "shop",
      folder: null,
      source: "test",
      guess: null,
    });
    const follower = new RecordFollower(
      {
        service: {
          detail: (_key, _id, { revealed = [] }) => {
            asked.push(revealed);
            return Promise.resolve(taskDetail({ masked: revealed.length === 0 }));
          },
        },
        registry: {
          find: () => store,
          stores: [store],
          onDidChange: new Emitter<StoreChange>().event,
          onDidChangeStores: new Emitter<undefined>().event,
        },
        looked: () => true,
        trusted: () => true,
        maskedNames: () => ["token"],
        resolveFrames: (backtrace) =>
          Promise.resolve(
            backtrace.map((text) => ({ frame: parseFrame(text), file: null, place: text, missing: "no" })),
          ),
      },
      { storeKey: "shop", id: "1-1-1" },
    );
    const secrets = (): string => (follower.state.kind === "task" ? follower.state.secrets : "");
    await follower.reload();
    assert.equal(secrets(), "hidden");
    await follower.setRevealed("kwargs.0", true);
    assert.equal(secrets(), "shown");
    assert.deepEqual(follower.options, { reveal: false, maskedNames: ["token"], revealed: ["kwargs.0"] });
    await follower.setRevealed("kwargs.0", false);
    assert.equal(secrets(), "hidden");
    await follower.setRevealed("kwargs.0", true);
    await follower.setSecrets(false);
    await follower.setRevealed("args.1", true);
    await follower.follow({ storeKey: "shop", id: "1-1-2" });
    assert.deepEqual(asked, [[], ["kwargs.0"], [], ["kwargs.0"], [], ["args.1"], []]);
    follower.dispose();
  });
});
