import type { DetailOptions, RecordDetail } from "../service/protocol";
import type { StoreService } from "../service/storeService";
import type { ValuePath } from "../service/valueProtocol";
import { whenRun } from "../actions/messages";
import { runsThere } from "../actions/sendMessages";
import type { Departure } from "../actions/taskActions";
import { failingFrame } from "../code/frameFiles";
import { Emitter, type Disposable } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import type { StoreChange, StoreRegistry } from "../stores/storeRegistry";
import { shownId } from "../text/labels";
import { absoluteTime } from "../text/times";
import type { DetailState, Notice, PaneReference } from "./protocol";
import type { FilePlace } from "./excerptFollower";
import type { Death } from "./similar";
import { bareState, detailState, type ResolvedFrame } from "./taskState";

/** What the follower needs of the editor. */
export interface FollowerHost {
  readonly service: Pick<StoreService, "detail">;
  readonly registry: Pick<StoreRegistry, "find" | "stores" | "onDidChange" | "onDidChangeStores">;
  /** Whether the look for stores has ended, so that one that is not open will not be soon. */
  looked(): boolean;
  trusted(): boolean;
  maskedNames(): readonly string[];
  resolveFrames(backtrace: readonly string[], store: StoreModel): Promise<readonly ResolvedFrame[]>;
}

type PresentDetail = Exclude<RecordDetail, { kind: "gone" }>;

/** Follows one record: reads it, reads it again when it changes, and says so when it goes, keeping what was known of it. */
export class RecordFollower implements Disposable {
  readonly #host: FollowerHost;
  readonly #changed = new Emitter<DetailState>();
  readonly #subscriptions: Disposable[];
  #reference: PaneReference;
  #state: DetailState;
  #stateText = "";
  #detail: PresentDetail | null = null;
  /** The record as last read with its secrets masked, so that they can be hidden again when it has gone. */
  #masked: PresentDetail | null = null;
  #frames: readonly ResolvedFrame[] = [];
  #present = false;
  #notice: Notice | null = null;
  #codeChanged: string | null = null;
  #doubt: string | null = null;
  #ran: string | null = null;
  #revealed = false;
  /** Secrets that are shown although the others are not. */
  readonly #revealedOnes = new Set<ValuePath>();
  #round = 0;
  /** How many reads are under way; all but the last are out of date. */
  #readings = 0;

  readonly onDidChange = this.#changed.event;

