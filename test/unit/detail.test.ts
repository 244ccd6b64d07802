import assert from "node:assert/strict";
import { parseFrame } from "../../src/code/frames";
import { isHostMessage, parsePaneMessage, parsePaneReference, type PaneMessage } from "../../src/detail/protocol";
import { copyText, detailState } from "../../src/detail/taskState";
import { taskDetail } from "../support/taskDetail";

describe("detail protocol", () => {
  const messages: readonly PaneMessage[] = [
    { type: "ready" },
    { type: "request", sequence: 1, request: { name: "retry" } },
    { type: "request", sequence: 2, request: { name: "setSecrets", shown: true } },
    { type: "request", sequence: 3, request: { name: "copy", field: "args" } },
    { type: "request", sequence: 4, request: { name: "openFrame", index: 0 } },
    { type: "request", sequence: 5, request: { name: "copyFact", index: 2 } },
    { type: "request", sequence: 6, request: { name: "copyAll" } },
    { type: "request", sequence: 7, request: { name: "openExcerpt", line: null } },
    { type: "request", sequence: 8, request: { name: "openExcerpt", line: 12 } },
    { type: "request", sequence: 9, request: { name: "compareSimilar", id: "17-1-1" } },
  ];
  for (const message of messages) {
    it(`takes ${JSON.stringify(message)}`, () => {
      assert.deepEqual(parsePaneMessage(message), message);
    });
  }

  const others: readonly unknown[] = [
    null,
    "ready",
    { type: "other" },
    { type: "request", request: { name: "retry" } },
    { type: "request", sequence: "1", request: { name: "retry" } },
    { type: "request", sequence: 1 },
    { type: "request", sequence: 1, request: { name: "run" } },
    { type: "request", sequence: 1, request: { name: "setSecrets", shown: 1 } },
    { type: "request", sequence: 1, request: { name: "copy", field: "password" } },
    { type: "request", sequence: 1, request: { name: "openFrame", index: 0.5 } },
    { type: "request", sequence: 1, request: { name: "openExcerpt", line: "12" } },
    { type: "request", sequence: 1, request: { name: "openExcerpt" } },
    { type: "request", sequence: 1, request: { name: "showSimilar", id: 1 } },
    { type: "request", sequence: 1, request: { name: "openFrame", index: "/etc/passwd" } },
  ];
  for (const other of others) {
    it(`rejects ${JSON.stringify(other)}`, () => {
      assert.equal(parsePaneMessage(other), null);
    });
  }

  it("passes on nothing beyond what the protocol has", () => {
    const message = { type: "request", sequence: 1, request: { name: "retry", ids: ["x"] }, extra: 1 };
    assert.deepEqual(parsePaneMessage(message), { type: "request", sequence: 1, request: { name: "retry" } });
  });

  it("tells the extension's messages from anything else", () => {
    assert.ok(isHostMessage({ type: "reply", sequence: 1, ok: true }));
    for (const type of ["excerpt", "similar"]) {
      assert.ok(isHostMessage({ type, reference: { storeKey: "s", id: "1" }, [type]: null }));
      assert.equal(isHostMessage({ type }), false);
    }
    for (const other of [null, 1, { type: "state" }, { type: "reply", sequence: 1 }])
      assert.equal(isHostMessage(other), false);
  });

  it("restores a pane only from what a pane wrote", () => {
    assert.deepEqual(parsePaneReference({ storeKey: "s", id: "1", more: 1 }), { storeKey: "s", id: "1" });
    for (const other of [undefined, null, {}, { storeKey: "s" }, { storeKey: 1, id: "1" }]) {
      assert.equal(parsePaneReference(other), null);
    }
  });
});

describe("detailState", () => {
  const surroundings = {
    reference: { storeKey: "shop", id: "17-1-1" },
    storeName: null,
    present: true,
    unchangeable: null,
    notice: null,
    revealed: false,
  };
  const frames = [
    { frame: parseFrame("app/a.rb:1:in 'A#b'"), file: "/work/app/a.rb", place: "app/a.rb:1", missing: null },
  ];

  it("has every part as text", () => {
    const state = detailState(taskDetail(), frames, surroundings);
    assert.ok(state.kind === "task");
    assert.equal(state.message, "gateway said 503\nretry later");
    assert.deepEqual(state.backtrace, [
      {
        text: "app/a.rb:1:in 'A#b'",
        place: "app/a.rb:1",
        method: "A#b",
        origin: "application",
        canOpen: true,
        missing: null,
      },
    ]);
    assert.deepEqual(
      state.context!.map(({ field, empty }) => [field, empty]),
      [
        ["args", false],
        ["kwargs", false],
        ["logTags", true],
        ["logContext", true],
        ["userContext", true],
      ],
    );
    assert.deepEqual(
      state.facts.map(({ label }) => label),
      ["Id", "Attempts", "Failed", "Enqueued", "queue"],
    );
    assert.ok(state.canChange && state.present);
  });

  it("tells hidden secrets from shown ones and from none", () => {
    const secrets = (masked: boolean, revealed: boolean): string => {
      const state = detailState(taskDetail({ masked }), [], { ...surroundings, revealed });
      return state.kind === "task" ? state.secrets : "";
    };
    assert.deepEqual([secrets(true, false), secrets(false, true), secrets(false, false)], ["hidden", "shown", "none"]);
  });

  it("can be read, not changed, where the store cannot be", () => {
    const state = detailState(taskDetail(), [], { ...surroundings, unchangeable: "Read-only: no flock" });
    assert.ok(state.present && !state.canChange);
    assert.deepEqual(state.notices, [{ tone: "info", text: "Read-only: no flock" }]);
  });

  it("copies what it shows, secrets masked where they are", () => {
    const state = detailState(taskDetail(), frames, surroundings);
    assert.equal(copyText(state, "error"), "PaymentError: gateway said 503\nretry later");
    assert.equal(copyText(state, "kwargs"), "{token: [FILTERED]}");
    assert.equal(copyText(state, "backtrace"), "app/a.rb:1:in 'A#b'");
    assert.equal(copyText(state, "id"), "17-1-1");
    const undecodable = detailState(taskDetail({ context: null, contextError: "broken" }), [], surroundings);
    assert.equal(copyText(undecodable, "args"), null);
  });
});
