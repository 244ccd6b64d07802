import { chosen } from "../actions/asking";
import { whenRun } from "../actions/messages";
import { askWhen } from "../actions/retryLater";
import type { EditedCall } from "../edit/protocol";
import type { Doubt } from "../code/retryCheck";
import { oneLine } from "../text/labels";
import { changeSentences } from "./callChange";

/** What is known of a retry with other arguments before it is asked about. */
export interface EditedRetry {
  /** Null where it could not be read. */
  readonly before: EditedCall | null;
  readonly after: EditedCall;
  /** Why it would surely fail again; null where nothing tells that. */
  readonly doubt: Doubt | null;
  /** Why it could not be undone; null where it can be. */
  readonly obstacle: string | null;
}

/** `now`, a time in Unix seconds, or that nothing is to be done: with the diff left to be looked at, or not. */
export type EditAnswer = "now" | number | "review" | "cancel";

/** Asks whether, and when, a task is to be retried with other arguments. */
export async function askAboutEdit({ before, after, doubt, obstacle }: EditedRetry): Promise<EditAnswer> {
  const sentences = [before === null ? "" : changeSentences(before, after), whenRun("It runs", null)];
  if (doubt !== null) sentences.push(`${doubt.text} As the code stands, it would fail again.`);
  if (obstacle !== null) sentences.push(`This cannot be undone. ${obstacle}`);
  const now = doubt === null ? "Retry" : "Retry Anyway";
  const [later, review] = ["Retry Later…", "Review Changes"] as const;
  const question = {
    message: `Retry ${oneLine(after.taskClass)} with these arguments?`,
    detail: sentences.filter((sentence) => sentence !== "").join("\n\n"),
  };
  const answer = await chosen(question, now, later, review);
  if (answer === now) return "now";
  if (answer === review) return "review";
  return (answer === later ? await askWhen(1) : undefined) ?? "cancel";
}
