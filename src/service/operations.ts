import type { OperationOptions } from "../storage";
import type { ChangeProgress } from "./protocol";

/** The changes under way whose callers follow them and can cancel them, by the names that the callers gave them. */
export class Operations {
  readonly #running = new Map<string, AbortController>();
  readonly #tell: (operation: string, progress: ChangeProgress) => void;

  constructor(tell: (operation: string, progress: ChangeProgress) => void) {
    this.#tell = tell;
  }

  /** Without a name it can be neither followed nor cancelled. */
  async run<Result>(
    operation: string | undefined,
    change: (options: Pick<OperationOptions, "signal" | "onProgress">) => Promise<Result>,
  ): Promise<Result> {
    if (operation === undefined) return await change({});
    const controller = new AbortController();
    this.#running.set(operation, controller);
    try {
      return await change({
        signal: controller.signal,
        onProgress: (progress) => {
          this.#tell(operation, progress);
        },
      });
    } finally {
      this.#running.delete(operation);
    }
  }

  cancel(operation: string): void {
    this.#running.get(operation)?.abort();
  }
}
