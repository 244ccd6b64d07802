import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
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
import { version } from "../../package.json";
import {
  assertOneLineError,
  buildCommandLine,
  deadTasks,
  json,
  shellCommand,
  type ListJson,
  type RetryJson,
} from "../support/commandLine";
import { copyStorage, dataFile, deadTaskOf, logLines, removeCopies } from "../support/fixtures";

describe("the command line", function () {
  this.timeout(60_000);

  before(buildCommandLine);

  const made: string[] = [];
  afterEach(() => {
    removeCopies();
    for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
  });

  function folder(): string {
    const path = mkdtempSync(join(tmpdir(), "dead-tasks-cli-"));
    made.push(path);
    return path;
  }

  it("sees in pending what it has retried, with the time asked for", async () => {
    const storage = copyStorage("basic");
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
      const storage = copyStorage("basic");
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
      const storage = copyStorage("basic");
      appendFileSync(
        dataFile(storage),
        deadTaskOf({ id: "1767300000-1-1", exceptionClass: null, exceptionMessage: "who?" }),
      );
      const nameless = await json<ListJson>(["list", "--exception", "", "--storage", storage]);
      assert.deepEqual(
        nameless.tasks.map((task) => [task["id"], task["exception_class"]]),
        [["1767300000-1-1", null]],
      );
      const text = await deadTasks(["list", "--limit", "1", "--storage", storage]);
      assert.match(text.stdout, /1767300000-1-1 {2}SyncInvoice {2}\(anonymous\): who\?\n$/);
    });

    it("shows everything, after a warning on standard error", async () => {
      const result = await deadTasks(["show", "1767225639-4101-7", "--storage", copyStorage("basic")]);
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
      const storage = copyStorage("odd-text");
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
      const corrupt = await deadTasks(["list", "--storage", copyStorage("corrupt")]);
      assert.match(corrupt.stderr, /^dead-tasks: 8 corrupt lines skipped \(825 bytes\)$/m);
      const torn = await deadTasks(["list", "--storage", copyStorage("torn-tail")]);
      assert.match(torn.stderr, /the last line is unfinished \(40 bytes\)/);
      const bad = await deadTasks(["list", "--storage", copyStorage("bad-payload")]);
      assert.match(
        bad.stderr,
        /3 records cannot be read, only deleted: 1767225638-1-1 1767225639-1-1 1767225640-1-1$/m,
      );
    });

    it("says when a replayed task runs", async () => {
      const storage = copyStorage("basic");
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
      const command = `stty cols 100; ${shellCommand(["list", "--storage", copyStorage("basic")])}`;
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
      const storage = copyStorage("corrupt");
      const before = readFileSync(dataFile(storage));
      await json(["delete", "nobody", "--storage", storage], 1);
      await json(["retry", "nobody", "--storage", storage], 1);
      assert.deepEqual(readFileSync(dataFile(storage)), before);
      assert.deepEqual(logLines(storage), []);
    });

    it("counts an id once, however often it is given", async () => {
      const storage = copyStorage("basic");
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
      const storage = copyStorage("bad-payload");
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
      const result = await deadTasks(["list", "--prefix", "other", "--storage", copyStorage("prefixes")]);
      assert.equal(result.status, 0);
      assert.match(result.stderr, /no dead tasks of prefix other- in .*stores of prefix deferred-, jobs-; .*--prefix/);
    });

    it("leaves files of another storage version alone, and says that they are there", async () => {
      const storage = copyStorage("basic");
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
      writeFileSync(join(root, "jobs/work-dead_tasks-0"), readFileSync(dataFile(copyStorage("torn-tail"))));
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
      writeFileSync(dataFile(join(cwd, "storage")), readFileSync(dataFile(copyStorage("torn-tail"))));
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
      const result = await deadTasks(["show", "--storage", copyStorage("basic"), "--", "--json"]);
      assertOneLineError(result, 1, /no dead task --json/);
    });
  });
});
