import { env, window, type Memento } from "vscode";
import { maskedNames } from "../settings";
import type { ChangesSinceFailure } from "../code/changes";
import type { Doubt, RetryCheck } from "../code/retryCheck";
import { retryHintHiddenKey, View } from "../ids";
import type { NotificationAction, Reporter } from "../reporter";
import type { TaskRuns } from "../run/taskRuns";
import type { EditedCall } from "../edit/protocol";
import type { RetryOutcome, TaskSummary, UndoRequest } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import { Emitter } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import { counted, formatCount, oneLine, shownId } from "../text/labels";
import { confirmed, mayChange, offer } from "./asking";
import {
  changedSentence,
  deleteConfirmation,
  doneText,
  doubtConfirmation,
  retryConfirmation,
  troubleText,
  whenRun,
  type Confirmation,
  type Outcome,
} from "./messages";
import { readTask } from "./readTask";
import { undoNote, type UndoList } from "./undoList";
import { groupByStore, type RecordReference } from "./references";

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

/** What a user does to tasks, from the tree or the detail pane. Nothing here throws for a failed operation: it is reported. */
export class TaskActions {
  readonly #service: StoreService;
  readonly #reporter: Reporter;
  readonly #memory: Memento;
  readonly #changes: ChangesSinceFailure;
  readonly #retryCheck: RetryCheck;
  readonly #undoList: UndoList;
  readonly #runs: Pick<TaskRuns, "mayReplay">;
  readonly #departed = new Emitter<Departure>();

  readonly onDidDepart = this.#departed.event;

  constructor(
    service: StoreService,
    reporter: Reporter,
    memory: Memento,
    changes: ChangesSinceFailure,
    retryCheck: RetryCheck,
    undoList: UndoList,
    runs: Pick<TaskRuns, "mayReplay">,
  ) {
    this.#service = service;
    this.#reporter = reporter;
    this.#memory = memory;
    this.#changes = changes;
    this.#retryCheck = retryCheck;
    this.#undoList = undoList;
    this.#runs = runs;
  }

  /** Tells the views of what left a store by another way than these. */
  readonly tellDeparture = (departure: Departure): void => {
    this.#departed.fire(departure);
  };

