import assert from "node:assert/strict";
import { isRawHostMessage, parseRawPageMessage } from "../../src/raw/protocol";

describe("what the raw view's page and the extension say to each other", () => {
  const request = (name: unknown, ...parameters: unknown[]): unknown => ({
    type: "request",
    sequence: 3,
    generation: 2,
    request: { name, parameters },
  });

  it("is every request of the protocol, as it was sent", () => {
    const messages = [
      { type: "ready" },
      request("rows", ["current", "torn"], 0, 100),
      request("find", { by: "id", id: "1-1-1" }, ["corrupt"]),
      request("find", { by: "line", line: 7 }, []),
      request("find", { by: "damage", from: Number.MAX_SAFE_INTEGER, direction: "previous" }, []),
      request("line", 7, true),
      request("bytes", 7, 2048, 2048),
      request("copy", "offset", 7),
      request("showTask", 7),
      request("openText", null),
      request("openText", 7),
      request("openHex"),
      request("setStopped", false),
    ];
    for (const message of messages) assert.deepEqual(parseRawPageMessage(message), message);
  });

  it("is nothing else: a page shows hostile data", () => {
    const messages = [
      null,
      "ready",
      { type: "other" },
      { type: "request", sequence: "3", generation: 2, request: { name: "openHex", parameters: [] } },
      { type: "request", sequence: 3, generation: 2, request: { name: "openHex" } },
      { type: "request", sequence: 3, generation: -1, request: { name: "openHex", parameters: [] } },
      request("rows", ["gone"], 0, 1),
      request("rows", "current", 0, 1),
      request("rows", ["current"], 0.5, 1),
      request("find", { by: "path", path: "/etc/passwd" }, []),
      request("find", { by: "id", id: 7 }, []),
      request("find", { by: "damage", from: 0, direction: "up" }, []),
      request("line", 7),
      request("bytes", 7, -1, 10),
      request("copy", "file", 7),
      request("openText", "7"),
      request("setStopped", "yes"),
      request("constructor", 1),
    ];
    for (const message of messages) assert.equal(parseRawPageMessage(message), null, JSON.stringify(message));
    for (const message of [null, { type: "state" }, { type: "go", line: "7" }, { type: "reply", sequence: 1 }]) {
      assert.equal(isRawHostMessage(message), false, JSON.stringify(message));
    }
    assert.ok(isRawHostMessage({ type: "go", generation: 1, line: 7 }));
  });
});
