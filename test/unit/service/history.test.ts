import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { History, finishedNotes } from "../../../src/service/history";
import type { HistoryEntry, HistoryNote, HistoryOptions, HistoryQuery } from "../../../src/service/historyProtocol";
import { storageEnvironment, type FileSystem, type StorageEnvironment } from "../../../src/storage";
import { jsonLine } from "../../../src/storage/jsonLines";
import { failingOnce, systemError } from "../../support/fileSystems";
import { bundle } from "../../support/processes";
import { temporaryFolders } from "../../support/stores";

const store = { directory: "/srv/shop/storage", prefix: "deferred-" };
const other = { directory: "/srv/other/storage", prefix: "deferred-" };
const limits = { bytes: 1_000_000, age: 30 * 86_400 };
const newest: HistoryQuery = { stores: null, after: null, limit: 100, known: null };
const nowhere: ReadonlyMap<string, typeof store> = new Map();

describe("the history", () => {
  const folders = temporaryFolders();
  let directory: string;
  let warnings: string[];
  let now: number;

  beforeEach(() => {
    directory = join(folders.make(), "ours", "history");
    warnings = [];
    now = Date.now();
  });

  async function history(options: Partial<HistoryOptions> = {}, replaced: Partial<StorageEnvironment> = {}) {
    const clock = { now: () => now, sleep: () => Promise.resolve() };
    const made = new History(await storageEnvironment({ clock, ...replaced }), (text) => warnings.push(text));
    made.keep({ directory, window: { name: "shop", processId: 17 }, limits, ...options });
    return made;
  }

  function note(ids: readonly string[], rest: Partial<HistoryNote> = {}): HistoryNote {
    return { kind: "delete", done: ids.map((id) => ({ id })), ...rest };
  }

  function record(made: History, given: HistoryNote, place = store): void {
    const ids = [...given.done, ...(given.failed ?? [])].map(({ id }) => id);
    made.recorder(place, ids, (id) => (id.startsWith("?") ? null : "PaymentTask"))(given);
  }

  function idsIn(made: History, query: Partial<HistoryQuery> = {}, open = nowhere) {
    return made.page({ ...newest, ...query }, open).entries?.map(({ tasks }) => tasks.map(({ id }) => id).join());
  }

  function entryOf(made: History, id: string): HistoryEntry {
    return made.page(newest, nowhere).entries!.find(({ tasks }) => tasks[0]!.id === id)!;
  }

  function files(): string[] {
    return existsSync(directory) ? readdirSync(directory) : [];
  }

  it("keeps what was done, to which tasks, where, by whom and when", async () => {
    const made = await history();
    record(made, {
      kind: "retry",
      done: [{ id: "1-1-1", newId: "2-2-1" }, { id: "?" }],
      missing: ["1-1-2", "1-1-3"],
      failed: [{ id: "1-1-4", error: "It cannot be read." }],
      publishAt: 1_900_000_000,
      log: "deferred-0-x",
      undo: "1-2-3.undo",
    });
    const [entry, ...more] = made.page(newest, nowhere).entries!;
    assert.deepEqual(more, []);
    assert.deepEqual(
      { ...entry, key: "" },
      {
        key: "",
        at: now / 1000,
        window: { name: "shop", processId: 17 },
        own: true,
        store,
        storeKey: null,
        kind: "retry",
        count: 2,
        tasks: [
          { id: "1-1-1", taskClass: "PaymentTask", newId: "2-2-1" },
          { id: "?", taskClass: null, newId: null },
        ],
        classes: [
          { taskClass: "PaymentTask", count: 1 },
          { taskClass: null, count: 1 },
        ],
        missing: 2,
        failures: [{ id: "1-1-4", taskClass: "PaymentTask", error: "It cannot be read." }],
        failureCount: 1,
        publishAt: 1_900_000_000,
        log: "deferred-0-x",
        undo: "1-2-3.undo",
        undone: null,
        edits: [],
        target: null,
        targetKey: null,
      },
    );
    assert.equal(statSync(join(directory, files()[0]!)).mode & 0o777, 0o600, "nobody else can read it");
  });

  it("keeps nothing of an operation that did nothing, nor where nothing is to be kept", async () => {
    const made = await history();
    record(made, note([], { missing: ["1-1-1"] }));
    assert.deepEqual(files(), []);
    record(made, note([], { failed: [{ id: "1-1-1", error: "refused" }] }));
    assert.equal(idsIn(made)!.length, 1);
    made.keep({ directory, window: { name: "shop", processId: 17 }, limits: null });
    assert.deepEqual(files(), [], "what was kept is forgotten");
    record(made, note(["1-1-1"]));
    assert.deepEqual(files(), []);
    assert.deepEqual(idsIn(made), []);
  });

  it("is read newest first and by pages, across the files of many windows", async () => {
    const windows = [await history(), await history(), await history()];
    for (let index = 0; index < 50; index++) {
      now += 1000;
      record(windows[index % 3]!, note([`1-1-${index}`]));
    }
    assert.equal(files().length, 3);
    const pages: string[][] = [];
    let after: string | null = null;
    for (;;) {
      const { entries, more } = windows[0]!.page({ ...newest, limit: 20, after }, nowhere);
      pages.push(entries!.map(({ tasks }) => tasks[0]!.id));
      after = entries!.at(-1)!.key;
      // What is added while one leafs through does not move what follows.
      record(windows[1]!, note(["late"]));
      if (!more) break;
    }
    assert.deepEqual(
      pages.map(({ length }) => length),
      [20, 20, 10],
    );
    assert.deepEqual(
      pages.flat(),
      [...Array(50).keys()].map((index) => `1-1-${49 - index}`),
    );
  });

  it("loses nothing where several processes add at once and are read meanwhile", async () => {
    const reader = await history();
    const program = bundle("test/support/historyProcess.ts");
    const names = ["one", "two", "three"];
    const ended = Promise.all(
      names.map((name) => promisify(execFile)(process.execPath, [program, directory, name, "100"])),
    );
    const progress = { isOver: false };
    void ended.finally(() => (progress.isOver = true));
    let before = 0;
    while (!progress.isOver) {
      now = Date.now();
      const { length } = idsIn(reader, { limit: 1000 })!;
      assert.ok(length >= before);
      before = length;
      await delay(5);
    }
    await ended;
    now = Date.now();
    const { entries } = reader.page({ ...newest, limit: 1000 }, nowhere);
    assert.equal(files().length, 3);
    for (const name of names) {
      const ids = entries!.filter(({ window }) => window.name === name).map(({ tasks }) => tasks[0]!.id);
      assert.deepEqual(
        ids,
        [...Array(100).keys()].map((index) => `${name}-${99 - index}`),
      );
    }
    const times = entries!.map(({ at }) => at);
    assert.deepEqual(
      times,
      [...times].sort((left, right) => right - left),
    );
    assert.ok(entries!.every(({ own }) => !own));
  });

  it("keeps the order of one window within one millisecond", async () => {
    const made = await history();
    for (const id of ["1", "2", "3"]) record(made, note([id]));
    assert.deepEqual(idsIn(made), ["3", "2", "1"]);
    const { entries } = made.page({ ...newest, limit: 1 }, nowhere);
    assert.deepEqual(idsIn(made, { after: entries![0]!.key }), ["2", "1"]);
  });

  it("says that nothing changed, and notices what another window does", async () => {
    const [one, another] = [await history(), await history()];
    record(one, note(["1"]));
    const { fingerprint } = one.page(newest, nowhere);
    assert.equal(one.page({ ...newest, known: fingerprint }, nowhere).entries, null);
    record(another, note(["2"]));
    assert.deepEqual(idsIn(one, { known: fingerprint })!.sort(), ["1", "2"]);
    one.clear();
    assert.deepEqual(idsIn(another, { known: fingerprint }), []);
    record(another, note(["3"]));
    assert.deepEqual(idsIn(one), ["3"], "it goes on after it was cleared");
  });

  it("gives the entries of the stores that are asked for, as source or as target", async () => {
    const made = await history();
    record(made, note(["1"]));
    record(made, note(["2"]), other);
    record(made, note(["3"], { kind: "send", target: store }), other);
    const open = new Map([
      ["shop", store],
      ["other", other],
    ]);
    assert.deepEqual(idsIn(made, { stores: ["shop"] }, open), ["3", "1"]);
    assert.deepEqual(idsIn(made, { stores: ["other"] }, open), ["3", "2"]);
    assert.deepEqual(idsIn(made, { stores: ["closed"] }, open), []);
    assert.deepEqual(idsIn(made), ["3", "2", "1"]);
  });

  it("passes over what is no entry: a torn line, damage, another version, files of others", async () => {
    const made = await history();
    for (const id of ["1", "2", "3"]) record(made, note([id]));
    const path = join(directory, files()[0]!);
    const lines = readFileSync(path, "latin1").split("\n");
    writeFileSync(
      path,
      [lines[0], lines[1]!.replace("PaymentTask", "PaymentTusk"), "", "{}", lines[2], ""].join("\n"),
      "latin1",
    );
    assert.deepEqual(idsIn(made), ["3", "1"]);
    appendFileSync(path, jsonLine({ version: 1, content: { ...entryOf(made, "1"), kind: "of a later version" } }));
    assert.deepEqual(idsIn(made), ["3", "1"]);
    truncateSync(path, statSync(path).size - 5);
    assert.deepEqual(idsIn(made), ["3", "1"], "that was the later one");
    truncateSync(path, readFileSync(path, "latin1").indexOf('"id":"3"'));
    assert.deepEqual(idsIn(made), ["1"]);
    writeFileSync(join(directory, "notes.txt"), "not ours");
    made.clear();
    assert.deepEqual(files(), ["notes.txt"]);
  });

  it("appends nothing to a line that it could not write, warns, and goes on in another file", async () => {
    const real = (await storageEnvironment()).fileSystem;
    let armed = false;
    const torn: FileSystem = {
      ...real,
      write: (descriptor, buffer, offset, length) => {
        if (!armed) return real.write(descriptor, buffer, offset, length);
        if (length < 20) {
          armed = false;
          throw systemError("ENOSPC", "no space left on device", "write");
        }
        return real.write(descriptor, buffer, offset, length - 10);
      },
    };
    const made = await history({}, { fileSystem: torn });
    record(made, note(["1"]));
    armed = true;
    record(made, note(["2"]));
    assert.match(warnings.join(), /^Could not write the history in .*: ENOSPC/);
    now += 1;
    record(made, note(["3"]));
    assert.deepEqual(idsIn(made), ["3", "1"]);
    assert.equal(files().length, 2);
  });

  it("passes over a file that another window forgets while it is read", async () => {
    const made = await history();
    record(made, note(["1"]));
    const gone = systemError("ENOENT", "no such file or directory", "open");
    const fileSystem = failingOnce(({ name, path }) => name === "open" && path.endsWith(".history"), gone);
    const reader = await history({}, { fileSystem });
    assert.deepEqual(idsIn(reader), []);
    assert.deepEqual(idsIn(reader), ["1"]);
  });

  for (const call of ["mkdir", "open", "fsync", "readdir"] as const) {
    it(`warns and throws nothing where ${call} fails`, async () => {
      const made = await history();
      let armed = false;
      const error = systemError("EACCES", "permission denied", call);
      const fileSystem = failingOnce(({ name }) => armed && name === call, error);
      const failing = await history({}, { fileSystem });
      armed = true;
      record(failing, note(["1"]));
      assert.equal(warnings.length, 1);
      assert.match(warnings[0]!, /^Could not write the history in .*: EACCES/);
      record(failing, note(["2"]));
      assert.ok(idsIn(made)!.includes("2"));
    });
  }

  it("begins another file each day, and forgets files that are old", async () => {
    const made = await history();
    record(made, note(["1"]));
    const [first] = files() as [string];
    const path = join(directory, first);
    now += 86_400_000;
    record(made, note(["2"]));
    assert.equal(files().length, 2);
    utimesSync(path, now / 1000 - limits.age - 1, now / 1000 - limits.age - 1);
    record(made, note(["3"]));
    assert.ok(!existsSync(path));
    assert.deepEqual(idsIn(made), ["3", "2"]);
  });

  it("shows no entry that is older than the limit, be its file still there", async () => {
    const made = await history();
    record(made, note(["1"]));
    now += limits.age * 1000 + 1;
    assert.deepEqual(idsIn(made), []);
  });

  it("keeps within the bytes, the newest", async () => {
    const bytes = 20_000;
    const made = await history({ limits: { ...limits, bytes } });
    for (let index = 0; index < 400; index++) {
      now += 1000;
      record(made, note([`1-1-${index}`]));
    }
    const total = files().reduce((sum, file) => sum + statSync(join(directory, file)).size, 0);
    assert.ok(total <= bytes && total > bytes / 2, String(total));
    const ids = idsIn(made)!;
    assert.equal(ids[0], "1-1-399");
    assert.deepEqual(
      ids,
      ids.map((_, index) => `1-1-${399 - index}`),
    );
  });

  it("cuts what is long and counts what is many, and takes names as they come", async () => {
    const made = await history();
    const many = [...Array(100_000).keys()].map((index) => ({ id: `1-1-${index}`, newId: `2-2-${index}` }));
    const started = performance.now();
    record(made, { kind: "retry", done: many });
    const took = performance.now() - started;
    assert.ok(took < 1000, `${took} ms`);
    const hostile = "\ud800\u202e__proto__\n\0](command:x)";
    record(made, {
      kind: "edit",
      done: [{ id: hostile }],
      failed: [...Array(80).keys()].map((index) => ({ id: `${hostile}${index}`, error: "e".repeat(10_000) })),
      edits: [{ id: hostile, before: "a".repeat(1_000_000), after: hostile }],
      undone: { name: "n", title: "t".repeat(10_000) },
    });
    record(made, note(["x".repeat(1_000_000)]));
    const [longId, edit, retry] = made.page(newest, nowhere).entries!;
    assert.deepEqual(
      [retry!.count, retry!.tasks.length, retry!.classes],
      [100_000, 200, [{ taskClass: "PaymentTask", count: 100_000 }]],
    );
    assert.deepEqual([edit!.tasks[0]!.id, edit!.edits[0]!.after], [hostile, hostile]);
    assert.deepEqual(
      [edit!.failureCount, edit!.failures.length, edit!.failures[0]!.error.length, edit!.edits[0]!.before.length],
      [80, 50, 501, 20_001],
    );
    assert.deepEqual([longId!.count, longId!.tasks], [1, []]);
    for (const file of files()) assert.ok(statSync(join(directory, file)).size < 200_000);
  });

  it("tells of each replay that was finished by itself, but for what a retry under way tells", () => {
    const elsewhere = other;
    const finished = [
      { id: "1", newId: "n1", log: "a" },
      { id: "2", newId: "n2", log: "b" },
      { id: "3", newId: "n3", log: "a" },
      { id: "4", newId: "n4", log: "a", elsewhere },
      { id: "5", newId: "n5", log: null },
    ];
    const notes = finishedNotes(finished, new Set(["2", "4"]));
    assert.deepEqual(
      notes.map(({ kind, done, log, target }) => [kind, done.map(({ id, newId }) => `${id} ${newId!}`), log, target]),
      [
        ["finish", ["1 n1", "3 n3"], "a", undefined],
        ["finish", ["4 n4"], "a", other],
        ["finish", ["5 n5"], null, undefined],
      ],
    );
  });

  it("answers nothing before it was told where it is", async () => {
    const made = new History(await storageEnvironment(), (text) => warnings.push(text));
    record(made, note(["1"]));
    assert.deepEqual(made.page(newest, nowhere), { fingerprint: "", entries: [], more: false });
    made.clear();
    appendFileSync(join(folders.make(), "untouched"), "");
    assert.deepEqual(files(), []);
  });
});
