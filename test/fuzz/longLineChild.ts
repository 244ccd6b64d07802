// Reads, shows and compacts a store with long lines in a small heap, and prints what it saw as JSON.
import { join } from "node:path";
import { DeadTaskStore, StoreIndex, nodeFileSystem, storageEnvironment } from "../../src/storage";
import { rawRecord } from "../../src/service/rawLines";

export interface LongLineReport {
  readonly listed: readonly { readonly id: string; readonly message: string }[];
  readonly unreadable: readonly { readonly id: string; readonly reason: string; readonly length: number }[];
  readonly damage: { readonly lines: number; readonly bytes: number; readonly tornTailBytes: number };
  readonly indexed: readonly string[];
  readonly indexDamage: LongLineReport["damage"];
  readonly found: readonly (string | null)[];
  readonly raw: { readonly start: string; readonly length: number };
  readonly pending: readonly string[];
  readonly pendingDamage: { readonly lines: number };
  readonly removed: readonly string[];
  readonly left: readonly string[];
  /** Resident memory at its highest, less what the process had before it read anything. */
  readonly peakBytes: number;
}

async function report(directory: string): Promise<LongLineReport> {
  const before = process.memoryUsage.rss();
  const store = new DeadTaskStore({ path: directory, prefix: "deferred-" }, await storageEnvironment());
  const listing = await store.list();
  const listed = [];
  for await (const { id, exceptionMessage } of listing.tasks("oldest")) {
    listed.push({ id, message: `${exceptionMessage.slice(0, 20)} ${exceptionMessage.length}` });
  }
  const indexed: string[] = [];
  const index = new StoreIndex(store, nodeFileSystem);
  const listener = {
    task: (id: string) => indexed.push(id),
    gone: () => undefined,
    progress: () => undefined,
    newest: () => undefined,
  };
  await index.refresh(listener);
  while (!index.isVerified) await index.verifyNext(listener);
  const found = [];
  for (const id of ["long", "both", "good-3"]) found.push((await store.find(id))?.kind ?? null);
  const text = rawRecord(nodeFileSystem, join(directory, "deferred-dead_tasks-0"), index.get("long")!);
  const { tasks, damage } = await store.pending();
  const { removed } = await store.remove(["good-1"]);
  const left = await store.list();
  left.close();
  return {
    listed,
    unreadable: listing.unreadable.map(({ id, reason, length }) => ({ id, reason, length })),
    damage: listing.damage,
    indexed,
    indexDamage: index.damage,
    found,
    raw: { start: text.slice(8, 30), length: text.length },
    pending: tasks.map(({ id }) => id),
    pendingDamage: damage,
    removed,
    left: left.ids,
    peakBytes: process.resourceUsage().maxRSS * 1024 - before,
  };
}

void report(process.argv[2] ?? "").then((result) => {
  process.stdout.write(`${JSON.stringify(result)}\n`);
});
