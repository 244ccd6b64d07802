import { parentPort } from "node:worker_threads";
import type { EditCheck, EditableReply, EditedCall, EditedRetryOutcome } from "../edit/protocol";
import { checkEdit, editableTask, prepareEdit, type ReadyEdit } from "../edit/taskEdit";
import {
  StorageError,
  UndoJournal,
  findStoresIn,
  nilBackend,
  storageEnvironment,
  type DeadTask,
  type DeadTaskBackend,
  type DeadTaskStore,
  type FinishedReplay,
  type StorageEnvironment,
  type UndoEntry,
  type UndoHeader,
  type UnreadableTask,
} from "../storage";
import { argumentShape } from "./argumentShape";
import { ContextReader } from "./contextReader";
import { discoverStores } from "./discoverStores";
import { emptyStatus } from "./emptyStatus";
import { History, finishedNotes, type Recorder } from "./history";
import type { HistoryOptions, HistoryPage, HistoryQuery } from "./historyProtocol";
import { Operations } from "./operations";
import { findPendingTask, pendingFingerprint, readPendingLogs } from "./pendingLogs";
import { problemOf } from "./problems";
import type {
  DeleteOutcome,
  DetailOptions,
  DiscoveredStore,
  PendingLogs,
  PendingTaskLook,
  RecordDetail,
  RequestMessage,
  RequestName,
  RetryOutcome,
  StoreRequests,
  StoreTarget,
  TaskBacktrace,
  TaskShape,
  UndoLimits,
  UndoRequest,
  UndoableChange,
  UndoneChange,
  WorkerMessage,
} from "./protocol";
import { rawRecord } from "./rawLines";
import type { LineState, RawLine, RawPlace, RawRow, RawTable, RawTarget } from "./rawProtocol";
import { RawStore } from "./rawStore";
import { recordText } from "./recordText";
import { lookAtTarget, sendElsewhere } from "./sendElsewhere";
import type { SendOutcome, SendTarget, SendWay, TargetLook } from "./sendProtocol";
import { failedAtSamePlace } from "./similarDeaths";
import type { RunEnd, RunInfo, RunStart, RunUndo } from "./runProtocol";
import { Runs, type RunToSettle } from "./runs";
import { storeAt } from "./storeAt";
import { StoreHost } from "./storeHost";
import { detailOf } from "./taskDetail";
import { UndoKeeper, keptAs, undoChange, undoableEntries } from "./undo";
import type { FoundValues, ValueContent, ValuePage, ValuePath, WantedPage } from "./valueProtocol";
import type { ContextTree } from "./valueTree";

type Answers = {
  readonly [Name in RequestName]: (
    ...parameters: Parameters<StoreRequests[Name]>
  ) => Promise<ReturnType<StoreRequests[Name]>>;
};

