import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { inspect } from "../../src/marshal";
import { decodeContext } from "../../src/storage";
import {
  assertOneLineError,
  buildCommandLine,
  deadTasks,
  json,
  type DeleteJson,
  type ListJson,
  type RetryJson,
} from "../support/commandLine";
import {
  afterRemoval,
  copyStorage,
  dataFile,
  fixtureStores,
  logLines,
  plainText,
  removeCopies,
  replayedPayload,
  unreadableIds,
  withoutAddresses,
} from "../support/fixtures";
import type { ExpectedTask, ExpectedText } from "../support/stores";

/**
 * What an argument is shown as. Objects with a dump of their own are shown by what they dumped, since only their class knows
 * what Rage prints of them; there the text is the one that the Marshal module's own tests vouch for.
 */
function rubyText(task: ExpectedTask, field: keyof typeof contextFields, text: ExpectedText): string {
  if (!/#<(Ud|Um|Token|Blob)[: ]/.test(plainText(text))) return withoutAddresses(text);
  return inspect(decodeContext(Buffer.from(task.context_base64, "base64"))[contextFields[field]]);
}

const contextFields = {
  args: "args",
  kwargs: "kwargs",
  log_tags: "logTags",
  log_context: "logContext",
  user_context: "userContext",
} as const;

describe("the command line, on the fixtures", function () {
  this.timeout(60_000);

  before(buildCommandLine);

  afterEach(removeCopies);

  for (const fixture of fixtureStores()) {
    const { name, prefix, expected } = fixture;
    describe(`on the fixture ${name} (${prefix})`, () => {
      const place = (storage: string): string[] => ["--storage", storage, "--prefix", prefix];
      const unreadable = unreadableIds(name);
      const isReplayable = (task: ExpectedTask): boolean => replayedPayload(fixture, task) !== null;

      it("lists", async () => {
        const storage = copyStorage(name);
        const before = readFileSync(dataFile(storage, prefix));
        const listed = await json<ListJson>(["list", "--order", "oldest", ...place(storage)]);
        assert.deepEqual(
          listed.tasks.map((task) => task["id"]),
          expected.map((task) => task.id),
        );
        for (const [index, task] of expected.entries()) {
          const shown = listed.tasks[index]!;
          assert.deepEqual(Object.keys(shown), [
            "id",
            "task_class",
            "attempts",
            "enqueued_at",
            "failed_at",
            "exception_class",
            "exception_message",
          ]);
          for (const field of ["task_class", "exception_class", "exception_message"] as const) {
            if (task[field] !== undefined) {
              assert.equal(shown[field], task[field] === null ? null : plainText(task[field]), task.id);
            }
          }
          for (const field of ["attempts", "enqueued_at", "failed_at"] as const) {
            if (task[field] !== undefined) assert.equal(shown[field], task[field], task.id);
          }
        }
        assert.deepEqual(listed.unreadable, unreadable);
        const newestFirst = await json<ListJson>(["list", ...place(storage)]);
        assert.deepEqual(newestFirst.tasks, listed.tasks.toReversed());
        const text = await deadTasks(["list", ...place(storage)]);
        assert.equal(text.status, 0);
        assert.equal(text.stdout.split("\n").length - 1, expected.length, "one line a task");
        assert.deepEqual(readFileSync(dataFile(storage, prefix)), before, "reading changes nothing");
        assert.deepEqual(logLines(storage, prefix), []);
      });

      it("shows", async () => {
        const storage = copyStorage(name);
        // Each run is a process of its own; of the two hundred random tasks every eighth will do.
        const some = expected.filter((_, index) => expected.length < 100 || index % 8 === 0);
        for (const task of some) {
          const shown = await json<Record<string, unknown>>(["show", task.id, ...place(storage)]);
          assert.equal(shown["id"], task.id);
          if (task.backtrace !== undefined) assert.deepEqual(shown["backtrace"], task.backtrace.map(plainText));
          const texts = [
            ["args", task.args_inspect],
            ["kwargs", task.kwargs_inspect],
            ["log_tags", task.log_tags],
            ["log_context", task.log_context],
            ["user_context", task.user_context],
          ] as const;
          for (const [field, text] of texts) {
            if (text !== undefined) assert.equal(shown[field], rubyText(task, field, text), `${field} of ${task.id}`);
          }
          assert.equal("context_error" in shown, !isReplayable(task), task.id);
          if (!isReplayable(task)) assert.equal(shown["args"], null);
        }
        for (const id of unreadable) {
          const result = await deadTasks(["show", id, ...place(storage)]);
          assertOneLineError(result, 1, /cannot be read \(.*\); it can only be deleted/);
        }
      });

      it("retries, byte for byte", async () => {
        const storage = copyStorage(name);
        const before = readFileSync(dataFile(storage, prefix));
        const refused = expected.filter((task) => !isReplayable(task));
        const fails = refused.length + unreadable.length > 0;
        const result = await json<RetryJson>(["retry", "--all", ...place(storage)], fails ? 1 : 0);
        const retriedIds = expected.filter((task) => !refused.includes(task)).map(({ id }) => id);
        assert.deepEqual(
          result.retried.map(({ id }) => id),
          retriedIds,
        );
        assert.deepEqual(
          result.failed.map(({ id }) => id).sort(),
          [...refused.map(({ id }) => id), ...unreadable].sort(),
        );
        assert.deepEqual(result.missing, []);

        const lines = logLines(storage, prefix);
        assert.equal(lines.length, retriedIds.length);
        assert.equal(result.log === null, retriedIds.length === 0);
        if (result.log !== null) {
          assert.match(result.log, new RegExp(`^${prefix}0-\\d{8}-\\d+-[0-9a-z]+$`));
          assert.ok(existsSync(join(storage, result.log)));
        }
        for (const [index, { id, new_id: newId }] of result.retried.entries()) {
          assert.match(newId, /^\d+-\d+-\d+$/);
          const task = expected.find((one) => one.id === id)!;
          const entry = `add:${newId}:0:${replayedPayload(fixture, task) ?? "?"}`;
          assert.equal(lines[index], `${crc32(entry).toString(16).padStart(8, "0")}:${entry}`, id);
        }
        assert.equal(new Set(result.retried.map((task) => task.new_id)).size, retriedIds.length);
        assert.deepEqual(readFileSync(dataFile(storage, prefix)), afterRemoval(before, retriedIds));
        assert.deepEqual(
          readdirSync(storage).filter((file) => file.startsWith(".") || file.endsWith(".tmp")),
          [],
        );
      });

      it("deletes, byte for byte", async () => {
        const storage = copyStorage(name);
        const before = readFileSync(dataFile(storage, prefix));
        const ids = [...expected.map(({ id }) => id), ...unreadable];
        const some = ids.filter((_, index) => index % 3 === 0);
        const result = await json<DeleteJson>(["delete", ...some, "none-of-these", ...place(storage)], 1);
        assert.deepEqual(result, { deleted: some, missing: ["none-of-these"], failed: [] });
        const between = afterRemoval(before, some);
        assert.deepEqual(readFileSync(dataFile(storage, prefix)), between);

        const rest = await json<DeleteJson>(["delete", "--all", ...place(storage)]);
        assert.deepEqual([...rest.deleted].sort(), ids.filter((id) => !some.includes(id)).sort());
        assert.deepEqual(readFileSync(dataFile(storage, prefix)), afterRemoval(between, rest.deleted));
        const left = await json<ListJson>(["list", ...place(storage)]);
        assert.deepEqual([left.tasks, left.unreadable], [[], []]);
        assert.deepEqual(logLines(storage, prefix), []);
      });
    });
  }

  it("lists the pending tasks as Rage loads them", async () => {
    const storage = copyStorage("wal");
    const expected = JSON.parse(readFileSync(join(__dirname, "../fixtures/wal/expected.json"), "utf8")) as Record<
      string,
      unknown
    >[];
    const { tasks, damage } = await json<ListJson>(["pending", "--storage", storage]);
    const fields = ["id", "task_class", "attempts", "publish_at", "args", "kwargs"];
    assert.deepEqual(
      tasks.map((task) => Object.fromEntries(fields.map((field) => [field, task[field]]))),
      expected.map((task) => Object.fromEntries(fields.map((field) => [field, task[field]]))),
    );
    for (const task of tasks) assert.ok(existsSync(join(storage, String(task["log"]))));
    assert.deepEqual(damage, { lines: 2, bytes: 26, torn_tail_bytes: 17 });
    const text = await deadTasks(["pending", "--storage", storage]);
    assert.match(
      text.stdout,
      /^at once {15}0 {2}1767000000-99999-1 {2}SyncInvoice {10}deferred-0-20261101-99999-abc123$/m,
    );
    assert.match(text.stdout, /^2100-01-01T00:00:00Z {2}2 {2}1795971912-18690-3 {2}Billing::ChargeCard/m);
    assert.equal(text.stdout.split("\n").length, 4);
  });
});
