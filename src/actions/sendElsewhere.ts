import { window, type QuickPickItem } from "vscode";
import type { Doubt, RetryCheck } from "../code/retryCheck";
import type { NotificationAction, Reporter } from "../reporter";
import type { TaskRuns } from "../run/taskRuns";
import type { SendWay } from "../service/sendProtocol";
import type { StoreService } from "../service/storeService";
import type { StoreRegistry } from "../stores/storeRegistry";
import { counted, withoutLinks } from "../text/labels";
import { confirmed, offer, trustedFor } from "./asking";
import { runInStores, type BulkChange, type BulkOutcome } from "./bulkRun";
import { groupByStore, type RecordReference } from "./references";
import { sendConfirmation, sendTroubleText, sendingTitle, sentText } from "./sendMessages";
import { chooseTarget, shortPath, type ChosenTarget } from "./sendTargets";
import { tasksToLookAt, type Departure } from "./taskActions";
import type { UndoList } from "./undoList";

/** How long the check against the other application's code may take, in milliseconds. */
const longestLook = 1_000;

interface WayPick extends QuickPickItem {
  readonly way: SendWay;
}

export interface SendServices {
  readonly service: StoreService;
  readonly registry: StoreRegistry;
  readonly retryCheck: RetryCheck;
  readonly undoList: UndoList;
  readonly runs: Pick<TaskRuns, "mayReplay">;
  readonly reporter: Reporter;
  /** Tells the views what has left a store. */
  readonly departed: (departure: Departure) => void;
}

/**
 * Sends dead tasks to another store, as the user chooses: which, how, and then once more whether. Reported, never thrown. A store
 * that cannot be changed can be sent from, as long as nothing is to be removed from it.
 */
export async function sendToAnotherStore(records: readonly RecordReference[], services: SendServices): Promise<void> {
  const { service, registry, undoList, runs, reporter } = services;
  if (records.length === 0) {
    void window.showInformationMessage("Select a dead task first.");
    return;
  }
  if (!(await trustedFor("sent to another store"))) return;
  const sources = groupByStore(records).map(({ store }) => store);
  let target: ChosenTarget | undefined;
  try {
    target = await chooseTarget(service, registry, sources);
  } catch (error) {
    reporter.failure("look at the other store", error);
    return;
  }
  if (target === undefined) return;
  if (target.obstacle !== null) {
    void window.showWarningMessage(withoutLinks(`Nothing can be sent to ${target.name}: ${target.obstacle}.`));
    return;
  }
  const way = await chooseWay(records, target);
  if (way === undefined) return;
  const chosen = way === "copy" ? records : records.filter(({ readable }) => readable);
  if (way !== "copy" && !(await runs.mayReplay(chosen))) return;
  const doubts = way === "copy" ? [] : await doubtsThere(chosen, target, services);
  const obstacle = await undoList.obstacle(way === "move" ? chosen : []);
  const question = sendConfirmation(
    way,
    chosen,
    { ...target, directory: shortPath(target.path) },
    { doubts, left: records.length - chosen.length, undo: undoNote(way, obstacle) },
  );
  if (!(await confirmed(question))) return;
  const kept: string[] = [];
  const result = await run(way, chosen, target, obstacle === null, kept, services);
  undoList.tellChange();
  tell(way, result, target, kept, services);
}

async function chooseWay(records: readonly RecordReference[], target: ChosenTarget): Promise<SendWay | undefined> {
  const readOnly = records.find(({ store }) => store.status.readOnly !== null)?.store;
  const picks: WayPick[] = [
    {
      label: "$(copy) Copy There as Dead Tasks, Keep Here",
      detail: "Byte for byte. What stands there under an id already is left as it is.",
      way: "copy",
    },
  ];
  if (records.some(({ readable }) => readable)) {
    picks.push({
      label: "$(debug-rerun) Retry There, Keep Here",
      detail: "Enqueued there as new tasks, and still dead here.",
      way: "retry",
    });
    if (readOnly === undefined) {
      picks.push({
        label: "$(export) Retry There and Remove Here",
        detail: "Enqueued there durably before they leave the dead tasks here.",
        way: "move",
      });
    }
  }
  const note = readOnly === undefined ? "" : ` ${readOnly.name} is read-only, so nothing can be removed from it.`;
  const what = records.length === 1 ? "the task" : `the ${counted(records.length, "task")}`;
  const placeHolder = `How is ${what} to be sent to ${target.name}?${note}`;
  return (await window.showQuickPick(picks, { placeHolder }))?.way;
}

/** Against the code of the application that the other store belongs to, where that is in the workspace. */
async function doubtsThere(
  records: readonly RecordReference[],
  { path }: ChosenTarget,
  { retryCheck }: SendServices,
): Promise<readonly Doubt[]> {
  const there = { description: { target: { path } } };
  return [...(await retryCheck.within(longestLook, tasksToLookAt(records), there)).values()];
}

function undoNote(way: SendWay, obstacle: string | null): string {
  if (obstacle !== null) return `This cannot be undone. ${obstacle}`;
  if (way === "copy") return 'It can be undone by "Dead Tasks: Undo", as far as the copies there are still the same.';
  return 'It can be undone by "Dead Tasks: Undo" until a Rage worker there takes the tasks.';
}

async function run(
  way: SendWay,
  records: readonly RecordReference[],
  target: ChosenTarget,
  keeps: boolean,
  kept: string[],
  { service, undoList, reporter, departed }: SendServices,
): Promise<BulkOutcome> {
  const place = { path: target.path, prefix: target.prefix };
  const change: BulkChange = {
    records,
    title: sendingTitle(way, records.length, target.name),
    doing: (what) => (way === "copy" ? `copy ${what} to ${target.name}` : `retry ${what} in ${target.name}`),
    steps: way === "move" ? 2 : 1,
    inStore: async (store, ids, operation) => {
      const request = keeps ? undoList.request(records, store) : undefined;
      const { sent, present, missing, failed, undo } = await service.send(
        store.key,
        ids,
        place,
        way,
        request,
        operation,
      );
      if (undo !== undefined) kept.push(undo);
      return { done: sent, missing, failed, ...(way === "copy" ? { present } : {}) };
    },
    done: (store, ids) => {
      if (way === "move") departed({ storeKey: store.key, ids, by: "send", publishAt: null, to: target.name });
    },
  };
  return await runInStores(change, service, reporter);
}

/** Does not wait for the answers to its notifications. */
function tell(
  way: SendWay,
  result: BulkOutcome,
  target: ChosenTarget,
  kept: readonly string[],
  { undoList, reporter }: SendServices,
): void {
  const done = sentText(way, result, target.name);
  const trouble = sendTroubleText(result, target.name);
  const undo: NotificationAction = { title: "Undo", run: () => undoList.undo(kept) };
  const actions = kept.length === 0 ? [] : [undo];
  if (trouble !== null) {
    const severity = result.failed.length > 0 ? "error" : "warning";
    reporter.notify(severity, done === null ? trouble : `${done} ${trouble}`, actions);
  } else if (done !== null) {
    offer(done, actions);
  }
}
