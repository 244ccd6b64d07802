import assert from "node:assert/strict";
import { appendFileSync, copyFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { EditableTask, EditedCall } from "../../../src/edit/protocol";
import { startStoreService } from "../../../src/service/client";
import type { StoreService } from "../../../src/service/storeService";
import { rubyReader, type RubyReader } from "../../../src/ruby/reader";
import { contextOf } from "../../support/edits";
import { bundle } from "../../support/processes";
import { array, object, int, str, symbolHash } from "../../support/ruby";
import { newTask, openStore, taskLine, temporaryFolders } from "../../support/stores";

const masked = ["token"];

describe("editing a dead task through the workers", function () {
  this.timeout(20_000);
  const folders = temporaryFolders();
  let service: StoreService;
  let ruby: RubyReader;

  before(() => {
    const worker = bundle("src/ruby/worker.ts");
    const root = join(__dirname, "..", "..", "..");
    copyFileSync(
      join(root, "node_modules", "@ruby", "prism", "src", "prism.wasm"),
      join(dirname(worker), "prism.wasm"),
    );
    ruby = rubyReader(worker);
  });

  after(() => {
    ruby.dispose();
  });

  afterEach(() => {
    service.dispose();
  });

  const order = object("Order", { "@id": int(7) });
  const task = newTask("1-1-1", {
    context: contextOf(array(str("a@example.com"), order), symbolHash({ token: str("hidden") })),
  });

  async function opened(): Promise<{ path: string; data: string; edit: EditableTask }> {
    const path = join(folders.make(), "storage");
    const store = await openStore(path);
    await store.add(task);
    await store.add(newTask("1-1-2"));
    service = startStoreService(bundle("src/service/worker.ts"), () => undefined);
    await service.open({ key: "store", path, prefix: "deferred-", backend: "disk" });
    const edit = await service.editableTask("store", "1-1-1", masked);
    assert.ok(edit.kind === "task");
    return { path, data: join(path, "deferred-dead_tasks-0"), edit };
  }

  async function changed({ text, taskClass, placeholders }: EditableTask): Promise<EditedCall> {
    const names = placeholders.map(({ name }) => name);
    const { call, problems } = await ruby.readEditedTask(text.replace("a@", "b@"), taskClass, names);
    assert.deepEqual(problems, []);
    return call!;
  }

  it("is opened, read back, compared, retried and undone", async () => {
    const { path, data, edit } = await opened();
    const before = readFileSync(data);
    const call = await changed(edit);
    const check = await service.checkEdit("store", "1-1-1", { version: edit.version, call, maskedNames: masked });
    assert.ok(check.kind === "changed");
    assert.match(check.after, /^ {2}"b@example\.com",\n {2}order_1,\n {2}token: secret_1,$/m);
    assert.ok(readFileSync(data).equals(before));

    const directory = join(folders.make(), "undo");
    const undo = { directory, title: "Retried", limits: { bytes: 1e6, age: 3600 } };
    const outcome = await service.retryEdited(
      "store",
      "1-1-1",
      { version: edit.version, call, maskedNames: masked },
      4_102_444_800,
      undo,
    );
    assert.deepEqual(outcome.texts, { before: check.before, after: check.after });
    assert.deepEqual([outcome.retried.length, outcome.missing, outcome.failed], [1, [], []]);
    const store = await openStore(path);
    const [pending] = (await store.pending()).tasks;
    assert.deepEqual(
      [pending?.id, pending?.log, pending?.publishAt],
      [outcome.retried[0]!.newId, outcome.log, 4_102_444_800],
    );
    assert.deepEqual(pending?.context.args, array(str("b@example.com"), order));
    assert.deepEqual(pending.context.kwargs, symbolHash({ token: str("hidden") }));

    assert.deepEqual((await service.undoChange(directory, outcome.undo!)).restored, ["1-1-1"]);
    assert.deepEqual((await store.pending()).tasks, []);
    assert.ok(readFileSync(data).includes(taskLine(task)), "the dead task is the one before the edit");
  });

  it("notes in the history what was edited, masked, and a retry without a change as a retry", async () => {
    const { edit } = await opened();
    const directory = join(folders.make(), "history");
    await service.keepHistory({ directory, window: { name: "app", processId: 1 }, limits: { bytes: 1e6, age: 3600 } });
    const call = await changed(edit);
    const { texts } = await service.retryEdited(
      "store",
      "1-1-1",
      { version: edit.version, call, maskedNames: masked },
      null,
    );
    const other = await service.editableTask("store", "1-1-2", masked);
    assert.ok(other.kind === "task");
    const same = await ruby.readEditedTask(other.text, other.taskClass, []);
    await service.retryEdited(
      "store",
      "1-1-2",
      { version: other.version, call: same.call!, maskedNames: masked },
      null,
    );
    const { entries } = await service.history({ stores: null, after: null, limit: 10, known: null });
    assert.deepEqual(
      entries?.map(({ kind, edits }) => [kind, edits]),
      [
        ["retry", []],
        ["edit", [{ id: "1-1-1", ...texts }]],
      ],
    );
  });

  it("refuses what has changed or gone since, and writes nothing", async () => {
    const { path, data, edit } = await opened();
    const wanted = { version: edit.version, call: await changed(edit), maskedNames: masked };
    appendFileSync(data, taskLine({ ...task, failedAt: task.failedAt + 1 }));
    const before = readFileSync(data);
    assert.deepEqual(await service.checkEdit("store", "1-1-1", wanted), {
      kind: "changedMeanwhile",
    });
    const outcome = await service.retryEdited("store", "1-1-1", wanted, null);
    assert.deepEqual([outcome.retried, outcome.missing, outcome.texts, outcome.log], [[], [], null, null]);
    assert.match(outcome.failed[0]!.error, /^It has died anew since it was opened for editing/);
    assert.ok(readFileSync(data).equals(before));
    assert.deepEqual((await (await openStore(path)).pending()).tasks, []);

    await service.delete("store", ["1-1-1"]);
    assert.deepEqual(await service.editableTask("store", "1-1-1", masked), { kind: "gone" });
    assert.deepEqual(await service.checkEdit("store", "1-1-1", wanted), {
      kind: "gone",
    });
    const gone = await service.retryEdited("store", "1-1-1", wanted, null);
    assert.deepEqual([gone.retried, gone.missing, gone.failed, gone.texts], [[], ["1-1-1"], [], null]);
  });

  it("says what is amiss in a text at its place", async () => {
    const { edit } = await opened();
    const { call, problems } = await ruby.readEditedTask(
      edit.text.replace("order_1,\n  token", "ordr_1,\n  token"),
      edit.taskClass,
      ["order_1"],
    );
    assert.equal(call, null);
    assert.deepEqual(problems[0]?.range, { start: { line: 8, character: 2 }, end: { line: 8, character: 8 } });
  });
});
