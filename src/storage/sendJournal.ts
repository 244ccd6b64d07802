import { constants } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import type { StorageEnvironment } from "./environment";
import { fsyncDirectory, openIfPresent, statIfPresent, unlinkIfPresent, writeFully, type FileStat } from "./fileSystem";
import { frameLine } from "./frames";
import { isLogName, isReceivingName, receivingName, sendingName, stagingName, type StoreNames } from "./naming";
import { areReplayedTasks, readJournal, writeJournal, type ReplayedTask } from "./replayJournal";
import { StagingFile } from "./stagingFile";

/*
 * What makes an interrupted retry in another store known, where the tasks are to leave this one. The log is in the other store's
 * directory, which may be on another disk, and may not be there when the interruption is found.
 *
 * Only this store's long lock is held: it keeps the tasks from being sent or retried twice. The other store's is not asked
 * for, so two windows that send to one another never wait for each other. A new log needs none of its locks; but whoever holds
 * its long lock removes orphans, so the log in the making has a name that is none of theirs. Beside it stands a mark, an
 * empty file, which says for as long as the journal is there that this is the very directory: a disk that is not mounted has
 * no mark, and that the log in the making is not there then says nothing.
 *
 * The journal has one line, with the other directory and the mark ("begun"), or a second one, with the log's name, the ids and
 * the checksums ("decided"). The order, each step durable before the next:
 *
 *                                                              journal   mark    log in the making
 *   1. the journal                                             begun     -       -
 *   2. in the other directory the mark and the log, staged     begun     there   there
 *   3. the journal's second line                               decided   there   there
 *   4. the log's own name (a rename)                           decided   there   -
 *   5. the removal of the dead tasks                           decided   there   -
 *   6. the journal is cut back to its first line               begun     there   -
 *   7. the mark is unlinked, then the journal
 *
 * Whoever holds the long lock next, and before anything else:
 *
 *   begun                     not enqueued, or all done    remove log in the making, mark and journal
 *   decided, mark and log     not enqueued                 cut the journal back; then as above
 *   decided, mark alone       in the log, or run already   sync the other directory, for the rename; remove what is still
 *                                                          there of the replayed lines; cut back; then as above
 *   decided, no mark          nobody knows                 leave it. These tasks are neither retried nor sent, until the
 *                                                          directory is there again; they can be deleted
 *
 * The same journal serves to take such a retry back, while the log's own lock is held: 3 says which lines return, 4 is their
 * return, 5 the log's `rem` lines. Who finds it decided then asks the other store's logs, as `takeBack.ts` does.
 *
 * Copies, and retries that leave the tasks here, change the other store alone. They are done under its long lock, with staging
 * names that are orphans there, and need no journal.
 */

/** What a sending does once it is decided. `takeBack`: the same tasks return. */
export interface SendDecision {
  readonly kind: "retry" | "takeBack";
  /** Bare name. */
  readonly log: string;
  readonly tasks: readonly ReplayedTask[];
}

/** The other store, and the mark in its directory. */
interface Destination {
  readonly directory: string;
  readonly prefix: string;
  readonly mark: string;
}

export class SendJournal {
  readonly #environment: StorageEnvironment;
  readonly #path: string;
  readonly destination: Destination;
  /** Bytes of its first line. */
  readonly #begun: number;

  private constructor(environment: StorageEnvironment, path: string, destination: Destination, begun: number) {
    this.#environment = environment;
    this.#path = path;
    this.destination = destination;
    this.#begun = begun;
  }

  /** Durable when it returns. `like`: a file of this store's application, for the owner. */
  static begin(
    environment: StorageEnvironment,
    { directory, prefix }: StoreNames,
    other: StoreNames,
    like: FileStat,
  ): SendJournal {
    const { fileSystem, processId, random } = environment;
    const mark = receivingName(other.prefix, processId, random());
    const destination = { directory: other.directory, prefix: other.prefix, mark };
    const path = join(directory, sendingName(prefix, processId, random()));
    const name = stagingName(prefix, "journal", processId, random());
    const staging = new StagingFile(fileSystem, directory, name, like, "new");
    try {
      writeJournal(staging, destination);
      staging.publish(path);
    } finally {
      staging.discard();
    }
    return new SendJournal(environment, path, destination, frameOf(destination).length);
  }

