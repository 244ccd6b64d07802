import type { TaskSummary } from "../service/protocol";

/** How many tasks of each class there are and which is the newest, kept as tasks come and go. */
export class ClassTasks {
  readonly #all: () => readonly TaskSummary[];
  readonly #counts = new Map<string, number>();
  /** Not there for a class whose newest was taken out and has not been asked for since. */
  readonly #newest = new Map<string, TaskSummary>();

  /** `newestFirst`: all tasks of the store. */
  constructor(newestFirst: () => readonly TaskSummary[]) {
    this.#all = newestFirst;
  }

  /** The names of all classes that have tasks. */
  names(): IterableIterator<string> {
    return this.#counts.keys();
  }

  count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  newest(name: string): TaskSummary | undefined {
    if (!this.#counts.has(name)) return undefined;
    let newest = this.#newest.get(name);
    if (newest === undefined) {
      newest = this.#all().find(({ taskClass }) => taskClass === name);
      if (newest !== undefined) this.#newest.set(name, newest);
    }
    return newest;
  }

  /** Walks through all tasks. */
  newestFirst(name: string): TaskSummary[] {
    return this.#all().filter(({ taskClass }) => taskClass === name);
  }

  /** As the newest of its class. One of the same id must have been taken out before. */
  add(task: TaskSummary): void {
    this.#counts.set(task.taskClass, this.count(task.taskClass) + 1);
    this.#newest.set(task.taskClass, task);
  }

  remove(task: TaskSummary): void {
    const left = this.count(task.taskClass) - 1;
    if (left > 0) this.#counts.set(task.taskClass, left);
    else this.#counts.delete(task.taskClass);
    if (this.#newest.get(task.taskClass)?.id === task.id) this.#newest.delete(task.taskClass);
  }
}
