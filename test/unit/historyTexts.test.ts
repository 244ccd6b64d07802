import assert from "node:assert/strict";
import { historyJson, historyMarkdown } from "../../src/history/historyExport";
import { dayLabel, entryFacts, entryTitle, shortPlace, type PlaceNames } from "../../src/history/historyTexts";
import type { HistoryEntry, HistoryKind } from "../../src/service/historyProtocol";

/** 28 November 2026, 14:05:12, local time. */
const at = new Date(2026, 10, 28, 14, 5, 12).getTime() / 1000;
const names: PlaceNames = (place, key) => key ?? shortPlace(place);

const bare: HistoryEntry = {
  key: "1 a 0",
  at,
  window: { name: "shop", processId: 17 },
  own: false,
  kind: "retry",
  store: { directory: "/srv/shop/storage", prefix: "deferred-" },
  storeKey: null,
  count: 1,
  tasks: [{ id: "1-1-1", taskClass: "PaymentTask", newId: "2-2-2" }],
  classes: [{ taskClass: "PaymentTask", count: 1 }],
  missing: 0,
  failures: [],
  failureCount: 0,
  publishAt: null,
  log: null,
  undo: null,
  undone: null,
  edits: [],
  target: null,
  targetKey: null,
};

function title(entry: Partial<HistoryEntry>): string {
  return entryTitle({ ...bare, ...entry }, names);
}

function ofClasses(...classes: readonly (readonly [string | null, number])[]): Partial<HistoryEntry> {
  return {
    count: classes.reduce((sum, [, count]) => sum + count, 0),
    classes: classes.map(([taskClass, count]) => ({ taskClass, count })),
  };
}

