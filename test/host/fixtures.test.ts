import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { crc32 } from "node:zlib";
import { commands } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import type { RecordNode } from "../../src/tree/nodes";
import {
  afterRemoval,
  copyStorage,
  dataFile,
  fixtureStores,
  logLines,
  plainText,
  removeCopies,
  replayedPayload,
  unreadableIds,
  type FixtureStore,
} from "../support/fixtures";
import { referenceLines } from "../support/stores";
import { eventually, nodesOf, openStores, recordId, recordNodes, setStores, useDialogs } from "./window";

/** Changed one by one before the rest follows all at once. */
const oneByOne = 5;

describe("the fixtures' stores, through the extension's commands", function () {
  this.timeout(60_000);
  const dialogs = useDialogs();
  const fixtures = fixtureStores();
  let opened: { readonly fixture: FixtureStore; readonly storage: string; readonly store: StoreModel }[] = [];

  /** Fresh copies of all, open at once. */
  async function openCopies(): Promise<void> {
    const copies = fixtures.map((fixture) => ({ fixture, storage: copyStorage(fixture.name) }));
    const named = copies.map(({ fixture: { name, prefix }, storage }) => ({
      path: storage,
      prefix,
      name: `${name} ${prefix}`,
    }));
    const stores = await openStores(...named);
    opened = copies.map((copy, index) => ({ ...copy, store: stores[index]! }));
  }

  after(async () => {
    await setStores(undefined);
    removeCopies();
  });

  function forEach(verb: string, test: (one: (typeof opened)[number]) => Promise<void>): void {
    describe(verb, () => {
      before(openCopies);
      beforeEach(() => {
        dialogs.answer = ({ modalDetail, buttons }) => (modalDetail === null ? undefined : buttons[0]);
      });
      fixtures.forEach(({ name, prefix }, index) => {
        it(`${name} (${prefix})`, () => test(opened[index]!));
      });
    });
  }

  async function change(command: "retry" | "delete", store: StoreModel, ids: readonly string[]): Promise<void> {
    const groups = [...ids.slice(0, oneByOne).map((id) => [id]), ids.slice(oneByOne)];
    for (const group of groups.filter((some) => some.length > 0)) {
      const nodes: readonly RecordNode[] = await recordNodes(store, group);
      await commands.executeCommand(`deadTasks.${command}`, nodes[0], nodes);
    }
  }

  forEach("list", async ({ fixture: { name, prefix, expected }, storage, store }) => {
    const before = readFileSync(dataFile(storage, prefix));
    const tasks = store.newestFirst().toReversed();
    assert.deepEqual(
      tasks.map((task) => task.id),
      expected.map((task) => task.id),
    );
    for (const [index, task] of expected.entries()) {
      const shown = tasks[index]!;
      if (task.task_class !== undefined) assert.equal(shown.taskClass, plainText(task.task_class));
      if (task.attempts !== undefined) assert.equal(shown.attempts, task.attempts);
      if (task.enqueued_at !== undefined) assert.equal(shown.enqueuedAt ?? 0, task.enqueued_at);
      if (task.failed_at !== undefined) assert.equal(shown.failedAt, task.failed_at);
      const { exception_class: exceptionClass, exception_message: message } = task;
      if (exceptionClass !== undefined) {
        assert.equal(shown.exceptionClass, exceptionClass === null ? null : plainText(exceptionClass));
      }
      if (message !== undefined) assert.equal(shown.exceptionMessage, plainText(message).slice(0, 500));
    }
    assert.deepEqual(
      store.status.unreadable.map(({ id }) => id),
      unreadableIds(name),
    );
    const { lines, tornTail } = referenceLines(before);
    const corrupt = lines.filter(({ id }) => id === null);
    assert.deepEqual(store.status.damage, {
      lines: corrupt.length,
      bytes: corrupt.reduce((sum, { bytes }) => sum + bytes.length, 0),
      tornTailBytes: tornTail.length,
    });
    const kinds = (await nodesOf(store)).map(({ kind }) => kind);
    assert.equal(kinds.includes("unreadableGroup"), unreadableIds(name).length > 0);
    assert.equal(kinds.includes("damage"), corrupt.length + tornTail.length > 0);
    assert.deepEqual(readFileSync(dataFile(storage, prefix)), before, "reading changes nothing");
    assert.equal(readdirSync(storage).filter((file) => file.startsWith(".")).length, 0, "and makes nothing");
  });

  forEach("retry", async ({ fixture, storage, store }) => {
    const { name, prefix, expected } = fixture;
    const before = readFileSync(dataFile(storage, prefix));
    const payloads = new Map(expected.map((task) => [task.id, replayedPayload(fixture, task)]));
    await change("retry", store, [...payloads.keys()]);
    const retried = expected.filter(({ id }) => payloads.get(id) !== null).map(({ id }) => id);
    const refused = expected.length - retried.length;

    // One log a command, each log's tasks in the file's own order, with ids of their own.
    const written = logLines(storage, prefix).map((line) => /^([0-9a-f]{8}):(add:(\d+-\d+-\d+):0:(.*))$/.exec(line)!);
    for (const [, checksum, entry = ""] of written) {
      assert.equal(checksum, crc32(Buffer.from(entry, "latin1")).toString(16).padStart(8, "0"));
    }
    assert.deepEqual(written.map(([, , , , payload]) => payload).sort(), retried.map((id) => payloads.get(id)).sort());
    assert.equal(new Set(written.map(([, , , id]) => id)).size, retried.length);
    assert.deepEqual(readFileSync(dataFile(storage, prefix)), afterRemoval(before, retried));
    assert.deepEqual(
      readdirSync(storage).filter((file) => file.startsWith(".") || file.endsWith(".tmp")),
      [],
    );
    await eventually(() => {
      assert.deepEqual(
        store
          .newestFirst()
          .map(({ id }) => id)
          .toReversed(),
        expected.map(({ id }) => id).filter((id) => !retried.includes(id)),
      );
    });
    const errors = dialogs.shown.filter(({ severity }) => severity === "error");
    assert.equal(errors.length > 0, refused > 0);

    for (const node of await recordNodes(store, unreadableIds(name))) {
      dialogs.shown = [];
      await commands.executeCommand("deadTasks.retry", node, [node]);
      assert.equal(dialogs.only().text, "A record that cannot be read cannot be retried.");
    }
    assert.deepEqual(readFileSync(dataFile(storage, prefix)), afterRemoval(before, retried));
  });

  forEach("delete", async ({ fixture: { name, prefix, expected }, storage, store }) => {
    let bytes: Buffer = readFileSync(dataFile(storage, prefix));
    const ids = [...expected.map(({ id }) => id), ...unreadableIds(name)];
    const some = ids.filter((_, index) => index % 3 === 0);
    await change("delete", store, some);
    bytes = afterRemoval(bytes, some);
    assert.deepEqual(readFileSync(dataFile(storage, prefix)), bytes);
    await eventually(() => {
      for (const id of some) assert.ok(store.task(id) === undefined && !store.isUnreadable(id));
    });

    const rest = ids.filter((id) => !some.includes(id));
    await change("delete", store, rest);
    assert.deepEqual(readFileSync(dataFile(storage, prefix)), afterRemoval(bytes, rest));
    await eventually(async () => {
      const left = (await nodesOf(store)).filter((node) => recordId(node) !== null || node.kind === "unreadableGroup");
      assert.deepEqual(left, []);
    });
    assert.deepEqual(logLines(storage, prefix), []);
    const told = dialogs.shown.filter(({ severity, modalDetail }) => severity !== "warning" || modalDetail === null);
    for (const { severity, text } of told) assert.match(`${severity}: ${text}`, /^information: Deleted .*\.$/);
  });
});