  constructor(host: FollowerHost, reference: PaneReference) {
    this.#host = host;
    this.#reference = reference;
    this.#state = this.#reading();
    this.#subscriptions = [
      host.registry.onDidChange((change) => {
        this.#storeChanged(change);
      }),
      host.registry.onDidChangeStores(() => {
        void this.reload();
      }),
    ];
  }

  /** The last complete state. Its `reference` says whose it is: right after `follow` it may still be the former record's. */
  get state(): DetailState {
    return this.#state;
  }

  /** How the task of the state died, by which others like it are found; null where no task is shown. */
  get death(): Death | null {
    if (this.#detail?.kind !== "task") return null;
    const { taskClass, exceptionClass, fullMessage: message, backtrace, failedAt } = this.#detail.task;
    return { reference: this.#reference, taskClass, exceptionClass, message, backtrace, failedAt };
  }

  /** The first frame of the application's own code that has a file here; null where none has. */
  get failingPlace(): FilePlace | null {
    const found = failingFrame(this.#frames);
    const file = found?.file ?? null;
    if (found === null || file === null) return null;
    return { file, line: found.frame.line, place: found.place, method: found.frame.method };
  }

  /** The file and line that a frame of the state's backtrace opens; null for none. */
  frame(index: number): { readonly file: string; readonly line: number } | null {
    const resolved = this.#frames[index];
    if (resolved === undefined || resolved.file === null) return null;
    return { file: resolved.file, line: resolved.frame.line };
  }

  async follow(reference: PaneReference): Promise<void> {
    this.#reference = reference;
    this.#detail = null;
    this.#masked = null;
    this.#frames = [];
    this.#present = false;
    this.#notice = null;
    this.#codeChanged = null;
    this.#doubt = null;
    this.#ran = null;
    this.#revealed = false;
    this.#revealedOnes.clear();
    await this.reload();
  }

  /** What of the task may be seen. */
  get options(): DetailOptions {
    return { reveal: this.#revealed, maskedNames: this.#host.maskedNames(), revealed: [...this.#revealedOnes] };
  }

  async setSecrets(shown: boolean): Promise<void> {
    this.#revealed = shown;
    this.#revealedOnes.clear();
    await this.#secretsChanged(shown);
  }

  /** Shows one secret, or hides it again, for as long as the task is shown. */
  async setRevealed(path: ValuePath, shown: boolean): Promise<void> {
    if (shown) this.#revealedOnes.add(path);
    else this.#revealedOnes.delete(path);
    await this.#secretsChanged(shown);
  }

  async #secretsChanged(shown: boolean): Promise<void> {
    if (this.#detail === null || this.#present) {
      await this.reload();
    } else if (!shown && this.#masked !== null) {
      this.#detail = this.#masked;
      this.#show();
    }
  }

  /** We took records out ourselves, and so know what became of them. */
  departed({ storeKey, ids, by, publishAt, to = "" }: Departure): void {
    if (storeKey !== this.#reference.storeKey || !ids.includes(this.#reference.id)) return;
    const texts = {
      retry: `You retried this task. ${whenRun("It runs", publishAt)}`,
      delete: "You deleted this task.",
      run: "You ran this task, and it succeeded.",
      send: `You retried this task in ${to}. ${runsThere("It runs")}`,
    };
    this.#gone({ tone: "gone", text: texts[by] });
  }

  /** What is known of changes in this task's code since it died, for a user; null for nothing. */
  setCodeChanged(reference: PaneReference, text: string | null): void {
    if (!this.#isWanted(reference)) return;
    this.#codeChanged = text;
    this.#show();
  }

  /** Why a retry of this task would surely fail, for a user; null for nothing. */
  setDoubt(reference: PaneReference, text: string | null): void {
    if (!this.#isWanted(reference)) return;
    this.#doubt = text;
    this.#show();
  }

  /** What came of a run of this task, for a user. */
  setRan(reference: PaneReference, text: string): void {
    if (!this.#isWanted(reference)) return;
    this.#ran = text;
    this.#show();
  }

  /** Whether what was found out about a task is still of use: another may be wanted by now. */
  #isWanted({ storeKey, id }: PaneReference): boolean {
    return storeKey === this.#reference.storeKey && id === this.#reference.id;
  }

  /** Reads the record again. */
  async reload(): Promise<void> {
    const round = ++this.#round;
    const store = this.#store();
    if (store === undefined) {
      const text = "The store of this task is not open. Open its folder, or name it in the setting deadTasks.stores.";
      this.#set(this.#host.looked() ? this.#bare({ tone: "warning", text }) : this.#reading());
      return;
    }
    this.#readings += 1;
    try {
      const { options } = this;
      const revealsNothing = !this.#revealed && this.#revealedOnes.size === 0;
      const detail = await this.#host.service.detail(store.key, this.#reference.id, options);
      if (round !== this.#round) return;
      if (detail.kind === "gone") {
        if (store.wasReady) this.#gone();
        else this.#set(this.#reading());
        return;
      }
      const frames = detail.kind === "task" ? await this.#host.resolveFrames(detail.task.backtrace, store) : [];
      // The record may have gone, or another be wanted, while files were looked for.
      if (round !== this.#round) return;
      this.#notice = diedAgain(this.#detail, detail);
      this.#detail = detail;
      if (revealsNothing) this.#masked = detail;
      this.#frames = frames;
      this.#present = true;
      this.#show();
    } catch (error) {
      if (round !== this.#round) return;
      const text = `This record could not be read: ${error instanceof Error ? error.message : String(error)}`;
      this.#notice = { tone: "warning", text };
      if (this.#detail === null) this.#set(this.#bare(this.#notice));
      else this.#show();
    } finally {
      this.#readings -= 1;
    }
  }

  #storeChanged({ store, update }: StoreChange): void {
    const { storeKey, id } = this.#reference;
    if (store.key !== storeKey) return;
    if (update.type === "gone") {
      if (update.ids.includes(id)) this.#gone();
    } else if (update.type === "tasks") {
      if (update.tasks.some((task) => task.id === id)) void this.reload();
    } else if (this.#detail === null && this.#notice?.tone !== "gone") {
      // Reading a record brings a status with it: to begin anew with each would be to go round in circles.
      if (this.#readings === 0) void this.reload();
    } else if (this.#detail?.kind === "unreadable" && this.#present && !store.isUnreadable(id)) {
      void this.reload();
    } else if (this.#detail !== null) {
      this.#show();
    }
  }

  #gone(notice?: Notice): void {
    this.#round++; // whatever is still being read is out of date
    const before = this.#notice?.tone === "gone" ? this.#notice : null;
    const text = "This task is no longer among the dead. It was retried or deleted elsewhere.";
    this.#notice = notice ?? before ?? { tone: "gone", text };
    this.#present = false;
    if (this.#detail === null) this.#set(this.#bare(this.#notice));
    else this.#show();
  }

  #show(): void {
    const store = this.#store();
    if (this.#detail === null) return;
    const surroundings = {
      reference: this.#reference,
      storeName: store !== undefined && this.#host.registry.stores.length > 1 ? store.name : null,
      present: this.#present,
      unchangeable: this.#unchangeable(store),
      notice: this.#notice,
      changed: this.#codeChanged,
      doubt: this.#doubt,
      ran: this.#ran,
      revealed: this.#revealed || this.#revealedOnes.size > 0,
    };
    this.#set(detailState(this.#detail, this.#frames, surroundings));
  }

  #unchangeable(store: StoreModel | undefined): string | null {
    if (!this.#host.trusted()) return "Restricted Mode: trust this workspace to retry or delete the task.";
    const reason = store?.status.readOnly ?? null;
    return reason === null ? null : `Read-only: ${reason}`;
  }

  #store(): StoreModel | undefined {
    return this.#host.registry.find(this.#reference.storeKey);
  }

  #reading(): DetailState {
    return this.#bare({ tone: "info", text: "Reading the task…" });
  }

  #bare(notice: Notice): DetailState {
    return bareState(this.#reference, `Dead task ${shownId(this.#reference.id)}`, notice);
  }

  /** Stores report often; only what would look different is news. */
  #set(state: DetailState): void {
    const text = JSON.stringify(state);
    if (text === this.#stateText) return;
    this.#state = state;
    this.#stateText = text;
    this.#changed.fire(state);
  }

  dispose(): void {
    this.#round++;
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }
}

function diedAgain(before: PresentDetail | null, after: PresentDetail): Notice | null {
  if (before?.kind !== "task" || after.kind !== "task" || before.task.failedAt === after.task.failedAt) return null;
  return { tone: "info", text: `This task died again at ${absoluteTime(after.task.failedAt)}.` };
}
