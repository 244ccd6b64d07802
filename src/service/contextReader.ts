import { StorageError, decodeContext, type DeadTask, type TaskContext, type UnreadableTask } from "../storage";
import { Mask } from "./masking";
import type { DetailOptions } from "./protocol";
import { ContextTree } from "./valueTree";

/** A context that was decoded, with the bytes that it was decoded from. */
interface Decoded {
  readonly key: string;
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly context: TaskContext;
}

/**
 * The values of a task's context, as masked as the options say. Keeps what it decoded last: whoever opens one value of a task
 * soon opens another, and can go on when the task has gone.
 */
export class ContextReader {
  #decoded: Decoded | null = null;
  /** By what it was made of; for a large context its index of shared values takes a while. */
  #tree: { readonly decoded: Decoded; readonly options: string; readonly tree: ContextTree } | null = null;

  /** `record`: what the store holds now; null where it is gone. The result is null where nothing is known or can be decoded. */
  tree(key: string, id: string, record: DeadTask | UnreadableTask | null, options: DetailOptions): ContextTree | null {
    const decoded = this.#decode(key, id, record);
    if (decoded === null) return null;
    const text = JSON.stringify([options.reveal, options.maskedNames, options.revealed ?? []]);
    if (this.#tree?.decoded !== decoded || this.#tree.options !== text) {
      const tree = new ContextTree(decoded.context, contextMask(decoded.context, options));
      this.#tree = { decoded, options: text, tree };
    }
    return this.#tree.tree;
  }

  /** Forgets what was read of a store. */
  forget(key: string): void {
    if (this.#decoded?.key !== key) return;
    this.#decoded = null;
    this.#tree = null;
  }

  #decode(key: string, id: string, record: DeadTask | UnreadableTask | null): Decoded | null {
    const last = this.#decoded?.key === key && this.#decoded.id === id ? this.#decoded : null;
    if (record === null) return last;
    if (record.kind === "unreadable") return null;
    if (last !== null && Buffer.compare(last.bytes, record.context) === 0) return last;
    try {
      this.#decoded = { key, id, bytes: record.context, context: decodeContext(record.context) };
      return this.#decoded;
    } catch (error) {
      if (error instanceof StorageError) return null;
      throw error;
    }
  }
}

/** What is masked of a context: by names, but for the places that are revealed one by one. */
export function contextMask(context: TaskContext, options: DetailOptions): Mask {
  const { revealed = [] } = options;
  if (revealed.length === 0) return new Mask(options);
  const all = new ContextTree(context, new Mask({ reveal: true, maskedNames: [] }));
  return new Mask(options, all.holders(revealed));
}
