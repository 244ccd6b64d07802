import assert from "node:assert/strict";
import { absoluteTime } from "../../src/text/times";
import { nextMorning, parseWhen } from "../../src/text/when";

/** A local time as Unix seconds. */
function local(year: number, month: number, day: number, hours: number, minutes = 0, seconds = 0): number {
  return new Date(year, month - 1, day, hours, minutes, seconds).getTime() / 1000;
}

describe("the time of a later retry", () => {
  const now = local(2026, 11, 29, 20, 15, 30);

  const understood: readonly (readonly [string, number])[] = [
    ["90s", now + 90],
    ["10m", now + 600],
    [" in 2 h ", now + 7_200],
    ["1D", now + 86_400],
    ["21:00", local(2026, 11, 29, 21)],
    ["20:16", local(2026, 11, 29, 20, 16)],
    ["20:15", local(2026, 11, 30, 20, 15)],
    ["9:05", local(2026, 11, 30, 9, 5)],
    ["2026-12-01 09:00", local(2026, 12, 1, 9)],
    ["2026-12-01T09:00", local(2026, 12, 1, 9)],
    ["2028-02-29 00:00", local(2028, 2, 29, 0)],
  ];
  for (const [text, expected] of understood) {
    it(`is ${absoluteTime(expected)} for “${text}”`, () => {
      assert.equal(parseWhen(text, now), expected);
    });
  }

  it("is whole seconds, whatever the clock says", () => {
    assert.equal(parseWhen("10m", now + 0.7), now + 600);
  });

  for (const text of [
    "",
    "soon",
    "0m",
    "-5m",
    "10",
    "24:00",
    "12:60",
    "2026-02-30 10:00",
    "2026-13-01 10:00",
    "2026-11-29 20:15",
    "1999-01-01 10:00",
    "9999999h",
  ]) {
    it(`is none for “${text}”`, () => {
      assert.equal(parseWhen(text, now), null);
    });
  }

  it("is the morning of tomorrow over the end of a month", () => {
    assert.equal(nextMorning(local(2026, 11, 30, 0, 5), 9), local(2026, 12, 1, 9));
  });
});
