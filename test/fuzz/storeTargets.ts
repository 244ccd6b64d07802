import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { findApplicationStore } from "../../src/application/applicationStore";
import { tokenizeRuby } from "../../src/application/rubySource";
import { dumpString } from "../../src/marshal";
import { DeadTaskStore, StoreIndex, nodeFileSystem, storageEnvironment } from "../../src/storage";
import { deadTaskLine, frameLine, logAddLine } from "../../src/storage/frames";
import { contextOfSyncInvoice, newTask, taskLine } from "../support/stores";
import { configurations, contexts, dataFiles, deadTaskLines, logLines, logs } from "./corpus";
import { mutatedStream } from "./marshalTargets";
import { mutateBytes } from "./mutate";
import type { Random } from "./random";
import { mutatedRecord } from "./recordTargets";
import type { Target } from "./target";

const environment = storageEnvironment();
let folder: string | null = null;

/** A folder of this process's own, removed when it ends. */
function ownFolder(name: string): string {
  if (folder === null) {
    const made = mkdtempSync(join(tmpdir(), "dead-tasks-fuzz-"));
    process.on("exit", () => {
      rmSync(made, { recursive: true, force: true });
    });
    folder = made;
  }
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** The bytes with a good line put in at the front, after the newline next to the middle, and at the end. */
function planted(bytes: Buffer, line: (id: string) => Buffer): { readonly bytes: Buffer; readonly ids: string[] } {
  const middle = bytes.indexOf("\n", bytes.length >> 1) + 1;
  const newline = Buffer.from("\n");
  const ids = ["planted-front", "planted-middle", "planted-end"];
  const [front, between, end] = ids.map(line) as [Buffer, Buffer, Buffer];
  return {
    bytes: Buffer.concat([front, bytes.subarray(0, middle), between, bytes.subarray(middle), newline, end]),
    ids,
  };
}

function mutatedLine(random: Random): Buffer {
  const line = random.pick(deadTaskLines);
  switch (random.below(5)) {
    case 0:
      return line;
    case 1:
      return mutateBytes(random, line, deadTaskLines);
    case 2:
      return frameLine(mutateBytes(random, line.subarray(9, -1), deadTaskLines));
    default:
      return deadTaskLine(random.pick(["1-1-1", "1-1-2", "__proto__", "constructor", "x"]), mutatedRecord(random));
  }
}

/** Everything that a store tells, first by listing it and then by indexing it: both must say the same. */
async function assertSame(store: DeadTaskStore, index: StoreIndex, shown: Map<string, unknown>): Promise<void> {
  const listing = await store.list();
  const listed = new Map<string, unknown>();
  for await (const { id, offset, length, ...front } of listing.fronts("oldest")) {
    assert.equal(index.get(id)?.offset, offset);
    assert.equal(index.get(id)?.length, length);
    listed.set(id, front);
  }
  assert.deepEqual([...shown.keys()].sort(), [...listed.keys()].sort());
  for (const [id, front] of listed) assert.deepEqual(shown.get(id), front, id);
  assert.deepEqual(index.unreadable, listing.unreadable);
  assert.deepEqual(index.damage, listing.damage);
  assert.equal(listing.ids.length, listed.size + listing.unreadable.length);
}

const store: Target = {
  name: "stores",
  runs: { short: 150, long: 8_000 },
  make(random) {
    const lines = Array.from({ length: random.below(8) }, () => mutatedLine(random));
    const file = random.oneIn(20) ? random.pick(dataFiles) : Buffer.concat(lines);
    return random.oneIn(3) ? mutateBytes(random, file, deadTaskLines) : file;
  },
  async check(input) {
    const directory = ownFolder("storage");
    const file = join(directory, "deferred-dead_tasks-0");
    const store = new DeadTaskStore({ path: directory, prefix: "deferred-" }, await environment);
    const { bytes, ids } = planted(input, (id) => taskLine(newTask(id)));
    writeFileSync(file, bytes);
    const shown = new Map<string, unknown>();
    const index = new StoreIndex(store, nodeFileSystem);
    const listener = {
      task: (id: string, front: unknown) => shown.set(id, front),
      gone: (gone: readonly string[]) => {
        for (const id of gone) shown.delete(id);
      },
      progress: () => undefined,
      newest: () => undefined,
    };
    await index.refresh(listener);
    await assertSame(store, index, shown);
    appendFileSync(file, Buffer.concat([input, Buffer.from("\n"), taskLine(newTask("planted-later"))]));
    await index.refresh(listener);
    await assertSame(store, index, shown);
    for (const id of [...ids, "planted-later"]) assert.ok(shown.has(id), `${id} is hidden`);
    const found = await store.find("planted-middle");
    assert.equal(found?.kind === "task" && found.exceptionMessage, "message of planted-middle");
    const listing = await store.list();
    for await (const { id } of listing.tasks("newest")) assert.ok(shown.has(id));
    return listing.unreadable.length < listing.ids.length - ids.length - 1;
  },
};

const log: Target = {
  name: "logs",
  runs: { short: 600, long: 22_000 },
  make(random) {
    const lines = Array.from({ length: random.below(8) }, () => {
      const line = random.pick(logLines);
      if (random.oneIn(4)) return mutateBytes(random, line, logLines);
      if (random.oneIn(3)) return frameLine(mutateBytes(random, line.subarray(9, -1), logLines));
      const id = random.pick(["1-1-1", "1-1-2", "__proto__", "constructor"]);
      return logAddLine(id, random.below(3), dumpString(mutatedStream(random, contexts)));
    });
    return random.oneIn(4) ? mutateBytes(random, random.pick(logs), logLines) : Buffer.concat(lines);
  },
  async check(input) {
    const directory = ownFolder("logs");
    const { bytes, ids } = planted(input, (id) => logAddLine(id, null, dumpString(contextOfSyncInvoice)));
    writeFileSync(join(directory, "deferred-0-20260101-1-a"), bytes);
    const store = new DeadTaskStore({ path: directory, prefix: "deferred-" }, await environment);
    const { tasks, damage } = await store.pending();
    for (const id of ids) assert.equal(tasks.find((task) => task.id === id)?.context.taskClass, "SyncInvoice", id);
    assert.equal(new Set(tasks.map(({ id }) => id)).size, tasks.length);
    assert.ok(damage.bytes >= damage.lines && damage.bytes <= bytes.length);
    return tasks.length > ids.length;
  },
};

const application: Target = {
  name: "configuration",
  operations: 2,
  runs: { short: 800, long: 20_000 },
  make: (random) => mutateBytes(random, random.pick(configurations), configurations),
  check(input) {
    const root = ownFolder("application");
    mkdirSync(join(root, "config"), { recursive: true });
    writeFileSync(join(root, "config", "application.rb"), input);
    const tokens = tokenizeRuby(input.toString("utf8"));
    const lines = tokens.map(({ line }) => line);
    const newlines = input.toString("utf8").split("\n").length;
    assert.ok(
      lines.every((line, index) => line >= (lines[index - 1] ?? 1) && line <= newlines),
      "lines are counted",
    );
    const found = findApplicationStore(nodeFileSystem, root, {});
    if (found === null) return false;
    assert.ok(isAbsolute(found.path) && found.prefix.endsWith("-"));
    assert.match(found.source, /^default$|^config\/application\.rb:\d+$/);
    return found.source !== "default";
  },
};

export const storeTargets: readonly Target[] = [store, log, application];
