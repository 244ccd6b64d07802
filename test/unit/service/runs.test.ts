import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startStoreService } from "../../../src/service/client";
import type { RunEnd } from "../../../src/service/runProtocol";
import { Runs } from "../../../src/service/runs";
import type { StoreService } from "../../../src/service/storeService";
import { storageEnvironment } from "../../../src/storage";
import { intercepted, type FileCall } from "../../support/fileSystems";
import { bundle } from "../../support/processes";
import { applicationLine, makeApplication, startScript } from "../../support/runApplication";
import { newTask, taskLine, temporaryFolders } from "../../support/stores";

describe("runs of dead tasks", function () {
  this.timeout(30_000);
  const folders = temporaryFolders();
  const services: StoreService[] = [];
  const id = "1-1-1";
  let root: string;
  let data: string;
  let runs: string;
  let undoDirectory: string;
  const bystander = taskLine(newTask("1-1-2"));
  const limits = { bytes: 1e6, age: 1e6 };

  beforeEach(() => {
    root = join(folders.make(), "an app");
    makeApplication(root);
    data = join(root, "storage", "deferred-dead_tasks-0");
    runs = join(root, "..", "ours", "runs");
    undoDirectory = join(root, "..", "ours", "undo");
  });

  afterEach(() => {
    for (const service of services.splice(0)) service.dispose();
  });

  /** What a window has. */
  async function openWindow(): Promise<StoreService> {
    const service = startStoreService(bundle("src/service/worker.ts"), () => undefined);
    services.push(service);
    await service.open({ key: "store", path: join(root, "storage"), prefix: "deferred-", backend: "disk" });
    await service.refresh("store");
    return service;
  }

  function end(service: StoreService, name: string): Promise<RunEnd> {
    return service.endRun(runs, name, { directory: undoDirectory, limits });
  }

  /** A window that has begun a run of a task that does `how`. */
  async function begin(how: string): Promise<{ service: StoreService; line: Buffer; name: string; directory: string }> {
    const line = applicationLine(root, id, `[Misbehave, [:${how}], nil, 21]`, "Misbehave");
    writeFileSync(data, Buffer.concat([line, bystander]));
    const service = await openWindow();
    const start = await service.beginRun(runs, "store", id);
    assert.equal(start.kind, "begun");
    return { service, line, name: start.name, directory: start.directory };
  }

  async function runToEnd(directory: string): Promise<void> {
    await once(startScript(root, directory), "exit");
  }

  async function begunBy(directory: string): Promise<() => Promise<void>> {
    const child = startScript(root, directory);
    while (!existsSync(join(root, "begun"))) await delay(20);
    return async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    };
  }

  function assertForgotten(): void {
    assert.deepEqual(readdirSync(runs), []);
  }

  it("takes what was run with success out of the dead tasks, and can bring it back", async () => {
    const { service, line, name, directory } = await begin("environment");
    const before = readFileSync(data);
    const history = join(root, "..", "ours", "history");
    await service.keepHistory({ directory: history, window: { name: "shop", processId: 1 }, limits });
    await runToEnd(directory);
    assert.deepEqual(readFileSync(data), before, "the process changes nothing in the store");
    const ended = await end(service, name);
    assert.ok(ended.kind === "succeeded" && ended.undo !== undefined);
    assert.deepEqual(ended, { kind: "succeeded", removed: true, stands: false, undo: ended.undo });
    assert.deepEqual(readFileSync(data), bystander);
    assertForgotten();
    const [change] = await service.undoableChanges(undoDirectory);
    assert.equal(change?.title, "Ran Misbehave");
    const { entries } = await service.history({ stores: null, after: null, limit: 9, known: null });
    assert.deepEqual(
      entries!.map(({ kind, count, undo, classes }) => [kind, count, undo, classes]),
      [["run", 1, ended.undo, [{ taskClass: "Misbehave", count: 1 }]]],
    );
    await service.undoChange(undoDirectory, ended.undo);
    assert.deepEqual(readFileSync(data), Buffer.concat([bystander, line]));
  });

  it("leaves the store as it is after a failure, and tells it", async () => {
    const { service, name, directory } = await begin("refuse");
    const before = readFileSync(data);
    await runToEnd(directory);
    const ended = await end(service, name);
    assert.ok(ended.kind === "failed");
    assert.equal(ended.failure?.class, "Misbehave::Refused");
    assert.match(ended.failure.backtrace[0]!, /misbehave\.rb:14/);
    assert.deepEqual(readFileSync(data), before);
    assertForgotten();
    assert.deepEqual(await end(service, name), { kind: "settled" });
  });

  it("tells why it was not run, or that its process never came to it", async () => {
    const { service, name, directory } = await begin("refuse");
    writeFileSync(join(root, "config", "application.rb"), "def broken(");
    await runToEnd(directory);
    const notRun = await end(service, name);
    assert.ok(notRun.kind === "notRun" && notRun.reason === "boot");
    assert.equal(notRun.failure.class, "SyntaxError");
    const again = await service.beginRun(runs, "store", id);
    assert.ok(again.kind === "begun");
    assert.deepEqual(await end(service, name), { kind: "notBegun" });
    await runToEnd(directory);
    assert.ok(!existsSync(join(root, "begun")), "a process that comes too late runs nothing");
    assertForgotten();
  });

  it("does not know whether a task ran to its end whose process was killed", async () => {
    const { service, name, directory } = await begin("wait");
    const kill = await begunBy(directory);
    assert.deepEqual(await end(service, name), { kind: "running" });
    await kill();
    assert.deepEqual(await end(service, name), { kind: "unknown" });
    assert.deepEqual(readFileSync(data).subarray(-bystander.length), bystander);
    assertForgotten();
  });

  it("runs a task once at a time, in whatever window", async () => {
    const { service, name, directory } = await begin("environment");
    const other = await openWindow();
    const since = (await service.runsUnderWay(runs))[0]!.since;
    for (const one of [service, other]) {
      assert.deepEqual(await one.beginRun(runs, "store", id), { kind: "running", since });
      const under = await one.runsUnderWay(runs);
      const place = { directory: join(root, "storage"), prefix: "deferred-" };
      assert.deepEqual(under, [{ name, ...place, id, taskClass: "Misbehave", since }]);
      assert.deepEqual(await one.leftRuns(runs, "store"), []);
    }
    assert.deepEqual(await end(other, name), { kind: "running" }, "it is the first window's to settle");
    assert.equal((await other.beginRun(runs, "store", "1-1-2")).kind, "begun", "another task is another matter");
    await runToEnd(directory);
    assert.equal((await end(service, name)).kind, "succeeded");
    assert.equal((await other.beginRun(runs, "store", id)).kind, "gone");
  });

  it("is settled by another window when its own is gone, once its process has ended", async () => {
    const { service, name, directory } = await begin("wait");
    const kill = await begunBy(directory);
    service.dispose();
    const [first, second] = [await openWindow(), await openWindow()];
    while ((await first.leftRuns(runs, "store")).length === 0) await delay(20);
    assert.equal((await second.runsUnderWay(runs)).length, 1, "its process lives");
    assert.deepEqual(await end(first, name), { kind: "running" });
    assert.deepEqual(await second.leftRuns(runs, "store"), [], "the first window has taken it on");
    await kill();
    assert.deepEqual(await end(second, name), { kind: "running" });
    assert.deepEqual(await end(first, name), { kind: "unknown" });
    assertForgotten();
  });

  it("is settled once, whoever comes first", async () => {
    const { service, name, directory } = await begin("environment");
    await runToEnd(directory);
    service.dispose();
    const windows = [await openWindow(), await openWindow()];
    while ((await windows[0]!.leftRuns(runs, "store")).length === 0) await delay(20);
    const ends = await Promise.all(windows.map((one) => end(one, name)));
    assert.deepEqual(
      ends.map(({ kind }) => kind).filter((kind) => kind === "succeeded"),
      ["succeeded"],
    );
    assert.deepEqual(readFileSync(data), bystander);
  });

  it("says after a success who else has been there meanwhile, and leaves that", async () => {
    const died = await begin("environment");
    await runToEnd(died.directory);
    const newer = taskLine(newTask(id, { exceptionMessage: "died again" }));
    appendFileSync(data, newer);
    const before = readFileSync(data);
    assert.deepEqual(await end(died.service, died.name), { kind: "succeeded", removed: false, stands: true });
    assert.deepEqual(readFileSync(data), before);

    const removed = await begin("environment");
    await removed.service.delete("store", [id]);
    await runToEnd(removed.directory);
    assert.deepEqual(await end(removed.service, removed.name), {
      kind: "notRun",
      reason: "changed",
      failure: { class: null, message: "It is no longer among the dead tasks.", backtrace: [] },
    });
    const late = await begin("environment");
    await runToEnd(late.directory);
    await late.service.delete("store", [id]);
    assert.deepEqual(await end(late.service, late.name), { kind: "succeeded", removed: false, stands: false });
  });

  it("keeps the run when the task cannot be removed, and does that later", async () => {
    const { service, name, directory } = await begin("environment");
    await runToEnd(directory);
    const lock = join(root, "storage", "deferred-dead_tasks.lock");
    const hold = `File.open(ARGV[0], "a").flock(File::LOCK_EX); puts; STDOUT.flush; STDIN.read`;
    const holder = spawn("ruby", ["-e", hold, lock]);
    await once(holder.stdout, "data");
    await assert.rejects(end(service, name), { code: "lock-timeout" });
    holder.stdin.end();
    await once(holder, "exit");
    assert.deepEqual(
      (await service.leftRuns(runs, "store")).map((run) => run.name),
      [name],
    );
    const later = await end(service, name);
    assert.deepEqual([later.kind, readFileSync(data)], ["succeeded", bystander]);
    assertForgotten();
  });

  for (const [moment, watch] of [
    ["before", (move: (call: FileCall) => void) => ({ before: move })],
    ["after", (move: (call: FileCall) => void) => ({ after: move })],
  ] as const) {
    it(`is left to the window that settles it ${moment} another has opened its lock`, async () => {
      const { service, name, directory } = await begin("environment");
      service.dispose();
      while (new Runs(await storageEnvironment()).underWay(runs).length > 0) await delay(20);
      const settled = join(runs, ".settled");
      // As the window that settles it does: out of the way, and only then is its lock let go.
      const environment = await storageEnvironment({
        fileSystem: intercepted(
          watch((call) => {
            if (call.name === "open" && call.path === join(directory, "window.lock")) renameSync(directory, settled);
          }),
        ),
      });
      assert.equal(new Runs(environment).take(runs, name), null);
      assert.ok(existsSync(settled));
      renameSync(settled, directory);
      assert.deepEqual(new Runs(environment).underWay(runs), []);
    });
  }

  it("passes over what is no run, and tidies up after a window that died while it made one", async () => {
    const { service } = await begin("environment");
    const abandoned = join(runs, ".abandoned-1-x");
    for (const directory of [join(runs, "foreign"), abandoned]) mkdirSync(directory);
    writeFileSync(join(runs, "foreign", "run.json"), "{");
    writeFileSync(join(abandoned, "run.json"), "{}");
    utimesSync(abandoned, 1, 1);
    assert.equal((await service.runsUnderWay(runs)).length, 1);
    assert.equal((await service.beginRun(runs, "store", "1-1-2")).kind, "begun");
    assert.ok(!existsSync(abandoned));
    assert.deepEqual(await service.runsUnderWay(join(runs, "nowhere")), []);
    assert.deepEqual(await end(service, "nothing"), { kind: "settled" });
  });
});
