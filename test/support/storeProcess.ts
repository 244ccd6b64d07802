import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { discoverStores } from "../../src/service/discoverStores";
import { sendElsewhere } from "../../src/service/sendElsewhere";
import type { SendWay } from "../../src/service/sendProtocol";
import { UndoKeeper, undoChange } from "../../src/service/undo";
import {
  DeadTaskStore,
  StorageError,
  storageEnvironment,
  type FileSystem,
  type NewDeadTask,
  type StorageEnvironment,
  type UndoHeader,
} from "../../src/storage";
import { joinCrowd } from "./crowdMember";
import { intercepted } from "./fileSystems";

/**
 * Our storage in a process of its own, as another window or command line is: requests as lines of JSON on stdin, answers on
 * stdout. It can be told to stand still at its next call of one kind to the file system, which is where tests kill or stop it.
 */

interface Request {
  readonly sequence: number;
  readonly do: string;
  readonly task?: Readonly<Record<string, unknown>>;
  readonly ids?: readonly string[];
  readonly publishAt?: number | null;
  readonly call?: keyof FileSystem;
  readonly milliseconds?: number;
  readonly uid?: number;
  readonly folder?: string;
  /** Of what is sent there. */
  readonly way?: SendWay;
  readonly seconds?: number;
  /** Where deletions and retries are kept, and undone from; what is sent is kept where it is given. */
  readonly undoDirectory?: string;
  /** Of what is undone. */
  readonly name?: string;
}

function say(message: object): void {
  // Synchronous: what is said must be out before this process stands still.
  writeSync(1, `${JSON.stringify(message)}\n`);
}

let pause: { readonly call: keyof FileSystem; readonly milliseconds: number } | null = null;

const fileSystem = intercepted({
  before: ({ name }) => {
    if (name !== pause?.call) return;
    const { milliseconds } = pause;
    pause = null;
    say({ notice: "paused" });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
  },
});

function taskOf(message: Readonly<Record<string, unknown>>, id = String(message["id"])): NewDeadTask {
  return {
    id,
    taskClass: String(message["task_class"]),
    attempts: Number(message["attempts"]),
    enqueuedAt: Number(message["enqueued_at"]),
    failedAt: Number(message["failed_at"]),
    exceptionClass: message["exception_class"] as string | null,
    exceptionMessage: String(message["exception_message"]),
    backtrace: message["backtrace"] as string[],
    context: Buffer.from(String(message["context"]), "base64"),
  };
}

async function list(store: DeadTaskStore): Promise<readonly string[]> {
  const listing = await store.list();
  listing.close();
  return listing.ids;
}

function becomeUser(uid: number): void {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
}

interface Stores {
  readonly environment: StorageEnvironment;
  readonly store: DeadTaskStore;
  /** The one that is sent to. */
  readonly other: DeadTaskStore;
}

async function answer({ environment, store, other }: Stores, request: Request): Promise<unknown> {
  const { ids = [], publishAt = null, task = {}, undoDirectory = "", seconds = 0, way = "copy" } = request;
  const keeper = (elsewhere?: UndoHeader["elsewhere"]): UndoKeeper =>
    new UndoKeeper(
      environment,
      store,
      { directory: undoDirectory, title: "", limits: { bytes: 1e9, age: 3_600 } },
      () => undefined,
      elsewhere,
    );
  switch (request.do) {
    case "add":
      await store.add(taskOf(task));
      return null;
    case "list":
      return await list(store);
    case "remove":
      return await store.remove(ids);
    case "replay":
      return await store.replay(ids, publishAt);
    case "send": {
      const { directory, prefix } = other.names;
      const kept = request.undoDirectory === undefined ? null : keeper({ way, directory, prefix });
      return await sendElsewhere(store, other, ids, way, kept, {});
    }
    case "removeKept": {
      const kept = keeper();
      const result = await store.remove(ids, { keep: kept.keep });
      return { ...result, undo: kept.finish() };
    }
    case "replayKept": {
      const kept = keeper();
      const result = await store.replay(ids, publishAt, { keepReplayed: kept.keepReplayed });
      return { ...result, undo: kept.finish() };
    }
    case "undo":
      return await undoChange(environment, undoDirectory, request.name ?? "", [store]);
    case "pending":
      return (await store.pending()).tasks.map(({ id }) => id);
    case "readOnly":
      return store.readOnlyReason();
    case "discover":
      return discoverStores(fileSystem, request.folder ?? "").map(({ path }) => path);
    case "crowd":
      return await joinCrowd({
        environment,
        store,
        undoDirectory,
        until: Date.now() + seconds * 1000,
        add: (id) => store.add(taskOf(task, id)),
      });
    case "pause":
      pause = { call: request.call ?? "rename", milliseconds: request.milliseconds ?? 0 };
      return null;
    case "become":
      becomeUser(request.uid ?? 0);
      return null;
    case "ping":
      return "pong";
    default:
      throw new Error(`unknown request ${request.do}`);
  }
}

async function serve([path = "", prefix = ""]: readonly string[]): Promise<void> {
  const environment = await storageEnvironment({ fileSystem });
  const store = new DeadTaskStore({ path, prefix }, environment);
  createInterface({ input: process.stdin }).on("line", (line) => {
    const request = JSON.parse(line) as Request;
    const { sequence } = request;
    // `folder` is that of the store that is sent to, where something is sent.
    const other = new DeadTaskStore({ path: request.folder ?? path, prefix }, environment);
    answer({ environment, store, other }, request).then(
      (value) => {
        say({ sequence, ok: true, value });
      },
      (error: unknown) => {
        const code = error instanceof StorageError ? error.code : "fault";
        say({ sequence, ok: false, code, message: error instanceof Error ? error.message : String(error) });
      },
    );
  });
}

void serve(process.argv.slice(2));
