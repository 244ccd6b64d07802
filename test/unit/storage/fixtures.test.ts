import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "../../../src/marshal";
import { decodeContext, type DeadTask } from "../../../src/storage";
import {
  copyFixture,
  expectedText,
  fixtureCases,
  logFixture,
  openStore,
  referenceLines,
  referenceSurvivors,
  temporaryFolders,
  type ExpectedTask,
  type FixtureCase,
} from "../../support/stores";

// The one fixture with valid lines whose record cannot be read.
const unreadableIds: Readonly<Record<string, readonly string[]>> = {
  "bad-payload": ["1767225638-1-1", "1767225639-1-1", "1767225640-1-1"],
};
// Contexts of older and odd shapes, for which Rage itself wrote no replay: attempts set to nil by hand, in `String#dump`.
const replaysOfContexts: Readonly<Record<string, string>> = {
  "1767225637-5-1": String.raw`"\x04\b[\tc\x10SyncInvoice[\x06i\x0600"`,
  "1767225638-5-1": String.raw`"\x04\b[\vc\x10SyncInvoice[\x06i\a00I\"\x12req-id-string\x06:\x06ET0"`,
  "1767225639-5-1": String.raw`"\x04\b[\fc\x10SyncInvoice0{\x06:\x06ai\x060[\x06I\"\x06t\x06:\x06ET{\x06:\x06xi\x06{\x06:\x06ui\x06"`,
  "1767225640-5-1": String.raw`"\x04\b[\fc\x10SyncInvoice[\ai\x06i\a{\x000000"`,
};
const chosenTime = 4_102_444_800;

function replayPayload({ name }: FixtureCase, { id, retry_payload }: ExpectedTask): string | undefined {
  return name === "contexts" ? replaysOfContexts[id] : retry_payload;
}

function allIds({ name, expected }: FixtureCase): string[] {
  return [...expected.map(({ id }) => id), ...(unreadableIds[name] ?? [])];
}

// Objects with a `_dump` or `marshal_dump` of their own: only their class could say what they hold.
const withoutTheirClass = /#<(Ud|Um|Token|Blob)\b/;

/** Ruby's own output in the fixtures names addresses as `:0xX`; ours leaves them out. */
function withoutAddresses(text: string): string {
  return text.replaceAll(":0xX", "");
}

function assertEqualTask(
  task: DeadTask,
  expected: ExpectedTask,
  lines: ReturnType<typeof referenceLines>["lines"],
): void {
  assert.equal(task.kind, "task");
  assert.equal(task.id, expected.id);
  assert.deepEqual(Buffer.from(task.context), Buffer.from(expected.context_base64, "base64"));
  const winner = lines.find(({ offset }) => offset === task.offset);
  assert.equal(winner?.id, expected.id, "the position is that of a line of this id");
  assert.equal(task.length, winner.bytes.length);
  if (expected.task_class === undefined) return;
  assert.equal(task.taskClass, expected.task_class);
  assert.equal(task.attempts, expected.attempts);
  assert.equal(task.enqueuedAt, expected.enqueued_at);
  assert.equal(task.failedAt, expected.failed_at);
  assert.equal(task.exceptionClass, expected.exception_class && expectedText(expected.exception_class));
  assert.equal(task.exceptionMessage, expectedText(expected.exception_message ?? ""));
  assert.deepEqual(task.backtrace, (expected.backtrace ?? task.backtrace).map(expectedText));
  assert.deepEqual(task.extra, []);
}

function assertEqualContext(task: DeadTask, expected: ExpectedTask): void {
  if (expected.args_inspect === undefined) return;
  const context = decodeContext(task.context);
  // Rage hands a task without arguments `[]` and `{}`.
  const args = context.args.type === "nil" ? "[]" : inspect(context.args);
  const kwargs = context.kwargs.type === "nil" ? "{}" : inspect(context.kwargs);
  if (withoutTheirClass.test(expected.args_inspect + (expected.kwargs_inspect ?? ""))) return;
  assert.equal(args, withoutAddresses(expected.args_inspect));
  assert.equal(kwargs, withoutAddresses(expected.kwargs_inspect ?? ""));
  if (expected.log_tags === undefined) return;
  assert.equal(inspect(context.logTags), withoutAddresses(expected.log_tags));
  assert.equal(inspect(context.logContext), withoutAddresses(expected.log_context ?? ""));
  assert.equal(inspect(context.userContext), withoutAddresses(expected.user_context ?? ""));
}

function logNames(storage: string, prefix: string): string[] {
  return readdirSync(storage).filter((name) => name.startsWith(`${prefix}0-`));
}

function assertNoStaging(storage: string): void {
  const strange = readdirSync(storage).filter((name) => name.startsWith(".") || name.endsWith(".tmp"));
  assert.deepEqual(strange, []);
}

