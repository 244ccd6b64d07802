import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { writeMarshal } from "../../../src/marshal";
import { startStoreService } from "../../../src/service/client";
import type { DetailOptions, StoreStatus, StoreTarget, StoreUpdate, TaskSummary } from "../../../src/service/protocol";
import type { StoreService } from "../../../src/service/storeService";
import { bigDataFile, bigStoreId, newestBigStoreId, writeBigStore } from "../../support/bigStore";
import { bundle, secondProcesses, taskMessage } from "../../support/processes";
import { array, classNamed, hash, int, nil, str, sym, symbolHash } from "../../support/ruby";
import {
  copyFixture,
  newTask,
  openStore,
  referenceLines,
  referenceSurvivors,
  taskLine,
  temporaryFolders,
} from "../../support/stores";

const dataName = "deferred-dead_tasks-0";
const reveal: DetailOptions = { reveal: true, maskedNames: ["password"] };
const mask: DetailOptions = { reveal: false, maskedNames: ["password", "Token"] };

/** What one store's updates amount to, as a view would keep it. */
class View {
  readonly updates: StoreUpdate[] = [];
  readonly tasks = new Map<string, TaskSummary>();
  status: StoreStatus | null = null;
  readonly #waiting: { readonly isMet: () => boolean; readonly resolve: () => void }[] = [];

  take(update: StoreUpdate): void {
    this.updates.push(update);
    if (update.type === "tasks") {
      for (const task of update.tasks) {
        this.tasks.delete(task.id);
        this.tasks.set(task.id, task);
      }
    } else if (update.type === "gone") {
      for (const id of update.ids) this.tasks.delete(id);
    } else if (update.type === "status") {
      this.status = update.status;
    }
    for (const { isMet, resolve } of this.#waiting) if (isMet()) resolve();
  }

  /** Resolves when an update makes it true; a test that waits in vain ends by its time limit. */
  async until(isMet: (view: this) => boolean): Promise<void> {
    if (isMet(this)) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push({ isMet: () => isMet(this), resolve });
    });
  }

  async ready(): Promise<StoreStatus> {
    await this.until(({ status }) => status?.phase === "ready");
    return this.status!;
  }
}

