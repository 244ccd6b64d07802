import { env, window, type Memento } from "vscode";
import type { ChangesSinceFailure } from "../code/changes";
import type { Doubt, RetryCheck } from "../code/retryCheck";
import { userMessage, type Reporter } from "../reporter";
import type { TaskEdit } from "../edit/protocol";
import type { TaskRuns } from "../run/taskRuns";
import type { RetryOutcome, TaskSummary, UndoRequest } from "../service/protocol";
import { maskedNames } from "../settings";
import type { StoreService } from "../service/storeService";
import { Emitter, type Disposable } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import { counted, oneLine, shownId } from "../text/labels";
import type { TaskView } from "../tree/taskView";
import { chosen, confirmed, mayChange } from "./asking";
import { runInStores, type BulkChange } from "./bulkRun";
import {
  deleteConfirmation,
  doubtConfirmation,
  leftOut,
  retryConfirmation,
  type Confirmation,
  type Outcome,
} from "./messages";
import { Outcomes } from "./outcomes";
import { readTask } from "./readTask";
import { groupByStore, type RecordReference } from "./references";
import { chooseTrial, type Trial } from "./retryTrial";
import { TryOneFirst } from "./tryOneFirst";
import { undoNote, type UndoList } from "./undoList";

/** The second button of a question about several. */
const tryOneFirst = "Try One First";
/** Before a retry so many tasks are held against the code, for so many milliseconds. */
const mostLookedAt = 200;
const longestLook = 1_000;

/** Records that we took out of a store. */
export interface Departure {
  readonly storeKey: string;
  readonly ids: readonly string[];
  readonly by: "retry" | "delete" | "run" | "send";
  /** When what was retried is to run: Unix seconds, null for at once. */
  readonly publishAt: number | null;
  /** The name of the store that it was sent to. */
  readonly to?: string;
}

export interface TaskActionServices {
  readonly service: StoreService;
  readonly registry: StoreRegistry;
  readonly reporter: Reporter;
  readonly memory: Memento;
  readonly changes: ChangesSinceFailure;
  readonly retryCheck: RetryCheck;
  readonly undoList: UndoList;
  readonly runs: Pick<TaskRuns, "mayReplay">;
  readonly view: Pick<TaskView, "showOnly">;
}

/** One retry in one store. `operation`: the name under which it is followed and cancelled. */
type RetryInStore = (
  store: StoreModel,
  ids: readonly string[],
  undo: UndoRequest | undefined,
  operation: string,
) => Promise<RetryOutcome>;

/** What a user does to tasks, from the tree or the detail pane. Nothing here throws for a failed operation: it is reported. */
export class TaskActions implements Disposable {
  readonly #services: TaskActionServices;
  readonly #outcomes: Outcomes;
  readonly #trials: TryOneFirst;
  readonly #departed = new Emitter<Departure>();

  readonly onDidDepart = this.#departed.event;

