import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import {
  DeadTaskStore,
  StoreIndex,
  nodeFileSystem,
  storageEnvironment,
  type IndexListener,
  type StorageEnvironment,
} from "../../src/storage";
import { bigStoreId } from "../support/bigStore";

/** What a child process of the benchmark measures, in a process of its own so that memory can be told apart. */
export interface Measurement {
  /** By name: milliseconds. */
  readonly times: Readonly<Record<string, number>>;
  /** Megabytes of resident memory at its highest, over what the process had before. */
  readonly memory: number;
  /** Milliseconds for which the application's lock was held, at the longest. */
  readonly longestLock: number;
}

const quiet: IndexListener = {
  task: () => undefined,
  gone: () => undefined,
  progress: () => undefined,
  newest: () => undefined,
};

/** One pass over the file that reads it and takes a checksum: nothing that reads records can be faster. */
export function floor(directory: string): number {
  const started = performance.now();
  const file = openSync(join(directory, "deferred-dead_tasks-0"), "r");
  const buffer = Buffer.allocUnsafe(1 << 20);
  let checksum = 0;
  for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
    checksum = crc32(buffer.subarray(0, read), checksum);
  }
  closeSync(file);
  return performance.now() - started;
}

/** What is measured in a process of its own: as the editor's worker, as the command line, and as either changes a store. */
export const measured = ["indexing", "listing", "changing"] as const;
export type Measured = (typeof measured)[number];

/** Runs one of them and measures memory and lock beside it. */
export async function measure(directory: string, count: number, what: Measured): Promise<Measurement> {
  const locks: number[] = [];
  const environment = await watchedEnvironment(locks);
  const before = process.memoryUsage.rss();
  let highest = before;
  const look = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss());
  }, 5);
  const times = await { indexing, listing, changing }[what](directory, count, environment);
  highest = Math.max(highest, process.memoryUsage.rss());
  clearInterval(look);
  return { times, memory: (highest - before) / 1e6, longestLock: Math.max(0, ...locks) };
}

async function indexing(
  directory: string,
  count: number,
  environment: StorageEnvironment,
): Promise<Record<string, number>> {
  const store = new DeadTaskStore({ path: directory, prefix: "deferred-" }, environment);
  const index = new StoreIndex(store, nodeFileSystem);
  let firstPage = NaN;
  const started = performance.now();
  await index.refresh({ ...quiet, newest: () => (firstPage = performance.now() - started) });
  const summaries = performance.now() - started;
  if (index.taskCount !== count) throw new Error(`${index.taskCount} tasks instead of ${count}`);
  const verify = await timed(async () => {
    while (!index.isVerified) await index.verifyNext(quiet);
  });
  await store.add({
    id: "1767225637-1-1",
    taskClass: "SyncInvoice",
    attempts: 21,
    enqueuedAt: 1_767_225_637,
    failedAt: 1_767_234_637,
    exceptionClass: "RuntimeError",
    exceptionMessage: "the newest",
    backtrace: [],
    context: Buffer.from("\x04\b0", "latin1"),
  });
  const refresh = await timed(() => index.refresh(quiet));
  if (index.taskCount !== count + 1) throw new Error("the appended task was not seen");
  const find = await timed(() => store.find(bigStoreId(Math.floor(count / 2))));
  return {
    "summaries of all": summaries,
    "first page": Number.isNaN(firstPage) ? summaries : firstPage,
    "reading all to the end, afterwards": verify,
    "refresh after one append": refresh,
    "find by id": find,
  };
}

/** After `indexing`, which has added a task. */
async function listing(
  directory: string,
  count: number,
  environment: StorageEnvironment,
): Promise<Record<string, number>> {
  const store = new DeadTaskStore({ path: directory, prefix: "deferred-" }, environment);
  return {
    "listing, as the command line does": await timed(async () => {
      const listing = await store.list();
      let listed = 0;
      for await (const task of listing.fronts("newest")) listed += task.id === "" ? 0 : 1;
      if (listed !== count + 1) throw new Error(`${listed} tasks listed`);
    }),
  };
}

async function changing(
  directory: string,
  count: number,
  environment: StorageEnvironment,
): Promise<Record<string, number>> {
  const store = new DeadTaskStore({ path: directory, prefix: "deferred-" }, environment);
  const thousand = Array.from({ length: Math.min(1000, count - 2) }, (_, number) => bigStoreId(number + 1));
  return {
    "removal of 1": await timed(async () => {
      const { removed } = await store.remove([bigStoreId(0)]);
      if (removed.length !== 1) throw new Error("nothing was removed");
    }),
    "retry of 1": await timed(async () => {
      const { retried } = await store.replay([bigStoreId(count - 1)], null);
      if (retried.length !== 1) throw new Error("nothing was retried");
    }),
    "retry of 1,000": await timed(async () => {
      const { retried } = await store.replay(thousand, null);
      if (retried.length !== thousand.length) throw new Error("not all were retried");
    }),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The real environment, with the times for which the application's lock is held written down. */
async function watchedEnvironment(locks: number[]): Promise<StorageEnvironment> {
  const environment = await storageEnvironment();
  const { flock, unavailable } = environment.flock;
  if (flock === null) throw new Error(unavailable);
  const since = new Map<number, number>();
  return {
    ...environment,
    flock: {
      unavailable: null,
      flock: {
        tryLock: (descriptor) => {
          const had = flock.tryLock(descriptor);
          if (had) since.set(descriptor, performance.now());
          return had;
        },
        unlock: (descriptor) => {
          flock.unlock(descriptor);
          locks.push(performance.now() - (since.get(descriptor) ?? 0));
        },
      },
    },
  };
}
