import type { PendingSummary, TaskSummary } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import type { Disposable } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import type { RecordReference } from "./references";

/** How often the logs are looked at, in milliseconds: at first, and after a while in which no worker started. */
const usualInterval = 1_500;
const slowInterval = 10_000;
const slowAfter = 300_000;
/** How often a task must be found nowhere to have run: a worker may be moving it from one log to another. */
const absences = 2;

/** Which of several is retried first, and how they all died at that time. */
export interface Trial {
  readonly tried: RecordReference;
  readonly rest: readonly RecordReference[];
  readonly deaths: ReadonlyMap<RecordReference, TaskSummary>;
}

/**
 * The newest of the most frequent kind: class, error and store. Null where there are not several of one store, or none of which it
 * is known how it died.
 */
export function chooseTrial(records: readonly RecordReference[]): Trial | null {
  const deaths = new Map<RecordReference, TaskSummary>();
  const kinds = new Map<string, RecordReference[]>();
  const inStore = new Map<StoreModel, number>();
  for (const record of records) {
    const { store, id } = record;
    const task = store.task(id);
    if (task === undefined) continue;
    deaths.set(record, task);
    inStore.set(store, (inStore.get(store) ?? 0) + 1);
    const kind = JSON.stringify([store.key, task.taskClass, task.exceptionClass]);
    const alike = kinds.get(kind);
    if (alike === undefined) kinds.set(kind, [record]);
    else alike.push(record);
  }
  if (![...inStore.values()].some((count) => count > 1)) return null;
  const [most] = [...kinds.values()].sort((one, other) => other.length - one.length);
  const failedAt = (record: RecordReference): number => deaths.get(record)?.failedAt ?? 0;
  const tried = most?.reduce((newest, record) => (failedAt(record) > failedAt(newest) ? record : newest));
  if (tried === undefined) return null;
  return { tried, rest: records.filter((record) => record !== tried), deaths };
}

/** Those that are still dead, and have not died anew since. */
export function stillDead({ rest, deaths }: Trial): RecordReference[] {
  return rest.filter((record) => {
    const now = record.store.task(record.id);
    const then = deaths.get(record);
    return now !== undefined && then !== undefined && isSameDeath(now, then);
  });
}

function isSameDeath(one: TaskSummary, other: TaskSummary): boolean {
  return (
    one === other ||
    (one.failedAt === other.failedAt &&
      one.attempts === other.attempts &&
      one.taskClass === other.taskClass &&
      one.exceptionClass === other.exceptionClass &&
      one.exceptionMessage === other.exceptionMessage)
  );
}

/** What becomes of a task that was retried. `failed`: once more, and its worker will try it again. */
export type Fate =
  | { readonly kind: "ran" }
  | { readonly kind: "failed"; readonly pending: PendingSummary }
  | { readonly kind: "died"; readonly task: TaskSummary };

/** What the follower needs of the editor. */
export interface FateHost {
  readonly service: Pick<StoreService, "pendingTask" | "refresh">;
  readonly registry: Pick<StoreRegistry, "find">;
  /** A look that failed is told here; there will be another. */
  failed(error: unknown): void;
}

/**
 * Watches what becomes of a task that was retried: it waits in a log, a worker fails and tries it again, it has run or is dead
 * again. Reads alone, and asks no process. Ends without a word where the retry was taken back or the store closed.
 */
export class FateFollower implements Disposable {
  readonly #host: FateHost;
  readonly #record: RecordReference;
  readonly #newId: string;
  readonly #tell: (fate: Fate) => void;
  readonly #started = Date.now();
  #timer: NodeJS.Timeout | null = null;
  #fingerprint: string | null = null;
  #pending: PendingSummary | null = null;
  #absences = 0;
  #failures = 0;
  #isOver = false;

  /** `record`: as it was dead. `tell`: of a first failure, and of the end, after which nothing more is told. `interval`: in milliseconds. */
  constructor(
    host: FateHost,
    record: RecordReference,
    newId: string,
    tell: (fate: Fate) => void,
    private readonly interval = usualInterval,
  ) {
    this.#host = host;
    this.#record = record;
    this.#newId = newId;
    this.#tell = tell;
    this.#lookSoon();
  }

  #lookSoon(): void {
    if (this.#isOver) return;
    const time = Date.now() - this.#started > slowAfter ? slowInterval : this.interval;
    this.#timer = setTimeout(() => {
      void this.#look().then(() => {
        this.#lookSoon();
      });
    }, time);
    // Nobody has to wait for it when the window closes.
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const { store } = this.#record;
    try {
      if (this.#host.registry.find(store.key) !== store) {
        this.dispose();
        return;
      }
      const { fingerprint, task } = await this.#host.service.pendingTask(store.key, this.#newId, this.#fingerprint);
      this.#fingerprint = fingerprint;
      if (task !== undefined) this.#pending = task;
      if (this.#pending === null) await this.#lookAmongTheDead(store);
      else this.#waits(this.#pending);
    } catch (error) {
      this.#host.failed(error);
    }
  }

  #waits(pending: PendingSummary): void {
    this.#absences = 0;
    if (pending.attempts === null || pending.attempts === 0 || this.#failures > 0) return;
    this.#failures = pending.attempts;
    if (!this.#isOver) this.#tell({ kind: "failed", pending });
  }

  /** After the logs, since a task is among the dead before it leaves its log. */
  async #lookAmongTheDead(store: StoreModel): Promise<void> {
    await this.#host.service.refresh(store.key);
    if (this.#isOver) return;
    const dead = store.task(this.#newId);
    if (dead !== undefined) {
      this.dispose();
      this.#tell({ kind: "died", task: dead });
    } else if (store.task(this.#record.id) !== undefined) {
      // Taken back: it has not run.
      this.dispose();
    } else if (++this.#absences >= absences) {
      this.dispose();
      this.#tell({ kind: "ran" });
    }
  }

  dispose(): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
