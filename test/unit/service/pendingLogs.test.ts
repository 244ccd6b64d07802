import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dumpString, writeMarshal } from "../../../src/marshal";
import { pendingFingerprint, readPendingLogs } from "../../../src/service/pendingLogs";
import { nodeFileSystem } from "../../../src/storage";
import { logAddLine, logRemoveLine } from "../../../src/storage/frames";
import { storeNames } from "../../../src/storage/naming";
import { secondProcesses } from "../../support/processes";
import { array, classNamed, int, nil } from "../../support/ruby";
import { copyFixture, openStore, temporaryFolders } from "../../support/stores";

describe("the logs of pending tasks", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();
  // Elsewhere nobody knows who holds a log, and it is not tried.
  const knowsLocks = existsSync("/proc/locks");
  const nobody = knowsLocks ? "none" : "unknown";

  function newStore() {
    const path = join(folders.make(), "storage");
    mkdirSync(path);
    return { path, names: storeNames(path, "deferred-") };
  }

  function add(id: string, taskClass: string, publishAt: number | null, attempts: number | null = null): Buffer {
    const tries = attempts === null ? nil() : int(attempts);
    const context = array(classNamed(taskClass), array(), nil(), tries, nil(), nil(), nil());
    return logAddLine(id, publishAt, dumpString(writeMarshal(context)));
  }

  it("say what waits in them, since when, until when, and after how many failures", () => {
    const { path, names } = newStore();
    writeFileSync(
      join(path, "deferred-0-20260101-1-a"),
      Buffer.concat([
        add("1767225637-1-1", "SyncInvoice", null),
        add("1767225638-1-2", "SendWelcomeEmail", 4_102_444_800, 2),
        add("1767225639-1-3", "Ran", null),
        logRemoveLine("1767225639-1-3"),
        logAddLine("odd", null, Buffer.from('"broken"')),
        Buffer.from("corrupt\ntorn"),
      ]),
    );
    writeFileSync(join(path, "deferred-0-20260101-2-b"), "");
    writeFileSync(join(path, "other-0-20260101-2-b"), add("1-1-1", "Other", null));
    mkdirSync(join(path, "deferred-0-directory"));
    const common = { attempts: null, publishAt: null };
    assert.deepEqual(readPendingLogs(nodeFileSystem, names), [
      {
        name: "deferred-0-20260101-1-a",
        worker: nobody,
        count: 3,
        tasks: [
          { ...common, id: "1767225637-1-1", taskClass: "SyncInvoice", enqueuedAt: 1_767_225_637 },
          {
            id: "1767225638-1-2",
            taskClass: "SendWelcomeEmail",
            enqueuedAt: 1_767_225_638,
            attempts: 2,
            publishAt: 4_102_444_800,
          },
          { ...common, id: "odd", taskClass: null, enqueuedAt: null },
        ],
      },
    ]);
  });

  it("name no more than five hundred tasks of a log, and count all", () => {
    const { path, names } = newStore();
    const lines = Array.from({ length: 1_200 }, (_, number) => add(`1767225637-1-${number}`, "SyncInvoice", null));
    writeFileSync(join(path, "deferred-0-20260101-1-a"), Buffer.concat(lines));
    const [log] = readPendingLogs(nodeFileSystem, names);
    assert.deepEqual([log?.count, log?.tasks.length, log?.tasks[499]?.id], [1_200, 500, "1767225637-1-499"]);
  });

  it("are none where there is no directory", () => {
    const names = storeNames(join(folders.make(), "none"), "deferred-");
    assert.deepEqual(readPendingLogs(nodeFileSystem, names), []);
    assert.equal(pendingFingerprint(nodeFileSystem, names), pendingFingerprint(nodeFileSystem, names));
  });

  it("say which worker holds them, and change their fingerprint with it and with their content", async function () {
    const path = copyFixture(folders.make(), "basic");
    const names = storeNames(path, "deferred-");
    const before = pendingFingerprint(nodeFileSystem, names);
    const store = await openStore(path);
    const listing = await store.list();
    listing.close();
    const { log } = await store.replay(listing.ids.slice(0, 2), null);
    const written = pendingFingerprint(nodeFileSystem, names);
    assert.notEqual(written, before);
    assert.equal(readPendingLogs(nodeFileSystem, names)[0]?.worker, nobody);
    if (!knowsLocks) return;

    const worker = processes.ruby(path);
    assert.equal(await worker.request({ do: "claim", log: join(path, log!) }), true);
    assert.notEqual(pendingFingerprint(nodeFileSystem, names), written);
    const [held] = readPendingLogs(nodeFileSystem, names);
    assert.ok(typeof held?.worker === "object" && held.worker.processId > 0, JSON.stringify(held));
    await worker.stop();
    assert.equal(pendingFingerprint(nodeFileSystem, names), written);
    appendFileSync(join(path, log!), logRemoveLine("1-1-1"));
    assert.notEqual(pendingFingerprint(nodeFileSystem, names), written);
  });
});
