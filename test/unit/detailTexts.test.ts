import assert from "node:assert/strict";
import { failedAtSamePlace, failingPlace } from "../../src/service/similarDeaths";
import { normalisedMessage } from "../../src/text/normalisedMessage";
import { visibleRuns, visibleText } from "../../src/text/visible";

describe("normalisedMessage", () => {
  const alike: readonly (readonly [string, string])[] = [
    ["user 17 not found", "user 42 not found"],
    ["took 1.5 s", "took 1,200 s"],
    ["expected 5", "expected -5"],
    ['key not found: "de"', 'key not found: "pt-BR"'],
    ["undefined method 'a' for nil", "undefined method `b' for nil"],
    ["mail to ada@example.com bounced", "mail to g.hopper+x@navy.mil bounced"],
    ["No such file @ rb_sysopen - /tmp/a-1.png", "No such file @ rb_sysopen - /var/lib/b"],
    ["cannot read C:\\temp\\a.txt", "cannot read D:/x/b.txt"],
    ["GET https://a.example/1?b=2 said 503", "GET http://b.example said 404"],
    ["#<Order:0x00007f1a> is gone", "#<Order:0x0000ffff> is gone"],
    ["job 550e8400-e29b-41d4-a716-446655440000", "job 00000000-0000-0000-0000-00000000000a"],
    ["blob 9f86d081884c7d65 missing", "blob 1234abcd5678ef00 missing"],
    ["at 2026-11-28T10:00:00Z", "at 2027-01-02T23:59:59Z"],
    ["two  spaces 1", "two\nspaces 2"],
  ];
  for (const [one, other] of alike) {
    it(`takes ${JSON.stringify(one)} and ${JSON.stringify(other)} for one`, () => {
      assert.equal(normalisedMessage(one), normalisedMessage(other));
    });
  }

  const different: readonly (readonly [string, string])[] = [
    ["user 17 not found", "order 17 not found"],
    ["can't modify a", "can't modify b"],
    ["it's Bob's", "it's Ann's"],
    ["either and/or", "either or"],
    ["key not found: :text", "key not found: :title"],
  ];
  for (const [one, other] of different) {
    it(`tells ${JSON.stringify(one)} from ${JSON.stringify(other)}`, () => {
      assert.notEqual(normalisedMessage(one), normalisedMessage(other));
    });
  }

  it("sees the same of a whole message as of its beginning in a list", () => {
    const whole = `${"word 12 ".repeat(80)}end`;
    assert.equal(normalisedMessage(whole), normalisedMessage(whole.slice(0, 500)));
  });

  it("takes no time over what is made to take it", () => {
    const started = performance.now();
    for (const evil of ["a", "/", '"', "'", "1", "a@", "a.", "-", "/a", "a1", "a://", "é"]) {
      normalisedMessage(evil.repeat(100_000));
    }
    assert.ok(performance.now() - started < 200);
  });
});

describe("visibleRuns", () => {
  const shown: readonly (readonly [string, string, string])[] = [
    ["an escape sequence", "a\x1b[31mred", "a\\e[31mred"],
    ["a carriage return and a delete", "a\r\nb\x7f", "a\\r\nb\\x7F"],
    ["what turns the direction about", "a\u202eb\u2066c", "a\\u202Eb\\u2066c"],
    ["what has no width", "a\u200bb\ufeffc\u2060d\u00ade", "a\\u200Bb\\uFEFFc\\u2060d\\u00ADe"],
    ["a separator that moves what follows", "a\u2028b", "a\\u2028b"],
    ["tags beyond the basic plane", "a\u{e0041}b", "a\\u{E0041}b"],
    ["half a pair", "a\ud800b", "a\\uD800b"],
    ["a joiner that joins nothing", "a\u200db", "a\\u200Db"],
  ];
  for (const [what, text, expected] of shown) {
    it(`shows ${what}`, () => {
      assert.equal(visibleText(text), expected);
      const originals = visibleRuns(text).map((run) => run.hidden?.original ?? run.shown);
      assert.equal(originals.join(""), text, "and gives back what it stands for");
    });
  }

  it("leaves alone what shows itself", () => {
    for (const text of ["", "a\tb\nc", "naïve – “quotes” 日本語", "👩‍👩‍👧", "می‌خواهم", "क्‍ष"]) {
      assert.deepEqual(visibleRuns(text), text === "" ? [] : [{ shown: text, hidden: null }]);
    }
  });

  it("names what it shows", () => {
    assert.deepEqual(
      visibleRuns("\u202e\x01").map((run) => run.hidden?.name),
      ["U+202E RIGHT-TO-LEFT OVERRIDE", "U+0001"],
    );
  });
});

describe("failingPlace", () => {
  it("is the same in each release, under each Ruby, on each line", () => {
    const places = [
      "/srv/releases/7/app/tasks/charge.rb:12:in 'Charge#perform'",
      "/app/app/tasks/charge.rb:14:in `perform'",
      "/srv/releases/8/app/tasks/charge.rb:12:in `block (2 levels) in perform'",
      "C:\\shop\\app\\tasks\\charge.rb:9:in 'block in Charge#perform'",
    ].map((line) => failingPlace(["<internal:kernel>:187:in 'loop'", "/x/gems/a-1/lib/a.rb:3:in 'b'", line]));
    assert.deepEqual([...new Set(places)], ["tasks/charge.rb perform"]);
  });

  it("differs by file and by method, and is empty without code of the application", () => {
    assert.notEqual(failingPlace(["app/a.rb:1:in 'A#x'"]), failingPlace(["app/b.rb:1:in 'A#x'"]));
    assert.notEqual(failingPlace(["app/a.rb:1:in 'A#x'"]), failingPlace(["app/a.rb:1:in 'A.y'"]));
    assert.equal(failingPlace([]), "");
    assert.equal(failingPlace(["/x/gems/a-1/lib/a.rb:3:in 'b'", "odd"]), "");
  });

  it("picks those that failed where the one did, in their order", () => {
    const candidates = [
      { id: "1", backtrace: ["/a/app/x.rb:1:in 'X#y'"] },
      { id: "2", backtrace: ["/a/app/z.rb:1:in 'X#y'"] },
      { id: "3", backtrace: [] },
      { id: "4", backtrace: ["/b/app/x.rb:7:in `y'"] },
    ];
    assert.deepEqual(failedAtSamePlace(["app/x.rb:3:in 'X#y'"], candidates), ["1", "4"]);
    assert.deepEqual(failedAtSamePlace([], candidates), ["3"]);
  });
});
