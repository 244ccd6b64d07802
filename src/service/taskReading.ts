import { checkEdit, editableTask } from "../edit/taskEdit";
import type { EditCheck, EditableReply, TaskEdit } from "../edit/protocol";
import type { StorageEnvironment } from "../storage";
import type { Answers } from "./answers";
import { argumentShape } from "./argumentShape";
import { ContextReader } from "./contextReader";
import type { OpenStores } from "./openStores";
import { findPendingTask, pendingFingerprint, readPendingLogs } from "./pendingLogs";
import type { DetailOptions, PendingLogs, PendingTaskLook, RecordDetail, TaskBacktrace, TaskShape } from "./protocol";
import { recordText } from "./recordText";
import { failedAtSamePlace } from "./similarDeaths";
import { detailOf } from "./taskDetail";
import type { FoundValues, ValueContent, ValuePage, ValuePath, WantedPage } from "./valueProtocol";
import type { ContextTree } from "./valueTree";

type Reading = Pick<
  Answers,
  | "detail"
  | "backtraces"
  | "argumentShapes"
  | "failedAtSamePlace"
  | "recordText"
  | "editableTask"
  | "checkEdit"
  | "values"
  | "valueText"
  | "valueContent"
  | "findValues"
  | "pendingLogs"
  | "pendingTask"
  | "lineBytes"
  | "rawRecord"
>;

/** What is asked about single tasks, and about what waits in logs. Changes nothing. */
export class TaskReading implements Reading {
  readonly #environment: StorageEnvironment;
  readonly #stores: OpenStores;
  readonly #contexts = new ContextReader();

  constructor(environment: StorageEnvironment, stores: OpenStores) {
    this.#environment = environment;
    this.#stores = stores;
    stores.onDidClose((key) => {
      this.#contexts.forget(key);
    });
  }

  async detail(key: string, id: string, options: DetailOptions): Promise<RecordDetail> {
    const found = await this.#stores.record(key, id);
    if (found === null) return { kind: "gone", id };
    if (found.kind === "unreadable") return { kind: "unreadable", id, reason: found.reason, bytes: found.length };
    return { kind: "task", task: detailOf(found, options) };
  }

  async backtraces(key: string, ids: readonly string[]): Promise<readonly TaskBacktrace[]> {
    const tasks = (await this.#stores.find(key)?.tasks(ids)) ?? [];
    return tasks.map(({ id, backtrace }) => ({ id, backtrace }));
  }

  async argumentShapes(key: string, ids: readonly string[]): Promise<readonly TaskShape[]> {
    const tasks = (await this.#stores.find(key)?.tasks(ids)) ?? [];
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
    const found = await this.#stores.find(key)?.find(id);
    return found === null || found === undefined ? null : recordText(found, { reveal: false, maskedNames });
  }

  async editableTask(key: string, id: string, maskedNames: readonly string[]): Promise<EditableReply> {
    return editableTask(await this.#stores.record(key, id), maskedNames);
  }

  async checkEdit(key: string, id: string, edit: TaskEdit): Promise<EditCheck> {
    return checkEdit(await this.#stores.record(key, id), edit);
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
    return this.#contexts.tree(key, id, await this.#stores.record(key, id), options);
  }

  pendingLogs(key: string, known: string | null): Promise<PendingLogs> {
    const store = this.#stores.find(key)?.store;
    if (store === undefined) return Promise.resolve({ fingerprint: "", logs: [] });
    const { fileSystem } = this.#environment;
    const fingerprint = pendingFingerprint(fileSystem, store.names);
    const logs = fingerprint === known ? null : readPendingLogs(fileSystem, store.names);
    return Promise.resolve({ fingerprint, logs });
  }

  pendingTask(key: string, id: string, known: string | null): Promise<PendingTaskLook> {
    const store = this.#stores.find(key)?.store;
    if (store === undefined) return Promise.resolve({ fingerprint: "", task: null });
    const { fileSystem } = this.#environment;
    const fingerprint = pendingFingerprint(fileSystem, store.names);
    const look = { fingerprint };
    return Promise.resolve(
      fingerprint === known ? look : { ...look, task: findPendingTask(fileSystem, store.names, id) },
    );
  }

  lineBytes(key: string, ids: readonly string[]): Promise<number> {
    const index = this.#stores.find(key)?.index;
    return Promise.resolve(ids.reduce((sum, id) => sum + (index?.get(id)?.length ?? 0), 0));
  }

  async rawRecord(key: string, id: string): Promise<string | null> {
    return (await this.#stores.find(key)?.rawRecord(id)) ?? null;
  }
}
