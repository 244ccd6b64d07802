import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { decodeContext, DeadTaskStore, storageEnvironment, type DeadTask } from "../../src/storage";
import { inspect } from "../../src/marshal";
import { fillDemo } from "../demo-app/fill";

const demo = join(__dirname, "../demo-app");
const now = Date.UTC(2026, 10, 29, 12);

describe("the demo application", () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "dead-tasks-demo-"));
    cpSync(demo, root, { recursive: true, filter: (path) => basename(path) !== "storage" });
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  async function openStore() {
    const store = new DeadTaskStore({ path: join(root, "storage"), prefix: "deferred-" }, await storageEnvironment());
    const listing = await store.list();
    const tasks: DeadTask[] = [];
    for await (const task of listing.tasks("oldest")) tasks.push(task);
    return { store, listing, tasks };
  }

  it("is Ruby throughout", () => {
    const files = readdirSync(demo, { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".rb") || ["Gemfile", "Rakefile", "config.ru"].includes(name),
    );
    assert.ok(files.length > 20, `${files.length} files`);
    for (const name of files) {
      // Warnings count: an unused variable in the demo would be one more bug than intended.
      const output = execFileSync("ruby", ["-wc", join(demo, name)], { encoding: "utf8", stdio: "pipe" });
      assert.equal(output.trim(), "Syntax OK", name);
    }
  });

  it("fills its storage with tasks in the order of their failures, without damage", async () => {
    const count = await fillDemo(root, { now });
    const { listing, tasks } = await openStore();
    assert.equal(tasks.length, count);
    assert.ok(count >= 30, `${count} tasks`);
    assert.deepEqual(listing.damage, { lines: 0, bytes: 0, tornTailBytes: 0 });
    assert.deepEqual(listing.unreadable, []);
    const times = tasks.map((task) => task.failedAt);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    const [first = 0, last = 0] = [times.at(0), times.at(-1)];
    assert.ok(last > now / 1000 - 600 && last <= now / 1000, "the newest failed minutes ago");
    assert.ok(first > now / 1000 - 7 * 86_400, "the oldest failed days ago");
    for (const task of tasks) {
      assert.equal(task.enqueuedAt, Number(task.id.split("-")[0]));
      assert.ok(task.enqueuedAt <= task.failedAt, task.id);
      assert.ok(task.backtrace.length > 0 && task.backtrace.length <= 20, task.id);
      assert.equal(decodeContext(task.context).taskClass, task.taskClass);
    }
  });

  it("gives every kind of thing that a newcomer should see", async () => {
    await fillDemo(root, { now });
    const { tasks } = await openStore();
    const classes = new Set(tasks.map((task) => task.taskClass));
    for (const name of ["SendWelcomeEmail", "SyncInvoice", "ResizeImage", "ImportCatalog", "NotifySlack"]) {
      assert.ok(classes.has(name), name);
    }
    assert.ok(classes.has("Billing::ChargeCard"));
    assert.ok(
      tasks.some((task) => task.exceptionClass === null),
      "an anonymous exception",
    );
    assert.ok(
      tasks.some((task) => task.exceptionMessage.split("\n").length > 20),
      "a long message",
    );
    const texts = tasks.map((task) => {
      const { args, kwargs, logTags, logContext, userContext } = decodeContext(task.context);
      return [args, kwargs, logTags, logContext, userContext].map((value) => inspect(value)).join(" ");
    });
    const everything = texts.join("\n");
    for (const sample of [
      "[...]",
      "#<struct Money cents=12900, currency=:eur>",
      "#<Publisher @name=",
      "18446744073709551623",
      "\\x89PNG",
      "2026-11-23 13:00:00 +0100",
      "#<Set: {:hardcover, :ebook}>",
      "0.125e0",
      'password: "correct horse battery staple"',
      'token: "tok_live_',
      'request_path: "/signup"',
      'tenant: "bookshop"',
      "nil",
    ]) {
      assert.ok(everything.includes(sample), `${sample} in\n${everything}`);
    }
    const errors = tasks.map((task) => `${task.taskClass} ${task.exceptionClass ?? ""} ${task.exceptionMessage}`);
    assert.ok(errors.length - new Set(errors).size >= 5, "errors that occur more than once");
  });

  it("has backtraces that point at the code which they name", async () => {
    await fillDemo(root, { now });
    const { tasks } = await openStore();
    let inApplication = 0;
    for (const task of tasks) {
      for (const frame of task.backtrace) {
        const parts = /^(.*):(\d+):in ['`](?:.* in )?(?:.*[#.])?(\S+)'$/.exec(frame);
        assert.ok(parts, frame);
        const [, path = "", line = "", method = ""] = parts;
        if (!path.startsWith(`${root}/`) && !path.startsWith("/srv/app/")) continue;
        const file = join(root, path.replace(/^\/srv\/app\//, "").replace(`${root}/`, ""));
        if (task.taskClass === "PrintLabels" && !existsSync(file)) continue;
        const lines = readFileSync(file, "utf8").split("\n");
        assert.notEqual(lines[Number(line) - 1]?.trim() ?? "", "", frame);
        // A method of Ruby's own stands at its caller's line; any other is defined in the file, above the line or on it.
        const isDefined = lines
          .slice(0, Number(line))
          .some((text) => new RegExp(`def (self\\.)?${method}\\b`).test(text));
        const isRubys = /'(?:Hash|Array|Integer|IO|Class|Kernel|Date)[#.]|`(?:fetch|each|flat_map|strptime)'/.test(
          frame,
        );
        assert.ok(isDefined || isRubys, frame);
        inApplication++;
      }
    }
    assert.ok(inApplication > 60, `${inApplication} frames`);
    const frames = tasks.flatMap((task) => task.backtrace);
    for (const sample of [
      "in `perform'",
      "in 'SyncInvoice#perform'",
      "/srv/app/app/tasks/",
      "/usr/local/bundle/gems/",
    ]) {
      assert.ok(
        frames.some((frame) => frame.includes(sample)),
        sample,
      );
    }
    assert.ok(frames.some((frame) => frame.startsWith("<internal:kernel>:")));
  });

  it("writes what Ruby itself would write", async () => {
    await fillDemo(root, { now });
    const script = `
      require "bigdecimal"; require "date"; require "set"
      %w[SendWelcomeEmail SyncInvoice ResizeImage ImportCatalog NotifySlack PrintLabels Publisher Contact User].each { |name| Object.const_set(name, Class.new) }
      module Billing; class ChargeCard; end; end
      Money = Struct.new(:cents, :currency)
      count = 0
      File.foreach(ARGV[0], mode: "rb", chomp: true) do |line|
        bytes = line.split(":", 4)[3].undump.b
        record = Marshal.load(bytes)
        raise "record of #{record[:id]}" unless Marshal.dump(record) == bytes
        context = Marshal.load(record[:context])
        again = Marshal.dump(context)
        raise "context of #{record[:id]}:\\n#{record[:context].inspect}\\n#{again.inspect}" unless again == record[:context]
        count += 1
      end
      print count
    `;
    const file = join(root, "storage/deferred-dead_tasks-0");
    const { tasks } = await openStore();
    assert.equal(execFileSync("ruby", ["-e", script, file], { encoding: "utf8" }), String(tasks.length));
  });

  it("is the same again but for the time, whatever was there", async () => {
    const file = join(root, "storage/deferred-dead_tasks-0");
    await fillDemo(root, { now });
    const first = readFileSync(file);
    mkdirSync(join(root, "storage/.deferred-dead_tasks.busy"));
    await fillDemo(root, { now });
    assert.deepEqual(readFileSync(file), first);
    await fillDemo(root, { now: now + 60_000 });
    assert.notDeepEqual(readFileSync(file), first);
  });

  it("has damage when asked for", async () => {
    const count = await fillDemo(root, { now, damage: true });
    const { listing, tasks } = await openStore();
    assert.equal(tasks.length, count);
    assert.equal(listing.damage.lines, 1);
    assert.equal(listing.damage.tornTailBytes, 40);
    assert.deepEqual(
      listing.unreadable.map(({ id }) => id),
      ["1764000000-7-2"],
    );
  });

  it("does not touch the storage of another application", async () => {
    rmSync(join(root, "app"), { recursive: true });
    mkdirSync(join(root, "storage"));
    writeFileSync(join(root, "storage/deferred-dead_tasks-0"), "precious");
    await assert.rejects(fillDemo(root, { now }), /not a copy of the demo/);
    assert.equal(readFileSync(join(root, "storage/deferred-dead_tasks-0"), "utf8"), "precious");
  });
});