  constructor(services: TaskActionServices) {
    this.#services = services;
    this.#outcomes = new Outcomes(services.reporter, services.memory, services.undoList);
    const { service, registry, reporter, runs, view } = services;
    this.#trials = new TryOneFirst({
      service,
      registry,
      failed: (error) => {
        reporter.log("warn", `What became of a retried task could not be read: ${userMessage(error)}`);
      },
      retryNow: async (records, others) => {
        if (!(await runs.mayReplay(records))) return;
        const { outcome, kept } = await this.#retryNow(records, null);
        const missing = [...outcome.missing, ...others.missing];
        const failed = [...outcome.failed, ...others.failed];
        this.#outcomes.tell("retried", { ...outcome, missing, failed }, { changed: new Set(), kept, publishAt: null });
      },
      showOnly: (filter) => view.showOnly(filter),
    });
  }

  /** Tells the views of what left a store by another way than these. */
  readonly tellDeparture = (departure: Departure): void => {
    this.#departed.fire(departure);
  };

  /** `publishAt`: whole Unix seconds, null for at once. `predicate`: as for `retryConfirmation`. */
  async retry(
    records: readonly RecordReference[],
    publishAt: number | null = null,
    predicate: string | null = null,
  ): Promise<void> {
    const retryable = records.filter((record) => record.readable);
    const unreadable = records.filter((record) => !record.readable);
    if (retryable.length === 0) {
      const text =
        records.length === 0 ? "Select a dead task first." : "A record that cannot be read cannot be retried.";
      void window.showInformationMessage(text);
      return;
    }
    if (!(await mayChange(retryable)) || !(await this.#services.runs.mayReplay(retryable))) return;
    const [changed, doubts] = await Promise.all([this.#changedAmong(retryable), this.#doubtsAbout(retryable)]);
    const question = retryQuestion(retryable, changed, doubts, publishAt, predicate);
    const trial = publishAt === null && retryable.length > 1 ? chooseTrial(retryable) : null;
    const more = unreadable.length === 0 ? "" : `\n\n${leftOut(unreadable.length)}`;
    if (question !== null) {
      const asked = { ...question, detail: `${question.detail}${more}` };
      const choice = await chosen(asked, question.button, ...(trial === null ? [] : [tryOneFirst]));
      if (choice === tryOneFirst && trial !== null) return this.#tryOne(trial);
      if (choice !== question.button) return;
    }
    const { outcome, kept } = await this.#retryNow(retryable, publishAt);
    const error = "Its record cannot be read, so it can only be deleted.";
    const failed = [...outcome.failed, ...unreadable.map((record) => ({ record, error }))];
    this.#outcomes.tell("retried", { ...outcome, failed }, { changed, kept, publishAt });
  }

  /** Retries one with other arguments, which the user has been asked about. True where that was done. */
  async retryEdited(
    record: RecordReference,
    edit: Omit<TaskEdit, "maskedNames">,
    publishAt: number | null,
  ): Promise<boolean> {
    const { service, runs } = this.#services;
    if (!(await mayChange([record])) || !(await runs.mayReplay([record]))) return false;
    const changed = await this.#changedAmong([record]);
    const { outcome, kept } = await this.#retryNow([record], publishAt, ({ key }, _ids, undo) =>
      service.retryEdited(key, record.id, { ...edit, maskedNames: maskedNames() }, publishAt, undo),
    );
    this.#outcomes.tell("retried", outcome, { changed, kept, publishAt });
    return outcome.done.length > 0;
  }

  async #tryOne(trial: Trial): Promise<void> {
    const { outcome, kept, newIds } = await this.#retryNow([trial.tried], null);
    const newId = newIds.get(trial.tried.id);
    if (newId === undefined) this.#outcomes.tell("retried", outcome, { changed: new Set(), kept, publishAt: null });
    else this.#trials.follow(trial, newId, this.#outcomes.undo(kept));
  }

  /** Without a question. `newIds`: by the id of the dead task. */
  async #retryNow(
    records: readonly RecordReference[],
    publishAt: number | null,
    retry: RetryInStore = (store, ids, undo, operation) =>
      this.#services.service.retry(store.key, ids, publishAt, undo, operation),
  ): Promise<{ outcome: Outcome; kept: readonly string[]; newIds: ReadonlyMap<string, string> }> {
    const { service, reporter, undoList } = this.#services;
    const obstacle = await undoList.obstacle(records);
    const kept: string[] = [];
    const newIds = new Map<string, string>();
    const change: BulkChange = {
      records,
      title: `Retrying ${counted(records.length, "task")}…`,
      doing: (what) => `retry ${what}`,
      steps: 2,
      inStore: async (store, ids, operation) => {
        const request = obstacle === null ? undoList.request(records, store) : undefined;
        const { retried, missing, failed, undo } = await retry(store, ids, request, operation);
        if (undo !== undefined) kept.push(undo);
        for (const { id, newId } of retried) newIds.set(id, newId);
        return { done: retried.map(({ id }) => id), missing, failed };
      },
      done: (store, ids) => {
        this.#departed.fire({ storeKey: store.key, ids, by: "retry", publishAt });
      },
    };
    const outcome = await runInStores(change, service, reporter);
    return { outcome, kept, newIds };
  }

  /** `predicate`: as for `deleteConfirmation`. */
  async delete(records: readonly RecordReference[], predicate: string | null = null): Promise<void> {
    if (records.length === 0) {
      void window.showInformationMessage("Select a dead task first.");
      return;
    }
    if (!(await mayChange(records))) return;
    const { service, reporter, undoList } = this.#services;
    const obstacle = await undoList.obstacle(records);
    if (!(await confirmed(deleteConfirmation(records, undoNote(obstacle), predicate)))) return;
    const kept: string[] = [];
    const change: BulkChange = {
      records,
      title: `Deleting ${counted(records.length, "task")}…`,
      doing: (what) => `delete ${what}`,
      steps: 1,
      inStore: async (store, ids, operation) => {
        const request = obstacle === null ? undoList.request(records, store) : undefined;
        const { deleted, missing, failed, undo } = await service.delete(store.key, ids, request, operation);
        if (undo !== undefined) kept.push(undo);
        return { done: deleted, missing, failed };
      },
      done: (store, ids) => {
        this.#departed.fire({ storeKey: store.key, ids, by: "delete", publishAt: null });
      },
    };
    const outcome = await runInStores(change, service, reporter);
    this.#outcomes.tell("deleted", outcome, { changed: new Set(), kept, publishAt: null });
  }

  async copyIds(records: readonly RecordReference[]): Promise<void> {
    if (records.length === 0) return;
    await env.clipboard.writeText(records.map((record) => shownId(record.id)).join("\n"));
    window.setStatusBarMessage(`Copied ${counted(records.length, "id")}`, 3000);
  }

  /** `reveal`: as the detail pane shows it, if it was opened there; otherwise secrets are masked and offered afterwards. */
  async copyRuby(record: RecordReference, reveal = false): Promise<void> {
    try {
      const read = await readTask(this.#services.service, record, reveal);
      if (read === null) return;
      await env.clipboard.writeText(read.context.enqueueCall);
      if (read.task.masked) void this.#offerSecrets(record);
      else window.setStatusBarMessage("Copied as Ruby", 3000);
    } catch (error) {
      this.#services.reporter.failure(`read ${oneLine(record.name)}`, error);
    }
  }

  async #offerSecrets(record: RecordReference): Promise<void> {
    const withSecrets = "Copy with Secrets";
    const choice = await window.showInformationMessage("Copied as Ruby, with secrets as [FILTERED].", withSecrets);
    if (choice === withSecrets) await this.copyRuby(record, true);
  }

  /**
   * Those of the tasks whose code is known to have changed since they died. One that is retried alone is not kept waiting for git;
   * before a question there is a moment for the first of them.
   */
  async #changedAmong(records: readonly RecordReference[]): Promise<ReadonlySet<RecordReference>> {
    if (records.length > 1) {
      await this.#services.changes.lookWithin(longestLook, tasksToLookAt(records));
    }
    return new Set(
      records.filter((record) => {
        const task = taskOf(record);
        return task !== undefined && this.#services.changes.known(task).length > 0;
      }),
    );
  }

  /** Of each task that would surely fail again, as far as there is time to find out, why. */
  async #doubtsAbout(records: readonly RecordReference[]): Promise<readonly Doubt[]> {
    const doubts = await this.#services.retryCheck.within(longestLook, tasksToLookAt(records));
    return [...doubts.values()];
  }

  dispose(): void {
    this.#trials.dispose();
    this.#departed.dispose();
  }
}

/** The first of these, by their store. */
export function tasksToLookAt(records: readonly RecordReference[]): ReadonlyMap<StoreModel, readonly TaskSummary[]> {
  const groups = groupByStore(records.slice(0, mostLookedAt));
  return new Map(groups.map((group) => [group.store, group.records.map(taskOf).filter((task) => task !== undefined)]));
}

/** Several are always asked about, and all that match; one that was named only where it would surely fail again. */
function retryQuestion(
  records: readonly RecordReference[],
  changed: ReadonlySet<RecordReference>,
  doubts: readonly Doubt[],
  publishAt: number | null,
  predicate: string | null,
): Confirmation | null {
  const [only, ...more] = records;
  if (only === undefined || more.length > 0 || predicate !== null) {
    return retryConfirmation(records, { changed: changed.size, doubts }, publishAt, predicate);
  }
  const [doubt] = doubts;
  return doubt === undefined ? null : doubtConfirmation(only, doubt, changed.has(only));
}

function taskOf({ store, id }: RecordReference): TaskSummary | undefined {
  return store.task(id);
}
