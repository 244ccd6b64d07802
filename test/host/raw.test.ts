import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands, window } from "vscode";
import { bigDataFile, bigStoreId } from "../support/bigStore";
import { dataFile, unreadableIds } from "../support/fixtures";
import { copyFixture, referenceLines, temporaryFolders } from "../support/stores";
import { eventually, nodesOf, openStores, recordId, recordNodes, setStores, useDialogs } from "./window";

describe("the raw storage file", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();

  afterEach(() => commands.executeCommand("workbench.action.closeAllEditors"));
  after(() => setStores(undefined));

  async function activeEditor() {
    await eventually(() => {
      assert.ok(window.activeTextEditor);
    });
    return window.activeTextEditor!;
  }

  for (const [fixture, kind] of [
    ["duplicates", "task"],
    ["bad-payload", "unreadable"],
  ] as const) {
    it(`opens at the last line of the record, in the fixture ${fixture}`, async () => {
      const storage = copyFixture(folders.make(), fixture);
      const [store] = await openStores({ path: storage, name: "raw" });
      const { lines } = referenceLines(readFileSync(dataFile(storage)));
      const ids = kind === "task" ? store!.newestFirst().map(({ id }) => id) : unreadableIds(fixture);
      assert.equal(ids.length, 3);
      for (const node of await recordNodes(store!, ids)) {
        await commands.executeCommand("deadTasks.openRaw", node, [node]);
        const { document, selection } = await activeEditor();
        assert.equal(document.uri.fsPath, dataFile(storage));
        assert.equal(
          selection.active.line,
          lines.findLastIndex(({ id }) => id === recordId(node)),
        );
      }
    });
  }

  it("cannot be edited there: saving it would lose what workers append meanwhile", async () => {
    const storage = copyFixture(folders.make(), "basic");
    const [store] = await openStores({ path: storage, name: "raw" });
    const before = readFileSync(dataFile(storage));
    const [node] = await recordNodes(store!);
    await commands.executeCommand("deadTasks.openRaw", node, [node]);
    const { document } = await activeEditor();
    const text = document.getText();
    await commands.executeCommand("type", { text: "x" });
    await commands.executeCommand("deleteLeft");
    assert.equal(document.isDirty, false);
    assert.equal(document.getText(), text);
    assert.deepEqual(readFileSync(dataFile(storage)), before);
  });

  it("opens from the item that tells of damage, and from its store", async () => {
    const storage = copyFixture(folders.make(), "corrupt");
    const [store] = await openStores({ path: storage, name: "raw" });
    const damage = (await nodesOf(store!)).find(({ kind }) => kind === "damage");
    for (const node of [damage, { kind: "store", store }]) {
      await commands.executeCommand("deadTasks.openRaw", node);
      assert.equal((await activeEditor()).document.uri.fsPath, dataFile(storage));
      await commands.executeCommand("workbench.action.closeAllEditors");
    }
  });

  it("opens a file of another storage version, which is left alone otherwise", async () => {
    const storage = copyFixture(folders.make(), "basic");
    const name = "deferred-dead_tasks-1";
    writeFileSync(join(storage, name), "from the future\n");
    const [store] = await openStores({ path: storage, name: "raw" });
    await eventually(async () => {
      const found = (await nodesOf(store!)).find((node) => node.kind === "otherVersion");
      assert.equal(found?.file, name);
      await commands.executeCommand("deadTasks.openRaw", found);
      assert.equal((await activeEditor()).document.getText(), "from the future\n");
    });
  });

  it("says that a record has gone when it has", async () => {
    const storage = copyFixture(folders.make(), "basic");
    const [store] = await openStores({ path: storage, name: "raw" });
    const [node] = await recordNodes(store!);
    writeFileSync(dataFile(storage), "");
    await commands.executeCommand("deadTasks.openRaw", node, [node]);
    assert.equal(dialogs.only().text, "This record is no longer in the store.");
    assert.equal(window.activeTextEditor, undefined);
  });

  describe("of more than twenty megabytes", function () {
    this.timeout(40_000);

    it("opens as a document of the record alone, exactly as it stands in the file", async () => {
      const storage = copyFixture(folders.make(), "empty");
      const content = bigDataFile(9_000);
      assert.ok(content.length > 20_000_000);
      writeFileSync(dataFile(storage), content);
      const [store] = await openStores({ path: storage, name: "big" });
      await eventually(() => {
        assert.equal(store!.taskCount, 9_000);
      }, 20_000);
      const [node] = await recordNodes(store!, [bigStoreId(8_990)]);
      await commands.executeCommand("deadTasks.openRaw", node, [node]);
      const { document } = await activeEditor();
      assert.equal(document.uri.scheme, "dead-task-record");
      const line = referenceLines(content).lines[8_990]!.bytes.toString("latin1");
      assert.equal(document.getText(), line.trimEnd());
      await commands.executeCommand("type", { text: "x" });
      assert.equal(document.isDirty, false);
      assert.equal(document.getText(), line.trimEnd());

      await commands.executeCommand("deadTasks.openRaw", { kind: "store", store });
      assert.match(dialogs.only().text, /too much for an editor\. Look at it in a terminal\.$/);
    });
  });
});
