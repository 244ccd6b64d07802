import { Worker } from "node:worker_threads";
import type { RubyReplyMessage, RubyRequestMessage, RubyRequestName, RubyRequests } from "./protocol";

/** `RubyRequests` as its callers see it. Every answer is a promise, rejected with an Error whose message is fit for a user. */
export type RubyReader = {
  readonly [Name in RubyRequestName]: (
    ...parameters: Parameters<RubyRequests[Name]>
  ) => Promise<ReturnType<RubyRequests[Name]>>;
} & {
  /** Whether the thread runs: the parser takes a few megabytes, and nobody may pay for it who does not need it. */
  readonly running: boolean;
  dispose(): void;
};

export interface RubyReaderOptions {
  /** Milliseconds without a request after which the thread is ended. The next request starts another. */
  readonly idleTime?: number;
  /** Milliseconds that one request may take. A source that takes longer is none that a person wrote. */
  readonly timeLimit?: number;
}

/** Reads Ruby source on a thread of its own, which the first request starts. `workerPath`: the bundled `worker.ts`. */
export function rubyReader(workerPath: string, options: RubyReaderOptions = {}): RubyReader {
  const connection = new Connection(workerPath, options);
  const request = <Name extends RubyRequestName>(name: Name): RubyReader[Name] =>
    // One protocol types both ends: what answers `name` returns what `name` promises.
    ((...parameters: unknown[]) => connection.request(name, parameters)) as RubyReader[Name];
  return {
    classesInText: request("classesInText"),
    definitionsOf: request("definitionsOf"),
    literalCalls: request("literalCalls"),
    readEditedTask: request("readEditedTask"),
    get running() {
      return connection.running;
    },
    dispose: () => {
      connection.dispose();
    },
  };
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** The thread keeps nothing that cannot be read again, so it can be ended and started at any time. */
class Connection {
  readonly #workerPath: string;
  readonly #idleTime: number;
  readonly #timeLimit: number;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | null = null;
  #sequence = 0;
  #disposed = false;

  constructor(workerPath: string, { idleTime = 5 * 60_000, timeLimit = 20_000 }: RubyReaderOptions) {
    this.#workerPath = workerPath;
    this.#idleTime = idleTime;
    this.#timeLimit = timeLimit;
  }

  get running(): boolean {
    return this.#worker !== null;
  }

  async request(name: RubyRequestName, parameters: readonly unknown[]): Promise<unknown> {
    if (this.#disposed) throw new Error("Dead Tasks is shutting down.");
    this.#stopIdling();
    const worker = (this.#worker ??= this.#start());
    const message: RubyRequestMessage = { sequence: ++this.#sequence, name, parameters };
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#end(worker, `Reading Ruby source took longer than ${this.#timeLimit / 1000} s and was stopped.`);
      }, this.#timeLimit);
      this.#waiting.set(message.sequence, { resolve, reject, timer });
      worker.postMessage(message);
    });
  }

  #start(): Worker {
    const worker = new Worker(this.#workerPath);
    let why = "it ended by itself";
    worker.on("message", (message: RubyReplyMessage) => {
      this.#receive(message);
    });
    worker.on("error", (error) => {
      why = error.message;
    });
    worker.on("exit", () => {
      this.#end(worker, `Ruby source cannot be read: ${why}.`);
    });
    return worker;
  }

  #receive(message: RubyReplyMessage): void {
    const waiting = this.#waiting.get(message.sequence);
    if (waiting === undefined) return;
    this.#waiting.delete(message.sequence);
    clearTimeout(waiting.timer);
    if (message.ok) waiting.resolve(message.value);
    else waiting.reject(new Error(message.message));
    if (this.#waiting.size > 0) return;
    this.#idle = setTimeout(() => {
      if (this.#worker !== null) this.#end(this.#worker, "");
    }, this.#idleTime);
  }

  #stopIdling(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
  }

  /** A thread that another has replaced since is only ended. */
  #end(worker: Worker, why: string): void {
    if (this.#worker === worker) {
      this.#worker = null;
      this.#stopIdling();
      for (const { reject, timer } of this.#waiting.values()) {
        clearTimeout(timer);
        reject(new Error(why));
      }
      this.#waiting.clear();
    }
    void worker.terminate();
  }

  dispose(): void {
    this.#disposed = true;
    if (this.#worker !== null) this.#end(this.#worker, "Dead Tasks is shutting down.");
  }
}
