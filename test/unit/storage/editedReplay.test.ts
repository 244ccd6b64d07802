import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EditedContext } from "../../../src/storage";
import { contextWithArguments, readContext } from "../../../src/storage/context";
import { knownTask } from "../../support/faultScenarios";
import { array, hash, nil, str, sym, symbolHash } from "../../support/ruby";
import { newTask, openStore, taskLine, temporaryFolders } from "../../support/stores";

describe("replaying a task that was edited", () => {
  const folders = temporaryFolders();
  const first = knownTask("1-1-1");
  const second = knownTask("1-1-2");

  function edited(task: typeof first, context: Uint8Array): ReadonlyMap<string, EditedContext> {
    const checksum = Number.parseInt(taskLine(task).toString("latin1", 0, 8), 16);
    return new Map([[task.id, { checksum, context }]]);
  }

  function withArguments(task: typeof first, ...args: Parameters<typeof array>): Uint8Array {
    return contextWithArguments(readContext(task.context), array(...args), nil());
  }

  async function storeOf(...tasks: readonly (typeof first)[]): ReturnType<typeof storeIn> {
    return await storeIn(join(folders.make(), "storage"), tasks);
  }

  async function storeIn(
    path: string,
    tasks: readonly (typeof first)[],
  ): Promise<{ store: Awaited<ReturnType<typeof openStore>>; data: () => Buffer }> {
    const store = await openStore(path);
    for (const task of tasks) await store.add(task);
    return { store, data: () => readFileSync(join(path, "deferred-dead_tasks-0")) };
  }

  it("enqueues the edited context, and the others as they are", async () => {
    const { store, data } = await storeOf(first, second);
    const context = withArguments(first, str("1-1-1"), str("edited"));
    const result = await store.replay(["1-1-1", "1-1-2"], 4_102_444_800, { edited: edited(first, context) });
    assert.deepEqual(
      result.retried.map(({ id }) => id),
      ["1-1-1", "1-1-2"],
    );
    const { tasks } = await store.pending();
    assert.deepEqual(
      tasks.map(({ context, publishAt }) => [publishAt, context.args, context.attempts]),
      [
        [4_102_444_800, readContext(context).elements[1], null],
        [4_102_444_800, array(str("1-1-2")), null],
      ],
    );
    assert.equal(data().length, 0);
  });

  it("leaves a task that died anew, or whose line is another, as it is", async () => {
    const again = { ...first, failedAt: first.failedAt + 1 };
    const { store, data } = await storeOf(first, second, again);
    const before = data();
    const context = withArguments(first, str("edited"));
    const result = await store.replay(["1-1-1"], null, { edited: edited(first, context) });
    assert.equal(result.log, null);
    assert.deepEqual(result.retried, []);
    assert.match(result.failed[0]!.error, /died anew since it was opened for editing/);
    assert.ok(data().equals(before));
    assert.deepEqual((await store.pending()).tasks, []);
  });

  it("enqueues no context that Rage could not run", async () => {
    const { store, data } = await storeOf(first);
    const before = data();
    const result = await store.replay(["1-1-1"], null, { edited: edited(first, Buffer.from("none")) });
    assert.match(result.failed[0]!.error, /cannot be decoded/);
    assert.ok(data().equals(before));
  });

  it("keeps everything of a context but the arguments and the attempts", () => {
    const shared = str("shared");
    const context = array(
      ...readContext(first.context).elements.slice(0, 4),
      array(shared),
      hash([shared, sym("x")]),
      symbolHash({ user: shared }),
      str("of a later release"),
    );
    const task = newTask("1-1-1", { context: Buffer.from("unused") });
    assert.equal(task.id, "1-1-1");
    const made = readContext(contextWithArguments(context, array(shared), symbolHash({ a: shared })));
    const [taskClass, args, kwargs, attempts, ...rest] = made.elements;
    assert.deepEqual(
      [taskClass, args, kwargs, attempts],
      [context.elements[0], array(shared), symbolHash({ a: shared }), nil()],
    );
    assert.deepEqual(rest, context.elements.slice(4));
    assert.ok(args?.type === "array" && rest[0]?.type === "array" && args.elements[0] === rest[0].elements[0]);
  });
});