describe("the storage worker and its client", function () {
  this.timeout(20_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const services: StoreService[] = [];
  let logged: string[] = [];

  afterEach(() => {
    for (const service of services.splice(0)) service.dispose();
  });

  function start(worker = bundle("src/service/worker.ts")): StoreService {
    logged = [];
    const service = startStoreService(worker, (level, text) => logged.push(`${level} ${text}`));
    services.push(service);
    return service;
  }

  function watch(service: StoreService, key: string): View {
    const view = new View();
    service.onUpdate((from, update) => {
      if (from === key) view.take(update);
    });
    return view;
  }

  async function open(
    path: string,
    target: Partial<StoreTarget> = {},
  ): Promise<{ service: StoreService; view: View; data: string }> {
    const service = start();
    const view = watch(service, "store");
    await service.open({ key: "store", path, prefix: "deferred-", backend: "disk", ...target });
    return { service, view, data: join(path, dataName) };
  }

  it("tells an opened store's tasks, oldest first, and then its status", async () => {
    const path = copyFixture(folders.make(), "bad-payload");
    appendFileSync(join(path, dataName), "corrupt\ntorn");
    writeFileSync(join(path, "deferred-dead_tasks-1"), "");
    const { view, data } = await open(path);
    const status = await view.ready();
    assert.deepEqual([...view.tasks.keys()], ["1767225637-1-1", "1767225646-1-1"]);
    assert.deepEqual(view.tasks.get("1767225637-1-1"), {
      id: "1767225637-1-1",
      taskClass: "SyncInvoice",
      attempts: 2,
      enqueuedAt: 1767225637,
      failedAt: 1767225637,
      exceptionClass: "RuntimeError",
      exceptionMessage: "older valid copy",
    });
    assert.deepEqual(
      status.unreadable.map(({ id }) => id),
      ["1767225638-1-1", "1767225639-1-1", "1767225640-1-1"],
    );
    assert.ok(status.unreadable.every(({ reason }) => reason.length > 5));
    const { unreadable, bytesRead, bytesTotal, ...rest } = status;
    assert.equal(unreadable.length, 3);
    assert.ok(bytesRead <= bytesTotal && bytesTotal <= readFileSync(data).length);
    assert.deepEqual(rest, {
      phase: "ready",
      exists: true,
      taskCount: 2,
      damage: { lines: 1, bytes: 8, tornTailBytes: 4 },
      readOnly: null,
      otherVersions: ["deferred-dead_tasks-1"],
      networkFileSystem: null,
      problem: null,
    });
  });

  it("cuts a long message in the list, not in the detail, and knows an id without a time", async () => {
    const path = copyFixture(folders.make(), "odd-text");
    const { service, view } = await open(path);
    await view.ready();
    const long = view.tasks.get("1767225642-9-1")!;
    assert.equal(long.exceptionMessage.length, 500);
    const detail = await service.detail("store", long.id, reveal);
    assert.ok(detail.kind === "task" && detail.task.fullMessage.length > 50_000);
    assert.equal(view.tasks.get("not-a-timestamp-1")?.enqueuedAt, null);
    assert.equal(
      view.tasks.get("1767225643-9-1")?.exceptionMessage,
      new TextDecoder().decode(Buffer.from("4iihIGJyb2tlbiB1dGY4", "base64")),
    );
  });

  it("tells what another process appends, within a second", async () => {
    const path = copyFixture(folders.make(), "basic");
    const peer = processes.ruby(path);
    assert.equal(await peer.request({ do: "ping" }), "pong");
    const { view } = await open(path);
    await view.ready();
    const times: number[] = [];
    for (let number = 1; number <= 5; number++) {
      const id = `1-1-${number}`;
      view.updates.length = 0;
      await peer.request({ do: "add", task: taskMessage(newTask(id)) });
      const added = performance.now();
      await view.until(({ tasks }) => tasks.has(id));
      times.push(performance.now() - added);
      const told = view.updates.flatMap((update) =>
        update.type === "tasks" ? update.tasks.map((task) => task.id) : [],
      );
      assert.deepEqual(told, [id], "only what is new");
    }
    // eslint-disable-next-line no-console -- the figure is what this test is for
    console.log(`      told after ${times.map((time) => time.toFixed(0)).join(", ")} ms`);
    assert.ok(Math.max(...times) < 1000);
  });

  it("tells what another process removes as gone, and nothing else of the tasks", async () => {
    const path = copyFixture(folders.make(), "basic");
    const peer = processes.ruby(path);
    const { view } = await open(path);
    await view.ready();
    view.updates.length = 0;
    await peer.request({ do: "remove", ids: ["1767225637-4101-1"] });
    await view.until(({ tasks }) => tasks.size === 5);
    assert.deepEqual(
      view.updates.filter(({ type }) => type !== "status"),
      [{ type: "gone", ids: ["1767225637-4101-1"] }],
    );
  });

  it("retries and deletes, and has told of it before it answers", async () => {
    const path = copyFixture(folders.make(), "bad-payload");
    const { service, view, data } = await open(path);
    await view.ready();
    const original = readFileSync(data);
    const retry = await service.retry("store", ["1767225637-1-1", "1767225638-1-1", "9-9-9"], 4_102_444_800);
    assert.deepEqual(
      retry.retried.map(({ id }) => id),
      ["1767225637-1-1"],
    );
    assert.deepEqual(retry.missing, ["9-9-9"]);
    assert.deepEqual(
      retry.failed.map(({ id }) => id),
      ["1767225638-1-1"],
    );
    assert.match(readFileSync(join(path, retry.log ?? ""), "latin1"), /:add:\d+-\d+-\d+:4102444800:"/);
    assert.ok(!view.tasks.has("1767225637-1-1"));
    assert.equal(view.status?.taskCount, 1);

    assert.deepEqual(await service.delete("store", ["1767225646-1-1", "1767225638-1-1", "9-9-9"]), {
      deleted: ["1767225646-1-1", "1767225638-1-1"],
      missing: ["9-9-9"],
      failed: [],
    });
    assert.equal(view.tasks.size, 0);
    assert.deepEqual(
      view.status.unreadable.map(({ id }) => id),
      ["1767225639-1-1", "1767225640-1-1"],
    );
    assert.ok(
      readFileSync(data).equals(referenceSurvivors(original, ["1767225637-1-1", "1767225646-1-1", "1767225638-1-1"])),
    );
  });

  it("shows a task whole, with secrets masked until they are revealed", async () => {
    const path = join(folders.make(), "storage");
    const context = writeMarshal(
      array(
        classNamed("Users::SignUp"),
        array(str("user@example.com"), hash([str("API_TOKEN"), str("s3cret")])),
        symbolHash({ locale: sym("en"), password: str("hunter2") }),
        int(21),
        array(str("5f3c")),
        symbolHash({ request_path: str("/signup") }),
        nil(),
      ),
    );
    await (await openStore(path)).add(newTask("1-1-1", { taskClass: "Users::SignUp", context }));
    const { service, view } = await open(path);
    await view.ready();

    const revealed = await service.detail("store", "1-1-1", reveal);
    assert.ok(revealed.kind === "task");
    assert.deepEqual(revealed.task.context, {
      args: '["user@example.com", {"API_TOKEN" => "s3cret"}]',
      kwargs: '{locale: :en, password: "hunter2"}',
      logTags: '["5f3c"]',
      logContext: '{request_path: "/signup"}',
      userContext: "nil",
      enqueueCall:
        'Users::SignUp.enqueue("user@example.com", {"API_TOKEN" => "s3cret"}, locale: :en, password: "hunter2")',
      call: {
        taskClass: "Users::SignUp",
        arguments: '"user@example.com", {"API_TOKEN" => "s3cret"}, locale: :en, password: "hunter2"',
      },
    });
    assert.equal(revealed.task.masked, false);
    assert.equal(revealed.task.contextError, null);
    assert.deepEqual(revealed.task.backtrace, newTask("1-1-1").backtrace);

    const masked = await service.detail("store", "1-1-1", mask);
    assert.ok(masked.kind === "task");
    assert.equal(masked.task.masked, true);
    assert.equal(masked.task.context?.args, '["user@example.com", {"API_TOKEN" => [FILTERED]}]');
    assert.equal(masked.task.context.kwargs, "{locale: :en, password: [FILTERED]}");

    const withoutSecrets = await service.detail("store", "1-1-1", { reveal: false, maskedNames: ["ssn"] });
    assert.equal(withoutSecrets.kind === "task" && withoutSecrets.task.masked, false);
  });

  it("says of a record what cannot be shown of it", async () => {
    const path = copyFixture(folders.make(), "bad-payload");
    const { service, view } = await open(path);
    await view.ready();
    const unreadable = await service.detail("store", "1767225638-1-1", reveal);
    assert.ok(unreadable.kind === "unreadable" && unreadable.reason.length > 5);
    assert.equal(unreadable.bytes, '20c1b399:dead_task:1767225638-1-1:"\\x04\\b{"\n'.length);
    assert.deepEqual(await service.detail("store", "9-9-9", reveal), { kind: "gone", id: "9-9-9" });

    const contexts = copyFixture(folders.make(), "contexts");
    await service.open({ key: "contexts", path: contexts, prefix: "deferred-", backend: "disk" });
    const odd = await service.detail("contexts", "1767225641-5-1", reveal);
    assert.ok(odd.kind === "task");
    assert.equal(odd.task.context, null);
    assert.match(odd.task.contextError ?? "", /cannot be decoded/);
  });

  it("keeps what it deletes, lists it, and puts it back", async () => {
    const path = copyFixture(folders.make(), "basic");
    const { service, view, data } = await open(path);
    await view.ready();
    const before = readFileSync(data);
    const [first, second] = [...view.tasks.keys()] as [string, string];
    const directory = join(folders.make(), "undo");
    const limits = { bytes: 1_000_000, age: 3_600 };
    assert.deepEqual(await service.undoableChanges(directory), []);
    const request = { directory, title: "Deleted two", limits };
    const { deleted, undo } = await service.delete("store", [first, second], request);
    assert.deepEqual(deleted, [first, second]);
    const [entry, ...others] = await service.undoableChanges(directory);
    assert.deepEqual([entry?.name, entry?.title, entry?.directory, others], [undo, "Deleted two", path, []]);
    assert.ok(Math.abs(entry!.at - Date.now() / 1000) < 60);
    assert.equal(view.tasks.has(first), false);
    const undone = await service.undoChange(directory, undo!);
    assert.deepEqual(undone, { found: true, restored: [first, second], present: [] });
    await view.until(({ tasks }) => tasks.has(first) && tasks.has(second));
    const lines = (content: Buffer): string[] => content.toString("latin1").split("\n").sort();
    assert.deepEqual(lines(readFileSync(data)), lines(before));
    assert.equal((await service.undoChange(directory, undo!)).found, false);
    assert.deepEqual(await service.undoableChanges(directory), []);
  });

  it("undoes a retry until a worker takes its log, and retries all the same where it cannot be kept", async () => {
    const path = copyFixture(folders.make(), "basic");
    const { service, view, data } = await open(path);
    await view.ready();
    const [first, second, third] = [...view.tasks.keys()] as [string, string, string];
    const directory = join(folders.make(), "undo");
    const request = { directory, title: "Retried", limits: { bytes: 1_000_000, age: 3_600 } };
    const before = readFileSync(data);
    const { undo, log } = await service.retry("store", [first, second], null, request);
    assert.deepEqual(
      (await service.undoableChanges(directory)).map((entry) => [entry.name, entry.log, entry.title]),
      [[undo, log, "Retried"]],
    );
    assert.deepEqual((await service.undoChange(directory, undo!)).restored, [first, second]);
    await view.until(({ tasks }) => tasks.has(first) && tasks.has(second));
    const lines = (content: Buffer): string[] => content.toString("latin1").split("\n").sort();
    assert.deepEqual(lines(readFileSync(data)), lines(before));
    assert.deepEqual((await (await openStore(path)).pending()).tasks, []);

    const again = await service.retry("store", [first], null, request);
    assert.equal(await processes.ruby(path).request({ do: "claim", log: join(path, again.log!) }), true);
    await assert.rejects(service.undoChange(directory, again.undo!), { code: "claimed", message: /worker has taken/ });
    assert.deepEqual(await service.undoableChanges(directory), [], "it never can be again");

    const merged = await service.retry("store", [second], null, request);
    assert.equal((await service.undoableChanges(directory)).length, 1);
    rmSync(join(path, merged.log!));
    assert.deepEqual(await service.undoableChanges(directory), []);

    writeFileSync(`${directory}-blocked`, "a file");
    const unkept = await service.retry("store", [third], null, { ...request, directory: `${directory}-blocked` });
    assert.deepEqual([unkept.retried.length, unkept.failed, unkept.undo], [1, [], undefined]);
    assert.match(logged.join("\n"), /kept for undoing/);
  });

  it("keeps nothing of a deletion that found nothing, nor more than the limits allow", async () => {
    const path = copyFixture(folders.make(), "basic");
    const { service, view, data } = await open(path);
    await view.ready();
    const [first, second, third] = [...view.tasks.keys()] as [string, string, string];
    const directory = join(folders.make(), "undo");
    const request = { directory, title: "Deleted", limits: { bytes: 1_000_000, age: 3_600 } };
    assert.deepEqual(await service.delete("store", ["9-9-9"], request), {
      deleted: [],
      missing: ["9-9-9"],
      failed: [],
    });
    const line = referenceLines(readFileSync(data)).lines.find(({ id }) => id === first)!;
    assert.equal(await service.lineBytes("store", [first, "9-9-9"]), line.bytes.length);
    const small = { ...request, limits: { bytes: 100, age: 3_600 } };
    assert.deepEqual(await service.delete("store", [first], small), { deleted: [first], missing: [], failed: [] });
    assert.notEqual((await service.delete("store", [second], request)).undo, undefined);
    await service.pruneUndo(directory, { bytes: 0, age: 0 });
    assert.deepEqual(await service.undoableChanges(directory), []);
    writeFileSync(`${directory}-blocked`, "a file");
    const blocked = { ...request, directory: `${directory}-blocked` };
    await assert.rejects(service.delete("store", [third], blocked), { code: "io", message: /kept for undoing/ });
    assert.equal((await service.detail("store", third, mask)).kind, "task");
  });

  it("shows a task as it is now, however the file was changed by others a moment before", async () => {
    const path = copyFixture(folders.make(), "basic");
    const { service, view, data } = await open(path);
    await view.ready();
    const [id, other] = [...view.tasks.keys()] as [string, string];
    const message = async (): Promise<string> => {
      const detail = await service.detail("store", id, reveal);
      return detail.kind === "task" ? detail.task.fullMessage : detail.kind;
    };
    appendFileSync(data, taskLine(newTask(id, { exceptionMessage: "died again" })));
    assert.equal(await message(), "died again");
    await (await openStore(path)).remove([other]);
    assert.equal(await message(), "died again");
    await (await openStore(path)).remove([id]);
    assert.equal(await message(), "gone");
  });

  it("tells where tasks failed, and leaves out what is gone or cannot be read", async () => {
    const path = copyFixture(folders.make(), "bad-payload");
    const { service, view } = await open(path);
    const { unreadable } = await view.ready();
    const ids = [...view.tasks.keys()];
    const told = await service.backtraces("store", ["9-9-9", unreadable[0]!.id, ...ids]);
    assert.deepEqual(
      told.map(({ id }) => id),
      ids,
    );
    for (const { id, backtrace } of told) {
      const detail = await service.detail("store", id, reveal);
      assert.deepEqual(backtrace, detail.kind === "task" && detail.task.backtrace);
    }
    assert.ok(told.some(({ backtrace }) => backtrace.length > 0));
    assert.deepEqual(await service.backtraces("no such store", ids), []);
  });

  it("tells how many arguments and which keywords tasks have, and none of their values", async () => {
    const path = copyFixture(folders.make(), "contexts");
    const context = writeMarshal(
      array(classNamed("Sync"), array(str("s3cret"), hash()), symbolHash({ pin: str("s3cret"), to: nil() }), nil()),
    );
    appendFileSync(join(path, dataName), taskLine(newTask("1767226000-1-1", { context })));
    const { service, view } = await open(path);
    await view.ready();
    const ids = [...view.tasks.keys()];
    const told = await service.argumentShapes("store", ["9-9-9", ...ids]);
    assert.deepEqual(
      told.map(({ id }) => id),
      ids,
    );
    assert.deepEqual(
      told.filter(({ shape }) => shape === null).map(({ id }) => id),
      ["1767225641-5-1", "1767225642-5-1", "1767225643-5-1"],
      "those whose context cannot be decoded",
    );
    const shape = { taskClass: "Sync", positional: 2, keywords: ["pin", "to"], otherKeys: false, lastIsHash: true };
    assert.deepEqual(
      told.find(({ id }) => id === "1767226000-1-1"),
      { id: "1767226000-1-1", shape },
    );
    assert.doesNotMatch(JSON.stringify(told), /s3cret/);
    assert.deepEqual(await service.argumentShapes("no such store", ids), []);
  });

  it("finds the raw line of a record: the last one of its id", async () => {
    for (const [name, id] of [
      ["corrupt", "1767225642-1-2"],
      ["bad-payload", "1767225639-1-1"],
      ["duplicates", "1767225637-1-1"],
    ] as const) {
      const path = copyFixture(folders.make(), name);
      const { service, data } = await open(path);
      const { bytes } = referenceLines(readFileSync(data)).lines.findLast((line) => line.id === id)!;
      assert.equal(await service.rawRecord("store", id), bytes.toString("latin1").slice(0, -1));
      assert.equal(await service.rawRecord("store", "9-9-9"), null);
    }
  });

  it("finds a raw line where it is now, not where it was", async () => {
    const path = copyFixture(folders.make(), "basic");
    const { service, view, data } = await open(path);
    await view.ready();
    const ids = [...view.tasks.keys()];
    await (await openStore(path)).remove([ids[0]!]);
    const text = await service.rawRecord("store", ids[1]!);
    assert.equal(text, referenceLines(readFileSync(data)).lines[0]!.bytes.toString("latin1").slice(0, -1));
  });

  it("keeps nothing for the nil backend, and makes no file", async () => {
    const path = join(folders.make(), "storage");
    const { service, view } = await open(path, { backend: "nil" });
    const status = await view.ready();
    assert.deepEqual([status.exists, status.taskCount, status.readOnly, status.problem], [false, 0, null, null]);
    assert.deepEqual(await service.retry("store", ["1-1-1", "1-1-1"], null), {
      retried: [],
      missing: ["1-1-1"],
      failed: [],
      log: null,
    });
    assert.deepEqual(await service.delete("store", ["1-1-1"]), { deleted: [], missing: ["1-1-1"], failed: [] });
    assert.deepEqual(await service.detail("store", "1-1-1", reveal), { kind: "gone", id: "1-1-1" });
    assert.equal(await service.rawRecord("store", "1-1-1"), null);
    await service.refresh("store");
    assert.ok(!existsSync(path));
  });

  it("notices a store whose directory appears later, goes and comes again", async () => {
    const root = join(folders.make(), "app");
    const path = join(root, "storage");
    const { view } = await open(path);
    const status = await view.ready();
    assert.deepEqual([status.exists, status.taskCount, status.problem], [false, 0, null]);
    assert.ok(!existsSync(root), "looking made nothing");
    mkdirSync(root);
    const store = await openStore(path);
    let started = performance.now();
    await store.add(newTask("1-1-1"));
    await view.until(({ tasks }) => tasks.has("1-1-1"));
    const appeared = performance.now() - started;
    assert.ok(appeared < 1500, `${appeared} ms`);
    await view.until((now) => now.status?.exists === true);

    started = performance.now();
    rmSync(path, { recursive: true });
    await view.until(({ tasks }) => tasks.size === 0);
    await view.until((now) => now.status?.exists === false);
    await store.add(newTask("1-1-2"));
    await view.until(({ tasks }) => tasks.has("1-1-2"));
    const came = performance.now() - started;
    assert.ok(came < 3000, `${came} ms`);
  });

  it("keeps several stores apart and tells nothing of a closed one", async () => {
    const path = copyFixture(folders.make(), "prefixes");
    const service = start();
    const [deferred, jobs] = [watch(service, "deferred"), watch(service, "jobs")];
    await service.open({ key: "deferred", path, prefix: "deferred-", backend: "disk" });
    await service.open({ key: "jobs", path, prefix: "jobs", backend: "disk" });
    await Promise.all([deferred.ready(), jobs.ready()]);
    assert.deepEqual([[...deferred.tasks.keys()], [...jobs.tasks.keys()]], [["1767225637-1-1"], ["1767225638-1-1"]]);
    await service.close("jobs");
    jobs.updates.length = 0;
    await (await openStore(path, {}, "jobs-")).add(newTask("1-1-1"));
    await (await openStore(path)).add(newTask("1-1-2"));
    await deferred.until(({ tasks }) => tasks.has("1-1-2"));
    assert.deepEqual(jobs.updates, []);
    await assert.rejects(service.retry("jobs", ["1-1-1"], null), { name: "ServiceError", message: /jobs is not open/ });
    assert.equal(await service.rawRecord("jobs", "1-1-1"), null);
  });

  it("tells a store that cannot be read as failed, with the reason, and goes on when it can", async () => {
    const path = join(folders.make(), "storage");
    mkdirSync(join(path, dataName), { recursive: true });
    const { service, view, data } = await open(path);
    await view.until(({ status }) => status?.phase === "failed");
    assert.equal(view.status?.problem?.code, "io");
    assert.match(
      view.status.problem.message,
      new RegExp(`^Could not read ${data}: EISDIR: illegal operation on a directory\\.$`),
    );
    await assert.rejects(service.delete("store", ["1-1-1"]), { name: "ServiceError", code: "io", message: /EISDIR/ });
    rmSync(data, { recursive: true });
    writeFileSync(data, taskLine(newTask("1-1-1")));
    await view.until(({ tasks }) => tasks.has("1-1-1"));
    assert.equal((await view.ready()).problem, null);
  });

  it("tells the kind of a failure, and leaves the task listed", async () => {
    const path = copyFixture(folders.make(), "basic");
    const peer = processes.ruby(path);
    const { service, view } = await open(path);
    await view.ready();
    const holding = peer.request({ do: "hold", seconds: 5 });
    holding.catch(() => undefined);
    await peer.notice("held");
    await assert.rejects(service.delete("store", ["1767225637-4101-1"]), {
      name: "ServiceError",
      code: "lock-timeout",
      message: /stayed locked by another process for 1\.45 seconds\. Nothing was changed; try again/,
    });
    assert.ok(view.tasks.has("1767225637-4101-1"));
  });

  it("tells a large store in batches, with its progress", async () => {
    const path = copyFixture(folders.make(), "empty");
    writeFileSync(join(path, dataName), bigDataFile(3000));
    const { view } = await open(path);
    const status = await view.ready();
    assert.equal(status.taskCount, 3000);
    assert.deepEqual(
      [...view.tasks.keys()],
      Array.from({ length: 3000 }, (_, index) => bigStoreId(index)),
    );
    const batches = view.updates.flatMap((update) => (update.type === "tasks" ? [update.tasks.length] : []));
    assert.ok(Math.max(...batches) <= 500 && batches.length >= 6, batches.join(", "));
  });

  it("shows the newest tasks of a big store at once, stops reading on request, and reads on later", async () => {
    const path = join(folders.make(), "storage");
    const count = 40_000;
    writeBigStore(path, count);
    const { service, view } = await open(path);
    await view.until(({ updates }) => updates.some(({ type }) => type === "newest"));
    await service.stopReading("store");
    await view.until(({ status }) => status?.phase === "stopped");
    const early = view.updates.find((update) => update.type === "newest")!;
    assert.equal(early.tasks[0]?.id, newestBigStoreId(count));
    assert.ok(view.tasks.size < count, "the read was stopped before its end");

    // Stopped is stopped, whatever happens to the file; a change of our own is told all the same.
    const newest = newestBigStoreId(count);
    assert.deepEqual((await service.delete("store", [newest, "missing"])).deleted, [newest]);
    await view.until(({ updates }) => updates.some((update) => update.type === "gone" && update.ids.includes(newest)));
    await delay(1_000);
    assert.equal(view.status?.phase, "stopped");

    await service.refresh("store");
    assert.equal((await view.ready()).taskCount, count - 1);
    assert.equal(view.tasks.size, count - 1);
  });

  it("answers while a big store is replaced or removed under its hands", async () => {
    const path = join(folders.make(), "storage");
    const count = 20_000;
    writeBigStore(path, count);
    const { service, view, data } = await open(path);
    await view.ready();
    // The records are still being read to their ends; the file that they are read from is another one now, then none.
    for (const change of ["replaced", "removed"]) {
      writeFileSync(`${data}.new`, readFileSync(data));
      if (change === "replaced") renameSync(`${data}.new`, data);
      else rmSync(data);
      const detail = await service.detail("store", newestBigStoreId(count), reveal);
      assert.equal(detail.kind, change === "replaced" ? "task" : "gone");
      await service.refresh("store");
    }
    assert.equal((await view.ready()).taskCount, 0);
  });

  it("discovers the stores of a folder, whatever else is in it", async () => {
    const folder = folders.make();
    const shop = join(folder, "shop");
    mkdirSync(join(shop, "config"), { recursive: true });
    writeFileSync(join(shop, "Gemfile"), 'gem "rage-rb"\n');
    writeFileSync(
      join(shop, "config", "application.rb"),
      'require "rage"\n\nRage.configure do\n  config.deferred.backend = :disk, { path: "var/tasks", prefix: "jobs" }\nend\n',
    );
    const other = join(folder, "other");
    mkdirSync(other);
    copyFixture(other, "prefixes");
    symlinkSync(join(folder, "loop"), join(folder, "loop"));
    writeFileSync(join(folder, "README.md"), "");
    mkdirSync(join(folder, "node_modules", "storage"), { recursive: true });
    const found = await start().discover(folder);
    assert.deepEqual(found, [
      { path: join(other, "storage"), prefix: "deferred-", backend: "disk", source: "files", problem: null },
      { path: join(other, "storage"), prefix: "jobs-", backend: "disk", source: "files", problem: null },
      {
        path: join(shop, "var", "tasks"),
        prefix: "jobs-",
        backend: "disk",
        source: "config/application.rb:4",
        problem: null,
      },
    ]);
    assert.deepEqual(await start().discover(join(folder, "none")), []);
  });

  it("opens a store anew under the same key", async () => {
    const [first, second] = [copyFixture(folders.make(), "basic"), copyFixture(folders.make(), "torn-tail")];
    const { service, view } = await open(first);
    await view.ready();
    view.tasks.clear();
    view.status = null;
    await service.open({ key: "store", path: second, prefix: "deferred-", backend: "disk" });
    await view.ready();
    assert.deepEqual([...view.tasks.keys()], ["1767225637-1-1"]);
  });

  it("lets an operation that is under way finish when it is disposed, and leaves no lock behind", async () => {
    const path = copyFixture(folders.make(), "empty");
    const content = bigDataFile(3000);
    writeFileSync(join(path, dataName), content);
    const { service } = await open(path);
    const retrying = service.retry("store", [bigStoreId(7)], null);
    service.dispose();
    service.dispose();
    const { retried, log } = await retrying;
    assert.deepEqual(
      retried.map(({ id }) => id),
      [bigStoreId(7)],
    );
    assert.ok(readFileSync(join(path, dataName)).equals(referenceSurvivors(content, [bigStoreId(7)])));
    assert.deepEqual(readdirSync(path).sort(), [log, dataName, "deferred-dead_tasks.lock"].sort());
    await assert.rejects(service.refresh("store"), { code: "worker-ended", message: "Dead Tasks is shutting down." });
    await processes.ruby(path).request({ do: "remove", ids: [bigStoreId(8)] });
  });

  it("rejects every waiting and later request when its worker crashes, and says so in the log", async () => {
    const script = join(folders.make(), "worker.js");
    writeFileSync(
      script,
      'require("node:worker_threads").parentPort.on("message", () => { throw new Error("boom"); });',
    );
    const service = start(script);
    const ended = { name: "ServiceError", code: "worker-ended", message: /has stopped\. Reload the window/ };
    await Promise.all(["a", "b", "c"].map((key) => assert.rejects(service.refresh(key), ended)));
    await assert.rejects(service.discover("/"), ended);
    assert.equal(logged.length, 1);
    assert.match(logged[0]!, /^error The storage worker failed: Error: boom/);
  });

  it("rejects requests when there is no worker to start", async () => {
    const service = start(join(folders.make(), "none.js"));
    await assert.rejects(service.discover("/"), { code: "worker-ended" });
    assert.match(logged.join("\n"), /^error The storage worker failed: .*none\.js/);
  });

  it("answers a request after the file was replaced by one that is no store", async () => {
    const path = copyFixture(folders.make(), "basic");
    const { service, view, data } = await open(path);
    await view.ready();
    renameSync(data, `${data}.moved`);
    assert.equal(await service.rawRecord("store", "1767225637-4101-1"), null);
    await view.until(({ tasks }) => tasks.size === 0);
    assert.deepEqual(await service.retry("store", ["1767225637-4101-1"], null), {
      retried: [],
      missing: ["1767225637-4101-1"],
      failed: [],
      log: null,
    });
  });
});
