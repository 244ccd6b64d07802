import type { Doubt } from "../code/retryCheck";
import type { SendWay } from "../service/sendProtocol";
import { counted, formatCount, oneLine } from "../text/labels";
import type { BulkOutcome } from "./bulkRun";
import {
  countedRecords,
  doneText,
  doubtSentences,
  from,
  nameList,
  nameOfOne,
  withStop,
  type Confirmation,
} from "./messages";
import type { RecordReference } from "./references";

/** Where tasks are sent to, as far as it is told. */
export interface ToldTarget {
  readonly name: string;
  /** For people. */
  readonly directory: string;
  readonly networkFileSystem: string | null;
  readonly exists: boolean;
}

/** `left`: how many of the selected records are left out, since they cannot be retried. `undo`: whether it can be undone. */
export function sendConfirmation(
  way: SendWay,
  records: readonly RecordReference[],
  target: ToldTarget,
  { doubts, left, undo }: { readonly doubts: readonly Doubt[]; readonly left: number; readonly undo: string },
): Confirmation {
  const [only] = records;
  const isOne = records.length === 1 && only !== undefined;
  const what = isOne ? nameOfOne(only) : countedRecords(records);
  const message =
    way === "copy"
      ? `Copy ${what}${from(records)} to ${target.name}?`
      : `Retry ${what}${from(records)} in ${target.name}${way === "move" ? ` and remove ${isOne ? "it" : "them"} here` : ""}?`;
  const notes = [`To ${target.directory}${target.exists ? "" : ", which has no tasks yet"}.`];
  if (way !== "copy") notes.push(runsThere(isOne ? "It runs" : "They run"));
  if (way === "retry") notes.push(`${isOne ? "It stays" : "They stay"} among the dead tasks here.`);
  if (left > 0)
    notes.push(`${counted(left, "record")} that cannot be read can only be copied, and stay where they are.`);
  notes.push(...doubtsThere(doubts, records.length));
  if (target.networkFileSystem !== null) {
    notes.push(
      `${target.name} is on a network file system (${target.networkFileSystem}): what holds on a local disk may not hold there.`,
    );
  }
  const verb = { copy: "Copy", retry: "Retry There", move: "Retry and Remove" }[way];
  return {
    message,
    detail: `${isOne ? only.id : nameList(records)}\n\n${notes.join("\n")}\n\n${undo}`,
    button: isOne ? verb : `${verb} ${formatCount(records.length)}`,
  };
}

/** `subject`: `It runs`, `They run`. */
export function runsThere(subject: string): string {
  return `${subject} when a Rage worker next starts there.`;
}

function doubtsThere(doubts: readonly Doubt[], all: number): string[] {
  const [only] = doubts;
  if (all === 1 && only !== undefined) return [`${only.text} As the code there stands, it would fail again.`];
  return doubtSentences(doubts, all);
}

/** Shown while it takes its time. */
export function sendingTitle(way: SendWay, count: number, target: string): string {
  const what = counted(count, "task");
  return way === "copy" ? `Copying ${what} to ${target}…` : `Retrying ${what} in ${target}…`;
}

/** A sentence for what succeeded, or was cancelled; null where there is nothing to say. */
export function sentText(way: SendWay, result: BulkOutcome, target: string): string | null {
  if (way === "copy") return doneText("copied", result, ` to ${target}`);
  const text = doneText("retried", result, ` in ${target}`);
  const { length } = result.done;
  if (text === null || length === 0) return text;
  return `${text} ${runsThere(length === 1 ? "It runs" : `All ${formatCount(length)} run`)}`;
}

/** What did not succeed, named; null where everything did. */
export function sendTroubleText({ present, missing, failed }: BulkOutcome, target: string): string | null {
  const sentences: string[] = [];
  if (present.length > 0) {
    const isOne = present.length === 1;
    const also = isOne ? "a task of its id, and was left as it is" : "tasks of their ids, which were left as they are";
    sentences.push(`${named(present)}: ${target} has ${also}.`);
  }
  if (missing.length > 0) sentences.push(`${named(missing)}: no longer among the dead tasks here.`);
  if (failed.length > 0) {
    const texts = failed.slice(0, 3).map(({ record, error }) => `${oneLine(record.name)}: ${withStop(error)}`);
    const more = failed.length > 3 ? ` And ${formatCount(failed.length - 3)} more; the log names them.` : "";
    sentences.push(`${counted(failed.length, "task")} could not be sent. ${texts.join(" ")}${more}`);
  }
  return sentences.length === 0 ? null : sentences.join(" ");
}

function named(records: readonly RecordReference[]): string {
  return nameList(records).replaceAll("\n", ", ");
}
