import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationTarget, commands, window, workspace, type QuickPickItem } from "vscode";
import type { StoreModel } from "../../src/stores/storeModel";
import { afterRemoval, dataFile } from "../support/fixtures";
import { secondProcesses } from "../support/processes";
import { copyFixture, newTask, referenceLines, taskLine, temporaryFolders } from "../support/stores";
import { deadTasks, eventually, openStores, recordNodes, setStores, useDialogs } from "./window";

describe("undoing a deletion or a retry", () => {
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const dialogs = useDialogs();
  const { showQuickPick } = window;
  let storage: string;
  let store: StoreModel;
  let before: Buffer;
  let kept: string;

  beforeEach(async () => {
    storage = copyFixture(folders.make(), "basic");
    store = (await openStores({ path: storage, name: "shop" }))[0]!;
    before = readFileSync(dataFile(storage));
    const { context, service } = await deadTasks();
    kept = join(context.globalStorageUri.fsPath, "undo");
    await service.pruneUndo(kept, { bytes: 0, age: 0 });
  });

  afterEach(async () => {
    Reflect.set(window, "showQuickPick", showQuickPick);
    for (const name of ["undo.days", "undo.megabytes"]) await setting(name, undefined);
  });

  after(() => setStores(undefined));

  function setting(name: string, value: number | undefined): Thenable<void> {
    return workspace.getConfiguration("deadTasks").update(name, value, ConfigurationTarget.Global);
  }

  async function remove(...ids: readonly string[]): Promise<void> {
    const nodes = await recordNodes(store, ids);
    await commands.executeCommand("deadTasks.delete", nodes[0], nodes);
  }

  function press(...buttons: readonly RegExp[]): void {
    dialogs.answer = (shown) => shown.buttons.find((one) => buttons.some((button) => button.test(one)));
  }

  function ids(): string[] {
    return store.newestFirst().map(({ id }) => id);
  }

  /** Stands in for the list of choices, as `useDialogs` does for messages. Returns what it was asked with. */
  function pick(choose: (items: readonly QuickPickItem[]) => QuickPickItem | undefined): (readonly QuickPickItem[])[] {
    const asked: (readonly QuickPickItem[])[] = [];
    Reflect.set(window, "showQuickPick", (items: readonly QuickPickItem[]) => {
      asked.push(items);
      return Promise.resolve(choose(items));
    });
    return asked;
  }

  function files(): string[] {
    return existsSync(kept) ? readdirSync(kept) : [];
  }

  it("brings back from the notification what was deleted, byte for byte, for Ruby and for the list", async () => {
    const [first, second] = ids() as [string, string];
    press(/^Delete 2$/, /^Undo$/);
    await remove(first, second);
    await eventually(() => {
      assert.deepEqual(ids().sort(), [...referenceLines(before).lines.flatMap(({ id }) => id ?? [])].sort());
    });
    const lines = (content: Buffer): string[] => content.toString("latin1").split("\n").sort();
    assert.deepEqual(lines(readFileSync(dataFile(storage))), lines(before));
    const peer = (await processes.ruby(storage).request({ do: "list" })) as { id: string }[];
    assert.deepEqual(peer.map(({ id }) => id).sort(), ids().sort());
    assert.deepEqual(files(), [], "it is not kept any longer");
  });

  it("brings back later what is chosen, and keeps the rest", async () => {
    const [first, second, third] = ids() as [string, string, string];
    press(/^Delete/);
    await remove(first);
    await remove(second, third);
    assert.deepEqual(dialogs.shown.at(-1)!.buttons, ["Undo"]);
    assert.equal(files().length, 2);
    const asked = pick((items) => items[1]);
    await commands.executeCommand("deadTasks.undo");
    assert.deepEqual(
      asked[0]!.map(({ label, description, detail }) => [label.replace(/: .*/, ""), description, detail]),
      [
        ["$(trash) 2 dead tasks", "deleted just now", storage],
        ["$(trash) SendWelcomeEmail", "deleted just now", storage],
      ],
    );
    await eventually(() => {
      assert.ok(ids().includes(first) && !ids().includes(second));
    });
    assert.deepEqual(
      readFileSync(dataFile(storage)),
      Buffer.concat([afterRemoval(before, [first, second, third]), lineOf(first)]),
    );
    assert.equal(files().length, 1);
  });

  function lineOf(id: string): Buffer {
    return referenceLines(before).lines.find((line) => line.id === id)!.bytes;
  }

  it("says which have died anew since, and leaves them", async () => {
    const [first, second] = ids() as [string, string];
    press(/^Delete/);
    await remove(first, second);
    appendFileSync(dataFile(storage), taskLine(newTask(first, { exceptionMessage: "died again" })));
    pick(([newest]) => newest);
    await commands.executeCommand("deadTasks.undo");
    assert.equal(
      dialogs.shown.at(-1)!.text,
      "Brought back 1 dead task. 1 is among the dead tasks already, and is left as it is.",
    );
    await eventually(() => {
      assert.equal(store.task(first)?.exceptionMessage, "died again");
      assert.ok(store.task(second));
    });
  });

  it("says before a deletion that it cannot be undone, and why, and then keeps nothing", async () => {
    const [first, second] = ids() as [string, string];
    press(/^Delete/);
    await setting("undo.days", 0);
    await remove(first);
    assert.match(
      dialogs.shown[0]!.modalDetail!,
      /\n\nThis cannot be undone\. Nothing is kept for undoing, by the settings\.$/,
    );
    assert.equal(dialogs.shown.length, 1, "and offers no way back");
    await setting("undo.days", undefined);
    await setting("undo.megabytes", 0.0001);
    dialogs.shown = [];
    await remove(second);
    assert.match(dialogs.shown[0]!.modalDetail!, /\n\nThis cannot be undone\. .* more than the settings let be kept/);
    assert.deepEqual(files(), []);
    assert.deepEqual(readFileSync(dataFile(storage)), afterRemoval(before, [first, second]));
  });

  it("takes back a retry that no worker has begun, and says of one that a worker has", async () => {
    const [first, second] = ids() as [string, string];
    press(/^Undo$/);
    const nodes = await recordNodes(store, [first, second]);
    await commands.executeCommand("deadTasks.retry", nodes[0], [nodes[0]]);
    assert.deepEqual(dialogs.shown[0]!.buttons, ["Undo", "Don't Show Again"]);
    await eventually(() => {
      assert.ok(store.task(first));
    });
    assert.deepEqual(await processes.ruby(storage).request({ do: "pending" }), []);
    assert.deepEqual(files(), []);

    press();
    await commands.executeCommand("deadTasks.retry", nodes[1], [nodes[1]]);
    const log = readdirSync(storage)
      .filter((file) => file.startsWith("deferred-0-"))
      .find((file) => !readFileSync(join(storage, file), "latin1").includes(":rem:"))!;
    assert.equal(await processes.ruby(storage).request({ do: "claim", log: join(storage, log) }), true);
    const asked = pick(([newest]) => newest);
    dialogs.shown = [];
    await commands.executeCommand("deadTasks.undo");
    assert.equal(asked[0]![0]!.description, "retried just now");
    assert.equal(
      dialogs.only().text,
      "Could not undo: A Rage worker has taken the retried tasks already, so the retry cannot be undone. Nothing was changed.",
    );
    assert.equal(store.task(second), undefined);
    assert.deepEqual(files(), []);
  });

  it("says so where nothing is kept, and forgets on demand", async () => {
    await commands.executeCommand("deadTasks.undo");
    assert.equal(dialogs.only().text, "There is nothing to undo.");
    await commands.executeCommand("deadTasks.forgetUndo");
    assert.equal(dialogs.only().text, "Nothing is kept for undoing.");
    press(/^Delete$/, /^Forget$/);
    await remove(ids()[0]!);
    assert.equal(files().length, 1);
    assert.equal(statSync(join(kept, files()[0]!)).mode & 0o077, 0, "nobody else can read it");
    dialogs.shown = [];
    await commands.executeCommand("deadTasks.forgetUndo");
    assert.match(dialogs.only().text, /^Forget 1 change that could be undone \(.*\)\?$/);
    assert.deepEqual(files(), []);
  });

  it("reports a store that cannot be written, and still has what was deleted afterwards", async function () {
    this.timeout(20_000);
    const [first] = ids() as [string];
    press(/^Delete$/);
    await remove(first);
    const worker = processes.ruby(storage);
    const held = assert.rejects(worker.request({ do: "hold", seconds: 60 }));
    await worker.notice("held");
    pick(([newest]) => newest);
    dialogs.shown = [];
    await commands.executeCommand("deadTasks.undo");
    assert.match(dialogs.only().text, /^Could not undo: .*stayed locked by another process/);
    await worker.stop();
    await held;
    assert.equal(files().length, 1);
    await commands.executeCommand("deadTasks.undo");
    await eventually(() => {
      assert.ok(store.task(first));
    });
  });
});
