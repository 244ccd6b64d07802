import type { EditedRetryOutcome, TaskEdit } from "../edit/protocol";
import { prepareEdit, type ReadyEdit } from "../edit/taskEdit";
import {
  UndoJournal,
  findStoresIn,
  type DeadTaskStore,
  type FinishedReplay,
  type StorageEnvironment,
  type UndoEntry,
} from "../storage";
import type { Answers } from "./answers";
import type { Changing } from "./changing";
import type { OpenStores } from "./openStores";
import { Operations } from "./operations";
import { problemOf } from "./problems";
import type {
  ChangeProgress,
  DeleteOutcome,
  RetryOutcome,
  UndoLimits,
  UndoRequest,
  UndoableChange,
  UndoneChange,
} from "./protocol";
import { lookAtTarget, sendElsewhere } from "./sendElsewhere";
import type { SendOutcome, SendTarget, SendWay, TargetLook } from "./sendProtocol";
import { storeAt } from "./storeAt";
import { keptAs, undoChange, undoableEntries } from "./undo";

type Changes = Pick<
  Answers,
  | "finishInterrupted"
  | "retry"
  | "retryEdited"
  | "delete"
  | "cancel"
  | "send"
  | "lookAtTarget"
  | "prefixesIn"
  | "undoableChanges"
  | "undoChange"
  | "pruneUndo"
>;

/** What takes dead tasks out of stores, or brings them back. */
export class TaskChanges implements Changes {
  readonly #environment: StorageEnvironment;
  readonly #stores: OpenStores;
  readonly #changing: Changing;
  readonly #operations: Operations;

  constructor(changing: Changing, tellProgress: (operation: string, progress: ChangeProgress) => void) {
    this.#environment = changing.environment;
    this.#stores = changing.stores;
    this.#changing = changing;
    this.#operations = new Operations(tellProgress);
  }

  async finishInterrupted(key: string): Promise<void> {
    const host = this.#stores.find(key);
    if (host === undefined) return;
    try {
      this.#changing.tellFinished(key, await host.store.finishInterrupted());
    } catch (error) {
      // Nobody asked for it, and the next retry or deletion does it, too.
      this.#changing.warn(problemOf(error).message);
    }
  }

  async retry(
    key: string,
    ids: readonly string[],
    publishAt: number | null,
    undo?: UndoRequest,
    operation?: string,
  ): Promise<RetryOutcome> {
    return await this.#retry(key, ids, publishAt, undo, null, operation);
  }

