import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startStoreService } from "../../src/service/client";
import { ServiceError } from "../../src/service/storeService";
import type { ReplayResult } from "../../src/storage";
import { systemClock } from "../../src/storage/clock";
import { LongLock } from "../../src/storage/longLock";
import { bigStoreId, writeBigStore } from "../support/bigStore";
import { intercepted, systemError } from "../support/fileSystems";
import { bundle, secondProcesses } from "../support/processes";
import { copyFixture, openStore, referenceSurvivors, temporaryFolders } from "../support/stores";

const dataName = "deferred-dead_tasks-0";
const busyName = ".deferred-dead_tasks.busy";
const id = "1767225637-4101-1";
/** Seconds that a process stands still; a minute in the long form. */
const standstill = Number(process.env["DEAD_TASKS_STANDSTILL_SECONDS"] ?? 0);

describe("the lock among our own processes, when it goes wrong", function () {
  this.timeout(30_000 + standstill * 2_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();

  for (const jump of [11_000, -11_000]) {
    it(`stops an operation before its next write when the clock jumps by ${jump / 1000} s`, async () => {
      const path = copyFixture(folders.make(), "basic");
      const original = readFileSync(join(path, dataName));
      let offset = 0;
      const fileSystem = intercepted({
        after: ({ name, path: file }) => {
          if (name === "fsync" && file.includes("-log-")) offset = jump;
        },
      });
      const clock = { ...systemClock, now: () => Date.now() + offset };
      const store = await openStore(path, { fileSystem, clock });
      await assert.rejects(store.replay([id], null), { code: "compromised" });
      assert.ok(readFileSync(join(path, dataName)).equals(original));
      assert.deepEqual(readdirSync(path).sort(), [dataName, "deferred-dead_tasks.lock"]);
      offset = 0;
      assert.deepEqual((await store.remove([id])).removed, [id], "the next one works");
    });
  }

  it("is not had by two that find one stale lock at the same time", async () => {
    const path = join(folders.make(), busyName);
    let isOthers = false;
    // The other one had seen the stale lock, too, and removes what stands in its place by now: ours.
    const fileSystem = intercepted({
      after: ({ name }) => {
        if (name !== "open" || isOthers) return;
        isOthers = true;
        rmdirSync(path);
        mkdirSync(path);
      },
    });
    const events: string[] = [];
    const ours = new LongLock(path, fileSystem, systemClock).run((guard) => {
      guard.check();
      events.push("ours");
      return Promise.resolve();
    });
    await delay(600);
    assert.ok(existsSync(path), "the other's lock is not ours to remove");
    events.push("the other is done");
    rmdirSync(path);
    await ours;
    assert.deepEqual(events, ["the other is done", "ours"]);
    assert.ok(!existsSync(path));
  });

  it("takes no process with it when a refresh fails while the lock is released", async () => {
    const path = join(folders.make(), busyName);
    let refreshes = 0;
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let isHeld = false;
    const fileSystem = intercepted({
      before: ({ name }) => {
        // The first look at the lock while it is held is that of the refresh.
        if (name !== "stat" || !isHeld) return;
        isHeld = false;
        refreshes += 1;
        finish();
        throw systemError("EIO", "i/o error", "stat");
      },
    });
    await new LongLock(path, fileSystem, systemClock).run(async () => {
      isHeld = true;
      await finished;
    });
    // What it would throw, it would throw from a timer or an immediate: past every caller.
    await delay(100);
    assert.equal(refreshes, 1);
    assert.ok(!existsSync(path));
  });

  it("leaves the storage worker alive when it is lost in the middle of a deletion", async () => {
    const path = join(folders.make(), "storage");
    writeBigStore(path, 20_000);
    const service = startStoreService(bundle("src/service/worker.ts"), () => undefined);
    try {
      await service.open({ key: "store", path, prefix: "deferred-", backend: "disk" });
      let original = Buffer.alloc(0);
      let outcome: unknown = null;
      let number = 9_000;
      // On a busy machine a deletion can be over before it was seen; then the next one.
      while (outcome === null && number < 9_050) {
        original = readFileSync(join(path, dataName));
        let isOver = false;
        const deleting = service.delete("store", [bigStoreId(++number)]).then(
          () => (isOver = true),
          (error: unknown) => {
            isOver = true;
            outcome = error;
          },
        );
        const isDone = (): boolean => isOver;
        const isCopying = (): boolean => readdirSync(path).some((name) => name.endsWith(".staging"));
        while (!isDone() && !isCopying()) await delay(1);
        rmSync(join(path, busyName), { recursive: true, force: true });
        await deleting;
      }
      assert.ok(outcome instanceof ServiceError && outcome.code === "compromised", String(outcome));
      assert.ok(readFileSync(join(path, dataName)).equals(original));
      const { deleted } = await service.delete("store", [bigStoreId(number)]);
      assert.equal(deleted.length, 1, "the worker goes on");
      assert.deepEqual(
        readdirSync(path).filter((name) => name.startsWith(".")),
        [],
      );
    } finally {
      service.dispose();
    }
  });

  if (standstill > 0) {
    it(`stops an operation of a process that stood still for ${standstill} s, and the process lives on`, async () => {
      const path = copyFixture(folders.make(), "basic");
      const original = readFileSync(join(path, dataName));
      const sleeper = processes.ours(path);
      // Once without anyone taking the lock meanwhile, once with another process that takes it over and replays the task.
      await sleeper.request({ do: "pause", call: "fsync", milliseconds: 200 });
      const first = sleeper.request({ do: "replay", ids: [id] });
      await sleeper.notice("paused");
      sleeper.signal("SIGSTOP");
      await delay(standstill * 1000);
      sleeper.signal("SIGCONT");
      await assert.rejects(first, { code: "compromised" });
      assert.ok(readFileSync(join(path, dataName)).equals(original));

      await sleeper.request({ do: "pause", call: "rename", milliseconds: 200 });
      const second = sleeper.request({ do: "replay", ids: [id] });
      await sleeper.notice("paused");
      sleeper.signal("SIGSTOP");
      await delay(standstill * 1000);
      const heir = processes.ours(path);
      const { retried } = (await heir.request({ do: "replay", ids: [id] })) as ReplayResult;
      assert.equal(retried.length, 1);
      sleeper.signal("SIGCONT");
      await assert.rejects(second, { code: "io" }, "what it was about to rename is gone");
      assert.ok(readFileSync(join(path, dataName)).equals(referenceSurvivors(original, [id])));
      assert.equal((await (await openStore(path)).pending()).tasks.length, 1);
      assert.equal(await sleeper.request({ do: "ping" }), "pong");
      assert.deepEqual(
        readdirSync(path).filter((name) => name.startsWith(".")),
        [],
      );
    });
  }
});
