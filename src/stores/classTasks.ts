import type { TaskSummary } from "../service/protocol";

/** The tasks of each class, kept as tasks come and go, so that nobody walks through a whole store for one class. */
export class ClassTasks {
  /** By class and id, the oldest first. */
  readonly #classes = new Map<string, Map<string, TaskSummary>>();
  /** The newest of a class, for those that were asked for. */
  readonly #newest = new Map<string, TaskSummary>();

  /** The names of all classes that have tasks. */
  names(): IterableIterator<string> {
    return this.#classes.keys();
  }

  count(name: string): number {
    return this.#classes.get(name)?.size ?? 0;
  }

  newest(name: string): TaskSummary | undefined {
    let newest = this.#newest.get(name);
    if (newest === undefined) {
      for (const task of this.#classes.get(name)?.values() ?? []) newest = task;
      if (newest !== undefined) this.#newest.set(name, newest);
    }
    return newest;
  }

  newestFirst(name: string): TaskSummary[] {
    return [...(this.#classes.get(name)?.values() ?? [])].reverse();
  }

  /** As the newest of its class. One of the same id must have been taken out before. */
  add(task: TaskSummary): void {
    const tasks = this.#classes.get(task.taskClass);
    if (tasks === undefined) this.#classes.set(task.taskClass, new Map([[task.id, task]]));
    else tasks.set(task.id, task);
    this.#newest.set(task.taskClass, task);
  }

  remove(task: TaskSummary): void {
    const tasks = this.#classes.get(task.taskClass);
    if (tasks?.delete(task.id) !== true) return;
    if (tasks.size === 0) this.#classes.delete(task.taskClass);
    if (this.#newest.get(task.taskClass)?.id === task.id) this.#newest.delete(task.taskClass);
  }
}
