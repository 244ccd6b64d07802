import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { deadTaskLine, frameLine } from "../../src/storage/frames";
import { RunOfScript, applicationLine, makeApplication, type Finished } from "../support/runApplication";
import { newTask, taskLine, temporaryFolders } from "../support/stores";

describe("the script that runs a dead task", function () {
  this.timeout(30_000);
  const folders = temporaryFolders();
  let root: string;
  let directory: string;

  beforeEach(() => {
    const folder = folders.make();
    root = join(folder, `a "shop's" app $HOME;`);
    directory = join(folder, `runs of 'mine' "and yours"`, "1");
    makeApplication(root);
  });

  function run(line: Buffer, lines?: Buffer[], environment?: NodeJS.ProcessEnv): Finished {
    return new RunOfScript(root, directory, line, lines, environment).run();
  }

  /** Runs the task that misbehaves, under a release of the framework. */
  function misbehave(how: string, release = "1.27", userContext = "nil"): Finished {
    const line = applicationLine(root, "1-1-1", `[Misbehave, [:${how}], nil, 21, nil, nil, ${userContext}]`);
    return run(line, [line], { STAND_IN_RAGE: release });
  }

  function noted(): string {
    return readFileSync(join(root, "noted"), "utf8");
  }

  it("performs it with its arguments, log tags and contexts, as if it were tried for the first time", () => {
    const context = `[NoteDown, ["ada@example.com", Price.new(1250, :eur), Order.new(7), "\\xff\\x00".b, nil, Time.at(0, 5, :nsec).utc],
      { locale: :en, "odd key" => 1.5 }, 21, ["req-7"], { path: "/signup" }, { tenant: "bookshop" }]`;
    const { status, output, outcome } = run(applicationLine(root, "1-1-1", context));
    assert.deepEqual({ status, outcome }, { status: 0, outcome: { version: 1, state: "succeeded" } }, output);
    assert.deepEqual(noted().replace(/0x\w+/, "0x…").split("\n"), [
      '"ada@example.com" UTF-8',
      "#<struct Price cents=1250, currency=:eur> ",
      "#<Order:0x… @number=7> ",
      '"\\xFF\\x00" ASCII-8BIT',
      "nil ",
      "1970-01-01 00:00:00.000000005 UTC ",
      ":locale :en",
      '"odd key" 1.5',
      "bookshop",
    ]);
    assert.match(output, /^Booting the application in .* …\nBooted \(development\) in \d\.\d\d s\.$/m);
    assert.match(output, /^Running NoteDown with 6 positional and 2 keyword arguments \(not shown\) …$/m);
    assert.match(output, /^\[req-7\] info: noting down \{.*signup.*NoteDown"\}$/m, "no attempt");
    assert.match(output, /^Succeeded in/m);
    assert.doesNotMatch(output, /ada@example|1250/, "arguments are personal data");
  });

  it("performs what older releases have written", () => {
    for (const context of [`[NoteDown, nil, nil, 6]`, `[NoteDown, nil, nil, nil, "req-9"]`]) {
      for (const release of ["1.17", "1.27"]) {
        const line = applicationLine(root, "1-1-1", context);
        const { status, output } = run(line, [line], { STAND_IN_RAGE: release });
        assert.equal(status, 0, output);
        if (context.includes("req-9")) assert.match(output, /^\[req-9\] info/m);
        rmSync(directory, { recursive: true });
      }
    }
  });

  for (const release of ["1.17", "1.22", "1.27"]) {
    it(`says what was raised, under release ${release}`, () => {
      const { status, output, outcome } = misbehave("refuse", release);
      assert.equal(status, 1, output);
      const { class: name, message, backtrace } = outcome!.failure!;
      assert.equal(outcome!.state, "failed");
      assert.deepEqual(
        { name, message },
        { name: "Misbehave::Refused", message: "the gateway refused\n\u001b[31mat all" },
      );
      assert.equal(backtrace[0], `${root}/app/tasks/misbehave.rb:14:in \`refuse'`);
      assert.ok(!backtrace.some((line) => line.includes("runDeadTask")), backtrace.join("\n"));
      assert.match(output, /^Failed after .*: Misbehave::Refused: the gateway refused\n\\e\[31mat all$/m);
      assert.match(output, /^ {4}.*misbehave\.rb:14:in `refuse'$/m);
    });
  }

  it("says of an old release that swallows what a middleware raised that it failed, and names nothing", () => {
    const old = misbehave("refuse", "1.22", `{ tenant: "nobody" }`);
    assert.deepEqual([old.status, old.outcome], [1, { version: 1, state: "failed", failure: null }]);
    assert.match(old.output, /What was raised is in the application's log/);
    rmSync(directory, { recursive: true });
    assert.equal(misbehave("refuse", "1.27", `{ tenant: "nobody" }`).outcome!.failure!.message, "no such tenant");
  });

  it("takes odd failures as they come", () => {
    const expected = {
      leave: { class: "SystemExit", message: "exit" },
      anonymous: { class: null, message: "no name" },
      binary: { class: "RuntimeError", message: "caf\ufffd \ufffd" },
    };
    for (const [how, { class: name, message }] of Object.entries(expected)) {
      const { status, outcome, output } = misbehave(how);
      assert.equal(status, 1, output);
      assert.deepEqual([outcome!.failure!.class, outcome!.failure!.message], [name, message]);
      rmSync(directory, { recursive: true });
    }
  });

  it("runs fibers in turn, since there is no event loop", () => {
    const { outcome, output } = misbehave("spread");
    assert.deepEqual(
      [outcome!.failure!.class, outcome!.failure!.message],
      ["Misbehave::Refused", "in a fiber"],
      output,
    );
  });

  it("makes what the task enqueued durable before it says that it succeeded", () => {
    const { outcome, output } = misbehave("enqueue_another");
    assert.equal(outcome!.state, "succeeded", output);
    const log = readdirSync(join(root, "storage")).find((name) => name.endsWith("stand-in"))!;
    assert.match(readFileSync(join(root, "storage", log), "latin1"), /NoteDown.*later/);
  });

  it("leaves no trace of itself to the application, and sets its environment", () => {
    assert.equal(misbehave("environment").status, 0);
    assert.equal(noted(), "none none development development");
    rmSync(directory, { recursive: true });
    const line = applicationLine(root, "1-1-1", `[Misbehave, [:environment], nil, 21]`);
    assert.equal(run(line, [line], { RAILS_ENV: "test" }).status, 0);
    assert.equal(noted(), "none none test test");
  });

  it("keeps that it was begun when it vanishes in the middle", async () => {
    assert.deepEqual(
      [misbehave("vanish")].map(({ status, outcome }) => [status, outcome!.state]),
      [[0, "started"]],
    );
    rmSync(directory, { recursive: true });
    const { status, outcome, output } = misbehave("leave_from_elsewhere");
    assert.deepEqual([status, outcome!.state], [1, "started"], output);
    assert.match(output, /^Ended from outside after [\d.]+ s\.$/m);
    rmSync(directory, { recursive: true });
    rmSync(join(root, "begun"));
    const line = applicationLine(root, "1-1-1", `[Misbehave, [:wait], nil, 21]`);
    const waiting = new RunOfScript(root, directory, line);
    const child = waiting.start();
    while (!existsSync(join(root, "begun"))) await delay(20);
    const second = new RunOfScript(root, directory, line).run();
    assert.deepEqual([second.status, second.outcome!.state], [2, "started"], second.output);
    assert.match(second.output, /Not run: It is being run already\./);
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.equal(waiting.outcome()!.state, "started");
    assert.match(waiting.run().output, /Not run: It has been run already\./);
  });

  function assertNotRun({ status, outcome }: Finished, kind: string, message: RegExp): void {
    assert.deepEqual([status, outcome?.state, outcome?.kind], [2, "notRun", kind]);
    assert.match(outcome!.failure!.message, message);
    assert.ok(!existsSync(join(root, "noted")), "nothing was performed");
  }

  it("does not run a task when the application cannot be booted", () => {
    const file = join(root, "config", "application.rb");
    const line = applicationLine(root, "1-1-1", `[NoteDown, nil, nil, 21]`);
    const broken: readonly (readonly [string | null, RegExp])[] = [
      ["def broken(", /syntax error|unexpected/i],
      [`require "no such library"`, /cannot load such file -- no such library/],
      [`abort "no database"`, /no database/],
      [`begin; raise "no gem"; rescue; exit 7; end`, /^no gem$/],
      ["require 'json'", /uninitialized constant Rage/],
      ["module Rage; def self.config = self; end", /does not load Rage::Deferred/],
      [null, /There is no config\/application\.rb in /],
    ];
    for (const [text, message] of broken) {
      if (text === null) rmSync(file);
      else writeFileSync(file, `${text}\n`);
      const finished = run(line);
      assertNotRun(finished, "boot", message);
      assert.match(finished.output, /^(The application could not be booted|Not run): /m);
      rmSync(directory, { recursive: true });
    }
    const gone = new RunOfScript(root, directory, line);
    rmSync(root, { recursive: true });
    const { status, outcome } = gone.run();
    assert.deepEqual([status, outcome!.failure!.class], [2, "Errno::ENOENT"]);
  });

  it("does not run a task that is another now, or gone", () => {
    const line = applicationLine(root, "1-1-1", `[NoteDown, nil, nil, 21]`);
    const other = applicationLine(root, "1-1-1", `[NoteDown, [2], nil, 21]`);
    const another = applicationLine(root, "1-1-11", `[NoteDown, nil, nil, 21]`);
    const damaged = Buffer.from(line);
    damaged[damaged.length - 4]! ^= 1;
    const gone = /^It is no longer among the dead tasks/;
    for (const [lines, message] of [
      [[line, other], /^Another death of this task stands there now\.$/],
      [[another], gone],
      [[damaged], gone],
      [[line.subarray(0, -1)], gone],
      [[], gone],
    ] as const) {
      assertNotRun(run(line, [...lines]), "changed", message);
      rmSync(directory, { recursive: true });
    }
    const run1 = new RunOfScript(root, directory, line);
    rmSync(join(root, "storage", "deferred-dead_tasks-0"));
    assertNotRun(run1.run(), "changed", gone);
  });

  it("takes the newest line that can be read, past damage", () => {
    const line = applicationLine(root, "1-1-1", `[NoteDown, ["this"], nil, 21]`);
    const older = applicationLine(root, "1-1-1", `[NoteDown, ["older"], nil, 21]`);
    const unreadable = deadTaskLine("1-1-1", Buffer.from('"no record"'));
    const { status } = run(line, [older, Buffer.from("corrupt\n"), line, unreadable]);
    assert.equal(status, 0);
    assert.match(noted(), /"this"/);
  });

  it("does not run what cannot be read or loaded", () => {
    const cannot = (line: Buffer, message: RegExp): void => {
      assertNotRun(run(line), "unreadable", message);
      rmSync(directory, { recursive: true });
    };
    cannot(deadTaskLine("1-1-1", Buffer.from('"no record"')), /^Its record cannot be read: .*\(TypeError\)$/s);
    cannot(deadTaskLine("1-1-1", Buffer.from("no dump")), /^Its record cannot be read: .*\(RuntimeError\)$/);
    const gone = Buffer.from("\x04\b[\tc\rGoneTask000", "latin1");
    cannot(
      taskLine(newTask("1-1-1", { context: gone })),
      /loaded: undefined class\/module GoneTask \(ArgumentError\)$/,
    );
    const text = Buffer.from('\x04\bI"\x06x\x06:\x06ET', "latin1");
    cannot(taskLine(newTask("1-1-1", { context: text })), /loaded: its context is no Array \(TypeError\)$/);
    cannot(applicationLine(root, "1-1-1", "[Order, nil, nil, 21]"), /^Order is no task: it does not include/);
    cannot(applicationLine(root, "1-1-1", `["NoteDown", nil, nil, 21]`), /^"NoteDown" is no task/);
  });

  it("finds an id of any bytes", () => {
    const id = Buffer.from("17-caf\xe9-1", "latin1");
    const plain = applicationLine(root, "1-1-1", `[NoteDown, nil, nil, 21]`).toString("latin1");
    const line = withChecksum(`dead_task:${id.toString("latin1")}:${plain.split(":").slice(3).join(":").trimEnd()}`);
    assert.equal(run(line).status, 0);
  });

  it("says how it is started when it is started otherwise", () => {
    const started = new RunOfScript(root, directory, Buffer.from("0:dead_task:1:\n"), [], {
      DEAD_TASKS_RUN: undefined,
    });
    const { status, output } = started.run();
    assert.equal(status, 2);
    assert.match(output, /^This is started by Dead Tasks for Rage/);
  });

  function withChecksum(payload: string): Buffer {
    return frameLine(Buffer.from(payload, "latin1"));
  }
});