/** The log's lines, checked for form: what stands after `publish_at`, by new id. */
function readReplayLog(storage: string, prefix: string, name: string, publishAt: number): Map<string, string> {
  const today = new Date();
  const day = `${today.getFullYear()}${String(today.getMonth() + 1).padStart(2, "0")}${String(today.getDate()).padStart(2, "0")}`;
  assert.match(name, new RegExp(`^${prefix}0-${day}-${process.pid}-[0-9a-z]+$`));
  const payloads = new Map<string, string>();
  const text = readFileSync(join(storage, name)).toString("latin1");
  assert.ok(text.endsWith("\n"));
  for (const line of text.slice(0, -1).split("\n")) {
    const match = /^[0-9a-f]{8}:add:(\d+-\d+-\d+):(\d+):("[^]*")$/.exec(line);
    assert.ok(match !== null, line);
    const [, id = "", time, payload = ""] = match;
    const [seed, processId] = id.split("-").map(Number);
    assert.ok(Math.abs((seed ?? 0) - Date.now() / 1000) < 60, `the id ${id} begins with the time of the replay`);
    assert.equal(processId, process.pid);
    assert.equal(Number(time), publishAt);
    assert.ok(!payloads.has(id), "every replay has an id of its own");
    payloads.set(id, payload);
  }
  return payloads;
}

for (const fixture of fixtureCases) {
  const { name, prefix, dataFile, expected } = fixture;
  const replayable = expected.filter((task) => replayPayload(fixture, task) !== undefined);
  const notReplayable = expected.filter((task) => replayPayload(fixture, task) === undefined);

  describe(`the fixture ${name}, prefix ${prefix}`, () => {
    const folders = temporaryFolders();

    function copy(): { storage: string; data: string } {
      const storage = copyFixture(folders.make(), name);
      return { storage, data: join(storage, `${prefix}dead_tasks-0`) };
    }

    it("lists what Rage reads, in its order, with damage counted", async () => {
      const { storage } = copy();
      const store = await openStore(storage, {}, prefix);
      const { lines, tornTail } = referenceLines(dataFile);
      const corrupt = lines.filter(({ id }) => id === null);

      const listing = await store.list();
      assert.deepEqual(listing.damage, {
        lines: corrupt.length,
        bytes: corrupt.reduce((total, { bytes }) => total + bytes.length, 0),
        tornTailBytes: tornTail.length,
      });
      assert.deepEqual(
        listing.unreadable.map(({ id }) => id),
        unreadableIds[name] ?? [],
      );
      for (const { kind, reason, offset, length } of listing.unreadable) {
        assert.equal(kind, "unreadable");
        assert.ok(reason.length > 5);
        assert.equal(lines.find((line) => line.offset === offset)?.bytes.length, length);
      }
      const tasks: DeadTask[] = [];
      for await (const task of listing.tasks("oldest")) tasks.push(task);
      assert.deepEqual(
        tasks.map(({ id }) => id),
        expected.map(({ id }) => id),
      );
      for (const [index, task] of tasks.entries()) {
        assertEqualTask(task, expected[index]!, lines);
        assertEqualContext(task, expected[index]!);
      }
      const newestFirst: string[] = [];
      for await (const { id } of (await store.list()).tasks("newest")) newestFirst.push(id);
      assert.deepEqual(newestFirst, expected.map(({ id }) => id).reverse());
    });

    it("finds each task by its id, and nothing by another", async () => {
      const store = await openStore(copy().storage, {}, prefix);
      const { lines } = referenceLines(dataFile);
      // Each lookup reads the whole file, so of the two hundred random ones a sample does.
      for (const task of expected.filter((_, index) => expected.length < 100 || index % 10 === 0)) {
        const found = await store.find(task.id);
        assert.ok(found?.kind === "task");
        assertEqualTask(found, task, lines);
      }
      for (const id of unreadableIds[name] ?? []) {
        const found = await store.find(id);
        assert.ok(found?.kind === "unreadable");
        assert.equal(found.id, id);
      }
      for (const id of ["1-1-1", "", "deadbeef"]) assert.equal(await store.find(id), null);
    });

    it("replays one task after the other, and of the data file drops just that task", async () => {
      const { storage, data } = copy();
      const store = await openStore(storage, {}, prefix);
      const gone: string[] = [];
      for (const [index, task] of replayable.entries()) {
        const { id } = task;
        const publishAt = index % 2 === 0 ? null : chosenTime;
        const before = new Set(logNames(storage, prefix));
        const result = await store.replay([id], publishAt);
        gone.push(id);
        assert.deepEqual(
          { ...result, log: null, retried: result.retried.map((replayed) => replayed.id) },
          { retried: [id], missing: [], failed: [], log: null },
        );
        assert.deepEqual(
          logNames(storage, prefix).filter((log) => !before.has(log)),
          [result.log],
        );
        const payloads = readReplayLog(storage, prefix, result.log ?? "", publishAt ?? 0);
        assert.deepEqual([...payloads], [[result.retried[0]?.newId, replayPayload(fixture, task)]]);
        assert.ok(readFileSync(data).equals(referenceSurvivors(dataFile, gone)), `the data file after ${id}`);
      }
      assertNoStaging(storage);
    });

    it("replays all at once into one log, and names those that it cannot", async () => {
      const { storage, data } = copy();
      const store = await openStore(storage, {}, prefix);
      const ids = [...allIds(fixture), "7-7-7"];
      const result = await store.replay(ids, chosenTime);

      assert.deepEqual(result.missing, ["7-7-7"]);
      assert.deepEqual(
        result.retried.map(({ id }) => id),
        replayable.map(({ id }) => id),
      );
      const refused = [...notReplayable.map(({ id }) => id), ...(unreadableIds[name] ?? [])].sort();
      assert.deepEqual(result.failed.map(({ id }) => id).sort(), refused);
      for (const { error } of result.failed) assert.match(error, /cannot be (read|decoded)/);
      if (replayable.length === 0) {
        assert.equal(result.log, null);
        assert.deepEqual(logNames(storage, prefix), []);
        assert.ok(readFileSync(data).equals(dataFile));
      } else {
        assert.deepEqual(logNames(storage, prefix), [result.log]);
        const payloads = readReplayLog(storage, prefix, result.log ?? "", chosenTime);
        assert.deepEqual(
          [...payloads],
          result.retried.map(({ newId }, index) => [newId, replayPayload(fixture, replayable[index]!)]),
        );
        const survivors = referenceSurvivors(
          dataFile,
          replayable.map(({ id }) => id),
        );
        assert.ok(readFileSync(data).equals(survivors));
        for (const id of refused) assert.notEqual(await store.find(id), null, "what was refused is still there");
      }
      assertNoStaging(storage);
    });

    it("deletes one task after the other, the unreadable ones too", async () => {
      const { storage, data } = copy();
      const store = await openStore(storage, {}, prefix);
      const gone: string[] = [];
      for (const id of allIds(fixture)) {
        assert.deepEqual(await store.remove([id]), { removed: [id], missing: [] });
        gone.push(id);
        assert.ok(readFileSync(data).equals(referenceSurvivors(dataFile, gone)), `the data file after ${id}`);
      }
      assert.deepEqual(logNames(storage, prefix), []);
      assertNoStaging(storage);
    });

    it("deletes all at once while they are listed", async () => {
      const { storage, data } = copy();
      const store = await openStore(storage, {}, prefix);
      const listing = await store.list();
      const ids = [...listing.ids];
      assert.deepEqual([...ids].sort(), allIds(fixture).sort());
      const tasks = listing.tasks("oldest");
      const first = await tasks.next();
      assert.equal(first.done === true ? undefined : first.value.id, expected[0]?.id);
      assert.deepEqual(await store.remove(["no-such-id", ...ids]), { removed: ids, missing: ["no-such-id"] });
      const rest: string[] = [];
      for await (const { id } of tasks) rest.push(id);
      assert.deepEqual(
        rest,
        expected.slice(1).map(({ id }) => id),
        "a listing is a snapshot",
      );
      assert.ok(readFileSync(data).equals(ids.length === 0 ? dataFile : Buffer.alloc(0)));
    });

    it("leaves the data file alone where none of the ids is there", async () => {
      const { storage, data } = copy();
      const store = await openStore(storage, {}, prefix);
      const before = statSync(data, { bigint: true });
      const ids = ["1-1-1", "deadbeef", "1767225637"];
      assert.deepEqual(await store.remove(ids), { removed: [], missing: ids });
      assert.deepEqual(await store.replay(ids, null), { retried: [], missing: ids, failed: [], log: null });
      const after = statSync(data, { bigint: true });
      assert.equal(after.ino, before.ino);
      assert.equal(after.mtimeNs, before.mtimeNs);
      assert.equal(after.ctimeNs, before.ctimeNs);
      assert.ok(readFileSync(data).equals(dataFile));
      assertNoStaging(storage);
      assert.deepEqual(logNames(storage, prefix), []);
    });
  });
}