/** Answers the editor's requests. Everything that touches a store file happens here, on a thread of its own. */
class StoreWorker implements Answers {
  readonly #environment: StorageEnvironment;
  readonly #send: (message: WorkerMessage) => void;
  readonly #hosts = new Map<string, StoreHost>();
  readonly #nilStores = new Set<string>();
  readonly #contexts = new ContextReader();
  readonly #rawStores = new Map<string, RawStore>();
  readonly #history: History;
  readonly #runs: Runs;
  readonly #operations = new Operations((operation, progress) => {
    this.#send({ type: "progress", operation, progress });
  });

  constructor(environment: StorageEnvironment, send: (message: WorkerMessage) => void) {
    this.#environment = environment;
    this.#send = send;
    this.#history = new History(environment, this.#warn);
    this.#runs = new Runs(environment);
  }

  readonly #warn = (text: string): void => {
    this.#send({ type: "log", level: "warn", text });
  };

  discover(folder: string): Promise<readonly DiscoveredStore[]> {
    return Promise.resolve(discoverStores(this.#environment.fileSystem, folder));
  }

  open(target: StoreTarget): Promise<void> {
    this.#closeStore(target.key);
    if (target.backend === "nil") {
      this.#nilStores.add(target.key);
      this.#send({
        type: "update",
        key: target.key,
        update: { type: "status", status: { ...emptyStatus, phase: "ready" } },
      });
    } else {
      const host = new StoreHost(target, this.#environment, (update) => {
        this.#send({ type: "update", key: target.key, update });
      });
      this.#hosts.set(target.key, host);
    }
    return Promise.resolve();
  }

  close(key: string): Promise<void> {
    this.#closeStore(key);
    return Promise.resolve();
  }

  async refresh(key: string): Promise<void> {
    await this.#hosts.get(key)?.refresh();
  }

  stopReading(key: string): Promise<void> {
    this.#hosts.get(key)?.stopReading();
    return Promise.resolve();
  }

  async finishInterrupted(key: string): Promise<void> {
    const host = this.#hosts.get(key);
    if (host === undefined) return;
    try {
      this.#tellFinished(key, await host.store.finishInterrupted());
    } catch (error) {
      // Nobody asked for it, and the next retry or deletion does it, too.
      this.#warn(problemOf(error).message);
    }
  }

  /** `retrying`: ids of a retry under way, of which what was finished is told as its own. */
  #tellFinished(key: string, finished: readonly FinishedReplay[], retrying: readonly string[] = []): void {
    for (const { id, newId, elsewhere } of finished) {
      const where = elsewhere === undefined ? "" : ` in ${elsewhere.directory}`;
      const text = `Finished an interrupted retry: dead task ${id} had been enqueued as ${newId}${where} and is removed now.`;
      this.#send({ type: "log", level: "info", text });
    }
    for (const note of finishedNotes(finished, new Set(retrying))) {
      const ids = note.done.map(({ id }) => id);
      this.#recorder(key, ids)(note);
    }
  }

  /** For the history: asked before an operation on these tasks, and called with what became of it. */
  #recorder(key: string, ids: readonly string[]): Recorder {
    const host = this.#hosts.get(key);
    if (host === undefined) return () => undefined;
    return this.#history.recorder(host.store.names, ids, (id) => host.index.taskClass(id));
  }

  async detail(key: string, id: string, options: DetailOptions): Promise<RecordDetail> {
    const found = await this.#found(key, id);
    if (found === null) return { kind: "gone", id };
    if (found.kind === "unreadable") return { kind: "unreadable", id, reason: found.reason, bytes: found.length };
    return { kind: "task", task: detailOf(found, options) };
  }

  async backtraces(key: string, ids: readonly string[]): Promise<readonly TaskBacktrace[]> {
    const tasks = (await this.#hosts.get(key)?.tasks(ids)) ?? [];
    return tasks.map(({ id, backtrace }) => ({ id, backtrace }));
  }

  async argumentShapes(key: string, ids: readonly string[]): Promise<readonly TaskShape[]> {
    const tasks = (await this.#hosts.get(key)?.tasks(ids)) ?? [];
    return tasks.map((task) => ({ id: task.id, shape: argumentShape(task) }));
  }

  async failedAtSamePlace(
    key: string,
    backtrace: readonly string[],
    candidates: readonly string[],
  ): Promise<readonly string[]> {
    return failedAtSamePlace(backtrace, await this.backtraces(key, candidates));
  }

  async recordText(key: string, id: string, maskedNames: readonly string[]): Promise<string | null> {
    const found = await this.#hosts.get(key)?.find(id);
    return found === null || found === undefined ? null : recordText(found, { reveal: false, maskedNames });
  }

  async values(
    key: string,
    id: string,
    options: DetailOptions,
    wanted: readonly WantedPage[] | null,
  ): Promise<readonly ValuePage[] | null> {
    const tree = await this.#contextTree(key, id, options);
    return tree === null ? null : wanted === null ? tree.firstPages() : tree.pages(wanted);
  }

  async valueText(key: string, id: string, options: DetailOptions, path: ValuePath): Promise<string | null> {
    return (await this.#contextTree(key, id, options))?.text(path) ?? null;
  }

  async valueContent(
    key: string,
    id: string,
    options: DetailOptions,
    path: ValuePath,
    from: number,
  ): Promise<ValueContent | null> {
    return (await this.#contextTree(key, id, options))?.content(path, from) ?? null;
  }

  async findValues(key: string, id: string, options: DetailOptions, text: string): Promise<FoundValues | null> {
    return (await (await this.#contextTree(key, id, options))?.find(text)) ?? null;
  }

  async #contextTree(key: string, id: string, options: DetailOptions): Promise<ContextTree | null> {
    return this.#contexts.tree(key, id, await this.#found(key, id), options);
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
    const keeper = this.#keeper(key, undo);
    const record = this.#recorder(key, ids);
    return await this.#change(key, async (backend) => {
      const keep = keeper === null ? {} : { keepReplayed: keeper.keepReplayed };
      const onFinished = (finished: readonly FinishedReplay[]): void => {
        // An interrupted retry was one without this edit, so that what is asked for now does not tell of it.
        this.#tellFinished(key, finished, edit === null ? ids : []);
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

  async editableTask(key: string, id: string, maskedNames: readonly string[]): Promise<EditableReply> {
    return editableTask(await this.#found(key, id), maskedNames);
  }

  async checkEdit(
    key: string,
    id: string,
    version: string,
    call: EditedCall,
    maskedNames: readonly string[],
  ): Promise<EditCheck> {
    return checkEdit(await this.#found(key, id), version, call, maskedNames);
  }

  async retryEdited(
    key: string,
    id: string,
    version: string,
    call: EditedCall,
    publishAt: number | null,
    maskedNames: readonly string[],
    undo?: UndoRequest,
  ): Promise<EditedRetryOutcome> {
    const edit = prepareEdit(await this.#found(key, id), version, call, maskedNames);
    if (edit.kind === "gone") return { retried: [], missing: [id], failed: [], log: null, texts: null };
    if (edit.kind === "failed") {
      return { retried: [], missing: [], failed: [{ id, error: edit.error }], log: null, texts: null };
    }
    const outcome = await this.#retry(key, [id], publishAt, undo, edit);
    return { ...outcome, texts: outcome.retried.length > 0 ? edit.texts : null };
  }

  async delete(key: string, ids: readonly string[], undo?: UndoRequest, operation?: string): Promise<DeleteOutcome> {
    const keeper = this.#keeper(key, undo);
    const record = this.#recorder(key, ids);
    return await this.#change(key, async (backend) => {
      const keep = keeper === null ? {} : { keep: keeper.keep };
      const onFinished = (finished: readonly FinishedReplay[]): void => {
        this.#tellFinished(key, finished);
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
  ): Promise<SendOutcome> {
    const host = this.#hosts.get(key);
    if (host === undefined) return { sent: [], present: [], missing: ids, failed: [], log: null };
    const target = this.#storeAt(place);
    const { directory, prefix } = target.names;
    const keeper = this.#keeper(key, undo, { way, directory, prefix });
    const onFinished = (finished: readonly FinishedReplay[]): void => {
      this.#tellFinished(key, finished, ids);
    };
    const there = this.#hostAt({ directory, prefix });
    const record = this.#recorder(key, ids);
    try {
      return await this.#change(key, async () => {
        if (target.readOnlyReason() === null) this.#tellFinished(there?.[0] ?? "", await target.finishInterrupted());
        const outcome = await sendElsewhere(host.store, target, ids, way, keeper, onFinished);
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
    const open = [...this.#hosts.values()].map(({ store }) => store);
    return storeAt(this.#environment, place, open);
  }

  #keeper(key: string, request: UndoRequest | undefined, elsewhere?: UndoHeader["elsewhere"]): UndoKeeper | null {
    const store = this.#hosts.get(key)?.store;
    if (request === undefined || store === undefined) return null;
    return new UndoKeeper(this.#environment, store, request, this.#warn, elsewhere);
  }

  pendingLogs(key: string, known: string | null): Promise<PendingLogs> {
    const store = this.#hosts.get(key)?.store;
    if (store === undefined) return Promise.resolve({ fingerprint: "", logs: [] });
    const { fileSystem } = this.#environment;
    const fingerprint = pendingFingerprint(fileSystem, store.names);
    const logs = fingerprint === known ? null : readPendingLogs(fileSystem, store.names);
    return Promise.resolve({ fingerprint, logs });
  }

  pendingTask(key: string, id: string, known: string | null): Promise<PendingTaskLook> {
    const store = this.#hosts.get(key)?.store;
    if (store === undefined) return Promise.resolve({ fingerprint: "", task: null });
    const { fileSystem } = this.#environment;
    const fingerprint = pendingFingerprint(fileSystem, store.names);
    const look = { fingerprint };
    return Promise.resolve(
      fingerprint === known ? look : { ...look, task: findPendingTask(fileSystem, store.names, id) },
    );
  }

  lineBytes(key: string, ids: readonly string[]): Promise<number> {
    const index = this.#hosts.get(key)?.index;
    return Promise.resolve(ids.reduce((sum, id) => sum + (index?.get(id)?.length ?? 0), 0));
  }

  undoableChanges(directory: string): Promise<readonly UndoableChange[]> {
    return Promise.resolve(undoableEntries(this.#environment, directory));
  }

  async undoChange(directory: string, name: string): Promise<UndoneChange> {
    const entry = new UndoJournal(this.#environment, directory).entry(name);
    const hosts = [...this.#hosts.values()];
    const stores = hosts.map(({ store }) => store);
    let undone: UndoneChange;
    try {
      undone = await undoChange(this.#environment, directory, name, stores);
    } finally {
      await Promise.all(hosts.map((host) => host.refreshAfterChange([])));
    }
    if (entry !== null) this.#recordUndone(entry, undone);
    return undone;
  }

  #recordUndone(entry: UndoEntry, { restored, elsewhere }: UndoneChange): void {
    const { directory, prefix, name, title, log } = entry;
    const [, host] = this.#hostAt({ directory, prefix }) ?? [];
    const ids = elsewhere?.gone ?? restored;
    const record = this.#history.recorder(entry, ids, (id) => host?.index.taskClass(id) ?? null);
    const done = ids.map((id) => ({ id }));
    const target = entry.elsewhere === undefined ? {} : { target: entry.elsewhere };
    record({ kind: log === null ? "undo" : "takeBack", done, undone: { name, title }, ...target });
  }

  pruneUndo(directory: string, limits: UndoLimits): Promise<void> {
    new UndoJournal(this.#environment, directory).prune(limits);
    return Promise.resolve();
  }

  async beginRun(runs: string, key: string, id: string): Promise<RunStart> {
    const { store, index } = this.#host(key);
    const line = await this.rawRecord(key, id);
    if (line === null) return { kind: "gone" };
    return this.#runs.begin(runs, store.names, id, line, index.taskClass(id) ?? "");
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
    const open = this.#hostAt(info);
    if (open === undefined) throw new StorageError("io", `The store in ${info.directory} is not open.`);
    const [key, { index }] = open;
    const record = this.#recorder(key, [id]);
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
        const keeper = this.#keeper(key, undo === null ? undefined : { ...undo, title: `Ran ${taskClass}` });
        const removed = await this.#removeRun(key, id, checksum, keeper);
        const kept = keptAs(keeper);
        record({ kind: "run", done: [{ id }], ...kept });
        return { kind: "succeeded", removed, stands: index.get(id) !== undefined, ...kept };
      }
    }
  }

  /** Whether it was there, as it was run. */
  async #removeRun(key: string, id: string, checksum: number, keeper: UndoKeeper | null): Promise<boolean> {
    return await this.#change(key, async (backend) => {
      const { removed } = await backend.remove([id], {
        expected: new Map([[id, checksum]]),
        onFinished: (finished) => {
          this.#tellFinished(key, finished);
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
    return Promise.resolve(this.#runs.left(runs, this.#host(key).store.names));
  }

  keepHistory(options: HistoryOptions): Promise<void> {
    this.#history.keep(options);
    return Promise.resolve();
  }

  history(query: HistoryQuery): Promise<HistoryPage> {
    const open = new Map([...this.#hosts].map(([key, { store }]) => [key, store.names]));
    return Promise.resolve(this.#history.page(query, open));
  }

  clearHistory(): Promise<void> {
    this.#history.clear();
    return Promise.resolve();
  }

  /** Answers after the views were told of the change. A failure is told at once: what made it fail may block reading, too. */
  async #change<Outcome>(
    key: string,
    change: (backend: DeadTaskBackend) => Promise<{ readonly outcome: Outcome; readonly gone: readonly string[] }>,
  ): Promise<Outcome> {
    const backend = this.#backend(key);
    const host = this.#hosts.get(key);
    let changed: Awaited<ReturnType<typeof change>>;
    try {
      changed = await change(backend);
    } catch (error) {
      void host?.refreshAfterChange([]);
      throw error;
    }
    await host?.refreshAfterChange(changed.gone);
    return changed.outcome;
  }

  async rawRecord(key: string, id: string): Promise<string | null> {
    const host = this.#hosts.get(key);
    if (host === undefined) return null;
    await host.refresh();
    const position = host.index.get(id);
    return position === undefined ? null : rawRecord(this.#environment.fileSystem, host.store.names.dataFile, position);
  }

  async readRawLines(key: string, milliseconds: number): Promise<RawTable> {
    return await this.#rawStore(key).read(milliseconds);
  }

  async rawRows(
    key: string,
    generation: number,
    states: readonly LineState[],
    start: number,
    count: number,
  ): Promise<readonly RawRow[] | null> {
    return await this.#rawStore(key).rows(generation, states, start, count);
  }

  async findRawLine(
    key: string,
    generation: number,
    target: RawTarget,
    states: readonly LineState[],
  ): Promise<RawPlace | null> {
    return await this.#rawStore(key).find(generation, target, states);
  }

  async rawLine(key: string, generation: number, line: number, options: DetailOptions): Promise<RawLine | null> {
    return await this.#rawStore(key).line(generation, line, options);
  }

  async rawBytes(
    key: string,
    generation: number,
    line: number,
    start: number,
    count: number,
  ): Promise<Uint8Array | null> {
    return await this.#rawStore(key).bytes(generation, line, start, count);
  }

  closeRawLines(key: string): Promise<void> {
    this.#rawStores.delete(key);
    return Promise.resolve();
  }

  #rawStore(key: string): RawStore {
    const known = this.#rawStores.get(key);
    if (known !== undefined) return known;
    const host = this.#host(key);
    const made = new RawStore(host.store, this.#environment.fileSystem);
    this.#rawStores.set(key, made);
    return made;
  }

  /** The record that stands for an id now. */
  async #found(key: string, id: string): Promise<DeadTask | UnreadableTask | null> {
    return await (this.#hosts.get(key) ?? this.#backend(key)).find(id);
  }

  #host(key: string): StoreHost {
    const host = this.#hosts.get(key);
    if (host === undefined) throw new StorageError("io", `The store ${key} is not open.`);
    return host;
  }

  /** The open store that is there, with its key. */
  #hostAt({ directory, prefix }: Pick<RunInfo, "directory" | "prefix">): readonly [string, StoreHost] | undefined {
    return [...this.#hosts].find(
      ([, { store }]) => store.names.directory === directory && store.names.prefix === prefix,
    );
  }

  #backend(key: string): DeadTaskBackend {
    const host = this.#hosts.get(key);
    if (host !== undefined) return host.store;
    if (this.#nilStores.has(key)) return nilBackend;
    throw new Error(`store ${key} is not open`);
  }

  #closeStore(key: string): void {
    this.#hosts.get(key)?.dispose();
    this.#hosts.delete(key);
    this.#rawStores.delete(key);
    this.#nilStores.delete(key);
    this.#contexts.forget(key);
  }
}

async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  const send = (message: WorkerMessage): void => {
    port.postMessage(message);
  };
  const environment = await storageEnvironment();
  const { unavailable } = environment.flock;
  if (unavailable !== null) send({ type: "log", level: "warn", text: `Stores are read-only: ${unavailable}.` });
  const worker = new StoreWorker(environment, send);
  port.on("message", (message: RequestMessage) => {
    void answer(worker, message).then(send);
  });
}

async function answer(worker: StoreWorker, { sequence, name, parameters }: RequestMessage): Promise<WorkerMessage> {
  try {
    // Both ends are compiled from one protocol, so the parameters are those that `name` takes.
    const call = worker[name].bind(worker) as (...values: readonly unknown[]) => Promise<unknown>;
    return { type: "reply", sequence, ok: true, value: await call(...parameters) };
  } catch (error) {
    return { type: "reply", sequence, ok: false, problem: problemOf(error) };
  }
}

if (parentPort !== null) void serve(parentPort);
