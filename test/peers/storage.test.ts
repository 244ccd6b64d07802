import assert from "node:assert/strict";
import { appendFileSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { decodeContext, type NewDeadTask } from "../../src/storage";
import { writeMarshal } from "../../src/marshal";
import { LineProcess } from "../support/lineProcess";
import { secondProcesses, taskMessage } from "../support/processes";
import { array, classNamed, int, nil, str, symbolHash, sym } from "../support/ruby";
import { newTask, openStore, taskLine, temporaryFolders } from "../support/stores";

interface PeerTask {
  readonly id: string;
  readonly task_class: string;
  readonly attempts: number;
  readonly enqueued_at: number;
  readonly failed_at: number;
  readonly exception_class: string | null;
  readonly exception_message: string;
  readonly backtrace: readonly string[];
  readonly context: string;
  readonly encodings: readonly string[];
}

interface PeerPending {
  readonly id: string;
  readonly publish_at: number | null;
  readonly context: string;
  readonly task_class: string;
  readonly attempts: number | null;
  readonly log: string;
}

const sendWelcomeEmail = writeMarshal(
  array(
    classNamed("SendWelcomeEmail"),
    array(str("größe@example.com")),
    symbolHash({ locale: sym("en") }),
    int(21),
    nil(),
    nil(),
    nil(),
  ),
);

const recordsOfAllKinds: readonly NewDeadTask[] = [
  newTask("1767225637-1-1"),
  newTask("1767225637-1-2", { exceptionClass: null, exceptionMessage: "", backtrace: [], attempts: 0 }),
  newTask("1767225637-1-3", {
    taskClass: "Größe::Köln",
    exceptionClass: "Größe::Error",
    exceptionMessage: "größer 🙂\r\n\t\u2028",
  }),
  newTask("1767225637-1-4", {
    exceptionMessage: '#{x} #$y #@z # \\ "quoted" \u0000\u0007\b\v\f\u001b\u007f',
    context: sendWelcomeEmail,
  }),
  newTask("1767225637-1-5", { attempts: 300, enqueuedAt: 0, failedAt: 4_102_444_800 }),
  newTask("1767225637-1-6", {
    attempts: 70_000,
    enqueuedAt: 2 ** 30 - 1,
    failedAt: 2 ** 30,
    exceptionMessage: "x".repeat(70_000),
  }),
  newTask("1767225637-1-7", { backtrace: Array.from({ length: 25 }, (_, index) => `/srv/app/a.rb:${index}`) }),
  newTask("not-a-timestamp", { context: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)) }),
];

function assertSameRecord(read: PeerTask, task: NewDeadTask): void {
  const text = (base64: string): string => Buffer.from(base64, "base64").toString("utf8");
  assert.deepEqual(
    { ...read, exception_message: text(read.exception_message), backtrace: read.backtrace.map(text), encodings: [] },
    { ...taskMessage(task), backtrace: task.backtrace.slice(0, 20), encodings: [] },
  );
}