describe("the fixture of pending tasks", () => {
  const folders = temporaryFolders();

  it("reads what Rage loads, and counts the rest as damage", async () => {
    interface ExpectedPending {
      readonly id: string;
      readonly task_class: string;
      readonly args: string;
      readonly kwargs: string;
      readonly attempts: number | null;
      readonly log_tags: string;
      readonly log_context: string;
      readonly user_context: string;
      readonly publish_at: number | null;
    }
    const expected = JSON.parse(readFileSync(join(logFixture, "expected.json"), "utf8")) as ExpectedPending[];
    const storage = join(folders.make(), "storage");
    cpSync(join(logFixture, "storage"), storage, { recursive: true });
    const { tasks, damage } = await (await openStore(storage)).pending();

    const read = tasks.map(({ id, publishAt, context }) => ({
      id,
      task_class: context.taskClass,
      args: inspect(context.args),
      kwargs: inspect(context.kwargs),
      attempts: context.attempts,
      log_tags: inspect(context.logTags),
      log_context: inspect(context.logContext),
      user_context: inspect(context.userContext),
      publish_at: publishAt,
    }));
    assert.deepEqual(read, expected);
    for (const { log } of tasks) assert.ok(existsSync(join(storage, log)));
    const corrupt = 'deadbeef:add:1-1-1:0:"x"\n\n';
    assert.deepEqual(damage, { lines: 2, bytes: corrupt.length, tornTailBytes: "torn tail no newl".length });
  });
});
