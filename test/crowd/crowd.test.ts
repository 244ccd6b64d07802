import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { editedArguments, type CrowdPart } from "../support/crowdMember";
import { secondProcesses, taskMessage } from "../support/processes";
import { contextOfSyncInvoice, newTask, openStore, referenceLines, temporaryFolders } from "../support/stores";

const seconds = Number(process.env["DEAD_TASKS_CROWD_SECONDS"] ?? 10);

/** What a Ruby peer did. `ran`: the new ids of what it took from the logs. */
interface PeerPart {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly ran: readonly string[];
  readonly timeouts: number;
}

/** How often each comes up. */
function tally(...lists: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of lists.flat()) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

describe("a crowd of four of ours and four Ruby peers on one store", function () {
  this.timeout(60_000 + seconds * 2_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();

  it(`has every task end in just the place where it should after ${seconds} s, and nobody wait for the lock in vain`, async () => {
    const folder = folders.make();
    const path = join(folder, "storage");
    const ours = Array.from({ length: 4 }, () => processes.ours(path));
    const peers = Array.from({ length: 4 }, () => processes.ruby(path));
    await Promise.all([...ours, ...peers].map((process) => process.request({ do: "ping" })));
    const [peer] = peers;
    await peer!.request({ do: "create" });
    const task = taskMessage(newTask("0-0-0", { context: contextOfSyncInvoice }));
    const undoDirectory = join(folder, "undo");
    const [parts, peerParts] = (await Promise.all([
      Promise.all(ours.map((process) => process.request({ do: "crowd", task, seconds, undoDirectory }))),
      Promise.all(
        peers.map((process, seed) => process.request({ do: "crowd", task, seconds, seed, worker: seed === 0 })),
      ),
    ])) as [CrowdPart[], PeerPart[]];

    const all = [...parts, ...peerParts];
    assert.deepEqual(
      all.map(({ timeouts }) => timeouts),
      all.map(() => 0),
      "nobody waited for the lock in vain",
    );
    assert.deepEqual(
      parts.flatMap(({ failures }) => failures),
      [],
    );
    const added = all.flatMap((part) => part.added);
    const removed = all.flatMap((part) => part.removed);
    const retried = parts.flatMap((part) => part.retried);
    const restored = parts.flatMap((part) => part.restored);
    const takenBack = parts.flatMap((part) => part.takenBack);
    const edited = new Set(parts.flatMap((part) => part.edited));
    const ran = peerParts.flatMap((part) => part.ran);
    const tooLate = parts.reduce((sum, part) => sum + part.tooLate, 0);
    // eslint-disable-next-line no-console -- the figures are part of the result
    console.log(
      `      ${added.length} added, ${removed.length} removed, ${restored.length} of them restored, ${retried.length} retried (${edited.size} edited), ` +
        `${takenBack.length} of them taken back, ${ran.length} run, ${tooLate} undone too late, by 8 processes`,
    );
    for (const count of [added.length / 4, removed.length, retried.length]) {
      assert.ok(count > seconds, `a crowd, not ${count}`);
    }
    for (const count of [restored.length, takenBack.length, edited.size, ran.length]) {
      assert.ok(count > seconds / 5, `a crowd, not ${count}`);
    }

    // What came to the dead tasks, without what left them: never more than one of a task, nor less than none.
    const came = tally(added, restored, takenBack.map(({ id }) => id)); // prettier-ignore
    const left = tally(removed, retried.map(({ id }) => id)); // prettier-ignore
    const expected: string[] = [];
    for (const id of new Set([...came.keys(), ...left.keys()])) {
      const balance = (came.get(id) ?? 0) - (left.get(id) ?? 0);
      assert.ok(balance === 0 || balance === 1, `${id}: ${balance}`);
      if (balance === 1) expected.push(id);
    }
    expected.sort();
    const store = await openStore(path);
    const listing = await store.list();
    listing.close();
    assert.deepEqual([...listing.ids].sort(), expected);
    assert.deepEqual(listing.damage, { lines: 0, bytes: 0, tornTailBytes: 0 });
    const lines = referenceLines(readFileSync(join(path, "deferred-dead_tasks-0"))).lines;
    assert.deepEqual(lines.map(({ id }) => id).sort(), expected, "one line for each");
    const byPeer = (await peer!.request({ do: "list" })) as { readonly id: string }[];
    assert.deepEqual(byPeer.map(({ id }) => id).sort(), expected);

    // What was enqueued was run once, or taken back once, or waits.
    const ended = tally(ran, takenBack.map(({ newId }) => newId)); // prettier-ignore
    const enqueued = retried.map(({ newId }) => newId);
    assert.equal(new Set(enqueued).size, enqueued.length);
    for (const [newId, times] of ended) assert.ok(times === 1 && enqueued.includes(newId), newId);
    const waiting = enqueued.filter((newId) => !ended.has(newId)).sort();
    assert.deepEqual((await store.pending()).tasks.map(({ id }) => id).sort(), waiting);
    const pendingByPeer = (await peer!.request({ do: "pending" })) as {
      readonly id: string;
      readonly args_inspect: string;
    }[];
    assert.deepEqual(pendingByPeer.map(({ id }) => id).sort(), waiting);
    assert.deepEqual(
      pendingByPeer.map(({ args_inspect }) => args_inspect === editedArguments),
      pendingByPeer.map(({ id }) => edited.has(id)),
      "what was edited waits as it was edited, and the rest as it was",
    );
    assert.deepEqual(
      [...readdirSync(path), ...readdirSync(undoDirectory)].filter((name) => /^\.|\.(tmp|part)$/.test(name)),
      [],
    );
  });
});
