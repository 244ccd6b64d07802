import type { FinishedReplay, StorageEnvironment } from "../storage";
import { HistoryJournal, type HistoryContent } from "./historyJournal";
import type {
  HistoryEntry,
  HistoryFailure,
  HistoryNote,
  HistoryOptions,
  HistoryPage,
  HistoryQuery,
  HistoryTask,
} from "./historyProtocol";
import { problemOf } from "./problems";
import type { StorePlace } from "./protocol";

// What is kept of one operation at most: with the limits below, some hundred kilobytes.
const mostTasks = 200;
const mostFailures = 50;
const mostClasses = 50;
const mostEdits = 20;
/** UTF-16 units: of all ids of a list together, of one error or title, and of one text of arguments. */
const longestIds = 50_000;
const longestText = 500;
const longestArguments = 20_000;

/** Tells the history what became of an operation. Never throws: what was done is done. */
export type Recorder = (note: HistoryNote) => void;

/** What was done to dead tasks, by this window and all others, kept for people to read. */
export class History {
  readonly #environment: StorageEnvironment;
  readonly #warn: (text: string) => void;
  #kept: { readonly options: HistoryOptions; readonly journal: HistoryJournal } | null = null;

  constructor(environment: StorageEnvironment, warn: (text: string) => void) {
    this.#environment = environment;
    this.#warn = warn;
  }

  /** Throws StorageErrors. */
  keep(options: HistoryOptions): void {
    const known = this.#kept?.options.directory === options.directory ? this.#kept.journal : null;
    const journal = known ?? new HistoryJournal(this.#environment, options.directory);
    this.#kept = { options, journal };
    journal.prune(options.limits ?? { bytes: 0, age: 0 });
  }

  /**
   * To be asked before an operation on these tasks, and called after it. `classOf`: a task's class, where it is known; looked up
   * now, since afterwards the tasks may be gone.
   */
  recorder(store: StorePlace, ids: Iterable<string>, classOf: (id: string) => string | null): Recorder {
    const kept = this.#kept;
    const limits = kept?.options.limits ?? null;
    if (kept === null || limits === null) return () => undefined;
    const { journal, options } = kept;
    const classes = new Map<string, string | null>();
    for (const id of ids) classes.set(id, classOf(id));
    return (note) => {
      if (note.done.length === 0 && (note.failed ?? []).length === 0) return;
      const { directory, prefix } = store;
      const at = this.#environment.clock.now() / 1000;
      const classIn = (id: string): string | null => classes.get(id) ?? null;
      try {
        journal.append(
          { at, window: options.window, store: { directory, prefix }, ...contentOf(note, classIn) },
          limits,
        );
      } catch (error) {
        this.#warn(problemOf(error).message);
      }
    };
  }

  /** `open`: where the open stores are, by their keys. Throws StorageErrors. */
  page({ stores, after, limit, known }: HistoryQuery, open: ReadonlyMap<string, StorePlace>): HistoryPage {
    if (this.#kept === null) return { fingerprint: "", entries: [], more: false };
    const { journal, options } = this.#kept;
    const wanted = stores?.flatMap((key) => open.get(key) ?? []) ?? null;
    const fingerprint = JSON.stringify([wanted, journal.fingerprint()]);
    if (fingerprint === known) return { fingerprint, entries: null, more: false };
    const keyOf = (store: StorePlace): string | null =>
      [...open].find(([, place]) => isSame(place, store))?.[0] ?? null;
    const oldest = this.#environment.clock.now() / 1000 - (options.limits?.age ?? 0);
    const isWanted = ({ at, store, target }: Pick<HistoryEntry, "at" | "store" | "target">): boolean =>
      at > oldest &&
      (wanted === null || wanted.some((place) => isSame(place, store) || (target !== null && isSame(place, target))));
    const entries: HistoryEntry[] = [];
    for (const entry of journal.entries(after)) {
      if (!isWanted(entry)) continue;
      if (entries.length >= limit) return { fingerprint, entries, more: true };
      entries.push({ ...entry, storeKey: keyOf(entry.store), targetKey: entry.target && keyOf(entry.target) });
    }
    return { fingerprint, entries, more: false };
  }

  /** Throws StorageErrors. */
  clear(): void {
    this.#kept?.journal.clear();
  }
}

/**
 * What the history says of interrupted replays that were finished: a note for each of them. `retrying`: ids that a retry under
 * way is about, which tells of them itself where they are enqueued in the same store.
 */
export function finishedNotes(finished: readonly FinishedReplay[], retrying: ReadonlySet<string>): HistoryNote[] {
  const replays = new Map<string, FinishedReplay[]>();
  for (const task of finished) {
    if (retrying.has(task.id) && task.elsewhere === undefined) continue;
    const replay = JSON.stringify([task.log, task.elsewhere]);
    const known = replays.get(replay);
    if (known === undefined) replays.set(replay, [task]);
    else known.push(task);
  }
  return [...replays.values()].map((done) => {
    const [{ log, elsewhere } = { log: null, elsewhere: undefined }] = done;
    return { kind: "finish", done, log, ...(elsewhere === undefined ? {} : { target: elsewhere }) };
  });
}

function isSame(left: StorePlace, right: StorePlace): boolean {
  return left.directory === right.directory && left.prefix === right.prefix;
}

function contentOf(
  note: HistoryNote,
  classOf: (id: string) => string | null,
): Omit<HistoryContent, "at" | "window" | "store"> {
  const { kind, done, missing = [], failed = [], edits = [] } = note;
  const tasks: HistoryTask[] = within(longestIds, done.slice(0, mostTasks), ({ id, newId = "" }) => id + newId).map(
    ({ id, newId }) => ({ id, taskClass: classOf(id), newId: newId ?? null }),
  );
  const failures: HistoryFailure[] = within(longestIds, failed.slice(0, mostFailures), ({ id }) => id).map(
    ({ id, error }) => ({ id, taskClass: classOf(id), error: cut(error, longestText) }),
  );
  return {
    kind,
    count: done.length,
    tasks,
    classes: countedClasses(done.map(({ id }) => classOf(id))),
    missing: missing.length,
    failures,
    failureCount: failed.length,
    publishAt: note.publishAt ?? null,
    log: note.log ?? null,
    undo: note.undo ?? null,
    undone: note.undone === undefined ? null : { ...note.undone, title: cut(note.undone.title, longestText) },
    edits: within(longestIds, edits.slice(0, mostEdits), ({ id }) => id).map(({ id, before, after }) => ({
      id,
      before: cut(before, longestArguments),
      after: cut(after, longestArguments),
    })),
    target: note.target ?? null,
  };
}

function countedClasses(names: readonly (string | null)[]): HistoryContent["classes"] {
  const counts = new Map<string | null, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .map(([taskClass, count]) => ({ taskClass, count }))
    .sort((left, right) => right.count - left.count)
    .slice(0, mostClasses);
}

/** The first of the items whose texts have no more than this many units together. */
function within<Item>(room: number, items: readonly Item[], textOf: (item: Item) => string): readonly Item[] {
  let left = room;
  const end = items.findIndex((item) => (left -= textOf(item).length) < 0);
  return end < 0 ? items : items.slice(0, end);
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}
