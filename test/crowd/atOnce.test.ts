import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RemovalResult, ReplayResult } from "../../src/storage";
import type { UndoneChange } from "../../src/service/protocol";
import type { LineProcess } from "../support/lineProcess";
import { secondProcesses, taskMessage } from "../support/processes";
import { contextOfSyncInvoice, newTask, openStore, referenceLines, temporaryFolders } from "../support/stores";

type Kept<Result> = Result & { readonly undo: string };

const rounds = 12;

describe("two windows that undo at once", function () {
  this.timeout(60_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();
  const ids = ["1-1-1", "1-1-2"];
  const lines = 3;

  /** A store with three tasks, and processes that share a place for what can be undone. */
  async function setUp(count: number) {
    const folder = folders.make();
    const path = join(folder, "storage");
    const undoDirectory = join(folder, "undo");
    const windows = Array.from({ length: count }, () => processes.ours(path));
    for (const id of [...ids, "1-1-9"]) {
      const task = taskMessage(newTask(id, { context: contextOfSyncInvoice }));
      await windows[0]!.request({ do: "add", task });
    }
    await Promise.all(windows.map((window) => window.request({ do: "ping" })));
    const ask = async <Result>(window: LineProcess, what: string, more: object = {}): Promise<Result> =>
      (await window.request({ do: what, ids, undoDirectory, ...more })) as Result;
    return { path, windows, ask };
  }

  /** Ids of dead lines, one for each line, and how many tasks wait. */
  async function places(
    path: string,
  ): Promise<{ readonly dead: readonly (string | null)[]; readonly pending: number }> {
    const data = referenceLines(readFileSync(join(path, "deferred-dead_tasks-0"))).lines;
    const { tasks } = await (await openStore(path)).pending();
    return { dead: data.map(({ id }) => id).sort(), pending: tasks.length };
  }

  for (const [what, command] of [
    ["a deletion", "removeKept"],
    ["a retry", "replayKept"],
  ] as const) {
    it(`bring back ${what} once, and the other is told that there is nothing to undo`, async () => {
      const { path, windows, ask } = await setUp(2);
      const [one, other] = windows as [LineProcess, LineProcess];
      for (let round = 0; round < rounds; round++) {
        const { undo } = await ask<Kept<RemovalResult | ReplayResult>>(round % 2 === 0 ? one : other, command);
        assert.deepEqual((await places(path)).dead, ["1-1-9"]);
        const answers = await Promise.all([
          ask<UndoneChange>(one, "undo", { name: undo }),
          ask<UndoneChange>(other, "undo", { name: undo }),
        ]);
        answers.sort((left, right) => Number(right.found) - Number(left.found));
        assert.deepEqual(
          answers.map(({ found, restored, present }) => ({ found, restored: [...restored].sort(), present })),
          [
            { found: true, restored: ids, present: [] },
            { found: false, restored: [], present: [] },
          ],
        );
        assert.deepEqual(await places(path), { dead: [...ids, "1-1-9"], pending: 0 });
      }
    });
  }

  it("bring nothing back that a third has retried since the first brought it back", async () => {
    const { path, windows, ask } = await setUp(3);
    const [one, other, third] = windows as [LineProcess, LineProcess, LineProcess];
    const { undo } = await ask<Kept<RemovalResult>>(one, "removeKept");
    // Between the tasks' return and the end of what is kept of them.
    await one.request({ do: "pause", call: "unlink", milliseconds: 700 });
    const undoing = ask<UndoneChange>(one, "undo", { name: undo });
    await one.notice("paused");
    assert.equal((await places(path)).dead.length, lines);
    const retrying = ask<ReplayResult>(third, "replay");
    const [first, { retried }] = await Promise.all([
      undoing,
      retrying.then(async (result) => {
        assert.equal((await ask<UndoneChange>(other, "undo", { name: undo })).found, false);
        return result;
      }),
    ]);
    assert.deepEqual([first.restored.length, retried.length], [2, 2]);
    assert.deepEqual(await places(path), { dead: ["1-1-9"], pending: 2 });
  });

  it("leave each task in one place while another deletes or retries the same ones", async () => {
    const { path, windows, ask } = await setUp(2);
    const [one, other] = windows as [LineProcess, LineProcess];
    for (let round = 0; round < rounds; round++) {
      const { undo } = await ask<Kept<RemovalResult>>(one, "removeKept");
      const isRetry = round % 2 === 0;
      const [undone, taken] = await Promise.all([
        ask<UndoneChange>(one, "undo", { name: undo }),
        ask<Kept<ReplayResult & RemovalResult>>(other, isRetry ? "replayKept" : "removeKept"),
      ]);
      assert.equal(undone.restored.length, 2);
      const count = isRetry ? taken.retried.length : taken.removed.length;
      assert.ok(count === 0 || count === 2, `${count}`);
      const expected = { dead: count === 0 ? [...ids, "1-1-9"] : ["1-1-9"], pending: isRetry ? count : 0 };
      assert.deepEqual(await places(path), expected);
      if (count === 2) await ask(one, "undo", { name: taken.undo });
      assert.deepEqual(await places(path), { dead: [...ids, "1-1-9"], pending: 0 });
    }
  });
});
