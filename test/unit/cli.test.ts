import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import * as lockfile from "proper-lockfile";
import { version } from "../../package.json";
import { dumpString, inspect, writeMarshal } from "../../src/marshal";
import { decodeContext, type NewDeadTask } from "../../src/storage";
import { deadTaskLine } from "../../src/storage/frames";
import { encodeRecord } from "../../src/storage/record";
import { deadTasks, shellCommand, type CommandOptions, type CommandResult } from "../support/commandLine";
import {
  afterRemoval,
  copyStorage,
  dataFile,
  fixtureStores,
  logLines,
  plainText,
  withoutAddresses,
  type ExpectedTask,
  type ExpectedText,
} from "../support/fixtures";
import { array, classNamed, nil, str } from "../support/ruby";

interface ListJson {
  readonly tasks: readonly Record<string, unknown>[];
  readonly unreadable: readonly string[];
  readonly damage: { readonly lines: number; readonly bytes: number; readonly torn_tail_bytes: number };
}
interface RetryJson {
  readonly retried: readonly { readonly id: string; readonly new_id: string }[];
  readonly missing: readonly string[];
  readonly failed: readonly { readonly id: string; readonly error: string }[];
  readonly log: string | null;
}
interface DeleteJson {
  readonly deleted: readonly string[];
  readonly missing: readonly string[];
  readonly failed: readonly unknown[];
}

// What the fixtures' README says of them, beyond what their expected files hold.
const unreadableIds: Readonly<Record<string, readonly string[]>> = {
  "bad-payload": ["1767225638-1-1", "1767225639-1-1", "1767225640-1-1"],
};
/** What the log carries for those contexts that a worker can run; the others cannot be replayed. */
const oddContexts: Readonly<Record<string, string | null>> = {
  "1767225637-5-1": String.raw`"\x04\b[\tc\x10SyncInvoice[\x06i\x0600"`,
  "1767225638-5-1": String.raw`"\x04\b[\vc\x10SyncInvoice[\x06i\a00I\"\x12req-id-string\x06:\x06ET0"`,
  "1767225639-5-1": String.raw`"\x04\b[\fc\x10SyncInvoice0{\x06:\x06ai\x060[\x06I\"\x06t\x06:\x06ET{\x06:\x06xi\x06{\x06:\x06ui\x06"`,
  "1767225640-5-1": String.raw`"\x04\b[\fc\x10SyncInvoice[\ai\x06i\a{\x000000"`,
  "1767225641-5-1": null,
  "1767225642-5-1": null,
  "1767225643-5-1": null,
};

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

/** A valid line of a data file, with this much of its own. */
function line(own: Partial<NewDeadTask> & { readonly id: string }): Buffer {
  const record = encodeRecord({
    taskClass: "SyncInvoice",
    attempts: 21,
    enqueuedAt: 1_767_000_000,
    failedAt: 1_767_000_000,
    exceptionClass: "RuntimeError",
    exceptionMessage: "m".repeat(500),
    backtrace: Array.from({ length: 10 }, (_, index) => `/srv/app/app/tasks/sync_invoice.rb:${index}:in \`perform'`),
    context: writeMarshal(array(classNamed("SyncInvoice"), array(str("x".repeat(500))), nil(), nil())),
    ...own,
  });
  return deadTaskLine(own.id, dumpString(record));
}

