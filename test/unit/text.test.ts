import assert from "node:assert/strict";
import type { TaskSummary } from "../../src/service/protocol";
import { counted, damageLine, errorLine, formatBytes, oneLine, shownId, withoutLinks } from "../../src/text/labels";
import { absoluteTime, relativeTime, shortTime } from "../../src/text/times";

const now = 1_764_000_000;

describe("relativeTime", () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, "just now"],
    [59, "just now"],
    [-59, "just now"],
    [60, "1 min ago"],
    [3599, "59 min ago"],
    [3600, "1 h ago"],
    [86_399, "23 h ago"],
    [86_400, "1 d ago"],
    [30 * 86_400 - 1, "29 d ago"],
    [-60, "in 1 min"],
    [-7200, "in 2 h"],
  ];
  for (const [age, text] of cases) {
    it(`calls ${age} s ago “${text}”`, () => {
      assert.equal(relativeTime(now - age, now), text);
    });
  }

  it("gives the date from 30 days on, in both directions", () => {
    assert.match(relativeTime(now - 30 * 86_400, now), /^2025-10-2\d$/);
    assert.match(relativeTime(now + 40 * 86_400, now), /^2026-01-0\d$/);
  });

  it("shows a number that is no time as it is", () => {
    assert.equal(relativeTime(1e18, now), "1000000000000000000");
    assert.equal(absoluteTime(1e18), "1000000000000000000");
  });
});

describe("shortTime", () => {
  const cases: readonly (readonly [number, string])[] = [
    [59, "now"],
    [-59, "now"],
    [60, "1m"],
    [3600, "1h"],
    [29 * 86_400, "29d"],
    [-7200, "in 2h"],
  ];
  for (const [age, text] of cases) {
    it(`calls ${age} s ago “${text}”`, () => {
      assert.equal(shortTime(now - age, now), text);
    });
  }

  it("gives the date from 30 days on", () => {
    assert.match(shortTime(now - 30 * 86_400, now), /^2025-10-2\d$/);
  });
});

describe("absoluteTime", () => {
  it("is local time to the second", () => {
    const date = new Date(2025, 1, 3, 4, 5, 6);
    assert.equal(absoluteTime(date.getTime() / 1000), "2025-02-03 04:05:06");
  });
});

describe("labels", () => {
  const task: TaskSummary = {
    id: "1-2-3",
    taskClass: "Charge",
    attempts: 3,
    enqueuedAt: 1,
    failedAt: 2,
    exceptionClass: "PaymentError",
    exceptionMessage: "gateway said\n\t503",
  };

  it("puts class and message of an error on one line", () => {
    assert.equal(errorLine(task), "PaymentError: gateway said 503");
  });

  it("leaves out a message that says nothing", () => {
    assert.equal(errorLine({ ...task, exceptionMessage: " \n" }), "PaymentError");
    assert.equal(errorLine({ ...task, exceptionMessage: "PaymentError" }), "PaymentError");
  });

  it("has a name for an anonymous class", () => {
    assert.equal(errorLine({ ...task, exceptionClass: null }), "(anonymous error): gateway said 503");
  });

  it("cuts a long line without tearing a character in two", () => {
    assert.equal(oneLine("abcdef", 6), "abcdef");
    assert.equal(oneLine("abcdefg", 6), "abcde…");
    assert.equal(oneLine("abcd😀fg", 6), "abcd…");
  });

  it("takes control characters out of a line", () => {
    assert.equal(oneLine("a\u0000b\u001b[31mc\r\nd"), "a b [31mc d");
  });

  it("makes no link of a task's text in a notification", () => {
    assert.equal(withoutLinks("[Retry](command:evil) [a] (b)"), "[Retry]\u200b(command:evil) [a] (b)");
  });

  it("shows bytes of an id that are not text as replacement characters", () => {
    assert.equal(shownId("17-\udcff😀"), "17-\ufffd😀");
  });

  it("counts with the right ending and with separators", () => {
    assert.equal(counted(1, "dead task"), "1 dead task");
    assert.equal(counted(1034, "dead task"), "1,034 dead tasks");
    assert.equal(counted(0, "entry", "entries"), "0 entries");
  });

  it("shortens sizes", () => {
    assert.deepEqual([0, 999, 1000, 3456, 120_000_000].map(formatBytes), [
      "0 B",
      "999 B",
      "1.0 kB",
      "3.5 kB",
      "120 MB",
    ]);
  });

  it("tells skipped lines from an unfinished one", () => {
    assert.equal(damageLine({ lines: 6, bytes: 210, tornTailBytes: 0 }), "6 lines, 210 bytes skipped");
    assert.equal(damageLine({ lines: 0, bytes: 0, tornTailBytes: 1 }), "unfinished last line of 1 byte");
    assert.equal(
      damageLine({ lines: 1, bytes: 9, tornTailBytes: 40 }),
      "1 line, 9 bytes skipped; unfinished last line of 40 bytes",
    );
  });
});
