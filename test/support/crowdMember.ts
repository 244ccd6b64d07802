import { setTimeout as delay } from "node:timers/promises";
import { UndoKeeper, undoChange, undoableEntries } from "../../src/service/undo";
import { writeMarshal } from "../../src/marshal";
import {
  StorageError,
  UndoJournal,
  type DeadTaskStore,
  type EditedContext,
  type StorageEnvironment,
} from "../../src/storage";
import { array, classNamed, int, nil, str } from "./ruby";

/** A task that was retried, and the id under which it was enqueued. */
export interface Retried {
  readonly id: string;
  readonly newId: string;
}

/** What a member of the crowd did: an id stands in a list as often as that happened to it. */
export interface CrowdPart {
  readonly added: string[];
  readonly removed: string[];
  readonly retried: Retried[];
  /** New ids of those of them that had `editedArguments` instead of their own. */
  readonly edited: string[];
  /** Deleted tasks that were brought back. */
  readonly restored: string[];
  /** Retries that were taken back. */
  readonly takenBack: Retried[];
  /** Undoings that came too late: another had done it, or a worker had taken the log. */
  tooLate: number;
  readonly failures: string[];
  timeouts: number;
}

export interface CrowdOptions {
  readonly environment: StorageEnvironment;
  readonly store: DeadTaskStore;
  /** Where all of ours keep what they delete and retry. */
  readonly undoDirectory: string;
  /** Milliseconds since the Unix epoch. */
  readonly until: number;
  readonly add: (id: string) => Promise<void>;
}

/**
 * Adds, deletes, retries and undoes at random, as windows do that share the storage of an extension. The last digit of an id says
 * what may become of a task: of 0 nothing, 1 is deleted, 2 is retried, 3 either.
 */
export async function joinCrowd({ environment, store, undoDirectory, until, add }: CrowdOptions): Promise<CrowdPart> {
  const part: CrowdPart = {
    added: [],
    removed: [],
    retried: [],
    edited: [],
    restored: [],
    takenBack: [],
    tooLate: 0,
    failures: [],
    timeouts: 0,
  };
  const keeper = (title: string): UndoKeeper =>
    new UndoKeeper(environment, store, { directory: undoDirectory, title, limits }, (text) => part.failures.push(text));
  const some = async (digits: string): Promise<string[]> => {
    const listing = await store.list();
    listing.close();
    return listing.ids.filter((id) => digits.includes(id.slice(-1))).slice(0, 2);
  };
  const actions = [
    async () => {
      const id = `1767225637-${process.pid}-${part.added.length}${Math.floor(Math.random() * 4)}`;
      await add(id);
      part.added.push(id);
    },
    async () => {
      const { removed } = await store.remove(await some("13"), { keep: keeper("Deleted").keep });
      part.removed.push(...removed);
    },
    async () => {
      const ids = await some("23");
      const edited = Math.random() < 0.5 ? await edits(store, ids) : new Map<string, EditedContext>();
      const { retried, failed } = await store.replay(ids, null, {
        edited,
        keepReplayed: keeper("Retried").keepReplayed,
      });
      part.retried.push(...retried);
      part.edited.push(...retried.filter(({ id }) => edited.has(id)).map(({ newId }) => newId));
      part.failures.push(...failed.map(({ error }) => error));
    },
    async () => {
      await undoOne(environment, undoDirectory, store, part);
    },
  ];
  while (Date.now() < until) {
    try {
      // Half of what happens are additions, as the other things need something to happen to.
      await actions[Math.max(0, Math.floor(Math.random() * 6) - 2)]?.();
    } catch (error) {
      if (error instanceof StorageError && error.code === "lock-timeout") part.timeouts += 1;
      else throw error;
    }
    await delay(Math.random() * 40);
  }
  return part;
}

/** As Ruby's `inspect` prints them. */
export const editedArguments = '["edited"]';
const editedContext = writeMarshal(
  array(classNamed("SyncInvoice"), array(str("edited")), nil(), int(3), nil(), nil(), nil()),
);

/** Other arguments for these tasks, as they stand there now. */
async function edits(store: DeadTaskStore, ids: readonly string[]): Promise<Map<string, EditedContext>> {
  const edited = new Map<string, EditedContext>();
  for (const id of ids) {
    const found = await store.find(id);
    if (found?.kind === "task") edited.set(id, { checksum: found.checksum, context: editedContext });
  }
  return edited;
}

const limits = { bytes: 1e9, age: 3_600 };

/** Undoes one of the newest changes: one that others of the crowd go for, too. */
async function undoOne(
  environment: StorageEnvironment,
  directory: string,
  store: DeadTaskStore,
  part: CrowdPart,
): Promise<void> {
  const entries = undoableEntries(environment, directory);
  const entry = entries[Math.floor(Math.random() * Math.min(entries.length, 3))];
  if (entry === undefined) return;
  try {
    const tasks = new UndoJournal(environment, directory).replayedTasks(entry.name);
    const { found, restored } = await undoChange(environment, directory, entry.name, [store]);
    if (!found) part.tooLate += 1;
    else if (entry.log === null) part.restored.push(...restored);
    else
      part.takenBack.push(...tasks.filter(({ id }) => restored.includes(id)).map(({ id, newId }) => ({ id, newId })));
  } catch (error) {
    const isLate = error instanceof StorageError && (error.code === "claimed" || error.code === "invalid");
    if (!isLate) throw error;
    part.tooLate += 1;
  }
}
