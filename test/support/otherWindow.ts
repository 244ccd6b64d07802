import assert from "node:assert/strict";
import { History } from "../../src/service/history";
import type { HistoryNote } from "../../src/service/historyProtocol";
import { storageEnvironment } from "../../src/storage";

/** What another window, `bookshop` with the process 4711, did in a store, as far as the history in `kept` tells of it. */
export async function doneByOtherWindow(kept: string, storage: string, notes: readonly HistoryNote[]): Promise<void> {
  const history = new History(await storageEnvironment({ processId: 4711 }), (text) => assert.fail(text));
  const limits = { bytes: 10_000_000, age: 86_400 };
  history.keep({ directory: kept, window: { name: "bookshop", processId: 4711 }, limits });
  for (const note of notes) {
    const ids = note.done.map(({ id }) => id);
    history.recorder({ directory: storage, prefix: "deferred-" }, ids, () => "PaymentTask")(note);
  }
}
