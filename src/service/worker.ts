import { parentPort } from "node:worker_threads";
import { storageEnvironment, type StorageEnvironment } from "../storage";
import type { Answers } from "./answers";
import { Changing } from "./changing";
import { discoverStores } from "./discoverStores";
import { OpenStores } from "./openStores";
import { problemOf } from "./problems";
import type { RequestMessage, WorkerMessage } from "./protocol";
import { RawReading } from "./rawReading";
import { RunChanges } from "./runChanges";
import { TaskChanges } from "./taskChanges";
import { TaskReading } from "./taskReading";

/** Who answers which of the editor's requests. Everything that touches a store file happens here, on a thread of its own. */
function answersOf(environment: StorageEnvironment, send: (message: WorkerMessage) => void): Answers {
  const stores = new OpenStores(environment, (key, update) => {
    send({ type: "update", key, update });
  });
  const changing = new Changing(environment, stores, (level, text) => {
    send({ type: "log", level, text });
  });
  const reading = new TaskReading(environment, stores);
  const raw = new RawReading(environment, stores);
  const changes = new TaskChanges(changing, (operation, progress) => {
    send({ type: "progress", operation, progress });
  });
  const runs = new RunChanges(changing);
  const { history } = changing;
  return {
    discover: (folder) => Promise.resolve(discoverStores(environment.fileSystem, folder)),
    open: (...given) => stores.open(...given),
    close: (...given) => stores.close(...given),
    refresh: (...given) => stores.refresh(...given),
    stopReading: (...given) => stores.stopReading(...given),

    detail: (...given) => reading.detail(...given),
    backtraces: (...given) => reading.backtraces(...given),
    argumentShapes: (...given) => reading.argumentShapes(...given),
    failedAtSamePlace: (...given) => reading.failedAtSamePlace(...given),
    recordText: (...given) => reading.recordText(...given),
    editableTask: (...given) => reading.editableTask(...given),
    checkEdit: (...given) => reading.checkEdit(...given),
    values: (...given) => reading.values(...given),
    valueText: (...given) => reading.valueText(...given),
    valueContent: (...given) => reading.valueContent(...given),
    findValues: (...given) => reading.findValues(...given),
    pendingLogs: (...given) => reading.pendingLogs(...given),
    pendingTask: (...given) => reading.pendingTask(...given),
    lineBytes: (...given) => reading.lineBytes(...given),
    rawRecord: (...given) => reading.rawRecord(...given),

    readRawLines: (...given) => raw.readRawLines(...given),
    rawRows: (...given) => raw.rawRows(...given),
    findRawLine: (...given) => raw.findRawLine(...given),
    rawLine: (...given) => raw.rawLine(...given),
    rawBytes: (...given) => raw.rawBytes(...given),
    closeRawLines: (...given) => raw.closeRawLines(...given),

    finishInterrupted: (...given) => changes.finishInterrupted(...given),
    retry: (...given) => changes.retry(...given),
    retryEdited: (...given) => changes.retryEdited(...given),
    delete: (...given) => changes.delete(...given),
    cancel: (...given) => changes.cancel(...given),
    send: (...given) => changes.send(...given),
    lookAtTarget: (...given) => changes.lookAtTarget(...given),
    prefixesIn: (...given) => changes.prefixesIn(...given),
    undoableChanges: (...given) => changes.undoableChanges(...given),
    undoChange: (...given) => changes.undoChange(...given),
    pruneUndo: (...given) => changes.pruneUndo(...given),

    beginRun: (...given) => runs.beginRun(...given),
    endRun: (...given) => runs.endRun(...given),
    runsUnderWay: (...given) => runs.runsUnderWay(...given),
    leftRuns: (...given) => runs.leftRuns(...given),

    keepHistory: (options) => {
      history.keep(options);
      return Promise.resolve();
    },
    history: (query) => Promise.resolve(history.page(query, stores.places)),
    clearHistory: () => {
      history.clear();
      return Promise.resolve();
    },
  };
}

async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  const send = (message: WorkerMessage): void => {
    port.postMessage(message);
  };
  const environment = await storageEnvironment();
  const { unavailable } = environment.flock;
  if (unavailable !== null) send({ type: "log", level: "warn", text: `Stores are read-only: ${unavailable}.` });
  const answers = answersOf(environment, send);
  port.on("message", (message: RequestMessage) => {
    void answer(answers, message).then(send);
  });
}

async function answer(answers: Answers, { sequence, name, parameters }: RequestMessage): Promise<WorkerMessage> {
  try {
    // Both ends are compiled from one protocol, so the parameters are those that `name` takes.
    const call = answers[name] as (...values: readonly unknown[]) => Promise<unknown>;
    return { type: "reply", sequence, ok: true, value: await call(...parameters) };
  } catch (error) {
    return { type: "reply", sequence, ok: false, problem: problemOf(error) };
  }
}

if (parentPort !== null) void serve(parentPort);