  async #retry(
    key: string,
    ids: readonly string[],
    publishAt: number | null,
    undo: UndoRequest | undefined,
    edit: ReadyEdit | null,
    operation?: string,
  ): Promise<RetryOutcome> {
    const keeper = this.#changing.keeper(key, undo);
    const record = this.#changing.recorder(key, ids);
    return await this.#changing.change(key, async (backend) => {
      const keep = keeper === null ? {} : { keepReplayed: keeper.keepReplayed };
      const onFinished = (finished: readonly FinishedReplay[]): void => {
        // An interrupted retry was one without this edit, so that what is asked for now does not tell of it.
        this.#changing.tellFinished(key, finished, edit === null ? ids : []);
      };
      const edited = new Map(edit === null ? [] : ids.map((id) => [id, edit.edited]));
      const options = { onFinished, edited, ...keep };
      const result = await this.#operations.run(operation, (followed) =>
        backend.replay(ids, publishAt, { ...options, ...followed }),
      );
      const outcome: RetryOutcome = { ...result, ...keptAs(keeper) };
      const edits = edit?.isChange === true ? result.retried.map(({ id }) => ({ id, ...edit.texts })) : [];
      record({ kind: edits.length > 0 ? "edit" : "retry", done: result.retried, ...outcome, publishAt, edits });
      return { outcome, gone: [...result.retried.map(({ id }) => id), ...result.missing] };
    });
  }

  async retryEdited(
    key: string,
    id: string,
    edit: TaskEdit,
    publishAt: number | null,
    undo?: UndoRequest,
  ): Promise<EditedRetryOutcome> {
    const ready = prepareEdit(await this.#stores.record(key, id), edit);
    if (ready.kind === "gone") return { retried: [], missing: [id], failed: [], log: null, texts: null };
    if (ready.kind === "failed") {
      return { retried: [], missing: [], failed: [{ id, error: ready.error }], log: null, texts: null };
    }
    const outcome = await this.#retry(key, [id], publishAt, undo, ready);
    return { ...outcome, texts: outcome.retried.length > 0 ? ready.texts : null };
  }

  async delete(key: string, ids: readonly string[], undo?: UndoRequest, operation?: string): Promise<DeleteOutcome> {
    const keeper = this.#changing.keeper(key, undo);
    const record = this.#changing.recorder(key, ids);
    return await this.#changing.change(key, async (backend) => {
      const keep = keeper === null ? {} : { keep: keeper.keep };
      const onFinished = (finished: readonly FinishedReplay[]): void => {
        this.#changing.tellFinished(key, finished);
      };
      const options = { onFinished, ...keep };
      const { removed, missing } = await this.#operations.run(operation, (followed) =>
        backend.remove(ids, { ...options, ...followed }),
      );
      const outcome: DeleteOutcome = { deleted: removed, missing, failed: [], ...keptAs(keeper) };
      record({ kind: "delete", done: removed.map((id) => ({ id })), ...outcome });
      return { outcome, gone: [...removed, ...missing] };
    });
  }

  cancel(operation: string): Promise<void> {
    this.#operations.cancel(operation);
    return Promise.resolve();
  }

  async send(
    key: string,
    ids: readonly string[],
    place: SendTarget,
    way: SendWay,
    undo?: UndoRequest,
    operation?: string,
  ): Promise<SendOutcome> {
    const host = this.#stores.find(key);
    if (host === undefined) return { sent: [], present: [], missing: ids, failed: [], log: null };
    const target = this.#storeAt(place);
    const { directory, prefix } = target.names;
    const keeper = this.#changing.keeper(key, undo, { way, directory, prefix });
    const onFinished = (finished: readonly FinishedReplay[]): void => {
      this.#changing.tellFinished(key, finished, ids);
    };
    const there = this.#stores.at({ directory, prefix });
    const record = this.#changing.recorder(key, ids);
    try {
      return await this.#changing.change(key, async () => {
        if (target.readOnlyReason() === null)
          this.#changing.tellFinished(there?.[0] ?? "", await target.finishInterrupted());
        const outcome = await this.#operations.run(operation, (followed) =>
          sendElsewhere(host.store, target, ids, way, keeper, { onFinished, ...followed }),
        );
        const done = outcome.sent.map((id) => ({ id }));
        record({ kind: way === "copy" ? "copy" : "send", ...outcome, done, target: { directory, prefix } });
        return { outcome, gone: way === "move" ? [...outcome.sent, ...outcome.missing] : outcome.missing };
      });
    } finally {
      await there?.[1].refreshAfterChange([]);
    }
  }

  lookAtTarget(place: SendTarget): Promise<TargetLook> {
    return Promise.resolve(lookAtTarget(this.#environment, this.#storeAt(place)));
  }

  prefixesIn(directory: string): Promise<readonly string[]> {
    return Promise.resolve(findStoresIn(this.#environment.fileSystem, directory).map(({ prefix }) => prefix));
  }

  #storeAt(place: SendTarget): DeadTaskStore {
    return storeAt(this.#environment, place, this.#stores.stores);
  }

  undoableChanges(directory: string): Promise<readonly UndoableChange[]> {
    return Promise.resolve(undoableEntries(this.#environment, directory));
  }

  async undoChange(directory: string, name: string): Promise<UndoneChange> {
    const entry = new UndoJournal(this.#environment, directory).entry(name);
    let undone: UndoneChange;
    try {
      undone = await undoChange(this.#environment, directory, name, this.#stores.stores);
    } finally {
      const places = entry === null ? [] : [entry, ...(entry.elsewhere === undefined ? [] : [entry.elsewhere])];
      const hosts = places.flatMap((place) => this.#stores.at(place)?.[1] ?? []);
      await Promise.all(hosts.map((host) => host.refreshAfterChange([])));
    }
    if (entry !== null) this.#recordUndone(entry, undone);
    return undone;
  }

  #recordUndone(entry: UndoEntry, { restored, elsewhere }: UndoneChange): void {
    const { name, title, log } = entry;
    const [, host] = this.#stores.at(entry) ?? [];
    const ids = elsewhere?.gone ?? restored;
    const record = this.#changing.history.recorder(entry, ids, (id) => host?.index.taskClass(id) ?? null);
    const done = ids.map((id) => ({ id }));
    const target = entry.elsewhere === undefined ? {} : { target: entry.elsewhere };
    record({ kind: log === null ? "undo" : "takeBack", done, undone: { name, title }, ...target });
  }

  pruneUndo(directory: string, limits: UndoLimits): Promise<void> {
    new UndoJournal(this.#environment, directory).prune(limits);
    return Promise.resolve();
  }
}
