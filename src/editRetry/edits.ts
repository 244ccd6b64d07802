import type { Memento } from "vscode";
import type { EditableTask } from "../edit/protocol";
import type { TaskAddress } from "./editUris";

/** A task that is being edited, with what was typed and saved. What was secret in it stands as placeholders. */
export interface Edit extends TaskAddress {
  /** The task as it was opened. */
  readonly task: EditableTask;
  readonly text: string;
  /** When the text was saved, in milliseconds since 1970. */
  readonly modified: number;
}

/** Under which the edits are kept in the workspace's state. */
const memoryKey = "edits";
/** Older ones are forgotten. */
const mostKept = 50;

/**
 * The edits that were begun and not carried out. They are kept in the editor's own state of this workspace, so that neither a closed
 * tab nor a reload of the window loses what was typed.
 */
export class Edits {
  readonly #memory: Memento;
  readonly #readTask: (address: TaskAddress) => Promise<EditableTask>;
  readonly #edits = new Map<string, Edit>();
  readonly #beginning = new Map<string, Promise<Edit>>();

  /** `readTask` rejects with what is to be told to the user. */
  constructor(memory: Memento, readTask: (address: TaskAddress) => Promise<EditableTask>) {
    this.#memory = memory;
    this.#readTask = readTask;
    const kept = memory.get<readonly unknown[]>(memoryKey, []);
    for (const edit of kept.filter(isEdit)) this.#edits.set(keyOf(edit), edit);
  }

  get all(): readonly Edit[] {
    return [...this.#edits.values()];
  }

  /** The edit of a task, begun now where there is none. Rejects where the task cannot be edited. */
  async of(address: TaskAddress): Promise<Edit> {
    const key = keyOf(address);
    const known = this.#edits.get(key) ?? this.#beginning.get(key);
    if (known !== undefined) return await known;
    const beginning = this.#begin(address);
    this.#beginning.set(key, beginning);
    try {
      return await beginning;
    } finally {
      this.#beginning.delete(key);
    }
  }

  async #begin({ storeKey, id }: TaskAddress): Promise<Edit> {
    const task = await this.#readTask({ storeKey, id });
    const edit = { storeKey, id, task, text: task.text, modified: Date.now() };
    await this.keep(edit);
    return edit;
  }

  /** Reads the task anew: what was typed stays, and stands against the task as it is now. `isTyped`: whether anything was. */
  async renew(edit: Edit, isTyped: boolean): Promise<Edit> {
    const task = await this.#readTask(edit);
    if (task.version === edit.task.version) return edit;
    const renewed = { ...edit, task, ...(isTyped ? {} : { text: task.text, modified: Date.now() }) };
    await this.keep(renewed);
    return renewed;
  }

  find(address: TaskAddress): Edit | undefined {
    return this.#edits.get(keyOf(address));
  }

  /** Kept when it resolves. */
  async keep(edit: Edit): Promise<void> {
    const key = keyOf(edit);
    this.#edits.delete(key);
    this.#edits.set(key, edit);
    for (const oldest of [...this.#edits.keys()].slice(0, -mostKept)) this.#edits.delete(oldest);
    await this.#save();
  }

  async forget(addresses: readonly TaskAddress[]): Promise<void> {
    let isChanged = false;
    for (const address of addresses) isChanged = this.#edits.delete(keyOf(address)) || isChanged;
    if (isChanged) await this.#save();
  }

  async #save(): Promise<void> {
    await this.#memory.update(memoryKey, this.#edits.size === 0 ? undefined : this.all);
  }
}

function keyOf({ storeKey, id }: TaskAddress): string {
  return JSON.stringify([storeKey, id]);
}

/** What another version of the extension may have kept differently is left out. */
function isEdit(value: unknown): value is Edit {
  const { storeKey, id, text, modified, task } = { ...(value as Partial<Edit> | null) };
  return (
    [storeKey, id, text, task?.text, task?.version, task?.taskClass].every((one) => typeof one === "string") &&
    typeof modified === "number" &&
    Array.isArray(task?.placeholders)
  );
}
