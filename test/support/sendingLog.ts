import assert from "node:assert/strict";
import type { NewDeadTask } from "../../src/storage";
import { assertNothingLeftOver, runLogs, whatStandsIn } from "./crowdLog";
import { knownTask } from "./faultScenarios";
import { taskLine } from "./stores";

/** One of two stores that send tasks to one another. */
export type Side = 0 | 1;

export const sides: readonly Side[] = [0, 1];

export function otherSide(side: Side): Side {
  return side === 0 ? 1 : 0;
}

/** Here a task is dead, or waits in a log or has run, once more or once less. */
interface Step {
  readonly side: Side;
  readonly as: "dead" | "enqueued";
  readonly change: 1 | -1;
}

export type Sending = "add" | "copy" | "retry" | "move" | "undo copy" | "undo retry" | "undo move";

/**
 * What an operation on a store does to a task, in the order in which it becomes durable. One step is done or not. Between two the
 * task is in both places, which the next operation on the store ends: a move is finished then, and the undoing of one undone.
 */
const stepsOf: Readonly<Record<Sending, (here: Side) => readonly Step[]>> = {
  add: (here) => [{ side: here, as: "dead", change: 1 }],
  copy: (here) => [{ side: otherSide(here), as: "dead", change: 1 }],
  retry: (here) => [{ side: otherSide(here), as: "enqueued", change: 1 }],
  move: (here) => [
    { side: otherSide(here), as: "enqueued", change: 1 },
    { side: here, as: "dead", change: -1 },
  ],
  "undo copy": (here) => [{ side: otherSide(here), as: "dead", change: -1 }],
  "undo retry": (here) => [{ side: otherSide(here), as: "enqueued", change: -1 }],
  "undo move": (here) => [
    { side: here, as: "dead", change: 1 },
    { side: otherSide(here), as: "enqueued", change: -1 },
  ],
};

type Counts = Readonly<Record<Side, Readonly<Record<Step["as"], number>>>>;

const nowhere: Counts = { 0: { dead: 0, enqueued: 0 }, 1: { dead: 0, enqueued: 0 } };

function after(counts: Counts, steps: readonly Step[]): Counts {
  return steps.reduce(
    (all, { side, as, change }) => ({ ...all, [side]: { ...all[side], [as]: all[side][as] + change } }),
    counts,
  );
}

/** An operation on a task that was not answered. */
interface Open {
  readonly what: Sending;
  readonly here: Side;
  readonly steps: readonly Step[];
  /** How many of its steps will be done once it is settled; null until that has been looked at. */
  end: number | null;
}

/** What became of an operation that was not answered. */
export interface Fate {
  readonly what: Sending;
  readonly isDone: boolean;
}

/** The task of an id, which ends in an octal number: every eighth has a line so long that a kill can fall in the middle of it. */
export function sentTask(id: string): NewDeadTask {
  const task = knownTask(id);
  return id.endsWith("7") ? { ...task, exceptionMessage: `message of ${id} `.repeat(4_000) } : task;
}

/** What others said that they did with two stores, and where therefore each task must be. */
export class SendingLog {
  readonly #paths: Readonly<Record<Side, string>>;
  readonly #known = new Map<string, Counts>();
  readonly #open = new Map<string, Open>();
  readonly #ran: Readonly<Record<Side, Map<string, number>>> = { 0: new Map(), 1: new Map() };

  constructor(paths: Readonly<Record<Side, string>>) {
    this.#paths = paths;
  }

