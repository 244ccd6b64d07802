import { emptyStatus } from "../service/emptyStatus";
import type { Problem, StoreStatus, StoreTarget, StoreUpdate, TaskSummary } from "../service/protocol";
import { ClassTasks } from "./classTasks";

/** A store as found: what the worker opens, and what people call it. */
export interface StoreDescription {
  readonly target: StoreTarget;
  /** Unique among the open stores. */
  readonly name: string;
  /** Absolute path of the workspace folder that led to it; null for a store that only the user's settings name. */
  readonly folder: string | null;
  /** Where it was found, for example `config/application.rb:12`. */
  readonly source: string;
  /** Why its path is a guess; null where it is not. */
  readonly guess: string | null;
}

/** What is known of one store: fed by the worker's updates, read by every view. */
export class StoreModel {
  description: StoreDescription;
  #status = emptyStatus;
  #wasReady = false;
  /** In natural order, oldest first: a task that died again is taken out and put at the end. */
  readonly #tasks = new Map<string, TaskSummary>();
  readonly classes = new ClassTasks(() => this.newestFirst());
  #newestFirst: readonly TaskSummary[] | null = null;
  /** What is known of the newest tasks before the store has been read to its end once. */
  #early: readonly TaskSummary[] = [];

  constructor(description: StoreDescription) {
    this.description = description;
  }

  get key(): string {
    return this.description.target.key;
  }

  get name(): string {
    return this.description.name;
  }

  get status(): StoreStatus {
    return this.#status;
  }

  /** Whether the store has been read to its end once. Before that the newest tasks are not known yet. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** The newest tasks, newest first, as far as they are known while the store is read for the first time. */
  get early(): readonly TaskSummary[] {
    return this.#early;
  }

  get taskCount(): number {
    return this.#tasks.size;
  }

  task(id: string): TaskSummary | undefined {
    return this.#tasks.get(id) ?? this.#early.find((task) => task.id === id);
  }

  isUnreadable(id: string): boolean {
    return this.#status.unreadable.some((record) => record.id === id);
  }

  /** All tasks, newest first. The array is never changed afterwards, so it is a snapshot. */
  newestFirst(): readonly TaskSummary[] {
    this.#newestFirst ??= [...this.#tasks.values()].reverse();
    return this.#newestFirst;
  }

  apply(update: StoreUpdate): void {
    switch (update.type) {
      case "tasks":
        for (const task of update.tasks) {
          this.#remove(task.id);
          this.#tasks.set(task.id, task);
          this.classes.add(task);
        }
        this.#newestFirst = null;
        break;
      case "newest":
        this.#early = update.tasks;
        break;
      case "gone":
        for (const id of update.ids) this.#remove(id);
        if (this.#early.length > 0) this.#early = this.#early.filter((task) => !update.ids.includes(task.id));
        this.#newestFirst = null;
        break;
      case "status":
        this.#status = update.status;
        if (update.status.phase === "ready" || update.status.phase === "failed") {
          this.#wasReady = true;
          this.#early = [];
        }
        break;
    }
  }

  #remove(id: string): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    this.#tasks.delete(id);
    this.classes.remove(task);
  }

  /** The worker could not even open the store. */
  fail(problem: Problem): void {
    this.apply({ type: "status", status: { ...this.#status, phase: "failed", problem } });
  }
}
