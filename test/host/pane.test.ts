import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commands, Range, TabInputTextDiff, Uri, window, workspace, WorkspaceEdit } from "vscode";
import type { ExcerptView } from "../../src/detail/protocol";
import type { StoreModel } from "../../src/stores/storeModel";
import { afterRemoval, dataFile } from "../support/fixtures";
import { copyFixture, newTask, taskLine, temporaryFolders } from "../support/stores";
import { deadTasks, eventually, folder, openStores, recordNodes, setStores, storeNamed, useDialogs } from "./window";

describe("what the pane knows beside the record", () => {
  const folders = temporaryFolders();
  const dialogs = useDialogs();

  afterEach(() => commands.executeCommand("workbench.action.closeAllEditors"));
  after(() => setStores(undefined));

  async function show(store: StoreModel, id: string): Promise<void> {
    const [node] = await recordNodes(store, [id]);
    await commands.executeCommand("deadTasks.show", node);
    const { pane } = await deadTasks();
    await eventually(() => {
      assert.ok(pane.state?.reference.id === id && pane.state.kind !== "bare");
    });
  }

  async function bookshop(): Promise<StoreModel> {
    await setStores(undefined);
    return storeNamed("bookshop");
  }

  describe("the failing line", () => {
    const file = (): string => join(folder(), "lib", "mailer.rb");
    let before = "";

    beforeEach(() => {
      before = readFileSync(file(), "utf8");
    });
    afterEach(async () => {
      await commands.executeCommand("workbench.action.closeAllEditors");
      writeFileSync(file(), before);
    });

    /** What the pane shows of the file, once it is as `check` wants it. */
    async function excerpt(check: (view: ExcerptView) => boolean): Promise<ExcerptView> {
      const { pane } = await deadTasks();
      await eventually(() => {
        assert.ok(pane.excerpt !== null && check(pane.excerpt), JSON.stringify(pane.excerpt));
      });
      return pane.excerpt!;
    }

    function textOf({ lines, failing }: ExcerptView): string {
      return lines.find(({ number }) => number === failing)?.text ?? "";
    }

    it("is read from the first frame of the application's own code, with the lines around it", async () => {
      const store = await bookshop();
      await show(store, store.newestFirst()[0]!.id);
      const view = await excerpt(({ lines }) => lines.length > 0);
      assert.match(view.place, /^lib\/mailer\.rb:\d+$/);
      assert.match(textOf(view), /Net::SMTP\.start\(HOST/);
      const around = before.split("\n").slice(view.failing - 4, view.failing + 3);
      assert.deepEqual(
        view.lines.map(({ text }) => text.trim()),
        around.map((line) => line.trim()),
      );
    });

    it("follows what is typed, and the disk where no editor has the file", async () => {
      const store = await bookshop();
      await show(store, store.newestFirst()[0]!.id);
      const first = await excerpt(({ lines }) => lines.length > 0);
      const document = await workspace.openTextDocument(Uri.file(file()));
      const edit = new WorkspaceEdit();
      edit.insert(document.uri, document.lineAt(first.failing - 1).range.end, " # typed");
      await workspace.applyEdit(edit);
      await excerpt((view) => textOf(view).endsWith(" # typed"));
      await window.showTextDocument(document);
      await commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
      await excerpt((view) => !textOf(view).includes("typed"));
      writeFileSync(file(), before.replace("Net::SMTP.start(HOST", "Net::SMTP.other(HOST"));
      await excerpt((view) => textOf(view).includes("Net::SMTP.other(HOST"));
    });

    it("says what is wrong with a file that is too short, too large or gone", async () => {
      // One that no editor has ever opened: of a file that the editor knows, the editor's text counts, whatever its size.
      const only = join(folder(), "lib", "only_here.rb");
      const storage = copyFixture(folders.make(), "basic");
      appendFileSync(
        dataFile(storage),
        taskLine(newTask("1767226000-1-1", { backtrace: [`${only}:3:in 'OnlyHere#call'`] })),
      );
      try {
        writeFileSync(only, "class OnlyHere\n  def call\n    raise\n  end\nend\n");
        const [store] = await openStores({ path: storage, name: "shop" });
        await show(store!, "1767226000-1-1");
        assert.equal(textOf(await excerpt(({ lines }) => lines.length > 0)).trim(), "raise");
        writeFileSync(only, "# short\n");
        await excerpt(({ notice }) => notice === "Line 3 is not there: the file has 1 line now.");
        writeFileSync(only, "#".repeat(4_000_001));
        await excerpt(({ notice }) => notice === "The file is larger than 4.0 MB.");
        rmSync(only);
        await excerpt(({ notice }) => notice?.startsWith("The file could not be read: ") === true);
      } finally {
        rmSync(only, { force: true });
      }
    });

    it("is none where no frame has a file here", async () => {
      const store = await bookshop();
      const newest = store.newestFirst();
      await show(store, newest[0]!.id);
      await excerpt(({ lines }) => lines.length > 0);
      await show(store, newest.find(({ taskClass }) => taskClass === "PrintLabels")!.id);
      const { pane } = await deadTasks();
      assert.equal(pane.excerpt, null);
    });
  });

  describe("others that died alike", () => {
    it("are those of one class, error, message and place in the code", async () => {
      const store = await bookshop();
      const { pane } = await deadTasks();
      const down = store.newestFirst().filter(({ exceptionClass }) => exceptionClass === "InvoiceGateway::Unavailable");
      assert.equal(down.length, 3);
      for (const { id } of down) {
        await show(store, id);
        await eventually(() => {
          assert.equal(pane.similar?.count, 2);
        });
        assert.deepEqual([pane.similar!.first, pane.similar!.last], [down[2]!.failedAt, down[0]!.failedAt]);
        assert.deepEqual(
          pane.similar!.nearest.map((one) => one.id),
          down.map((one) => one.id).filter((one) => one !== id),
        );
      }
    });

    it("are followed as they come and go, within two seconds", async () => {
      const storage = copyFixture(folders.make(), "empty");
      const [store] = await openStores({ path: storage, name: "alike" });
      const backtrace = ["/srv/app/app/tasks/a.rb:3:in `perform'"];
      const task = (id: string, message: string, where = backtrace) =>
        newTask(id, { taskClass: "A", exceptionClass: "E", exceptionMessage: message, backtrace: where });
      const file = dataFile(storage);
      appendFileSync(file, taskLine(task("1767226000-1-1", "no order 17")));
      appendFileSync(file, taskLine(task("1767226000-1-2", "no order 18")));
      appendFileSync(file, taskLine(task("1767226000-1-3", "no order 19", ["/srv/app/app/tasks/b.rb:3:in `x'"])));
      await eventually(() => {
        assert.equal(store!.taskCount, 3);
      });
      const { pane } = await deadTasks();
      await show(store!, "1767226000-1-1");
      await eventually(() => {
        assert.equal(pane.similar?.count, 1);
      });
      const moved = ["/app/app/tasks/a.rb:9:in 'A#perform'"];
      appendFileSync(file, taskLine(task("1767226000-1-4", "no order 20", moved)));
      await eventually(() => {
        assert.equal(pane.similar?.count, 2);
      }, 3_500);
      writeFileSync(file, afterRemoval(readFileSync(file), ["1767226000-1-2"]));
      await eventually(() => {
        assert.deepEqual(
          pane.similar?.nearest.map(({ id }) => id),
          ["1767226000-1-4"],
        );
      }, 3_500);
    });
  });

  describe("comparing", () => {
    function diff(): TabInputTextDiff {
      const input = window.tabGroups.activeTabGroup.activeTab?.input;
      assert.ok(input instanceof TabInputTextDiff, "a diff is open");
      return input;
    }

    async function textsOfDiff(): Promise<string[]> {
      const { original, modified } = diff();
      const documents = await Promise.all([original, modified].map((uri) => workspace.openTextDocument(uri)));
      return documents.map((document) => document.getText());
    }

    it("shows two tasks as texts, one value a line, masked, the one that died first on the left", async () => {
      const store = await bookshop();
      const both = store
        .newestFirst()
        .filter(({ exceptionMessage }) => exceptionMessage === "missing keyword: :currency");
      const nodes = await recordNodes(
        store,
        both.map(({ id }) => id),
      );
      await commands.executeCommand("deadTasks.compare", nodes[0], nodes);
      await eventually(() => diff());
      const [left, right] = await textsOfDiff();
      assert.ok(left!.includes(`Id:\n  ${both[1]!.id}\n`) && right!.includes(`Id:\n  ${both[0]!.id}\n`));
      assert.ok(left!.includes("Positional arguments:\n  [\n    24.5,\n  ]\n"), left);
      assert.ok(right!.includes("    #<struct Money\n      cents=3480,\n      currency=:eur,\n    >,\n"), right);
      for (const text of [left!, right!]) {
        assert.ok(text.includes("    token: [FILTERED],\n"));
        assert.doesNotMatch(text, /tok_live/);
      }
      const label = window.tabGroups.activeTabGroup.activeTab!.label;
      assert.equal(label, `Billing::ChargeCard ${both[1]!.id} ↔ Billing::ChargeCard ${both[0]!.id}`);
    });

    it("remembers one side, as the explorer does", async () => {
      const store = await bookshop();
      const [one, other] = await recordNodes(store);
      await commands.executeCommand("deadTasks.selectForCompare", other);
      await commands.executeCommand("deadTasks.compareWithSelected", one);
      await eventually(() => diff());
      const { original } = diff();
      assert.ok(other!.kind === "task" && original.query.includes(other!.task.id));
    });

    it("needs exactly two", async () => {
      const store = await bookshop();
      const nodes = await recordNodes(store);
      await commands.executeCommand("deadTasks.compare", nodes[0], nodes.slice(0, 3));
      assert.equal(dialogs.only().text, "Select two dead tasks to compare.");
      await commands.executeCommand("deadTasks.compare", nodes[0], [nodes[0]]);
      assert.equal(dialogs.only().text, "Select two dead tasks to compare.");
    });

    it("keeps what it showed of a task that goes, and says so; unreadable records have a text, too", async () => {
      const storage = copyFixture(folders.make(), "bad-payload");
      const [store] = await openStores({ path: storage, name: "comparing" });
      const file = dataFile(storage);
      const unreadable = store!.status.unreadable[0]!;
      const { id } = store!.newestFirst()[0]!;
      const nodes = await recordNodes(store!, [id, unreadable.id]);
      await commands.executeCommand("deadTasks.compare", nodes[0], nodes);
      await eventually(() => diff());
      const [, before] = await textsOfDiff();
      assert.ok((await textsOfDiff())[0]!.includes("cannot be read"));
      writeFileSync(file, afterRemoval(readFileSync(file), [id]));
      await eventually(async () => {
        const [, after] = await textsOfDiff();
        assert.equal(after, `This task is no longer among the dead. This is what it was:\n\n${before!}`);
      });
    });

    it("opens nothing for addresses that name no record", async () => {
      for (const query of ["", "[]", '["x"]', "{", '["nowhere","1"]']) {
        const document = await workspace.openTextDocument(Uri.from({ scheme: "dead-task-text", path: "/x", query }));
        assert.match(
          document.getText(new Range(0, 0, 1, 0)),
          /^(This address names no record|The store of this task is not open)\.\n$/,
        );
      }
    });
  });
});