  /** Tasks with which nothing is being done. */
  restingIn(side: Side): string[] {
    return [...this.#known].flatMap(([id, counts]) => (counts[side].dead > 0 && this.isResting(id) ? [id] : []));
  }

  isResting(id: string): boolean {
    return !this.#open.has(id);
  }

  isDead(id: string, side: Side): boolean {
    return (this.#known.get(id) ?? nowhere)[side].dead > 0;
  }

  /** Whom an operation of this kind on the store of this side that was not answered may have touched. */
  openOnes(what: Sending, here: Side): string[] {
    const isIt = (open: Open): boolean => open.what === what && open.here === here;
    return [...this.#open].flatMap(([id, open]) => (isIt(open) ? [id] : []));
  }

  /** An operation on the store of this side. What it need not do, since it is so already, are no steps of it. */
  began(ids: readonly string[], what: Sending, here: Side): void {
    for (const id of ids) {
      assert.ok(this.isResting(id), `${id} is asked for once at a time`);
      const known = this.#known.get(id) ?? nowhere;
      this.#known.set(id, known);
      const isNeeded = ({ side, as, change }: Step): boolean =>
        as === "enqueued" || known[side].dead !== (change > 0 ? 1 : 0);
      const steps = stepsOf[what](here).filter(isNeeded);
      this.#open.set(id, { what, here, steps, end: null });
    }
  }

  ended(ids: readonly string[]): void {
    for (const id of ids) this.#end(id, true);
  }

  /** It was asked for again, and that was answered. */
  askedAgain(ids: readonly string[]): void {
    for (const id of ids) {
      const open = this.#open.get(id);
      if (open !== undefined) open.end = open.steps.length;
    }
  }

  /** A worker of this side starts, takes the logs, and runs what is in them. */
  async runLogs(side: Side): Promise<void> {
    const ran = this.#ran[side];
    for (const id of await runLogs(this.#paths[side])) ran.set(id, (ran.get(id) ?? 0) + 1);
  }

  /** Asserts that each task is where it must be when processes have just been killed. Returns what has left tasks in both places. */
  async checkInterrupted(): Promise<readonly Sending[]> {
    const found = await this.#lookEverywhere(new Set([...this.#open.values()].map(({ what }) => what)));
    const between: Sending[] = [];
    for (const [id, open] of this.#open) {
      const done = this.#stepsDone(id, open, found, [...open.steps.keys(), open.steps.length]);
      const isBetween = done > 0 && done < open.steps.length;
      if (isBetween) between.push(open.what);
      open.end = isBetween ? (open.what === "move" ? open.steps.length : 0) : done;
    }
    return between;
  }

  /** Asserts that what was interrupted is finished or undone, as it must be. Returns what became of whom. */
  async checkSettled(): Promise<ReadonlyMap<string, Fate>> {
    const found = await this.#lookEverywhere(new Set());
    const fates = new Map<string, Fate>();
    for (const [id, open] of [...this.#open]) {
      const { what, steps, end } = open;
      assert.ok(end !== null);
      this.#stepsDone(id, open, found, [end]);
      fates.set(id, { what, isDone: end === steps.length });
      this.#end(id, end === steps.length);
    }
    for (const side of sides) assertNothingLeftOver(this.#paths[side]);
    return fates;
  }

  #end(id: string, isDone: boolean): void {
    const open = this.#open.get(id);
    assert.ok(open !== undefined);
    this.#open.delete(id);
    if (isDone) this.#known.set(id, after(this.#known.get(id) ?? nowhere, open.steps));
  }

  #stepsDone(
    id: string,
    { what, steps }: Open,
    found: ReadonlyMap<string, Counts>,
    allowed: readonly number[],
  ): number {
    const known = this.#known.get(id) ?? nowhere;
    const now = JSON.stringify(found.get(id) ?? nowhere);
    const done = allowed.find((count) => JSON.stringify(after(known, steps.slice(0, count))) === now);
    assert.ok(
      done !== undefined,
      `${id}, of which ${allowed.join(" or ")} steps of "${what}" may be done: ${now}, and it was ${JSON.stringify(known)}`,
    );
    return done;
  }

  /** Where each task is, after an assertion that those at rest are where they were, byte for byte. */
  async #lookEverywhere(open: ReadonlySet<Sending>): Promise<ReadonlyMap<string, Counts>> {
    const found = new Map<string, Counts>();
    const add = (id: string, side: Side, as: Step["as"]): void => {
      assert.ok(this.#known.has(id), `${id} is none of ours`);
      found.set(id, after(found.get(id) ?? nowhere, [{ side, as, change: 1 }]));
    };
    for (const side of sides) {
      const { lines, pending, damage } = await whatStandsIn(this.#paths[side]);
      for (const { id, bytes } of lines) {
        add(id, side, "dead");
        assert.ok(bytes.equals(taskLine(sentTask(id))), `the line of ${id} is as it was`);
      }
      for (const id of pending) add(id, side, "enqueued");
      for (const [id, times] of this.#ran[side]) for (let time = 0; time < times; time++) add(id, side, "enqueued");
      // Alone to undo a retry something is appended to a log.
      const tornTailBytes = open.has("undo retry") || open.has("undo move") ? damage.tornTailBytes : 0;
      assert.deepEqual(damage, { lines: 0, bytes: 0, tornTailBytes }, "the logs are whole");
    }
    for (const [id, known] of this.#known) {
      if (this.isResting(id)) assert.deepEqual(found.get(id) ?? nowhere, known, `${id} is where it was`);
    }
    return found;
  }
}
