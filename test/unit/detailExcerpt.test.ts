import assert from "node:assert/strict";
import { excerptOf } from "../../src/detail/excerpt";
import { excerptText, issueReport } from "../../src/detail/issueReport";
import { detailState } from "../../src/detail/taskState";
import { taskDetail } from "../support/taskDetail";

const surroundings = {
  reference: { storeKey: "shop", id: "17-1-1" },
  storeName: null,
  present: true,
  unchangeable: null,
  notice: null,
  revealed: false,
};

describe("excerptOf", () => {
  const numbered = (count: number): string =>
    Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
  const numbers = (text: string, line: number): number[] => excerptOf(text, line).lines.map(({ number }) => number);

  it("has three lines before and after, and fewer at the ends", () => {
    assert.deepEqual(numbers(numbered(20), 10), [7, 8, 9, 10, 11, 12, 13]);
    assert.deepEqual(numbers(numbered(20), 2), [1, 2, 3, 4, 5]);
    assert.deepEqual(numbers(numbered(20), 20), [17, 18, 19, 20]);
    assert.deepEqual(numbers("only", 1), [1]);
  });

  it("says honestly that the line is not there", () => {
    assert.deepEqual(excerptOf(numbered(9), 42), {
      lines: [],
      notice: "Line 42 is not there: the file has 9 lines now.",
    });
    assert.equal(excerptOf("a\n", 2).notice, "Line 2 is not there: the file has 1 line now.");
    assert.equal(excerptOf("", 1).notice, "Line 1 is not there: the file is empty now.");
  });

  it("counts lines as the editor does, whatever ends them", () => {
    assert.deepEqual(
      excerptOf("a\r\nb\rc\nd", 4).lines.map(({ text }) => text),
      ["a", "b", "c", "d"],
    );
  });

  it("takes off what all lines are indented by, and no more", () => {
    const texts = excerptOf("class A\n    def b\n\n      raise\n    end\n", 4).lines.map(({ text }) => text);
    assert.deepEqual(texts, ["class A", "    def b", "", "      raise", "    end"]);
    assert.deepEqual(
      excerptOf("\t\ta\n\n\t b\n", 1).lines.map(({ text }) => text),
      ["\ta", "", " b"],
    );
  });

  it("cuts a line that nobody wrote, without splitting a character", () => {
    const [line] = excerptOf(`${"x".repeat(299)}😀${"y".repeat(1000)}`, 1).lines;
    assert.equal(line!.text, `${"x".repeat(299)}…`);
  });
});

describe("issueReport", () => {
  const excerpt = {
    place: "app/tasks/charge.rb:12",
    method: "Charge#perform",
    lines: [
      { number: 11, text: "def perform" },
      { number: 12, text: "  raise" },
    ],
    failing: 12,
    notice: null,
  };

  it("has everything, masked as the pane has it", () => {
    const report = issueReport(detailState(taskDetail(), [], surroundings), excerpt);
    assert.equal(
      report.replace(/`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`/g, "TIME"),
      [
        "## `Charge`",
        "",
        "```",
        "PaymentError: gateway said 503",
        "retry later",
        "```",
        "",
        "### `app/tasks/charge.rb:12`",
        "",
        "```ruby",
        "  11  def perform",
        "> 12    raise",
        "```",
        "",
        "### Positional",
        "",
        "```ruby",
        "[1]",
        "```",
        "",
        "### Keyword",
        "",
        "```ruby",
        "{token: [FILTERED]}",
        "```",
        "",
        "### Record",
        "",
        "- Id: `17-1-1`",
        "- Attempts: `3`",
        "- Failed: TIME",
        "- Enqueued: TIME",
        "- queue: `:default`",
        "",
      ].join("\n"),
    );
  });

  it("cannot be broken out of by what a task says", () => {
    const message = "```\n# Not a heading\n````` <img src=x>";
    const report = issueReport(
      detailState(taskDetail({ taskClass: "`<b>`", fullMessage: message }), [], surroundings),
      null,
    );
    assert.ok(report.includes("## `` `<b>` ``"), report);
    assert.ok(report.includes(`\`\`\`\`\`\`\nPaymentError: ${message}\n\`\`\`\`\`\`\n`), report);
  });

  it("says of arguments and records that cannot be read why not", () => {
    const undecodable = detailState(taskDetail({ context: null, contextError: "it is broken" }), [], surroundings);
    assert.match(issueReport(undecodable, null), /### Arguments\n\nThey cannot be read: `it is broken`/);
    const unreadable = { kind: "unreadable", id: "17-1-1", reason: "bad bytes", bytes: 12 } as const;
    assert.match(issueReport(detailState(unreadable, [], surroundings), null), /cannot be read: `bad bytes`/);
  });

  it("marks the failing line for the eye", () => {
    assert.equal(
      excerptText({ ...excerpt, lines: [{ number: 9, text: "" }, ...excerpt.lines] }),
      "   9\n  11  def perform\n> 12    raise",
    );
  });
});
