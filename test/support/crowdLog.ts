import assert from "node:assert/strict";
import { readFileSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { Damage, PendingTask } from "../../src/storage";
import { openStore, referenceLines, type ReferenceLine } from "./stores";

/** What others said that they did with a store, kept by who asked them, and what therefore must be in it. */
export class OperationLog {
  /** Tasks that are dead for certain. */
  readonly dead = new Set<string>();
  /** Tasks that were removed for certain, or never added. */
  readonly gone = new Set<string>();
  /** Tasks that were replayed for certain; their logs may have been taken by a worker. */
  readonly replayed = new Set<string>();
  /** Tasks of which the fate is not known, since whoever was asked did not answer: those it may have, by name. */
  readonly open = new Map<string, "added" | "removed" | "replayed">();
  readonly #ran = new Set<string>();

  began(ids: readonly string[], what: "added" | "removed" | "replayed"): void {
    for (const id of ids) {
      this.dead.delete(id);
      this.open.set(id, what);
    }
  }

  ended(ids: readonly string[], fate: "dead" | "gone" | "replayed"): void {
    for (const id of ids) {
      this.open.delete(id);
      this[fate].add(id);
    }
  }

  /**
   * Looks at the store, asserts that nothing was lost, done twice or come back, and settles what was not known. `settled`: whether
   * what was interrupted has been finished, so that no task stands in two places.
   */
  async check(path: string, settled: boolean): Promise<void> {
    const { lines, pending, damage } = await whatStandsIn(path);
    const there = new Set(lines.map(({ id }) => id));
    assert.deepEqual(damage, { lines: 0, bytes: 0, tornTailBytes: 0 });
    assert.equal(new Set(pending).size, pending.length, "no task was replayed twice");
    const enqueued = new Set([...pending, ...this.#ran]);
    assert.equal(enqueued.size, pending.length + this.#ran.size, "no task that has run was replayed again");

    for (const id of this.dead) assert.ok(there.has(id) && !enqueued.has(id), `${id} is dead, and nowhere else`);
    for (const id of this.gone) assert.ok(!there.has(id) && !enqueued.has(id), `${id} was removed and stays so`);
    for (const id of this.replayed) assert.ok(!there.has(id) && enqueued.has(id), `${id} was replayed and is not dead`);
    for (const [id, what] of this.open) {
      if (what !== "replayed") assert.ok(!enqueued.has(id), `nobody asked to replay ${id}`);
      else assert.ok(there.has(id) || enqueued.has(id), `${id} is in neither place`);
      if (settled) assert.ok(!(there.has(id) && enqueued.has(id)), `${id} is in both places`);
    }
    for (const id of [...there, ...enqueued]) assert.ok(this.#knows(id), `${id} is none of ours`);
    if (!settled) return;
    for (const id of [...this.open.keys()]) {
      this.ended([id], there.has(id) ? "dead" : enqueued.has(id) ? "replayed" : "gone");
    }
    assertNothingLeftOver(path);
  }

  /** A worker has taken the logs and run these. */
  ran(ids: Iterable<string>): void {
    for (const id of ids) this.#ran.add(id);
  }

  #knows(id: string): boolean {
    return this.dead.has(id) || this.gone.has(id) || this.replayed.has(id) || this.open.has(id);
  }
}

/** What stands in a store: whole dead-task lines, none of them damaged, and the ids that its waiting tasks had when they were dead. */
export async function whatStandsIn(path: string): Promise<{
  readonly lines: readonly (ReferenceLine & { readonly id: string })[];
  readonly pending: readonly string[];
  /** Of the logs. */
  readonly damage: Damage;
}> {
  const lines = referenceLines(readFileSync(join(path, "deferred-dead_tasks-0"))).lines.map(({ id, ...line }) => {
    assert.ok(id !== null, `a damaged line: ${line.bytes.toString("latin1", 0, 80)}`);
    return { ...line, id };
  });
  const { tasks, damage } = await (await openStore(path)).pending();
  return { lines, pending: tasks.map(originalId), damage };
}

export function assertNothingLeftOver(path: string): void {
  const hidden = readdirSync(path).filter((name) => name.startsWith("."));
  assert.deepEqual(hidden, [], "nothing is left over");
}

/** As a starting worker does: takes over all logs, runs what is in them, and leaves none. Returns whom it ran. */
export async function runLogs(path: string): Promise<readonly string[]> {
  const { pending } = await whatStandsIn(path);
  for (const name of readdirSync(path)) if (name.startsWith("deferred-0-")) unlinkSync(join(path, name));
  return pending;
}

/** The id that a task had when it was dead, which `knownTask` has put into its arguments. */
export function originalId({ context: { args } }: PendingTask): string {
  const [first] = args.type === "array" ? args.elements : [];
  assert.ok(first?.type === "string", "a pending task whose context is not as it was");
  return Buffer.from(first.bytes).toString("utf8");
}

/** Numbers in [0, 1) that a seed decides. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
