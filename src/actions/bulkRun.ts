import { setTimeout as delay } from "node:timers/promises";
import { ProgressLocation, window } from "vscode";
import { View } from "../ids";
import type { Reporter } from "../reporter";
import type { ChangeProgress } from "../service/protocol";
import { ServiceError, type StoreService } from "../service/storeService";
import type { StoreModel } from "../stores/storeModel";
import { counted, formatCount } from "../text/labels";
import type { Outcome } from "./messages";
import { groupByStore, recordsByIds, type RecordReference } from "./references";

/** A change that takes longer than that, in milliseconds, shows how far it is, and can be cancelled. */
const quietTime = 500;

/** What a store answers. */
export interface ChangedIds {
  readonly done: readonly string[];
  readonly missing: readonly string[];
  readonly failed: readonly { readonly id: string; readonly error: string }[];
  /** Of what is copied: what stood there already. */
  readonly present?: readonly string[];
}

/** What came of it over all stores. */
export interface BulkOutcome extends Outcome {
  readonly present: readonly RecordReference[];
}

/** One change of any number of records. */
export interface BulkChange {
  readonly records: readonly RecordReference[];
  /** Shown while it takes its time: `Retrying 12 tasks…`. */
  readonly title: string;
  /** For the log and for errors, after "could not": `retry 12 tasks of shop`, of these words for what is changed. */
  readonly doing: (what: string) => string;
  /** 2 where what was enqueued is removed afterwards. */
  readonly steps: 1 | 2;
  /** Does it in one store. `operation`: the name under which it is followed and cancelled. */
  inStore(store: StoreModel, ids: readonly string[], operation: string): Promise<ChangedIds>;
  /** Told of what was done in one store, as soon as it is. */
  done(store: StoreModel, ids: readonly string[]): void;
}

let operations = 0;

/**
 * One operation a store; a store that fails as a whole is reported and leaves the others to go on. What is cancelled in the middle
 * of a store is either all done there or not begun, and no further store is begun.
 */
export async function runInStores(
  change: BulkChange,
  service: Pick<StoreService, "cancel" | "onProgress">,
  reporter: Reporter,
): Promise<BulkOutcome> {
  const { records, title, doing, steps } = change;
  const groups = groupByStore(records);
  const done: RecordReference[] = [];
  const present: RecordReference[] = [];
  const missing: RecordReference[] = [];
  const failed: { record: RecordReference; error: string }[] = [];
  const left: RecordReference[] = [];
  const cancelled = await withCancel(title, async ({ signal, report }) => {
    for (const [index, { store, records: here }] of groups.entries()) {
      if (signal.aborted) {
        left.push(...here);
        continue;
      }
      const ids = here.map(({ id }) => id);
      const named = recordsByIds(here);
      const operation = `${++operations}`;
      const what = doing(`${counted(ids.length, "task")} of ${store.name}`);
      const following = service.onProgress((name, progress) => {
        if (name !== operation) return;
        const whole = (index + fractionOf(steps, progress)) / groups.length;
        report(groups.length === 1 ? "" : store.name, whole);
      });
      const cancel = (): void => {
        void service.cancel(operation);
      };
      signal.addEventListener("abort", cancel);
      try {
        const result = await change.inStore(store, ids, operation);
        done.push(...named(result.done));
        present.push(...named(result.present ?? []));
        missing.push(...named(result.missing));
        for (const { id, error } of result.failed) {
          reporter.log("error", `${store.name}: could not ${doing(id)}: ${error}`);
          for (const record of named([id])) failed.push({ record, error });
        }
        const counts = [
          `${result.done.length} done`,
          `${result.missing.length} gone`,
          `${result.failed.length} failed`,
        ];
        if (result.present !== undefined) counts.push(`${result.present.length} there already`);
        reporter.log("info", `${what}: ${counts.join(", ")}`);
        if (result.done.length > 0) change.done(store, result.done);
      } catch (error) {
        if (error instanceof ServiceError && error.code === "cancelled") left.push(...here);
        else reporter.failure(what, error);
      } finally {
        following.dispose();
        signal.removeEventListener("abort", cancel);
      }
    }
    return signal.aborted;
  });
  if (cancelled) {
    const all = doing(counted(records.length, "task"));
    reporter.log("info", `${all}: cancelled; ${formatCount(left.length)} left as they were`);
  }
  return { done, present, missing, failed, left, cancelled };
}

/** Of one store's work: two steps are halves. */
function fractionOf(steps: BulkChange["steps"], { step, fraction }: ChangeProgress): number {
  if (steps === 1) return fraction;
  return (step === "enqueue" ? fraction : 1 + fraction) / 2;
}

interface Control {
  readonly signal: AbortSignal;
  /** `fraction`: of all the work, from 0 to 1. */
  readonly report: (message: string, fraction: number) => void;
}

async function withCancel<Result>(title: string, work: (control: Control) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  let told = { message: "", fraction: 0 };
  let tell = (): void => undefined;
  const working = work({
    signal: controller.signal,
    report: (message, fraction) => {
      told = { message, fraction };
      tell();
    },
  });
  const ended = working.then(
    () => undefined,
    () => undefined,
  );
  void window.withProgress({ location: { viewId: View.tasks } }, () => ended);
  const isLong = await Promise.race([ended.then(() => false), delay(quietTime, true, { ref: false })]);
  if (!isLong) return await working;
  void window.withProgress({ location: ProgressLocation.Notification, title, cancellable: true }, (progress, token) => {
    let shown = 0;
    tell = () => {
      const percent = Math.floor(told.fraction * 100);
      progress.report({ message: told.message, increment: Math.max(0, percent - shown) });
      shown = Math.max(shown, percent);
    };
    tell();
    token.onCancellationRequested(() => {
      controller.abort();
    });
    return ended;
  });
  return await working;
}
