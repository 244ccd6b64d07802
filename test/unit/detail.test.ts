import assert from "node:assert/strict";
import { win32 } from "node:path";
import { candidateFiles, framePlace, parseFrame } from "../../src/code/frames";
import { isHostMessage, parsePaneMessage, parsePaneReference, type PaneMessage } from "../../src/detail/protocol";
import { copyText, detailState } from "../../src/detail/taskState";
import { taskDetail } from "../support/taskDetail";

describe("parseFrame", () => {
  const frames: readonly (readonly [string, string | null, number, string, string])[] = [
    ["app/tasks/charge.rb:12:in 'Charge#perform'", "app/tasks/charge.rb", 12, "Charge#perform", "application"],
    [
      "/srv/app/tasks/charge.rb:3:in `block in perform'",
      "/srv/app/tasks/charge.rb",
      3,
      "block in perform",
      "application",
    ],
    ["/srv/app/config.ru:1", "/srv/app/config.ru", 1, "", "application"],
    [
      "/usr/lib/ruby/gems/3.3.0/gems/rage-rb-1.2/lib/rage.rb:7:in 'x'",
      "/usr/lib/ruby/gems/3.3.0/gems/rage-rb-1.2/lib/rage.rb",
      7,
      "x",
      "gem",
    ],
    [
      "/app/vendor/bundle/ruby/3.3.0/gems/a-1/lib/a.rb:1:in 'x'",
      "/app/vendor/bundle/ruby/3.3.0/gems/a-1/lib/a.rb",
      1,
      "x",
      "gem",
    ],
    ["/usr/lib/ruby/3.3.0/net/http.rb:9:in 'x'", "/usr/lib/ruby/3.3.0/net/http.rb", 9, "x", "ruby"],
    ["<internal:kernel>:187:in 'loop'", "<internal:kernel>", 187, "loop", "ruby"],
    ["(eval at /a.rb:3):1:in 'x'", "(eval at /a.rb:3)", 1, "x", "ruby"],
    ["C:/app/tasks/a.rb:4:in 'x'", "C:/app/tasks/a.rb", 4, "x", "application"],
    ["a:b.rb:5:in 'x'", "a:b.rb", 5, "x", "application"],
    ["something else", null, 1, "", "application"],
    ["", null, 1, "", "application"],
  ];
  for (const [text, file, line, method, origin] of frames) {
    it(`reads ${JSON.stringify(text)}`, () => {
      assert.deepEqual(parseFrame(text), { text, file, line, method, origin });
    });
  }
});

describe("candidateFiles", () => {
  const roots = ["/work/shop", "/work/lib"];

  it("tries the path itself, then its endings, the longest first", () => {
    assert.deepEqual(candidateFiles(parseFrame("/work/shop/app/a.rb:1"), roots), [
      "/work/shop/app/a.rb",
      "/work/shop/shop/app/a.rb",
      "/work/lib/shop/app/a.rb",
      "/work/lib/app/a.rb",
      "/work/shop/a.rb",
      "/work/lib/a.rb",
    ]);
  });

  it("finds an application that lay elsewhere when the task died", () => {
    assert.ok(candidateFiles(parseFrame("/srv/releases/7/app/a.rb:1"), roots).includes("/work/shop/app/a.rb"));
    assert.ok(candidateFiles(parseFrame("/config.ru:1"), roots).includes("/work/shop/config.ru"));
    assert.deepEqual(candidateFiles(parseFrame("app/a.rb:1"), ["/work/shop"]), [
      "/work/shop/app/a.rb",
      "/work/shop/a.rb",
    ]);
  });

  it("never leaves the workspace", () => {
    for (const path of [
      "/etc/passwd",
      "../../etc/passwd",
      "/work/shop/../../etc/passwd",
      "app/../../x",
      "/work/shopping/a.rb",
    ]) {
      for (const file of candidateFiles(parseFrame(`${path}:1`), roots)) {
        assert.ok(
          roots.some((root) => file.startsWith(`${root}/`)),
          file,
        );
      }
    }
    assert.deepEqual(candidateFiles(parseFrame("app/../../x:1"), roots), []);
  });

  it("takes a gem's file only by its very path", () => {
    assert.deepEqual(candidateFiles(parseFrame("/x/gems/a-1/lib/app.rb:1"), roots), []);
    const vendored = "/work/shop/vendor/bundle/gems/a-1/lib/a.rb";
    assert.deepEqual(candidateFiles(parseFrame(`${vendored}:1`), roots), [vendored]);
  });

  it("has none for code without a file", () => {
    for (const text of ["<internal:kernel>:1:in 'loop'", "(eval at a.rb:1):1", "nothing"]) {
      assert.deepEqual(candidateFiles(parseFrame(text), roots), []);
    }
  });

  it("understands Windows, where Ruby prints forward slashes", () => {
    const files = candidateFiles(parseFrame("C:/shop/app/a.rb:1"), ["C:\\shop"], win32);
    assert.equal(files[0], "C:\\shop\\app\\a.rb");
    assert.ok(
      candidateFiles(parseFrame("//server/share/app/a.rb:1"), ["C:\\shop"], win32).every((file) =>
        file.startsWith("C:\\shop\\"),
      ),
    );
  });
});

describe("framePlace", () => {
  it("starts at the root of the workspace, at the gem, or at Ruby's version", () => {
    const place = (text: string, file: string | null): string => framePlace(parseFrame(text), file, ["/work/shop"]);
    assert.equal(place("/srv/app/a.rb:3:in 'x'", "/work/shop/app/a.rb"), "app/a.rb:3");
    assert.equal(place("/srv/app/a.rb:3:in 'x'", null), "/srv/app/a.rb:3");
    assert.equal(place("/usr/lib/ruby/gems/3.3.0/gems/a-1/lib/a.rb:4", null), "a-1/lib/a.rb:4");
    assert.equal(place("/usr/lib/ruby/3.3.0/net/http.rb:5", null), "3.3.0/net/http.rb:5");
    assert.equal(place("odd", null), "odd");
  });
});

describe("detail protocol", () => {
  const messages: readonly PaneMessage[] = [
    { type: "ready" },
    { type: "request", sequence: 1, request: { name: "retry" } },
    { type: "request", sequence: 2, request: { name: "setSecrets", shown: true } },
    { type: "request", sequence: 3, request: { name: "copy", field: "args" } },
    { type: "request", sequence: 4, request: { name: "openFrame", index: 0 } },
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
  const frames = [{ frame: parseFrame("app/a.rb:1:in 'A#b'"), file: "/work/app/a.rb", place: "app/a.rb:1" }];

  it("has every part as text", () => {
    const state = detailState(taskDetail(), frames, surroundings);
    assert.ok(state.kind === "task");
    assert.equal(state.message, "gateway said 503\nretry later");
    assert.deepEqual(state.backtrace, [
      { text: "app/a.rb:1:in 'A#b'", place: "app/a.rb:1", method: "A#b", origin: "application", canOpen: true },
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
