import assert from "node:assert/strict";
import { closeSync, existsSync, openSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadFlock, type Flock } from "../../../src/storage/flock";
import { StorageError, type StorageEnvironment } from "../../../src/storage";
import { copyFixture, newTask, openStore, temporaryFolders } from "../../support/stores";

const dataName = "deferred-dead_tasks-0";
const lockName = "deferred-dead_tasks.lock";

describe("the application's lock", () => {
  const folders = temporaryFolders();
  let flock: Flock;

  before(async () => {
    const availability = await loadFlock();
    assert.ok(availability.flock !== null, availability.unavailable ?? "");
    flock = availability.flock;
  });

  /** Holds the lock through a descriptor of its own, as another process would. */
  function hold(path: string): { release(): void } {
    const descriptor = openSync(join(path, lockName), "r+");
    assert.ok(flock.tryLock(descriptor));
    return {
      release: () => {
        closeSync(descriptor);
      },
    };
  }

  /** A clock whose pauses are recorded and over at once. */
  function recordingClock(): { pauses: number[]; clock: StorageEnvironment["clock"] } {
    const pauses: number[] = [];
    return {
      pauses,
      clock: {
        now: () => Date.now(),
        sleep: (milliseconds) => {
          pauses.push(milliseconds);
          return Promise.resolve();
        },
      },
    };
  }

  const ragesPauses = [10, 20, 30, 40, 50, 60, 70, 80, 90, ...Array.from({ length: 10 }, () => 100)];

  it("is tried twenty times on Rage's schedule, after which nothing has changed", async () => {
    assert.equal(
      ragesPauses.reduce((sum, pause) => sum + pause),
      1450,
    );
    for (const change of ["add", "remove", "replay"] as const) {
      const path = copyFixture(folders.make(), "basic");
      const before = {
        names: readdirSync(path),
        data: readFileSync(join(path, dataName)),
        stat: statSync(join(path, dataName)),
      };
      const { pauses, clock } = recordingClock();
      const store = await openStore(path, { clock });
      const held = hold(path);
      const operation = {
        add: () => store.add(newTask("1-1-1")),
        remove: () => store.remove(["1767225637-4101-1"]),
        replay: () => store.replay(["1767225637-4101-1"], null),
      }[change];
      await assert.rejects(operation(), (error: unknown) => {
        assert.ok(error instanceof StorageError);
        assert.equal(error.name, "DeadTasksLockTimeout");
        assert.equal(error.code, "lock-timeout");
        assert.ok(error.message.includes(join(path, lockName)));
        assert.match(error.message, /1\.45 seconds.*Nothing was changed; try again/);
        return true;
      });
      held.release();
      assert.deepEqual(pauses, ragesPauses, change);
      assert.deepEqual(readdirSync(path), before.names, change);
      assert.ok(readFileSync(join(path, dataName)).equals(before.data));
      assert.equal(statSync(join(path, dataName)).ino, before.stat.ino);
    }
  });

  it("takes 1.45 real seconds to give up", async () => {
    const path = copyFixture(folders.make(), "basic");
    const store = await openStore(path);
    const held = hold(path);
    const started = performance.now();
    await assert.rejects(store.remove(["1767225637-4101-1"]), { code: "lock-timeout" });
    const waited = performance.now() - started;
    held.release();
    assert.ok(waited > 1400 && waited < 2500, `${waited} ms`);
  });

  it("is had when it becomes free in time", async () => {
    const path = copyFixture(folders.make(), "basic");
    const store = await openStore(path);
    const held = hold(path);
    setTimeout(() => {
      held.release();
    }, 200);
    assert.deepEqual(await store.remove(["1767225637-4101-1"]), { removed: ["1767225637-4101-1"], missing: [] });
  });

  it("keeps no reader out for good", async () => {
    const path = copyFixture(folders.make(), "basic");
    const { pauses, clock } = recordingClock();
    const store = await openStore(path, { clock });
    const held = hold(path);
    const listing = await store.list();
    listing.close();
    assert.equal(listing.ids.length, 6);
    assert.deepEqual(pauses, ragesPauses);
    assert.equal((await store.find("1767225637-4101-1"))?.kind, "task");
    held.release();
  });

  it("is not made by a reader", async () => {
    const path = join(folders.make(), "storage");
    const store = await openStore(path);
    const listing = await store.list();
    assert.deepEqual(listing.ids, []);
    listing.close();
    assert.equal(await store.find("1-1-1"), null);
    assert.deepEqual((await store.pending()).tasks, []);
    assert.equal(store.readOnlyReason(), null);
    assert.deepEqual(await store.remove(["1-1-1"]), { removed: [], missing: ["1-1-1"] });
    assert.deepEqual(await store.replay(["1-1-1"], null), { retried: [], missing: ["1-1-1"], failed: [], log: null });
    assert.ok(!existsSync(path));
  });

  it("is not taken for no ids at all", async () => {
    const path = copyFixture(folders.make(), "basic");
    const { pauses, clock } = recordingClock();
    const store = await openStore(path, { clock });
    const held = hold(path);
    assert.deepEqual(await store.remove([]), { removed: [], missing: [] });
    assert.deepEqual(await store.replay([], null), { retried: [], missing: [], failed: [], log: null });
    held.release();
    assert.deepEqual(pauses, []);
  });

  it("excludes two descriptors of one process", async () => {
    const path = copyFixture(folders.make(), "basic");
    const held = hold(path);
    const descriptor = openSync(join(path, lockName), "r+");
    assert.equal(flock.tryLock(descriptor), false);
    held.release();
    assert.equal(flock.tryLock(descriptor), true);
    closeSync(descriptor);
    // Nothing of ours holds it any more.
    hold(path).release();
    await (await openStore(path)).add(newTask("1-1-1"));
    hold(path).release();
  });

  it("makes the store read-only where there is none, with the reason", async () => {
    const path = copyFixture(folders.make(), "basic");
    const data = readFileSync(join(path, dataName));
    const unavailable = "Windows has no flock, the lock that Rage's workers use";
    const store = await openStore(path, { flock: { flock: null, unavailable } });
    assert.equal(store.readOnlyReason(), unavailable);
    const listing = await store.list();
    listing.close();
    assert.equal(listing.ids.length, 6);
    for (const change of [
      store.add(newTask("1-1-1")),
      store.remove(["1767225637-4101-1"]),
      store.replay(["1767225637-4101-1"], null),
    ]) {
      await assert.rejects(change, { code: "read-only", message: /^Could not .*: Windows has no flock/ });
    }
    assert.ok(readFileSync(join(path, dataName)).equals(data));
  });

  it("makes the store read-only where the file system refuses it, and reading goes on", async () => {
    const path = copyFixture(folders.make(), "basic");
    const refusing: Flock = {
      tryLock: () => {
        throw new StorageError(
          "read-only",
          "The file system refuses flock (ENOLCK), the lock that Rage's workers use.",
        );
      },
      unlock: () => undefined,
    };
    const store = await openStore(path, { flock: { flock: refusing, unavailable: null } });
    await assert.rejects(store.remove(["1767225637-4101-1"]), { code: "read-only", message: /ENOLCK/ });
    assert.match(store.readOnlyReason() ?? "", /ENOLCK/);
    const listing = await store.list();
    listing.close();
    assert.equal(listing.ids.length, 6);
    assert.deepEqual(readdirSync(path).sort(), [dataName, lockName]);
  });

  it("lets changes of one process wait for each other in the order of asking, and for no lock", async () => {
    const path = copyFixture(folders.make(), "empty");
    const { pauses, clock } = recordingClock();
    const store = await openStore(path, { clock });
    const ids = Array.from({ length: 20 }, (_, number) => `1-1-${number}`);
    await Promise.all(ids.map((id) => store.add(newTask(id))));
    const listing = await store.list();
    listing.close();
    assert.deepEqual(listing.ids, ids);
    const results = await Promise.all(ids.map((id) => store.replay([id], null)));
    assert.deepEqual(
      results.map(({ retried }) => retried[0]?.id),
      ids,
    );
    assert.deepEqual(pauses, []);
  });

  it("is free again after a change failed under it, and the next change goes on", async () => {
    const path = copyFixture(folders.make(), "basic");
    const store = await openStore(path);
    await assert.rejects(Promise.all([store.add(newTask("a:b")), store.remove(["1767225637-4101-1"])]), {
      code: "invalid",
    });
    await store.add(newTask("1-1-1"));
    assert.notEqual(await store.find("1-1-1"), null);
    hold(path).release();
  });
});
