import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands, TabInputCustom, Uri, window } from "vscode";
import { rawViewType } from "../../src/ids";
import type { RawEditor } from "../../src/raw/rawEditor";
import { bigDataFile, bigStoreId } from "../support/bigStore";
import { dataFile, unreadableIds } from "../support/fixtures";
import { LineProcess } from "../support/lineProcess";
import { taskMessage } from "../support/processes";
import { copyFixture, newTask, referenceLines, taskLine, temporaryFolders } from "../support/stores";
import {
  commandLine,
  deadTasks,
  eventually,
  nodesOf,
  openStores,
  recordId,
  recordNodes,
  root,
  setStores,
  useDialogs,
} from "./window";

describe("the raw storage file", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();

  afterEach(() => commands.executeCommand("workbench.action.closeAllEditors"));
  after(() => setStores(undefined));

  /** The raw view of this store's file, once it is in front and has read the file to its end. */
  async function rawView(storage: string): Promise<RawEditor> {
    const { rawFiles } = await deadTasks();
    await eventually(() => {
      const input = window.tabGroups.activeTabGroup.activeTab?.input;
      assert.ok(input instanceof TabInputCustom);
      assert.deepEqual([input.viewType, input.uri.fsPath], [rawViewType, dataFile(storage)]);
      assert.equal(rawFiles.active?.document.uri.fsPath, dataFile(storage));
      assert.equal(rawFiles.active.document.state.table?.complete, true);
    }, 20_000);
    return rawFiles.active!;
  }

  /** Waits until the page has this line selected, 1-based. */
  async function selects(storage: string, line: number): Promise<void> {
    const view = await rawView(storage);
    await eventually(() => {
      assert.equal(view.selected, line);
    });
  }

  async function textEditor() {
    await eventually(() => {
      assert.ok(window.activeTextEditor);
    });
    return window.activeTextEditor!;
  }

  for (const [fixture, kind] of [
    ["duplicates", "task"],
    ["bad-payload", "unreadable"],
  ] as const) {
    it(`opens at the last line of the record, in the fixture ${fixture}, and goes from one to the next`, async () => {
      const storage = copyFixture(folders.make(), fixture);
      const [store] = await openStores({ path: storage, name: "raw" });
      const { lines } = referenceLines(readFileSync(dataFile(storage)));
      const ids = kind === "task" ? store!.newestFirst().map(({ id }) => id) : unreadableIds(fixture);
      assert.equal(ids.length, 3);
      for (const node of await recordNodes(store!, ids)) {
        await commands.executeCommand("deadTasks.openRaw", node, [node]);
        await selects(storage, 1 + lines.findLastIndex(({ id }) => id === recordId(node)));
      }
      assert.equal(window.tabGroups.all.flatMap(({ tabs }) => tabs).length, 1, "one view for all of them");
    });
  }

  it("opens from the item that tells of damage at the first of it, and from its store", async () => {
    const storage = copyFixture(folders.make(), "corrupt");
    const [store] = await openStores({ path: storage, name: "raw" });
    const { lines } = referenceLines(readFileSync(dataFile(storage)));
    const damage = (await nodesOf(store!)).find(({ kind }) => kind === "damage");
    await commands.executeCommand("deadTasks.openRaw", damage);
    await selects(storage, 1 + lines.findIndex(({ id }) => id === null));
    const { state } = await rawView(storage).then(({ document }) => document);
    assert.equal(state.table?.counts.corrupt, lines.filter(({ id }) => id === null).length);
    await commands.executeCommand("workbench.action.closeAllEditors");
    await commands.executeCommand("deadTasks.openRaw", { kind: "store", store });
    assert.equal((await rawView(storage)).selected, null);
  });

  it("follows what a Ruby worker appends, and is read anew after a removal, each within a second or so", async () => {
    const storage = copyFixture(folders.make(), "basic");
    const [store] = await openStores({ path: storage, name: "raw" });
    await commands.executeCommand("deadTasks.openRaw", { kind: "store", store });
    const { document } = await rawView(storage);
    const { generation, counts } = document.state.table!;
    const peer = new LineProcess("ruby", [join(root, "test", "peers", "peer.rb"), storage, "deferred-"]);
    try {
      await peer.request({ do: "add", task: taskMessage(newTask("1767225999-7-1")) });
    } finally {
      await peer.stop();
    }
    await eventually(() => {
      assert.equal(document.state.table?.counts.current, counts.current + 1);
    }, 2_000);
    assert.equal(document.state.table?.generation, generation);
    await commandLine("delete", "1767225999-7-1", "--storage", storage);
    await eventually(() => {
      assert.notEqual(document.state.table?.generation, generation);
      assert.deepEqual(document.state.table?.counts, counts);
    }, 2_000);
  });

  it("opens a file of a store that is not among the window's, and follows it, too", async () => {
    const storage = copyFixture(folders.make(), "duplicates");
    await deadTasks();
    await commands.executeCommand("vscode.openWith", Uri.file(dataFile(storage)), rawViewType);
    const { document } = await rawView(storage);
    const { current, superseded } = document.state.table!.counts;
    assert.ok(current === 3 && superseded > 0);
    appendFileSync(dataFile(storage), taskLine(newTask("1767225999-7-1")));
    await eventually(() => {
      assert.equal(document.state.table?.counts.current, 4);
    }, 2_000);
    // The store joins the window's: the document goes over to it.
    const [store] = await openStores({ path: storage, name: "raw" });
    await eventually(() => {
      assert.equal(document.key, store!.key);
      assert.equal(document.state.table?.counts.current, 4);
    });
  });

  it("opens as text at the selected line, and cannot be edited there: saving would lose what workers append", async () => {
    const storage = copyFixture(folders.make(), "basic");
    const [store] = await openStores({ path: storage, name: "raw" });
    const before = readFileSync(dataFile(storage));
    const [node] = await recordNodes(store!);
    await commands.executeCommand("deadTasks.openRaw", node, [node]);
    const { lines } = referenceLines(before);
    await selects(storage, lines.length);
    await commands.executeCommand("deadTasks.openRawText");
    const { document, selection } = await textEditor();
    assert.equal(document.uri.fsPath, dataFile(storage));
    assert.equal(selection.active.line, lines.length - 1);
    const text = document.getText();
    await commands.executeCommand("type", { text: "x" });
    await commands.executeCommand("deleteLeft");
    assert.equal(document.isDirty, false);
    assert.equal(document.getText(), text);
    assert.deepEqual(readFileSync(dataFile(storage)), before);
  });

  it("offers to look for the hex editor where it is not installed", async () => {
    const storage = copyFixture(folders.make(), "basic");
    const [store] = await openStores({ path: storage, name: "raw" });
    await commands.executeCommand("deadTasks.openRaw", { kind: "store", store });
    await rawView(storage);
    await commands.executeCommand("deadTasks.openRawHex", Uri.file(dataFile(storage)));
    const { text, buttons } = dialogs.only();
    assert.match(text, /^The extension Hex Editor is not installed\./);
    assert.deepEqual(buttons, ["Search the Extensions"]);
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
      assert.equal((await textEditor()).document.getText(), "from the future\n");
    });
  });

  it("says that a record has gone when it has", async () => {
    const storage = copyFixture(folders.make(), "basic");
    const [store] = await openStores({ path: storage, name: "raw" });
    const [node] = await recordNodes(store!);
    writeFileSync(dataFile(storage), "");
    await commands.executeCommand("deadTasks.openRaw", node, [node]);
    await eventually(() => {
      assert.equal(dialogs.only().text, "This record is no longer in the store.");
    });
  });

  it("says so when there is no file", async () => {
    const [store] = await openStores({ path: join(folders.make(), "storage"), name: "raw" });
    await commands.executeCommand("deadTasks.openRaw", { kind: "store", store });
    assert.match(dialogs.only().text, /^Could not open .*deferred-dead_tasks-0: /);
  });

  describe("of more than twenty megabytes", function () {
    this.timeout(40_000);

    it("opens as text only for one record, exactly as it stands in the file", async () => {
      const storage = copyFixture(folders.make(), "empty");
      const content = bigDataFile(9_000);
      assert.ok(content.length > 20_000_000);
      writeFileSync(dataFile(storage), content);
      const [store] = await openStores({ path: storage, name: "big" });
      await eventually(() => {
        assert.equal(store!.taskCount, 9_000);
      }, 20_000);
      await commands.executeCommand("deadTasks.openRaw", { kind: "store", store });
      await rawView(storage);
      await commands.executeCommand("deadTasks.openRawText");
      assert.match(dialogs.only().text, /too much for a text editor\. Select the line of a task to open that alone\.$/);

      const [node] = await recordNodes(store!, [bigStoreId(8_990)]);
      await commands.executeCommand("deadTasks.openRaw", node, [node]);
      await selects(storage, 8_991);
      await commands.executeCommand("deadTasks.openRawText");
      const { document } = await textEditor();
      assert.equal(document.uri.scheme, "dead-task-record");
      const line = referenceLines(content).lines[8_990]!.bytes.toString("latin1");
      assert.equal(document.getText(), line.trimEnd());
      await commands.executeCommand("type", { text: "x" });
      assert.equal(document.isDirty, false);
      assert.equal(document.getText(), line.trimEnd());
    });
  });
});