describe("a Ruby peer on the same storage directory", function () {
  this.timeout(60_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();

  async function newStore(): Promise<{
    path: string;
    data: string;
    peer: LineProcess;
    store: Awaited<ReturnType<typeof openStore>>;
  }> {
    const path = join(folders.make(), "storage");
    const peer = processes.ruby(path);
    return { path, data: join(path, "deferred-dead_tasks-0"), peer, store: await openStore(path) };
  }

  it("writes the same bytes as we do for the same record", async () => {
    const { peer } = await newStore();
    for (const task of recordsOfAllKinds) {
      const line = Buffer.from(String(await peer.request({ do: "line", task: taskMessage(task) })), "base64");
      assert.equal(taskLine(task).toString("latin1"), line.toString("latin1"));
    }
  });

  it("reads what we add", async () => {
    const { peer, store, data } = await newStore();
    for (const task of recordsOfAllKinds) await store.add(task);
    const read = (await peer.request({ do: "list" })) as PeerTask[];
    assert.equal(read.length, recordsOfAllKinds.length);
    for (const [index, task] of read.entries()) assertSameRecord(task, recordsOfAllKinds[index]!);
    assert.deepEqual(read[0]?.encodings, ["US-ASCII", "UTF-8", "ASCII-8BIT"]);
    assert.deepEqual(read[2]?.encodings, ["UTF-8", "UTF-8", "ASCII-8BIT"]);
    assert.ok(readFileSync(data).equals(Buffer.concat(recordsOfAllKinds.map(taskLine))));
  });

  it("has what it adds read by us", async () => {
    const { peer, store } = await newStore();
    for (const task of recordsOfAllKinds) await peer.request({ do: "add", task: taskMessage(task) });
    const listing = await store.list();
    assert.deepEqual(listing.damage, { lines: 0, bytes: 0, tornTailBytes: 0 });
    let index = 0;
    for await (const task of listing.tasks("oldest")) {
      const expected = recordsOfAllKinds[index++]!;
      for (const field of [
        "id",
        "taskClass",
        "attempts",
        "enqueuedAt",
        "failedAt",
        "exceptionClass",
        "exceptionMessage",
      ] as const) {
        assert.equal(task[field], expected[field]);
      }
      assert.deepEqual(task.backtrace, expected.backtrace.slice(0, 20));
      assert.deepEqual(Buffer.from(task.context), Buffer.from(expected.context));
    }
    assert.equal(index, recordsOfAllKinds.length);
  });

  it("mends our torn line and has its own mended by us", async () => {
    const { peer, store, data } = await newStore();
    const [first, second, third] = [newTask("1-1-1"), newTask("1-1-2"), newTask("1-1-3")];
    await store.add(first);
    appendFileSync(data, taskLine(second).subarray(0, 50));
    await peer.request({ do: "add", task: taskMessage(second) });
    appendFileSync(data, taskLine(third).subarray(0, -1));
    await store.add(third);
    assert.ok(readFileSync(data).equals(Buffer.concat([first, second, third].map(taskLine))));
  });

  it("removes what we added, and the other way round, byte for byte", async () => {
    const { peer, store, data } = await newStore();
    const tasks = recordsOfAllKinds;
    for (const [index, task] of tasks.entries()) {
      if (index % 2 === 0) await store.add(task);
      else await peer.request({ do: "add", task: taskMessage(task) });
    }
    assert.deepEqual(await peer.request({ do: "remove", ids: [tasks[0]!.id, "9-9-9", tasks[3]!.id] }), [
      tasks[0]!.id,
      tasks[3]!.id,
    ]);
    assert.deepEqual(await store.remove([tasks[1]!.id, tasks[2]!.id, tasks[0]!.id]), {
      removed: [tasks[1]!.id, tasks[2]!.id],
      missing: [tasks[0]!.id],
    });
    assert.ok(readFileSync(data).equals(Buffer.concat(tasks.slice(4).map(taskLine))));
  });

  it("loads what we replay, with the time, with the context and with attempts nil", async () => {
    const { path, peer, store } = await newStore();
    await peer.request({ do: "add", task: taskMessage(newTask("1-1-1")) });
    await peer.request({ do: "add", task: taskMessage(newTask("1-1-2", { context: sendWelcomeEmail })) });
    const now = await store.replay(["1-1-1"], null);
    const later = await store.replay(["1-1-2"], 4_102_444_800);
    const pending = (await peer.request({ do: "pending" })) as PeerPending[];
    const expected = [
      { id: now.retried[0]?.newId, publish_at: null, task_class: "SyncInvoice", attempts: null, log: now.log },
      {
        id: later.retried[0]?.newId,
        publish_at: 4_102_444_800,
        task_class: "SendWelcomeEmail",
        attempts: null,
        log: later.log,
      },
    ];
    const byId = (left: { id?: string | undefined }, right: { id?: string | undefined }): number =>
      String(left.id).localeCompare(String(right.id));
    assert.deepEqual(
      pending
        .map(({ id, publish_at, task_class, attempts, log }) => ({ id, publish_at, task_class, attempts, log }))
        .sort(byId),
      expected.sort(byId),
    );
    const ours = await store.pending();
    assert.deepEqual(ours.damage, { lines: 0, bytes: 0, tornTailBytes: 0 });
    assert.deepEqual(
      ours.tasks.map(({ id, publishAt, log }) => ({ id, publish_at: publishAt, log })).sort(byId),
      pending.map(({ id, publish_at, log }) => ({ id, publish_at, log })).sort(byId),
    );
    for (const { context, task_class } of pending) {
      assert.equal(decodeContext(Buffer.from(context, "base64")).taskClass, task_class);
    }
    assert.deepEqual(await peer.request({ do: "list" }), []);
    assert.deepEqual(
      readdirSync(path).filter((name) => name.startsWith(".")),
      [],
    );
  });

  it("creates the store as we do", async () => {
    const { path, peer, store } = await newStore();
    await peer.request({ do: "create" });
    assert.deepEqual(readdirSync(path).sort(), ["deferred-dead_tasks-0", "deferred-dead_tasks.lock"]);
    const otherPath = join(folders.make(), "storage");
    await (await openStore(otherPath)).add(newTask("1-1-1"));
    assert.deepEqual(readdirSync(otherPath).sort(), readdirSync(path).sort());
    assert.deepEqual((await store.list()).ids, []);
  });

  it("makes our change wait while it holds the lock", async () => {
    const { peer, store } = await newStore();
    await peer.request({ do: "create" });
    const holding = peer.request({ do: "hold", seconds: 0.4 });
    await peer.notice("held");
    const started = performance.now();
    await store.add(newTask("1-1-1"));
    const waited = performance.now() - started;
    assert.ok(waited > 300 && waited < 1200, `${waited} ms`);
    await holding;
  });

  it("waits while we hold the lock", async () => {
    const { path, peer } = await newStore();
    await peer.request({ do: "create" });
    const ours = processes.ours(path);
    await ours.request({ do: "add", task: taskMessage(newTask("1-1-1")) });
    // Between the write and the end of its fsync, which is under the lock.
    await ours.request({ do: "pause", call: "fsync", milliseconds: 400 });
    const adding = ours.request({ do: "add", task: taskMessage(newTask("1-1-2")) });
    await ours.notice("paused");
    const started = performance.now();
    await peer.request({ do: "add", task: taskMessage(newTask("1-1-3")) });
    const waited = performance.now() - started;
    assert.ok(waited > 250 && waited < 1200, `${waited} ms`);
    await adding;
    const ids = ((await peer.request({ do: "list" })) as PeerTask[]).map(({ id }) => id);
    assert.deepEqual(ids, ["1-1-1", "1-1-2", "1-1-3"]);
  });

  it("gives up on our lock after its schedule, and we on its", async () => {
    const { path, peer, store, data } = await newStore();
    await peer.request({ do: "create" });
    const ours = processes.ours(path);
    await ours.request({ do: "pause", call: "fsync", milliseconds: 2500 });
    const adding = ours.request({ do: "add", task: taskMessage(newTask("1-1-1")) });
    await ours.notice("paused");
    await assert.rejects(peer.request({ do: "add", task: taskMessage(newTask("1-1-2")) }), { code: "LockTimeout" });
    await adding;

    const holding = peer.request({ do: "hold", seconds: 2.5 });
    await peer.notice("held");
    const before = readFileSync(data);
    const started = performance.now();
    await assert.rejects(store.add(newTask("1-1-3")), { name: "DeadTasksLockTimeout", code: "lock-timeout" });
    const waited = performance.now() - started;
    assert.ok(waited > 1400 && waited < 2300, `${waited} ms`);
    assert.ok(readFileSync(data).equals(before));
    await holding;
  });

  it("is missed with a clear message where there is no Ruby", async () => {
    const missing = new LineProcess("ruby-that-is-not-installed", []);
    await assert.rejects(
      missing.request({ do: "ping" }),
      /ruby-that-is-not-installed could not be started .*need it on the PATH/,
    );
  });
});
