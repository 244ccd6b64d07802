import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commands, Uri, workspace, type ViewColumn } from "vscode";
import { Setting } from "../ids";
import { userMessage, type Reporter } from "../reporter";
import type { TaskSummary } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import { Emitter, type Disposable } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import type { CodeFiles } from "./codeFiles";
import type { FileChange } from "./fileHistory";
import { GitFiles } from "./gitFiles";

/** The list asks for row after row; they are looked at together after this long, in milliseconds. */
const gatherTime = 300;
/** So many tasks at once, so that the worker is free for others in between. */
const batchSize = 50;
/** Git reports in bursts, in milliseconds. */
const settleTime = 300;

/** The changes of a task's files since it died; empty for none, and where git cannot tell. */
export type TaskChanges = readonly FileChange[];

interface Known {
  /** What was true in an earlier round may be otherwise now. */
  readonly round: number;
  readonly changes: TaskChanges;
}

/**
 * Knows of which tasks the code has changed since they died: the file of the failing line, and that of the class. Nothing is
 * asked of git before somebody asks here, and in an untrusted workspace nothing at all.
 */
export class ChangesSinceFailure implements Disposable {
  readonly #service: Pick<StoreService, "backtraces">;
  readonly #code: CodeFiles;
  readonly #reporter: Reporter;
  readonly #git: GitFiles;
  readonly #changed = new Emitter<undefined>();
  readonly #disposables: Disposable[];
  /** By the object: a task that dies again is another. */
  readonly #known = new WeakMap<TaskSummary, Known>();
  readonly #gathered = new Map<StoreModel, Set<TaskSummary>>();
  #files = new WeakMap<TaskSummary, readonly string[]>();
  #round = 0;
  #gatherTimer: NodeJS.Timeout | null = null;
  #settleTimer: NodeJS.Timeout | null = null;

  /** More is known, or what was known may be otherwise now. */
  readonly onDidChange = this.#changed.event;

  constructor(service: Pick<StoreService, "backtraces">, code: CodeFiles, reporter: Reporter) {
    this.#service = service;
    this.#code = code;
    this.#reporter = reporter;
    this.#git = new GitFiles(reporter, (filesMoved) => {
      this.#outdate(filesMoved);
    });
    const outdate = (): void => {
      this.#outdate(true);
    };
    this.#disposables = [
      this.#changed,
      this.#git,
      workspace.onDidGrantWorkspaceTrust(outdate),
      workspace.onDidChangeWorkspaceFolders(outdate),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${Setting.section}.${Setting.pathMappings}`)) outdate();
      }),
    ];
  }

  /** Never rejects: what cannot be told is no claim. */
  async of(store: StoreModel, task: TaskSummary): Promise<TaskChanges> {
    if (this.#known.get(task)?.round !== this.#round) await this.#look(store, [task]);
    return this.known(task);
  }

  /** What is known without looking. */
  known(task: TaskSummary): TaskChanges {
    return this.#known.get(task)?.changes ?? [];
  }

  /** Has a task looked at soon, together with others; `onDidChange` says when there is news. */
  lookSoon(store: StoreModel, task: TaskSummary): void {
    if (!workspace.isTrusted || this.#known.get(task)?.round === this.#round) return;
    const gathered = this.#gathered.get(store) ?? new Set();
    this.#gathered.set(store, gathered.add(task));
    this.#gatherTimer ??= setTimeout(() => {
      this.#gatherTimer = null;
      void this.#lookAtGathered();
    }, gatherTime);
  }

  /** Looks at all of these, for `time` milliseconds at most; what is known then is what `known` says. */
  async lookWithin(time: number, tasks: ReadonlyMap<StoreModel, readonly TaskSummary[]>): Promise<void> {
    const looking = Promise.all([...tasks].map(([store, some]) => this.#look(store, some)));
    await Promise.race([looking, delay(time, undefined, { ref: false })]);
  }

  /** Shows the files before the failure beside what they are now; several in one editor. */
  async show(changes: TaskChanges, column: ViewColumn | undefined): Promise<void> {
    const git = await this.#git.connect();
    const [only, ...more] = changes;
    if (git === null || only === undefined) throw new Error("There are no changes to show any more.");
    const sides = ({ file, before }: FileChange): [Uri, Uri] => [git.toGitUri(Uri.file(file), before), Uri.file(file)];
    if (more.length === 0) {
      const title = `${path.basename(only.file)} (before the failure ↔ now)`;
      const options = column === undefined ? undefined : { viewColumn: column };
      await commands.executeCommand("vscode.diff", ...sides(only), title, options);
    } else {
      const files = changes.map((change) => [Uri.file(change.file), ...sides(change)]);
      await commands.executeCommand("vscode.changes", "Changes since the failure", files);
    }
  }

  async #lookAtGathered(): Promise<void> {
    const gathered = [...this.#gathered];
    this.#gathered.clear();
    for (const [store, tasks] of gathered) {
      const all = [...tasks];
      for (let start = 0; start < all.length; start += batchSize) {
        const some = all.slice(start, start + batchSize);
        const before = some.map((task) => this.known(task).length);
        await this.#look(store, some);
        if (some.some((task, index) => this.known(task).length !== before[index])) this.#changed.fire(undefined);
      }
    }
  }

  async #look(store: StoreModel, tasks: readonly TaskSummary[]): Promise<void> {
    if (!workspace.isTrusted) return;
    const round = this.#round;
    try {
      if ((await this.#git.connect()) !== null) await this.#findFiles(store, tasks);
      for (const task of tasks) {
        const changes: FileChange[] = [];
        // One after another: each file may be another git process.
        for (const file of this.#files.get(task) ?? []) {
          const change = await this.#git.change(file, task.failedAt);
          if (change !== null) changes.push(change);
        }
        this.#known.set(task, { round, changes });
      }
    } catch (error) {
      this.#reporter.log(
        "warn",
        `Could not tell what has changed since tasks of ${store.name} died: ${userMessage(error)}`,
      );
    }
  }

  /** Finds the files of the tasks of which they are not known yet, with one question to the worker. */
  async #findFiles(store: StoreModel, tasks: readonly TaskSummary[]): Promise<void> {
    const files = this.#files;
    const fresh = tasks.filter((task) => !files.has(task));
    if (fresh.length === 0) return;
    const ids = fresh.map(({ id }) => id);
    const found = new Map((await this.#service.backtraces(store.key, ids)).map(({ id, backtrace }) => [id, backtrace]));
    const finder = this.#code.finder(store);
    for (const task of fresh) {
      const failing = await finder.failingFrame(found.get(task.id) ?? []);
      const own = await this.#code.classFile(store, task.taskClass);
      files.set(
        task,
        [...new Set([failing?.file ?? null, own])].filter((file) => file !== null),
      );
    }
  }

  #outdate(filesMoved: boolean): void {
    this.#round++;
    if (filesMoved) this.#files = new WeakMap();
    this.#settleTimer ??= setTimeout(() => {
      this.#settleTimer = null;
      this.#changed.fire(undefined);
    }, settleTime);
  }

  dispose(): void {
    if (this.#gatherTimer !== null) clearTimeout(this.#gatherTimer);
    if (this.#settleTimer !== null) clearTimeout(this.#settleTimer);
    for (const disposable of this.#disposables) disposable.dispose();
  }
}