  /** `publishAt`: whole Unix seconds, null for at once. */
  async retry(records: readonly RecordReference[], publishAt: number | null = null): Promise<void> {
    const retryable = records.filter((record) => record.readable);
    if (retryable.length === 0) {
      const text =
        records.length === 0 ? "Select a dead task first." : "A record that cannot be read cannot be retried.";
      void window.showInformationMessage(text);
      return;
    }
    if (!(await mayChange(retryable)) || !(await this.#runs.mayReplay(retryable))) return;
    const [changed, doubts] = await Promise.all([this.#changedAmong(retryable), this.#doubtsAbout(retryable)]);
    const question = retryQuestion(retryable, changed, doubts, publishAt);
    if (question !== null && !(await confirmed(question))) return;
    await this.#retry(retryable, publishAt, changed, ({ key }, ids, undo) =>
      this.#service.retry(key, ids, publishAt, undo),
    );
  }

  /** Retries one with other arguments, which the user has been asked about. True where that was done. */
  async retryEdited(
    record: RecordReference,
    { version, call }: { readonly version: string; readonly call: EditedCall },
    publishAt: number | null,
  ): Promise<boolean> {
    if (!(await mayChange([record])) || !(await this.#runs.mayReplay([record]))) return false;
    const changed = await this.#changedAmong([record]);
    const { done } = await this.#retry([record], publishAt, changed, ({ key }, _ids, undo) =>
      this.#service.retryEdited(key, record.id, version, call, publishAt, maskedNames(), undo),
    );
    return done.length > 0;
  }

  async #retry(
    records: readonly RecordReference[],
    publishAt: number | null,
    changed: ReadonlySet<RecordReference>,
    operation: (store: StoreModel, ids: readonly string[], undo?: UndoRequest) => Promise<RetryOutcome>,
  ): Promise<Outcome> {
    const obstacle = await this.#undoList.obstacle(records);
    const kept: string[] = [];
    const outcome = await this.#run("retry", publishAt, records, async (store, ids) => {
      const request = obstacle === null ? this.#undoList.request(records, store) : undefined;
      const { retried, missing, failed, undo } = await operation(store, ids, request);
      if (undo !== undefined) kept.push(undo);
      return { done: retried.map(({ id }) => id), missing, failed };
    });
    this.#tell("retried", outcome, { changed, kept, publishAt });
    return outcome;
  }

  async delete(records: readonly RecordReference[]): Promise<void> {
    if (records.length === 0) {
      void window.showInformationMessage("Select a dead task first.");
      return;
    }
    if (!(await mayChange(records))) return;
    const obstacle = await this.#undoList.obstacle(records);
    if (!(await confirmed(deleteConfirmation(records, undoNote(obstacle))))) return;
    const kept: string[] = [];
    const outcome = await this.#run("delete", null, records, async (store, ids) => {
      const request = obstacle === null ? this.#undoList.request(records, store) : undefined;
      const { deleted, missing, failed, undo } = await this.#service.delete(store.key, ids, request);
      if (undo !== undefined) kept.push(undo);
      return { done: deleted, missing, failed };
    });
    this.#tell("deleted", outcome, { changed: new Set(), kept, publishAt: null });
  }

  async copyIds(records: readonly RecordReference[]): Promise<void> {
    if (records.length === 0) return;
    await env.clipboard.writeText(records.map((record) => shownId(record.id)).join("\n"));
    window.setStatusBarMessage(`Copied ${counted(records.length, "id")}`, 3000);
  }

  /** `reveal`: as the detail pane shows it, if it was opened there; otherwise secrets are masked and offered afterwards. */
  async copyRuby(record: RecordReference, reveal = false): Promise<void> {
    try {
      const read = await readTask(this.#service, record, reveal);
      if (read === null) return;
      await env.clipboard.writeText(read.context.enqueueCall);
      if (read.task.masked) void this.#offerSecrets(record);
      else window.setStatusBarMessage("Copied as Ruby", 3000);
    } catch (error) {
      this.#reporter.failure(`read ${oneLine(record.name)}`, error);
    }
  }

  async #offerSecrets(record: RecordReference): Promise<void> {
    const withSecrets = "Copy with Secrets";
    const choice = await window.showInformationMessage("Copied as Ruby, with secrets as [FILTERED].", withSecrets);
    if (choice === withSecrets) await this.copyRuby(record, true);
  }

  /** One operation a store; a store that fails as a whole leaves the others to go on. */
  async #run(
    verb: "retry" | "delete",
    publishAt: number | null,
    records: readonly RecordReference[],
    operation: (store: StoreModel, ids: readonly string[]) => Promise<Ids>,
  ): Promise<Outcome> {
    const done: RecordReference[] = [];
    const missing: RecordReference[] = [];
    const failed: { record: RecordReference; error: string }[] = [];
    await window.withProgress({ location: { viewId: View.tasks } }, async () => {
      for (const group of groupByStore(records)) {
        const { store } = group;
        const byId = new Map(group.records.map((record) => [record.id, record]));
        const named = (ids: readonly string[]): RecordReference[] =>
          ids.map((id) => byId.get(id)).filter((record) => record !== undefined);
        try {
          const result = await operation(store, [...byId.keys()]);
          done.push(...named(result.done));
          missing.push(...named(result.missing));
          for (const { id, error } of result.failed) {
            this.#reporter.log("error", `${store.name}: could not ${verb} ${id}: ${error}`);
            for (const record of named([id])) failed.push({ record, error });
          }
          this.#reporter.log(
            "info",
            `${store.name}: ${verb}: ${result.done.length} done, ${result.missing.length} gone, ${result.failed.length} failed`,
          );
          if (result.done.length > 0)
            this.#departed.fire({ storeKey: store.key, ids: result.done, by: verb, publishAt });
        } catch (error) {
          this.#reporter.failure(`${verb} ${counted(byId.size, "task")} of ${store.name}`, error);
        }
      }
    });
    return { done, missing, failed };
  }

  /**
   * Those of the tasks whose code is known to have changed since they died. One that is retried alone is not kept waiting for git;
   * before a question there is a moment for the first of them.
   */
  async #changedAmong(records: readonly RecordReference[]): Promise<ReadonlySet<RecordReference>> {
    if (records.length > 1) {
      await this.#changes.lookWithin(longestLook, tasksToLookAt(records));
    }
    return new Set(
      records.filter((record) => {
        const task = taskOf(record);
        return task !== undefined && this.#changes.known(task).length > 0;
      }),
    );
  }

  /** Of each task that would surely fail again, as far as there is time to find out, why. */
  async #doubtsAbout(records: readonly RecordReference[]): Promise<readonly Doubt[]> {
    const doubts = await this.#retryCheck.within(longestLook, tasksToLookAt(records));
    return [...doubts.values()];
  }

  /** Does not wait for the answers to its notifications. */
  #tell(verb: "retried" | "deleted", outcome: Outcome, { changed, kept, publishAt }: Telling): void {
    const what = doneText(verb, outcome);
    const doneAndChanged = outcome.done.filter((record) => changed.has(record)).length;
    const code = doneAndChanged === 0 ? "" : ` ${changedSentence(doneAndChanged, outcome.done.length)}`;
    const done =
      what !== null && verb === "retried"
        ? `${what} ${whenRun(outcome.done.length === 1 ? "It runs" : `All ${formatCount(outcome.done.length)} run`, publishAt)}${code}`
        : what;
    const trouble = troubleText(verb, outcome);
    const undo: NotificationAction | null =
      done === null || kept.length === 0 ? null : { title: "Undo", run: () => this.#undoList.undo(kept) };
    if (trouble !== null) {
      const severity = outcome.failed.length > 0 ? "error" : "warning";
      const text = done === null ? trouble : `${done} ${trouble}`;
      this.#reporter.notify(severity, text, undo === null ? [] : [undo]);
      return;
    }
    if (done === null) return;
    const isHint = verb === "retried" && this.#memory.get(retryHintHiddenKey) !== true;
    const hide: NotificationAction = {
      title: "Don't Show Again",
      run: async () => {
        await this.#memory.update(retryHintHiddenKey, true);
      },
    };
    const actions = [...(undo === null ? [] : [undo]), ...(isHint ? [hide] : [])];
    if (actions.length > 0 && (isHint || verb === "deleted")) offer(done, actions);
    else window.setStatusBarMessage(done, 5000);
  }
}