describe("what the history says", () => {
  it("tells each kind of operation from the others", () => {
    const target = { directory: "/srv/other/storage", prefix: "deferred-" };
    const titles = (["retry", "edit", "delete", "undo", "takeBack", "finish", "run"] as const).map((kind) =>
      title({ kind }),
    );
    assert.deepEqual(titles, [
      "Retried PaymentTask",
      "Edited and retried PaymentTask",
      "Deleted PaymentTask",
      "Brought back PaymentTask",
      "Took back PaymentTask",
      "Finished an interrupted retry of PaymentTask",
      "Ran PaymentTask",
    ]);
    assert.equal(title({ kind: "send", target }), "Sent PaymentTask to other/storage");
    assert.equal(title({ kind: "copy", target, targetKey: "local" }), "Copied PaymentTask to local");
    assert.equal(title({ kind: "takeBack", target }), "Took back PaymentTask from other/storage");
    assert.equal(title({ kind: "finish", target }), "Finished an interrupted retry of PaymentTask in other/storage");
  });

  it("counts the tasks of each class, and names one by its id where its class was not known", () => {
    assert.equal(title(ofClasses(["PaymentTask", 3])), "Retried PaymentTask ×3");
    assert.equal(title(ofClasses(["A", 1200], ["B", 1])), "Retried A ×1,200 and B");
    assert.equal(title(ofClasses(["A", 3], ["B", 2], ["C", 1], ["D", 1])), "Retried A ×3, B ×2, C and 1 more");
    assert.equal(title(ofClasses(["A", 3], [null, 2])), "Retried A ×3 and 2 more");
    assert.equal(title(ofClasses([null, 2])), "Retried 2 tasks");
    assert.equal(title({ tasks: [{ id: "1-1-1", taskClass: null, newId: null }] }), "Retried 1-1-1");
    assert.equal(title({ tasks: [], ...ofClasses([null, 1]) }), "Retried 1 task");
  });

  it("says what could not be done", () => {
    const failures = [{ id: "1-1-1", taskClass: "PaymentTask", error: "refused" }];
    const failed = (kind: HistoryKind): string =>
      title({ kind, count: 0, tasks: [], classes: [], failures, failureCount: 1 });
    assert.equal(failed("retry"), "Could not retry PaymentTask");
    assert.equal(failed("run"), "Ran PaymentTask, which failed");
    assert.equal(title({ count: 0, failures, failureCount: 1200 }), "Could not retry 1,200 tasks");
  });

  it("has all else for the tooltip", () => {
    const facts = entryFacts({
      ...bare,
      own: true,
      store: { directory: "/srv/shop/storage", prefix: "late-" },
      target: { directory: "/srv/other", prefix: "deferred-" },
      publishAt: at + 60,
      log: "late-0-x",
      undone: { name: "n", title: "2 dead tasks: A, B" },
      missing: 1,
      failureCount: 2,
    });
    assert.deepEqual(facts, [
      "In /srv/shop/storage, prefix late-",
      "By this window shop, process 17",
      "Other store: /srv/other",
      "To run not before 2026-11-28 14:06:12",
      "Enqueued in late-0-x",
      "Undone: 2 dead tasks: A, B",
      "1 task was gone already",
      "2 tasks failed",
    ]);
  });

  it("calls the days as people do", () => {
    const day = 86_400;
    assert.deepEqual(
      [at, at - day, at - 2 * day, at - 400 * day].map((one) => dayLabel(one, at)),
      ["Today", "Yesterday", "26 November", "24 October 2025"],
    );
    const midnight = new Date(2026, 10, 28).getTime() / 1000;
    assert.equal(dayLabel(midnight - 1, midnight), "Yesterday");
  });

  it("is exported as Markdown in which text of a task's is nothing but text", () => {
    const hostile = "](command:x) <b> `tick` \u202e #\n# heading";
    const entry: HistoryEntry = {
      ...bare,
      own: true,
      kind: "edit",
      window: { name: hostile, processId: 17 },
      tasks: [{ id: "1-1-1", taskClass: hostile, newId: "2-2-2" }],
      failures: [{ id: hostile, taskClass: null, error: hostile }],
      failureCount: 1,
      edits: [{ id: "1-1-1", before: 'Task.enqueue("```")', after: "Task.enqueue(\n  2)" }],
    };
    const markdown = historyMarkdown([entry, { ...bare, at: at - 86_400 }], names, at);
    const span = "``](command:x) <b> `tick` # # heading``";
    assert.equal(
      markdown,
      [
        "# History of dead tasks",
        "2 entries, as of 2026-11-28 14:05:12.",
        "## 2026-11-28",
        `### 14:05:12 Edited and retried ${span}`,
        [
          "- In `/srv/shop/storage`",
          `- By the window ${span}, process 17`,
          "- 1 task failed",
          `- ${span} \`1-1-1\` → \`2-2-2\``,
          `- Failed: ${span}: ${span}`,
        ].join("\n"),
        "Arguments of `1-1-1` before:",
        '````ruby\nTask.enqueue("```")\n````',
        "After:",
        "```ruby\nTask.enqueue(\n  2)\n```",
        "## 2026-11-27",
        "### 14:05:12 Retried `PaymentTask`",
        ["- In `/srv/shop/storage`", "- By the window `shop`, process 17", "- `PaymentTask` `1-1-1` → `2-2-2`"].join(
          "\n",
        ),
        "",
      ]
        .join("\n\n")
        .replace(/\n\n$/, "\n"),
    );
  });

  it("is exported as JSON with all that is kept", () => {
    const entry = { ...bare, edits: [{ id: "1-1-1", before: "a", after: "b" }], undone: { name: "n", title: "t" } };
    assert.deepEqual(JSON.parse(historyJson([entry])), {
      entries: [
        {
          kind: "retry",
          at,
          window: { name: "shop", process_id: 17 },
          store: { directory: "/srv/shop/storage", prefix: "deferred-" },
          target: null,
          count: 1,
          tasks: [{ id: "1-1-1", task_class: "PaymentTask", new_id: "2-2-2" }],
          classes: [{ task_class: "PaymentTask", count: 1 }],
          missing: 0,
          failed_count: 0,
          failed: [],
          publish_at: null,
          log: null,
          undone: "t",
          edits: [{ id: "1-1-1", before: "a", after: "b" }],
        },
      ],
    });
  });
});
