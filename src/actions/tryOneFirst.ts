import { window } from "vscode";
import type { Disposable } from "../stores/emitter";
import { capitalized, errorLine, formatCount, oneLine } from "../text/labels";
import { clockTime } from "../text/times";
import { onlyThese, type TaskFilter } from "../tree/taskFilter";
import { mayChange, offer } from "./asking";
import type { Outcome } from "./messages";
import { showRecord } from "./outcomes";
import { recordReference, type RecordReference } from "./references";
import { FateFollower, stillDead, type Fate, type FateHost, type Trial } from "./retryTrial";
import type { NotificationAction } from "../reporter";

export interface TryHost extends FateHost {
  /** Retries without a question, and tells what came of it. `others`: what else is to be told. */
  retryNow(records: readonly RecordReference[], others: Pick<Outcome, "missing" | "failed">): Promise<void>;
  /** Shows these tasks alone in the list. */
  showOnly(filter: TaskFilter): Promise<void>;
}

/** Offers the rest of several tasks, once it is known what became of the one that was retried first. Lives as long as the window. */
export class TryOneFirst implements Disposable {
  readonly #host: TryHost;
  readonly #followers = new Set<FateFollower>();

  constructor(host: TryHost) {
    this.#host = host;
  }

  /** `undo`: what the notification offers beside the rest. */
  follow(trial: Trial, newId: string, undo: readonly NotificationAction[]): void {
    const { tried, rest } = trial;
    const follower = new FateFollower(this.#host, tried, newId, (fate) => {
      if (fate.kind !== "failed") this.#followers.delete(follower);
      this.#tell(trial, newId, fate, stop);
    });
    const stop = (): void => {
      follower.dispose();
      this.#followers.delete(follower);
    };
    this.#followers.add(follower);
    const all = formatCount(rest.length + 1);
    const text = `Retried one of ${all}: ${oneLine(tried.name)}. It runs when a Rage worker next starts; you will be asked about ${others(rest.length)} when it has run.`;
    offer(text, [this.#retryRest(trial, `Retry ${inTitle(rest.length)} Now`, stop), ...undo]);
  }

  #tell(trial: Trial, newId: string, fate: Fate, stop: () => void): void {
    const { tried } = trial;
    const name = oneLine(tried.name);
    const left = stillDead(trial).length;
    const spared = left === 0 ? "" : ` ${capitalized(others(left))} ${left === 1 ? "was" : "were"} left.`;
    switch (fate.kind) {
      case "ran": {
        if (left === 0) window.setStatusBarMessage(`${name} ran.`, 5_000);
        else {
          const retry = this.#retryRest(trial, `Retry ${formatCount(left)}`, stop);
          offer(`${name} ran. Retry ${others(left)}?`, [retry, this.#showRest(trial)]);
        }
        return;
      }
      case "failed": {
        const { publishAt } = fate.pending;
        const when = publishAt === null ? "" : ` at ${clockTime(publishAt, Date.now() / 1000)}`;
        const text = `${name} failed again; its worker tries it once more${when}.${spared}`;
        offer(text, left === 0 ? [] : [this.#retryRest(trial, `Retry ${inTitle(left)} Now`, stop)], "warning");
        return;
      }
      case "died": {
        const show: NotificationAction = {
          title: "Show",
          run: () => showRecord(recordReference(tried.store, newId)),
        };
        offer(`${name} died again: ${oneLine(errorLine(fate.task), 120)}.${spared}`, [show], "warning");
      }
    }
  }

  #retryRest(trial: Trial, title: string, stop: () => void): NotificationAction {
    return {
      title,
      run: async () => {
        // Whoever decides now need not be asked again.
        stop();
        if (!(await mayChange(trial.rest))) return;
        const stores = new Set(trial.rest.map(({ store }) => store));
        await Promise.all([...stores].map(({ key }) => this.#host.service.refresh(key)));
        const records = new Set(stillDead(trial));
        const other = trial.rest.filter((record) => !records.has(record));
        const error = "It has died anew since you were asked, and was left as it is.";
        const anew = other.filter(({ store, id }) => store.task(id) !== undefined);
        await this.#host.retryNow([...records], {
          missing: other.filter((record) => !anew.includes(record)),
          failed: anew.map((record) => ({ record, error })),
        });
      },
    };
  }

  #showRest(trial: Trial): NotificationAction {
    return {
      title: "Show",
      run: async () => {
        const tasks = stillDead(trial).flatMap(({ store, id }) => {
          const task = store.task(id);
          return task === undefined ? [] : [{ storeKey: store.key, task }];
        });
        const name = oneLine(trial.tried.name, 40);
        await this.#host.showOnly(onlyThese(tasks, `Left after trying ${name}`, `were left after ${name} was tried`));
      },
    };
  }

  dispose(): void {
    for (const follower of this.#followers) follower.dispose();
    this.#followers.clear();
  }
}

function others(count: number): string {
  return count === 1 ? "the other one" : `the other ${formatCount(count)}`;
}

function inTitle(count: number): string {
  return count === 1 ? "the Other One" : `the Other ${formatCount(count)}`;
}