  /** One that was left, with what it has decided; null for one that cannot be understood. */
  static read(
    environment: StorageEnvironment,
    path: string,
  ): { readonly journal: SendJournal; readonly decision: SendDecision | null } | null {
    const bytes = environment.fileSystem.readFile(path);
    const begun = bytes.indexOf("\n") + 1;
    const destination = readJournal(bytes.subarray(0, begun));
    if (!isDestination(destination)) return null;
    const decision = readJournal(bytes.subarray(begun));
    const journal = new SendJournal(environment, path, destination, begun);
    return { journal, decision: isDecision(decision, destination.prefix) ? decision : null };
  }

  /** Of the log in the making: a bare name. */
  get stagedName(): string {
    return `${this.destination.mark}.log`;
  }

  /** Makes the mark. Its name is durable once its directory is synced. */
  mark(like: FileStat): void {
    const { fileSystem } = this.#environment;
    new StagingFile(fileSystem, this.destination.directory, this.destination.mark, like, "new").close();
  }

  isMarked(): boolean {
    return this.#isThere(this.destination.mark);
  }

  isStaged(): boolean {
    return this.#isThere(this.stagedName);
  }

  /** Durable when it returns. Mark and log must be, by then. */
  decide(decision: SendDecision): void {
    const { fileSystem } = this.#environment;
    // One that another process has done away with, for it took this one for dead, does not come back.
    const descriptor = fileSystem.open(this.#path, constants.O_WRONLY | constants.O_APPEND);
    try {
      writeFully(fileSystem, descriptor, frameOf(decision));
      fileSystem.fsync(descriptor);
    } finally {
      fileSystem.close(descriptor);
    }
  }

  /** For what was not enqueued, or is all done. Removes every trace; what cannot be removed the next operation finds. */
  end(): void {
    try {
      this.undecide();
      this.cleanUp();
    } catch {
      // What the operation came to is what counts.
    }
  }

  /** Durable when it returns. */
  undecide(): void {
    const { fileSystem } = this.#environment;
    const descriptor = openIfPresent(fileSystem, this.#path, constants.O_RDWR);
    if (descriptor === null) return;
    try {
      fileSystem.ftruncate(descriptor, this.#begun);
      fileSystem.fsync(descriptor);
    } finally {
      fileSystem.close(descriptor);
    }
  }

  /** After `undecide`: what is left in the other directory, where that is there, and then the journal. */
  cleanUp(): void {
    const { fileSystem } = this.#environment;
    const { directory, mark } = this.destination;
    if (statIfPresent(fileSystem, directory) !== null) {
      unlinkIfPresent(fileSystem, join(directory, this.stagedName));
      unlinkIfPresent(fileSystem, join(directory, mark));
      fsyncDirectory(fileSystem, directory);
    }
    unlinkIfPresent(fileSystem, this.#path);
  }

  #isThere(name: string): boolean {
    return statIfPresent(this.#environment.fileSystem, join(this.destination.directory, name)) !== null;
  }
}

function frameOf(content: unknown): Buffer {
  return frameLine(Buffer.from(JSON.stringify(content), "utf8"));
}

function isDestination(value: unknown): value is Destination {
  if (typeof value !== "object" || value === null) return false;
  const { directory, prefix, mark } = value as Readonly<Record<string, unknown>>;
  return (
    typeof directory === "string" &&
    isAbsolute(directory) &&
    typeof prefix === "string" &&
    typeof mark === "string" &&
    isReceivingName(prefix, mark)
  );
}

function isDecision(value: unknown, prefix: string): value is SendDecision {
  if (typeof value !== "object" || value === null) return false;
  const { kind, log, tasks } = value as Readonly<Record<string, unknown>>;
  return (
    (kind === "retry" || kind === "takeBack") &&
    typeof log === "string" &&
    basename(log) === log &&
    isLogName(prefix, log) &&
    areReplayedTasks(tasks)
  );
}