describe("the command line", function () {
  this.timeout(60_000);
  const made: string[] = [];

  before(() => {
    execFileSync("npm", ["run", "--silent", "build"], { cwd: join(__dirname, "../.."), stdio: "pipe" });
  });
  afterEach(() => {
    for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
  });

  function copy(name: string): string {
    const storage = copyStorage(name);
    made.push(storage);
    return storage;
  }

  function folder(): string {
    const path = mkdtempSync(join(tmpdir(), "dead-tasks-cli-"));
    made.push(path);
    return path;
  }

  /** Runs with `--json` and returns what it printed; it must have ended with this status. */
  async function json<Shape>(args: readonly string[], status = 0, options: CommandOptions = {}): Promise<Shape> {
    const result = await deadTasks([...args, "--json"], options);
    assert.equal(result.status, status, result.stderr);
    return JSON.parse(result.stdout) as Shape;
  }

  function assertOneLineError(result: CommandResult, status: number, message: RegExp): void {
    assert.equal(result.status, status, result.stderr);
    assert.match(result.stderr, message);
    assert.match(result.stderr, /^dead-tasks: [^\n]+\n$/, "one line, and no stack");
  }

  for (const { name, prefix, expected } of fixtureStores()) {
    describe(`on the fixture ${name} (${prefix})`, () => {
      const place = (storage: string): string[] => ["--storage", storage, "--prefix", prefix];
      const unreadable = unreadableIds[name] ?? [];

      it("lists", async () => {
        const storage = copy(name);
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
        const storage = copy(name);
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
          const isDecodable = oddContexts[task.id] !== null || name !== "contexts";
          assert.equal("context_error" in shown, !isDecodable, task.id);
          if (!isDecodable) assert.equal(shown["args"], null);
        }
        for (const id of unreadable) {
          const result = await deadTasks(["show", id, ...place(storage)]);
          assertOneLineError(result, 1, /cannot be read \(.*\); it can only be deleted/);
        }
      });

      it("retries, byte for byte", async () => {
        const storage = copy(name);
        const before = readFileSync(dataFile(storage, prefix));
        const refused = name === "contexts" ? expected.filter(({ id }) => oddContexts[id] === null) : [];
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
          const payload = expected.find((task) => task.id === id)?.retry_payload ?? oddContexts[id];
          const entry = `add:${newId}:0:${payload ?? "?"}`;
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
        const storage = copy(name);
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
    const storage = copy("wal");
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

  it("sees in pending what it has retried, with the time asked for", async () => {
    const storage = copy("basic");
    const [first, second, third] = (await json<ListJson>(["list", "--storage", storage])).tasks.map((task) =>
      String(task["id"]),
    );
    await json(["retry", first!, "--at", "4102444800", "--storage", storage]);
    const earliest = Math.floor(Date.now() / 1000) + 3600;
    await json(["retry", second!, "--in", "3600", "--storage", storage]);
    await json(["retry", third!, "--in", "0", "--storage", storage]);
    const { tasks } = await json<ListJson>(["pending", "--storage", storage]);
    const times = tasks.map((task) => task["publish_at"] as number | null);
    assert.equal(times.length, 3);
    assert.ok(times.includes(4102444800) && times.includes(null));
    const inAnHour = times.find((time) => time !== null && time !== 4102444800) ?? 0;
    assert.ok(inAnHour >= earliest && inAnHour <= earliest + 30, String(inAnHour));
  });

  describe("in text", () => {
    it("lists aligned, filtered and limited", async () => {
      const storage = copy("basic");
      const all = await json<ListJson>(["list", "--storage", storage]);
      const text = await deadTasks(["list", "--storage", storage]);
      const rows = text.stdout.trimEnd().split("\n");
      assert.deepEqual(
        rows.map((row) => row.split(/ {2,}/)[2]),
        all.tasks.map((task) => task["id"]),
      );
      const starts = rows.map((row, index) => row.indexOf(` ${String(all.tasks[index]!["task_class"])} `));
      assert.equal(new Set(starts).size, 1, text.stdout);
      assert.ok(rows.some((row) => row.endsWith("PaymentError: gateway said 503…")));

      const limited = await json<ListJson>(["list", "--limit", "2", "--storage", storage]);
      assert.deepEqual(limited.tasks, all.tasks.slice(0, 2));
      assert.deepEqual((await json<ListJson>(["list", "--limit", "0", "--storage", storage])).tasks, []);
      const ofClass = await json<ListJson>(["list", "--class", "SyncInvoice", "--storage", storage]);
      assert.deepEqual(
        ofClass.tasks,
        all.tasks.filter((task) => task["task_class"] === "SyncInvoice"),
      );
      assert.ok(ofClass.tasks.length > 0 && ofClass.tasks.length < all.tasks.length);
      const ofError = await json<ListJson>(["list", "--exception", "PaymentError", "--storage", storage]);
      assert.deepEqual(
        ofError.tasks,
        all.tasks.filter((task) => task["exception_class"] === "PaymentError"),
      );
    });

    it("has a place for exceptions of a class without a name", async () => {
      const storage = copy("basic");
      appendFileSync(dataFile(storage), line({ id: "1767300000-1-1", exceptionClass: null, exceptionMessage: "who?" }));
      const nameless = await json<ListJson>(["list", "--exception", "", "--storage", storage]);
      assert.deepEqual(
        nameless.tasks.map((task) => [task["id"], task["exception_class"]]),
        [["1767300000-1-1", null]],
      );
      const text = await deadTasks(["list", "--limit", "1", "--storage", storage]);
      assert.match(text.stdout, /1767300000-1-1 {2}SyncInvoice {2}\(anonymous\): who\?\n$/);
    });

    it("shows everything, after a warning on standard error", async () => {
      const result = await deadTasks(["show", "1767225639-4101-7", "--storage", copy("basic")]);
      assert.equal(result.status, 0);
      assert.match(result.stderr, /^dead-tasks: .*sensitive.*\n$/);
      assert.equal(
        result.stdout,
        [
          "Task          1767225639-4101-7",
          "Class         SyncInvoice",
          "Attempts      3",
          "Enqueued      2026-01-01T00:00:39Z",
          "Failed        2026-01-01T02:32:17Z",
          "Exception     PaymentError",
          "Message       gateway said 503",
          "              retry later",
          "Arguments     [42]",
          "Keywords      {}",
          "Log tags      nil",
          "Log context   nil",
          'User context  {tenant: "acme"}',
          "Backtrace     /srv/app/app/tasks/sync_invoice.rb:9:in 'SyncInvoice#perform'",
          "              /srv/app/app/models/invoice.rb:120:in 'block in Invoice.sync'",
          "              <internal:kernel>:187:in 'Kernel#loop'",
          "",
        ].join("\n"),
      );
    });

    it("never passes on what a terminal would act on", async () => {
      const storage = copy("odd-text");
      const { tasks } = await json<ListJson>(["list", "--storage", storage]);
      const outputs = [await deadTasks(["list", "--storage", storage])];
      outputs.push(await deadTasks(["list", "--json", "--storage", storage]));
      for (const { id } of tasks) {
        outputs.push(await deadTasks(["show", String(id), "--storage", storage]));
        outputs.push(await deadTasks(["show", String(id), "--json", "--storage", storage]));
      }
      outputs.push(await deadTasks(["show", "\u001b[31mid\u0007", "--storage", storage]));
      for (const { stdout, stderr } of outputs) {
        const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
        assert.doesNotMatch(stdout, unsafe);
        assert.doesNotMatch(stderr, unsafe);
      }
      assert.ok(outputs[0]!.stdout.includes(String.raw`\e[31mred\e[0m \x07 bell`));
    });

    it("names damage and unreadable records on standard error", async () => {
      const corrupt = await deadTasks(["list", "--storage", copy("corrupt")]);
      assert.match(corrupt.stderr, /^dead-tasks: 8 corrupt lines skipped \(825 bytes\)$/m);
      const torn = await deadTasks(["list", "--storage", copy("torn-tail")]);
      assert.match(torn.stderr, /the last line is unfinished \(40 bytes\)/);
      const bad = await deadTasks(["list", "--storage", copy("bad-payload")]);
      assert.match(
        bad.stderr,
        /3 records cannot be read, only deleted: 1767225638-1-1 1767225639-1-1 1767225640-1-1$/m,
      );
    });

    it("says when a replayed task runs", async () => {
      const storage = copy("basic");
      const result = await deadTasks(["retry", "1767225637-4101-1", "--storage", storage]);
      assert.equal(result.status, 0);
      assert.match(result.stdout, /^retried 1767225637-4101-1 as \d+-\d+-\d+\n$/);
      assert.match(
        result.stderr,
        /^dead-tasks: The task runs when a Rage worker next starts; until then it waits in deferred-0-\S+\n$/,
      );
      const later = await deadTasks(["retry", "--all", "--at", "4102444800", "--storage", storage]);
      assert.match(later.stderr, /The tasks run when a Rage worker next starts, not before 2100-01-01T00:00:00Z;/);
      const deleted = await deadTasks(["delete", "1767225637-4101-1", "--storage", storage]);
      assertOneLineError(deleted, 1, /there is no dead task 1767225637-4101-1; see: dead-tasks list/);
    });

    it("fits a terminal, with a heading", () => {
      // `script` gives the program a terminal.
      const command = `stty cols 100; ${shellCommand(["list", "--storage", copy("basic")])}`;
      const output = execFileSync("script", ["-qec", command, "/dev/null"], { encoding: "utf8", stdio: "pipe" });
      const lines = output.trimEnd().split(/\r?\n/);
      assert.match(lines[0]!, /^FAILED +TRIES +ID +CLASS +ERROR$/);
      assert.equal(lines.length, 7);
      for (const line of lines) assert.ok(Array.from(line).length <= 100, line);
      assert.ok(lines.some((line) => line.endsWith("…")));
    });
  });

  describe("where there is little", () => {
    it("takes a missing storage directory for an empty list", async () => {
      const missing = join(folder(), "missing");
      const empty = { tasks: [], unreadable: [], damage: { lines: 0, bytes: 0, torn_tail_bytes: 0 } };
      assert.deepEqual(await json(["list", "--storage", missing]), empty);
      assert.deepEqual(await json(["pending", "--storage", missing]), { tasks: [], damage: empty.damage });
      assert.deepEqual(await json(["delete", "--all", "--storage", missing]), { deleted: [], missing: [], failed: [] });
      const retried = await json(["retry", "1-1-1", "--storage", missing], 1);
      assert.deepEqual(retried, { retried: [], missing: ["1-1-1"], failed: [], log: null });
      const text = await deadTasks(["list", "--storage", missing]);
      assert.deepEqual([text.status, text.stdout], [0, ""]);
      assert.match(text.stderr, /there is no store in .*missing; name another directory with --storage/);
      assert.equal(existsSync(missing), false, "nothing was made");
    });

    it("leaves the file alone when none of the ids is there", async () => {
      const storage = copy("corrupt");
      const before = readFileSync(dataFile(storage));
      await json(["delete", "nobody", "--storage", storage], 1);
      await json(["retry", "nobody", "--storage", storage], 1);
      assert.deepEqual(readFileSync(dataFile(storage)), before);
      assert.deepEqual(logLines(storage), []);
    });

    it("counts an id once, however often it is given", async () => {
      const storage = copy("basic");
      const id = "1767225637-4101-1";
      const { retried } = await json<RetryJson>(["retry", id, id, id, "--storage", storage]);
      assert.equal(retried.length, 1);
      assert.equal(logLines(storage).length, 1);
      assert.deepEqual(await json(["delete", "x", "x", "--storage", storage], 1), {
        deleted: [],
        missing: ["x"],
        failed: [],
      });
    });

    it("goes on past a bad item and reports each", async () => {
      const storage = copy("bad-payload");
      const ids = ["1767225638-1-1", "nobody", "1767225646-1-1"];
      const result = await json<RetryJson>(["retry", ...ids, "--storage", storage], 1);
      assert.deepEqual(
        result.retried.map(({ id }) => id),
        ["1767225646-1-1"],
      );
      assert.deepEqual(result.missing, ["nobody"]);
      assert.deepEqual(
        result.failed.map(({ id }) => id),
        ["1767225638-1-1"],
      );
      assert.match(result.failed[0]!.error, /can only be deleted/);
    });

    it("names the prefixes that are there", async () => {
      const result = await deadTasks(["list", "--prefix", "other", "--storage", copy("prefixes")]);
      assert.equal(result.status, 0);
      assert.match(result.stderr, /no dead tasks of prefix other- in .*stores of prefix deferred-, jobs-; .*--prefix/);
    });

    it("leaves files of another storage version alone, and says that they are there", async () => {
      const storage = copy("basic");
      writeFileSync(join(storage, "deferred-dead_tasks-1"), "new\n");
      const result = await deadTasks(["list", "--storage", storage]);
      assert.match(
        result.stderr,
        /deferred-dead_tasks-1 is of a storage version that this program does not understand/,
      );
      await json(["delete", "--all", "--storage", storage]);
      assert.equal(readFileSync(join(storage, "deferred-dead_tasks-1"), "utf8"), "new\n");
    });
  });

  describe("without --storage", () => {
    function application(configuration: string): string {
      const root = folder();
      mkdirSync(join(root, "config"));
      mkdirSync(join(root, "app/tasks"), { recursive: true });
      writeFileSync(join(root, "Gemfile"), 'gem "rage-rb"\n');
      writeFileSync(join(root, "config/application.rb"), configuration);
      return root;
    }
    const bare = { ...process.env, RAGE_ENV: undefined, RAILS_ENV: undefined, RACK_ENV: undefined };

    it("finds the application's own store from any folder inside it", async () => {
      const root = application('config.deferred.backend = :disk, { path: "jobs", prefix: "work" }\n');
      mkdirSync(join(root, "jobs"));
      writeFileSync(join(root, "jobs/work-dead_tasks-0"), readFileSync(dataFile(copy("torn-tail"))));
      for (const cwd of [root, join(root, "app/tasks")]) {
        const { tasks } = await json<ListJson>(["list"], 0, { cwd, env: bare });
        assert.deepEqual(
          tasks.map((task) => task["id"]),
          ["1767225637-1-1"],
        );
      }
      assert.equal((await json<ListJson>(["list", "--prefix", "x"], 0, { cwd: root, env: bare })).tasks.length, 0);
    });

    it("looks into storage where there is no application", async () => {
      const cwd = folder();
      mkdirSync(join(cwd, "storage"));
      writeFileSync(dataFile(join(cwd, "storage")), readFileSync(dataFile(copy("torn-tail"))));
      assert.equal((await json<ListJson>(["list"], 0, { cwd, env: bare })).tasks.length, 1);
    });

    it("says what it could not read of the configuration", async () => {
      const cwd = application('config.deferred.backend = :disk, { path: ENV["TASKS"] }\n');
      const result = await deadTasks(["list", "--json"], { cwd, env: bare });
      assert.equal(result.status, 0);
      assertOneLineError(result, 0, /config\/application\.rb:1 gives the path .*--storage/);
      assert.equal((await deadTasks(["list", "--json", "--storage", "x"], { cwd, env: bare })).stderr, "");
    });

    it("keeps to the nil backend: nothing is there and no file is made", async () => {
      const cwd = application("config.deferred.backend = nil\n");
      mkdirSync(join(cwd, "storage"));
      const text = await deadTasks(["list"], { cwd, env: bare });
      assertOneLineError(text, 0, /keeps no deferred tasks \(config\/application\.rb:1 sets the backend to nil\)/);
      assert.equal((await json<ListJson>(["list"], 0, { cwd, env: bare })).tasks.length, 0);
      assert.deepEqual(await json(["delete", "1-1-1"], 1, { cwd, env: bare }), {
        deleted: [],
        missing: ["1-1-1"],
        failed: [],
      });
      assert.equal((await json<RetryJson>(["retry", "--all"], 0, { cwd, env: bare })).log, null);
      assert.deepEqual((await json<ListJson>(["pending"], 0, { cwd, env: bare })).tasks, []);
      assertOneLineError(await deadTasks(["show", "1-1-1"], { cwd, env: bare }), 1, /no dead task 1-1-1/);
      assert.deepEqual(readdirSync(join(cwd, "storage")), []);
    });
  });

  describe("usage", () => {
    for (const [args, message] of [
      [[], /no command given; see: dead-tasks --help/],
      [["lst"], /unknown command "lst"/],
      [["toString"], /unknown command "toString"/],
      [["list", "--frob"], /Unknown option '--frob'/],
      [["list", "extra"], /list takes no "extra"/],
      [["pending", "extra"], /pending takes no "extra"/],
      [["list", "--all"], /list has no option --all/],
      [["show", "x", "--limit", "1"], /show has no option --limit/],
      [["delete", "x", "--in", "1"], /delete has no option --in/],
      [["list", "--limit", "many"], /--limit needs a whole number from 0 on, not "many"/],
      [["list", "--limit", "1.5"], /--limit needs a whole number/],
      [["list", "--limit=-1"], /--limit needs a whole number/],
      [["list", "--limit"], /'--limit <value>' argument missing/],
      [["list", "--order", "random"], /--order is newest or oldest/],
      [["list", "--storage", ""], /--storage needs the path of a directory/],
      [["list", "--prefix", ""], /--prefix needs/],
      [["list", "--prefix", "../x"], /--prefix needs/],
      [["show"], /show needs one task id/],
      [["show", "a", "b"], /show needs one task id/],
      [["retry"], /retry needs task ids or --all/],
      [["retry", ""], /retry needs task ids or --all/],
      [["delete"], /delete needs task ids or --all/],
      [["delete", "x", "--all"], /delete takes either ids or --all/],
      [["retry", "x", "--in", "1", "--at", "2"], /--in and --at exclude each other/],
      [["retry", "x", "--in", "soon"], /--in needs a whole number/],
      [["retry", "x", "--in", "-5"], /'--in/],
      [["retry", "x", "--in", "999999999999"], /--in is too far ahead/],
      [["retry", "x", "--at", "tomorrow"], /--at needs a whole number/],
      [["retry", "x", "--at", "1795971912000"], /--at is in seconds since 1970, not in milliseconds/],
    ] as const) {
      it(`refuses ${JSON.stringify(args)}`, async () => {
        const result = await deadTasks(args, { cwd: folder() });
        assertOneLineError(result, 2, message);
        assert.equal(result.stdout, "");
      });
    }

    it("helps", async () => {
      for (const args of [["--help"], ["list", "-h"]]) {
        const result = await deadTasks(args);
        assert.deepEqual([result.status, result.stderr], [0, ""]);
        for (const word of ["list", "show", "retry", "delete", "pending", "--storage", "--prefix", "--json", "--at"]) {
          assert.ok(result.stdout.includes(word), word);
        }
      }
    });

    it("tells its version", async () => {
      assert.deepEqual(await deadTasks(["--version"]), { status: 0, stdout: `${version}\n`, stderr: "" });
    });

    it("takes an id that looks like an option after --", async () => {
      const result = await deadTasks(["show", "--storage", copy("basic"), "--", "--json"]);
      assertOneLineError(result, 1, /no dead task --json/);
    });
  });

  describe("where it is not allowed to", () => {
    /** An unprivileged user: another one where the tests run as root, which may do everything. */
    const isRoot = process.getuid?.() === 0;
    const unprivileged: CommandOptions = isRoot ? { uid: 65534, gid: 65534, cwd: "/" } : {};

    it("reads a directory that it may not write in, and changes nothing", async () => {
      const storage = copy("basic");
      chmodSync(storage, 0o555);
      const before = readFileSync(dataFile(storage));
      try {
        assert.equal((await json<ListJson>(["list", "--storage", storage], 0, unprivileged)).tasks.length, 6);
        for (const command of ["retry", "delete"]) {
          const result = await deadTasks([command, "--all", "--storage", storage], unprivileged);
          assertOneLineError(
            result,
            1,
            /^dead-tasks: Could not (retry|delete) from .*: you have no permission to write in/,
          );
          assert.equal(result.stdout, "");
        }
        assert.deepEqual(readFileSync(dataFile(storage)), before);
        assert.deepEqual(readdirSync(storage).sort(), ["deferred-dead_tasks-0", "deferred-dead_tasks.lock"]);
      } finally {
        chmodSync(storage, 0o755);
      }
    });

    it("says which file it may not read", async () => {
      const storage = copy("basic");
      chmodSync(storage, 0o755);
      chmodSync(dataFile(storage), 0);
      for (const command of [["list"], ["show", "x"], ["retry", "--all"], ["delete", "--all"]]) {
        const result = await deadTasks([...command, "--storage", storage], unprivileged);
        assertOneLineError(result, 1, /deferred-dead_tasks-0.*permission denied|permission/);
        assert.equal(result.stdout, "");
      }
    });

    it("says which log it may not read", async () => {
      const storage = copy("wal");
      chmodSync(storage, 0o755);
      for (const name of readdirSync(storage)) chmodSync(join(storage, name), 0);
      assertOneLineError(await deadTasks(["pending", "--storage", storage], unprivileged), 1, /permission denied/);
    });

    // Only root can give a file to somebody else; everybody else meets the cases above.
    if (isRoot) {
      it("refuses to replace another user's file", async () => {
        const storage = copy("basic");
        chmodSync(storage, 0o777);
        for (const name of readdirSync(storage)) chmodSync(join(storage, name), 0o666);
        chownSync(dataFile(storage), 65533, 65533);
        const result = await deadTasks(["delete", "--all", "--storage", storage], unprivileged);
        assertOneLineError(result, 1, /belongs to another user \(65533\)/);
      });
    }
  });

  describe("while others work on the same store", () => {
    it("gives up on a lock that a worker keeps, and changes nothing", async () => {
      const storage = copy("basic");
      const before = readFileSync(dataFile(storage));
      const script = "f = File.open(ARGV[0], 'a'); f.flock(File::LOCK_EX); puts 'held'; $stdout.flush; $stdin.read";
      const worker = spawn("ruby", ["-e", script, join(storage, "deferred-dead_tasks.lock")]);
      try {
        await once(worker.stdout, "data");
        const result = await deadTasks(["delete", "--all", "--storage", storage]);
        assertOneLineError(
          result,
          1,
          /dead_tasks\.lock stayed locked by another process for 1\.45 seconds\. Nothing was changed/,
        );
        assert.deepEqual(readFileSync(dataFile(storage)), before);
      } finally {
        worker.stdin.end();
        await once(worker, "close");
      }
      assert.equal((await json<DeleteJson>(["delete", "--all", "--storage", storage])).deleted.length, 6);
    });

    it("waits for another window's operation", async () => {
      const storage = copy("basic");
      const lock = join(storage, ".deferred-dead_tasks.busy");
      const release = await lockfile.lock(lock, { lockfilePath: lock, realpath: false });
      const running = json<DeleteJson>(["delete", "--all", "--storage", storage]);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      assert.ok(readFileSync(dataFile(storage)).length > 0);
      await release();
      assert.equal((await running).deleted.length, 6);
    });

    it("replays each task once when two command lines replay all", async () => {
      const storage = copy("random");
      const results = await Promise.all(
        [0, 1].map(() => deadTasks(["retry", "--all", "--json", "--storage", storage])),
      );
      const retried = results.flatMap(({ stdout }) => (JSON.parse(stdout) as RetryJson).retried.map(({ id }) => id));
      assert.equal(retried.length, 200);
      assert.equal(new Set(retried).size, 200);
      assert.equal(logLines(storage).length, 200);
    });
  });

  describe("on a large store", () => {
    let storage: string;
    const tasks = 30_000;

    before(() => {
      storage = mkdtempSync(join(tmpdir(), "dead-tasks-large-"));
      const lines = Array.from({ length: tasks }, (_, index) => line({ id: `${1_767_000_001 + index}-1-1` }));
      writeFileSync(dataFile(storage), Buffer.concat(lines));
    });
    after(() => {
      rmSync(storage, { recursive: true });
    });

    it("ends quietly when its reader goes away", () => {
      const list = shellCommand(["list", "--storage", storage]);
      const script = `set -o pipefail; { ${list}; echo "status $?" >&2; } 2>&1 >/dev/null | cat; ${list} | head -1; echo "statuses \${PIPESTATUS[@]}"`;
      const output = execFileSync("bash", ["-c", script], { encoding: "utf8", stdio: "pipe" }).trimEnd().split("\n");
      assert.equal(output[0], "status 0");
      assert.match(output[1] ?? "", /1767030000-1-1/);
      assert.equal(output[2], "statuses 0 0");
      const json = execFileSync("bash", [
        "-c",
        `${shellCommand(["list", "--json", "--storage", storage])} 2>&1 | head -1`,
      ]);
      assert.equal(json.toString(), '{"tasks":[\n');
    });

    it("lists in bounded memory", async () => {
      // The file is some fifty megabytes; the list alone would be more than this heap.
      const { stdout } = await deadTasks(["list", "--json", "--storage", storage], {
        nodeOptions: ["--max-old-space-size=32"],
      });
      assert.equal((JSON.parse(stdout) as ListJson).tasks.length, tasks);
    });
  });
});
