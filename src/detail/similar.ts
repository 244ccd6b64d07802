import type { TaskSummary } from "../service/protocol";
import { Turns } from "../stores/turns";
import { oneLine } from "../text/labels";
import { normalisedMessage } from "../text/normalisedMessage";
import type { PaneReference, SimilarView } from "./protocol";

/** How a task died. What makes two deaths one kind: class, error, normalised message, and the application's failing place. */
export interface Death {
  readonly reference: PaneReference;
  readonly taskClass: string;
  readonly exceptionClass: string | null;
  readonly message: string;
  readonly backtrace: readonly string[];
  /** Unix seconds. */
  readonly failedAt: number;
}

/** Tasks whose backtraces are looked at, the newest: each is read from disk. */
export const mostCandidates = 1_000;
/** Tasks whose messages are normalised, which takes some microseconds each. */
const mostNormalised = 20_000;
/** How many of the nearest deaths the pane lists. */
const mostNearest = 5;

export interface Candidates {
  readonly tasks: readonly TaskSummary[];
  /** Whether the search ended early, so that there may be more. */
  readonly atLeast: boolean;
}

/** The tasks of this class and error with an equal normalised message, in the order of `tasks`. Null once nobody wants them. */
export async function candidatesFor(
  death: Death,
  tasks: readonly TaskSummary[],
  isWanted: () => boolean,
): Promise<Candidates | null> {
  const message = normalisedMessage(death.message);
  const found: TaskSummary[] = [];
  let normalised = 0;
  const turns = new Turns();
  for (const task of tasks) {
    if (turns.isOver) {
      await turns.next();
      if (!isWanted()) return null;
    }
    if (task.taskClass !== death.taskClass || task.exceptionClass !== death.exceptionClass) continue;
    if (task.id === death.reference.id) continue;
    if (found.length === mostCandidates || normalised === mostNormalised) return { tasks: found, atLeast: true };
    normalised += 1;
    if (normalisedOnce(task) === message) found.push(task);
  }
  return { tasks: found, atLeast: false };
}

/** Summaries are never changed, only replaced. */
const normalisedMessages = new WeakMap<TaskSummary, string>();

function normalisedOnce(task: TaskSummary): string {
  const known = normalisedMessages.get(task);
  if (known !== undefined) return known;
  const made = normalisedMessage(task.exceptionMessage);
  normalisedMessages.set(task, made);
  return made;
}

/** What the pane shows of the others of a kind, newest first in `tasks`. */
export function similarView(death: Death, tasks: readonly TaskSummary[], atLeast: boolean): SimilarView {
  const times = [death.failedAt, ...tasks.map(({ failedAt }) => failedAt)];
  const distance = ({ failedAt }: TaskSummary): number => Math.abs(failedAt - death.failedAt);
  const nearest = [...tasks].sort((one, other) => distance(one) - distance(other)).slice(0, mostNearest);
  nearest.sort((one, other) => other.failedAt - one.failedAt);
  const own = oneLine(death.message);
  return {
    count: tasks.length,
    atLeast,
    first: times.reduce((least, time) => Math.min(least, time)),
    last: times.reduce((most, time) => Math.max(most, time)),
    nearest: nearest.map(({ id, failedAt, exceptionMessage }) => {
      const message = oneLine(exceptionMessage);
      return { id, failedAt, message: message === own ? "" : message };
    }),
  };
}
