import { StorageError } from "../storage";
import type { Answers } from "./answers";
import type { Changing } from "./changing";
import type { OpenStores } from "./openStores";
import type { RunEnd, RunInfo, RunRequests, RunStart, RunUndo } from "./runProtocol";
import { Runs, type RunToSettle } from "./runs";
import { keptAs, type UndoKeeper } from "./undo";

/** Dead tasks that are run at once, in their application, and what becomes of them. */
export class RunChanges implements Pick<Answers, keyof RunRequests> {
  readonly #stores: OpenStores;
  readonly #changing: Changing;
  readonly #runs: Runs;

  constructor(changing: Changing) {
    this.#stores = changing.stores;
    this.#changing = changing;
    this.#runs = new Runs(changing.environment);
  }

  async beginRun(runs: string, key: string, id: string): Promise<RunStart> {
    const host = this.#stores.host(key);
    const line = await host.rawRecord(id);
    if (line === null) return { kind: "gone" };
    return this.#runs.begin(runs, host.store.names, id, line, host.index.taskClass(id) ?? "");
  }

  async endRun(runs: string, name: string, undo: RunUndo | null): Promise<RunEnd> {
    const run = this.#runs.take(runs, name);
    if (run === null) return { kind: "settled" };
    if (run === "running") return { kind: "running" };
    try {
      const end = await this.#settleRun(run, undo);
      this.#runs.settled(runs, name);
      return end;
    } catch (error) {
      this.#runs.leave(runs, name);
      throw error;
    }
  }

  async #settleRun({ info, checksum, outcome }: RunToSettle, undo: RunUndo | null): Promise<RunEnd> {
    const { id, taskClass } = info;
    const open = this.#stores.at(info);
    if (open === undefined) throw new StorageError("io", `The store in ${info.directory} is not open.`);
    const [key, { index }] = open;
    const record = this.#changing.recorder(key, [id]);
    const recordFailure = (error: string): void => {
      record({ kind: "run", done: [], failed: [{ id, error }] });
    };
    if (outcome === null) return { kind: "notBegun" };
    switch (outcome.state) {
      case "notRun":
        return { kind: "notRun", reason: outcome.kind, failure: outcome.failure };
      case "started":
        recordFailure("Its process ended in the middle.");
        return { kind: "unknown" };
      case "failed": {
        const { failure } = outcome;
        recordFailure(failure === null ? "It failed." : `${failure.class ?? "(anonymous error)"}: ${failure.message}`);
        return { kind: "failed", failure };
      }
      case "succeeded": {
        const keeper = this.#changing.keeper(key, undo === null ? undefined : { ...undo, title: `Ran ${taskClass}` });
        const removed = await this.#removeRun(key, id, checksum, keeper);
        const kept = keptAs(keeper);
        record({ kind: "run", done: [{ id }], ...kept });
        return { kind: "succeeded", removed, stands: index.get(id) !== undefined, ...kept };
      }
    }
  }

  /** Whether it was there, as it was run. */
  async #removeRun(key: string, id: string, checksum: number, keeper: UndoKeeper | null): Promise<boolean> {
    return await this.#changing.change(key, async (backend) => {
      const { removed } = await backend.remove([id], {
        expected: new Map([[id, checksum]]),
        onFinished: (finished) => {
          this.#changing.tellFinished(key, finished);
        },
        ...(keeper === null ? {} : { keep: keeper.keep }),
      });
      return { outcome: removed.length > 0, gone: removed };
    });
  }

  runsUnderWay(runs: string): Promise<readonly RunInfo[]> {
    return Promise.resolve(this.#runs.underWay(runs));
  }

  leftRuns(runs: string, key: string): Promise<readonly RunInfo[]> {
    return Promise.resolve(this.#runs.left(runs, this.#stores.host(key).store.names));
  }
}
