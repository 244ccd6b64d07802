import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { nodeFileSystem } from "../../../src/storage";
import { systemClock } from "../../../src/storage/clock";
import { LongLock } from "../../../src/storage/longLock";
import type { LineProcess } from "../../support/lineProcess";
import { secondProcesses } from "../../support/processes";
import { copyFixture, openStore, referenceSurvivors, temporaryFolders } from "../../support/stores";

const dataName = "deferred-dead_tasks-0";
const busyName = ".deferred-dead_tasks.busy";
const id = "1767225637-4101-1";

interface Replay {
  readonly retried: readonly { readonly id: string; readonly newId: string }[];
  readonly missing: readonly string[];
  readonly failed: readonly { readonly id: string; readonly error: string }[];
  readonly log: string | null;
}

describe("the lock among our own processes", function () {
  this.timeout(40_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();

  function newCopy(): { path: string; original: Buffer; data: () => Buffer } {
    const path = copyFixture(folders.make(), "basic");
    const read = (): Buffer => readFileSync(join(path, dataName));
    return { path, original: read(), data: read };
  }

  /** Asks for a replay and comes back while it stands still at a call of the given kind. */
  async function stopInReplay(
    process: LineProcess,
    call: string,
    milliseconds: number,
  ): Promise<{ readonly replaying: Promise<unknown> }> {
    await process.request({ do: "pause", call, milliseconds });
    const replaying = process.request({ do: "replay", ids: [id] });
    // Its outcome is looked at later, or it has none since the process is killed.
    replaying.catch(() => undefined);
    await process.notice("paused");
    return { replaying };
  }

  async function assertReplayedOnce(path: string): Promise<void> {
    const { tasks } = await (await openStore(path)).pending();
    assert.equal(tasks.length, 1);
    const strange = readdirSync(path).filter((name) => name.startsWith("."));
    assert.deepEqual(strange, [], "no lock and no staging file is left");
  }

  it("has two processes that are told to replay the same tasks replay each once", async () => {
    for (let round = 0; round < 4; round++) {
      const { path } = newCopy();
      const both = [processes.ours(path), processes.ours(path)];
      await Promise.all(both.map((process) => process.request({ do: "ping" })));
      const [ids] = (await Promise.all(both.map((process) => process.request({ do: "list" })))) as string[][];
      const results = (await Promise.all(both.map((process) => process.request({ do: "replay", ids })))) as Replay[];
      const retried = results.flatMap((result) => result.retried);
      assert.deepEqual(retried.map((task) => task.id).sort(), [...ids!].sort());
      assert.deepEqual(results.flatMap((result) => result.missing).sort(), [...ids!].sort(), "the other found none");
      assert.deepEqual(
        results.flatMap((result) => result.failed),
        [],
      );
      const { tasks } = await (await openStore(path)).pending();
      assert.deepEqual(tasks.map((task) => task.id).sort(), retried.map(({ newId }) => newId).sort());
    }
  });

  it("stops an operation before its next write when the lock's directory is gone", async () => {
    const { path, original, data } = newCopy();
    const process = processes.ours(path);
    const { replaying } = await stopInReplay(process, "fsync", 300);
    rmdirSync(join(path, busyName));
    await assert.rejects(replaying, { code: "compromised", message: /was lost while working.*repeat what is missing/ });
    assert.ok(data().equals(original));
    assert.deepEqual((await (await openStore(path)).pending()).tasks, []);
    assert.deepEqual(
      readdirSync(path).filter((name) => name.includes("staging")),
      [],
    );
    assert.equal(await process.request({ do: "ping" }), "pong");
  });

  it("knows another process's lock in the place of its own, and leaves that alone", async () => {
    const { path, original, data } = newCopy();
    const process = processes.ours(path);
    const { replaying } = await stopInReplay(process, "fsync", 300);
    rmdirSync(join(path, busyName));
    // On many file systems it has the very number of the directory that has just gone.
    mkdirSync(join(path, busyName));
    const inode = statSync(join(path, busyName)).ino;
    await assert.rejects(replaying, { code: "compromised" });
    assert.ok(data().equals(original));
    assert.equal(statSync(join(path, busyName)).ino, inode, "it is not ours to remove");
  });

  it("reports a store as busy after 15 seconds of another's work", async () => {
    const { path, original, data } = newCopy();
    mkdirSync(join(path, busyName));
    let slept = 0;
    const store = await openStore(path, {
      clock: {
        now: () => Date.now(),
        sleep: (milliseconds) => {
          slept += milliseconds;
          return Promise.resolve();
        },
      },
    });
    await assert.rejects(store.remove([id]), {
      code: "busy",
      message: /^Another window or command line is changing this store .*Nothing was changed; try again/,
    });
    assert.ok(slept > 14_000 && slept < 16_000, `${slept} ms`);
    assert.ok(data().equals(original));
    assert.ok(existsSync(join(path, busyName)));
  });

  it("does not keep the application's workers out", async () => {
    const { path } = newCopy();
    mkdirSync(join(path, busyName));
    const peer = processes.ruby(path);
    assert.deepEqual(await peer.request({ do: "remove", ids: [id] }), [id]);
  });

  // These wait for a lock to go stale, so they run beside each other.
  it("outlives killed, stopped and sleeping processes", async () => {
    await Promise.all([takenOverFromTheDead(), takenOverFromTheStopped(), givenUpAfterASleep(), keptThroughLongWork()]);
  });

  async function keptThroughLongWork(): Promise<void> {
    const path = join(folders.make(), busyName);
    const events: string[] = [];
    const lock = (): LongLock => new LongLock(path, nodeFileSystem, systemClock);
    const working = lock().run(async (guard) => {
      for (let second = 0; second < 11; second++) {
        await delay(1000);
        guard.check();
      }
      events.push("the first is done");
    });
    await delay(500);
    await lock().run(async () => {
      await working;
      events.push("the second began");
    });
    assert.deepEqual(events, ["the first is done", "the second began"]);
    assert.ok(!existsSync(path));
  }

  async function takenOverFromTheDead(): Promise<void> {
    const { path, original, data } = newCopy();
    const killed = processes.ours(path);
    await stopInReplay(killed, "rename", 60_000);
    killed.signal("SIGKILL");
    await killed.exited;
    assert.equal(
      readdirSync(path).filter((name) => name.endsWith(".staging")).length,
      2,
      "it left a log and a journal in the making",
    );
    const started = Date.now();
    const heir = processes.ours(path);
    const { retried } = (await heir.request({ do: "replay", ids: [id] })) as Replay;
    const waited = Date.now() - started;
    assert.deepEqual(
      retried.map((task) => task.id),
      [id],
    );
    assert.ok(waited > 5_000 && waited < 14_000, `${waited} ms`);
    assert.ok(data().equals(referenceSurvivors(original, [id])));
    await assertReplayedOnce(path);
  }

  async function takenOverFromTheStopped(): Promise<void> {
    const { path, original, data } = newCopy();
    const stopped = processes.ours(path);
    const { replaying } = await stopInReplay(stopped, "fsync", 200);
    stopped.signal("SIGSTOP");
    const heir = processes.ours(path);
    const { retried } = (await heir.request({ do: "replay", ids: [id] })) as Replay;
    assert.deepEqual(
      retried.map((task) => task.id),
      [id],
    );
    stopped.signal("SIGCONT");
    // Its staging file was removed as an orphan under it, and its lock is another's or nobody's.
    await assert.rejects(replaying, { code: "compromised" });
    assert.equal(await stopped.request({ do: "ping" }), "pong", "the process survives");
    assert.ok(data().equals(referenceSurvivors(original, [id])));
    await assertReplayedOnce(path);
    const again = (await stopped.request({ do: "replay", ids: [id] })) as Replay;
    assert.deepEqual(again.missing, [id], "it goes on working");
  }

  async function givenUpAfterASleep(): Promise<void> {
    const { path, original, data } = newCopy();
    const sleeper = processes.ours(path);
    const { replaying } = await stopInReplay(sleeper, "fsync", 200);
    sleeper.signal("SIGSTOP");
    await delay(11_000);
    sleeper.signal("SIGCONT");
    await assert.rejects(replaying, { code: "compromised" });
    assert.ok(data().equals(original));
    // Nobody took the lock meanwhile. The process must not keep it, be it fresh or stale, from itself and the others.
    const started = Date.now();
    const { retried } = (await sleeper.request({ do: "replay", ids: [id] })) as Replay;
    assert.deepEqual(
      retried.map((task) => task.id),
      [id],
    );
    assert.ok(Date.now() - started < 2_000);
    await assertReplayedOnce(path);
  }
});
