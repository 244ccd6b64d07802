import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { secondProcesses, taskMessage } from "../support/processes";
import { contextOfSyncInvoice, newTask, openStore, referenceLines, temporaryFolders } from "../support/stores";

const seconds = Number(process.env["DEAD_TASKS_CROWD_SECONDS"] ?? 10);

/** What one process of the crowd did. */
interface Part {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly retried?: readonly { readonly id: string; readonly newId: string }[];
  readonly failures?: readonly string[];
  readonly timeouts: number;
}

describe("a crowd of four of ours and four Ruby peers on one store", function () {
  this.timeout(60_000 + seconds * 2_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();

  it(`has every task end in just the places where it should after ${seconds} s, and nobody wait for the lock in vain`, async () => {
    const path = join(folders.make(), "storage");
    const ours = Array.from({ length: 4 }, () => processes.ours(path));
    const peers = Array.from({ length: 4 }, () => processes.ruby(path));
    await Promise.all([...ours, ...peers].map((process) => process.request({ do: "ping" })));
    const [peer] = peers;
    await peer!.request({ do: "create" });
    const task = taskMessage(newTask("0-0-0", { context: contextOfSyncInvoice }));
    const results = (await Promise.all(
      [...ours, ...peers].map((process, seed) => process.request({ do: "crowd", task, seconds, seed })),
    )) as Part[];

    assert.deepEqual(
      results.map(({ timeouts }) => timeouts),
      results.map(() => 0),
      "nobody waited for the lock in vain",
    );
    assert.deepEqual(
      results.flatMap(({ failures = [] }) => failures),
      [],
    );
    const added = results.flatMap((result) => result.added);
    const removed = results.flatMap((result) => result.removed);
    const retried = results.flatMap((result) => result.retried ?? []);
    // eslint-disable-next-line no-console -- the figures are part of the result
    console.log(`      ${added.length} added, ${removed.length} removed, ${retried.length} retried by 8 processes`);
    assert.equal(new Set(removed).size, removed.length, "no task was removed twice");
    // Ours all go for the same ones, the first in the list.
    assert.equal(new Set(retried.map(({ id }) => id)).size, retried.length, "no task was retried twice");
    for (const count of [added.length / 4, removed.length, retried.length]) {
      assert.ok(count > seconds, `a crowd, not ${count}`);
    }

    const gone = new Set([...removed, ...retried.map(({ id }) => id)]);
    const expected = added.filter((id) => !gone.has(id)).sort();
    const store = await openStore(path);
    const listing = await store.list();
    listing.close();
    assert.deepEqual([...listing.ids].sort(), expected);
    assert.deepEqual(listing.damage, { lines: 0, bytes: 0, tornTailBytes: 0 });
    const lines = referenceLines(readFileSync(join(path, "deferred-dead_tasks-0"))).lines;
    assert.deepEqual(lines.map(({ id }) => id).sort(), expected, "one line for each");
    const byPeer = (await peer!.request({ do: "list" })) as { readonly id: string }[];
    assert.deepEqual(byPeer.map(({ id }) => id).sort(), expected);

    const newIds = retried.map(({ newId }) => newId).sort();
    assert.deepEqual((await store.pending()).tasks.map(({ id }) => id).sort(), newIds);
    const pendingByPeer = (await peer!.request({ do: "pending" })) as { readonly id: string }[];
    assert.deepEqual(pendingByPeer.map(({ id }) => id).sort(), newIds);
    assert.deepEqual(
      readdirSync(path).filter((name) => name.startsWith(".") || name.endsWith(".tmp")),
      [],
    );
  });
});