/** What an outcome is told with. */
interface Telling {
  /** Of these the code has changed since they died. */
  readonly changed: ReadonlySet<RecordReference>;
  /** By which it can be undone. */
  readonly kept: readonly string[];
  readonly publishAt: number | null;
}

interface Ids {
  readonly done: readonly string[];
  readonly missing: readonly string[];
  readonly failed: readonly { readonly id: string; readonly error: string }[];
}

/** The first of these, by their store. */
export function tasksToLookAt(records: readonly RecordReference[]): ReadonlyMap<StoreModel, readonly TaskSummary[]> {
  const groups = groupByStore(records.slice(0, mostLookedAt));
  return new Map(groups.map((group) => [group.store, group.records.map(taskOf).filter((task) => task !== undefined)]));
}

/** Several are always asked about, one only where it would surely fail again. */
function retryQuestion(
  records: readonly RecordReference[],
  changed: ReadonlySet<RecordReference>,
  doubts: readonly Doubt[],
  publishAt: number | null,
): Confirmation | null {
  const [only, ...more] = records;
  if (only === undefined || more.length > 0) {
    return retryConfirmation(records, { changed: changed.size, doubts }, publishAt);
  }
  const [doubt] = doubts;
  return doubt === undefined ? null : doubtConfirmation(only, doubt, changed.has(only));
}

function taskOf({ store, id }: RecordReference): TaskSummary | undefined {
  return store.task(id);
}
