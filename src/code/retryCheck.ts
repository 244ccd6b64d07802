import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { workspace } from "vscode";
import { userMessage, type Reporter } from "../reporter";
import type { ArgumentShape, TaskSummary } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import { Emitter, type Disposable } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import { oneLine } from "../text/labels";
import { misfitOfAll } from "./argumentFit";
import { insideOf, parseFrame } from "./frames";
import { applicationOf, choices, type Located, type TaskClasses } from "./taskClasses";

/** While somebody types, nothing is looked at anew, in milliseconds. */
const settleTime = 500;

/** Why a retry of a task would surely fail, as far as the workspace's code tells. */
export interface Doubt {
  /** About one task that is in sight: `Its perform takes 1 argument, and the task has 2.` */
  readonly text: string;
  /** About one of several tasks: with the class's name. */
  readonly named: string;
}

/**
 * Whether the workspace's code still has the classes of tasks, and `perform` still takes their arguments. Ruby files are read as
 * text. Where the code does not say, and for stores of applications that are not in the workspace, there is no doubt.
 */
export class RetryCheck implements Disposable {
  readonly #service: Pick<StoreService, "argumentShapes" | "backtraces">;
  readonly #classes: TaskClasses;
  readonly #reporter: Reporter;
  readonly #changed = new Emitter<undefined>();
  readonly #listening: Disposable;
  /** By the object: a task that dies again is another. */
  readonly #shapes = new WeakMap<TaskSummary, ArgumentShape | null>();
  #settling: NodeJS.Timeout | null = null;

  /** The code is not what it was. */
  readonly onDidChange = this.#changed.event;

  constructor(service: Pick<StoreService, "argumentShapes" | "backtraces">, classes: TaskClasses, reporter: Reporter) {
    this.#service = service;
    this.#classes = classes;
    this.#reporter = reporter;
    this.#listening = classes.onDidChange(() => {
      if (this.#settling !== null) clearTimeout(this.#settling);
      this.#settling = setTimeout(() => {
        this.#settling = null;
        this.#changed.fire(undefined);
      }, settleTime);
    });
  }

  /** Never rejects: what cannot be told is no doubt. */
  async of(store: StoreModel, task: TaskSummary): Promise<Doubt | null> {
    const doubts = new Map<TaskSummary, Doubt>();
    await this.#check(store, [task], doubts);
    return doubts.get(task) ?? null;
  }

  /** Of another call of the task's class. Null, too, where that takes more than `time` milliseconds. */
  async ofCall(time: number, store: StoreModel, task: TaskSummary, shape: ArgumentShape): Promise<Doubt | null> {
    if (!isInWorkspace(applicationOf(store))) return null;
    const checking = this.#doubt(store, store, task, shape, new Map()).catch((error: unknown) => {
      this.#logFailure(store, error);
      return null;
    });
    return await Promise.race([checking, delay(time, null, { ref: false })]);
  }

  /** What is found of these within `time` milliseconds. `there`: the store in which they are to run, where that is another one. */
  async within(
    time: number,
    tasks: ReadonlyMap<StoreModel, readonly TaskSummary[]>,
    there?: Located,
  ): Promise<ReadonlyMap<TaskSummary, Doubt>> {
    const doubts = new Map<TaskSummary, Doubt>();
    const checking = Promise.all([...tasks].map(([store, some]) => this.#check(store, some, doubts, there)));
    await Promise.race([checking, delay(time, undefined, { ref: false })]);
    // What comes later does not change what the caller has begun to say.
    return new Map(doubts);
  }

  async #check(
    store: StoreModel,
    tasks: readonly TaskSummary[],
    doubts: Map<TaskSummary, Doubt>,
    there: Located = store,
  ): Promise<void> {
    if (!isInWorkspace(applicationOf(there))) return;
    try {
      await this.#readShapes(store, tasks);
      const inGems = new Map<string, boolean>();
      for (const task of tasks) {
        const shape = this.#shapes.get(task) ?? null;
        const doubt = shape === null ? null : await this.#doubt(store, there, task, shape, inGems);
        if (doubt !== null) doubts.set(task, doubt);
      }
    } catch (error) {
      this.#logFailure(store, error);
    }
  }

  #logFailure(store: StoreModel, error: unknown): void {
    this.#reporter.log("warn", `Could not check tasks of ${store.name} against the code: ${userMessage(error)}`);
  }

  async #readShapes(store: StoreModel, tasks: readonly TaskSummary[]): Promise<void> {
    const fresh = tasks.filter((task) => !this.#shapes.has(task));
    if (fresh.length === 0) return;
    const ids = fresh.map(({ id }) => id);
    const told = new Map((await this.#service.argumentShapes(store.key, ids)).map(({ id, shape }) => [id, shape]));
    for (const task of fresh) {
      const shape = told.get(task.id);
      // One that was left out may be read later.
      if (shape !== undefined) this.#shapes.set(task, shape);
    }
  }

  async #doubt(
    store: StoreModel,
    there: Located,
    task: TaskSummary,
    shape: ArgumentShape,
    inGems: Map<string, boolean>,
  ): Promise<Doubt | null> {
    const { taskClass } = shape;
    const { found, isComplete } = await this.#classes.find(taskClass, there);
    const name = oneLine(taskClass, 80);
    if (found.length === 0) {
      if (!isComplete) return null;
      const inGem = inGems.get(taskClass) ?? (await this.#performedInGem(store, task));
      inGems.set(taskClass, inGem);
      const text = `${name} is not defined in this workspace.`;
      return inGem ? null : { text, named: text };
    }
    const meant = choices(found, applicationOf(there));
    // Half-typed source may say anything; and of some names only the running program knows whose they are.
    if (meant.some(({ definition, isSound }) => !isSound || definition.name !== taskClass)) return null;
    const misfit = misfitOfAll(
      meant.map(({ definition }) => definition.perform?.parameters ?? null),
      shape,
    );
    if (misfit === null) return null;
    const { predicate, hint } = misfit;
    const end = hint === "" ? "." : `. ${hint}`;
    return { text: `Its perform ${predicate}${end}`, named: `The perform of ${name} ${predicate}${end}` };
  }

  /** Whether a gem's code was what ran, since then its class is not to be found in the workspace. */
  async #performedInGem(store: StoreModel, { id }: TaskSummary): Promise<boolean> {
    const [told] = await this.#service.backtraces(store.key, [id]);
    const frames = (told?.backtrace ?? []).map(parseFrame);
    return frames.reverse().find(({ method }) => /\bperform$/.test(method))?.origin === "gem";
  }

  dispose(): void {
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#listening.dispose();
    this.#changed.dispose();
  }
}

function isInWorkspace(directory: string): boolean {
  return (workspace.workspaceFolders ?? []).some(
    ({ uri }) => uri.scheme === "file" && (uri.fsPath === directory || insideOf(uri.fsPath, directory, path) !== null),
  );
}
