import { Worker } from "node:worker_threads";
import type { ChangeProgress, RequestMessage, RequestName, StoreUpdate, WorkerMessage } from "./protocol";
import { ServiceError, type StoreService } from "./storeService";

type Log = (level: "info" | "warn" | "error", text: string) => void;
type UpdateListener = (key: string, update: StoreUpdate) => void;
type ProgressListener = (operation: string, progress: ChangeProgress) => void;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Speaks with the storage worker, which the first request starts. `workerPath`: the bundled worker. When the worker ends, which it does only on a
 * fault of ours, every waiting and later request is rejected with a `worker-ended` ServiceError.
 */
export function startStoreService(workerPath: string, log: Log): StoreService {
  const connection = new Connection(workerPath, log);
  const request = <Name extends RequestName>(name: Name): StoreService[Name] =>
    // One protocol types both ends: what answers `name` returns what `name` promises.
    ((...parameters: unknown[]) => connection.request(name, parameters)) as StoreService[Name];
  return {
    discover: request("discover"),
    open: request("open"),
    close: request("close"),
    refresh: request("refresh"),
    stopReading: request("stopReading"),
    finishInterrupted: request("finishInterrupted"),
    detail: request("detail"),
    backtraces: request("backtraces"),
    argumentShapes: request("argumentShapes"),
    failedAtSamePlace: request("failedAtSamePlace"),
    recordText: request("recordText"),
    values: request("values"),
    valueText: request("valueText"),
    valueContent: request("valueContent"),
    findValues: request("findValues"),
    retry: request("retry"),
    editableTask: request("editableTask"),
    checkEdit: request("checkEdit"),
    retryEdited: request("retryEdited"),
    delete: request("delete"),
    send: request("send"),
    lookAtTarget: request("lookAtTarget"),
    prefixesIn: request("prefixesIn"),
    cancel: request("cancel"),
    pendingLogs: request("pendingLogs"),
    pendingTask: request("pendingTask"),
    lineBytes: request("lineBytes"),
    undoableChanges: request("undoableChanges"),
    undoChange: request("undoChange"),
    pruneUndo: request("pruneUndo"),
    keepHistory: request("keepHistory"),
    history: request("history"),
    clearHistory: request("clearHistory"),
    beginRun: request("beginRun"),
    endRun: request("endRun"),
    runsUnderWay: request("runsUnderWay"),
    leftRuns: request("leftRuns"),
    rawRecord: request("rawRecord"),
    readRawLines: request("readRawLines"),
    rawRows: request("rawRows"),
    findRawLine: request("findRawLine"),
    rawLine: request("rawLine"),
    rawBytes: request("rawBytes"),
    closeRawLines: request("closeRawLines"),
    onUpdate: (listener) => listen(connection.updateListeners, listener),
    onProgress: (listener) => listen(connection.progressListeners, listener),
    dispose: () => {
      connection.dispose();
    },
  };
}

function listen<Listener>(listeners: Set<Listener>, listener: Listener): { dispose(): void } {
  listeners.add(listener);
  return { dispose: () => listeners.delete(listener) };
}

class Connection {
  readonly #workerPath: string;
  readonly #log: Log;
  /** Started with the first request: an editor's activation must not wait for a thread. */
  #worker: Worker | null = null;
  readonly #waiting = new Map<number, Waiting>();
  readonly updateListeners = new Set<UpdateListener>();
  readonly progressListeners = new Set<ProgressListener>();
  #sequence = 0;
  #ended: ServiceError | null = null;
  #disposed = false;

  constructor(workerPath: string, log: Log) {
    this.#workerPath = workerPath;
    this.#log = log;
  }

  #start(): Worker {
    const worker = new Worker(this.#workerPath);
    worker.on("message", (message: WorkerMessage) => {
      this.#receive(message);
    });
    worker.on("error", (error) => {
      this.#log("error", `The storage worker failed: ${error.stack ?? error.message}`);
    });
    worker.on("exit", () => {
      this.#end();
    });
    return worker;
  }

  async request(name: RequestName, parameters: readonly unknown[]): Promise<unknown> {
    if (this.#ended !== null) throw this.#ended;
    if (this.#disposed) throw shuttingDown();
    const worker = (this.#worker ??= this.#start());
    this.#sequence += 1;
    const message: RequestMessage = { sequence: this.#sequence, name, parameters };
    return await new Promise((resolve, reject) => {
      this.#waiting.set(message.sequence, { resolve, reject });
      worker.postMessage(message);
    });
  }

  /** Lets changes that are under way finish: a worker killed in the middle of one would leave its lock behind. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.updateListeners.clear();
    this.progressListeners.clear();
    this.#terminateWhenIdle();
  }

  #terminateWhenIdle(): void {
    if (!this.#disposed || this.#waiting.size > 0) return;
    if (this.#worker === null) this.#end();
    else void this.#worker.terminate();
  }

  #receive(message: WorkerMessage): void {
    if (message.type === "update") {
      for (const listener of this.updateListeners) listener(message.key, message.update);
    } else if (message.type === "progress") {
      for (const listener of this.progressListeners) listener(message.operation, message.progress);
    } else if (message.type === "log") {
      this.#log(message.level, message.text);
    } else {
      const waiting = this.#waiting.get(message.sequence);
      this.#waiting.delete(message.sequence);
      if (message.ok) waiting?.resolve(message.value);
      else waiting?.reject(new ServiceError(message.problem.code, message.problem.message));
      this.#terminateWhenIdle();
    }
  }

  #end(): void {
    this.#ended = this.#disposed
      ? shuttingDown()
      : new ServiceError(
          "worker-ended",
          "The part of Dead Tasks that reads the stores has stopped. Reload the window to start it again; the log says why.",
        );
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

function shuttingDown(): ServiceError {
  return new ServiceError("worker-ended", "Dead Tasks is shutting down.");
}
