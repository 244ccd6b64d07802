import { inspect, type RubyValue } from "../marshal";
import {
  StorageError,
  decodeContext,
  extraTexts,
  type DeadTask,
  type DeadTaskBackend,
  type FailedTask,
  type FinishedReplay,
  type TaskContext,
} from "../storage";
import type { Command, Selection } from "./arguments";
import { damageOf, summaryOf } from "./listing";
import { safeText, timeText, toJson, type Output } from "./output";
import { printTable } from "./table";

/** What every command works with. */
export interface CommandContext {
  readonly backend: DeadTaskBackend;
  readonly json: boolean;
  readonly output: Output;
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** Whether a command did all that was asked. */
export type Success = boolean;

export async function show(id: string, { backend, json, output }: CommandContext): Promise<Success> {
  const found = await backend.find(id);
  if (found === null) {
    output.note(`there is no dead task ${id}; see: dead-tasks list`);
    return false;
  }
  if (found.kind === "unreadable") {
    output.note(`the record of task ${id} cannot be read (${found.reason}); it can only be deleted`);
    return false;
  }
  output.note("what follows may be sensitive: it holds the task's arguments and contexts as they are");
  const decoded = decode(found);
  if (json) await output.writeLine(toJson({ ...summaryOf(found), backtrace: found.backtrace, ...decoded }));
  else await output.write(detailText(found, decoded));
  return true;
}

interface ContextText {
  readonly args: string | null;
  readonly kwargs: string | null;
  readonly log_tags: string | null;
  readonly log_context: string | null;
  readonly user_context: string | null;
  /** There where the context cannot be decoded; the others are null then. */
  readonly context_error?: string;
}

function decode(task: DeadTask): ContextText {
  let context: TaskContext;
  try {
    context = decodeContext(task.context);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const nothing = { args: null, kwargs: null, log_tags: null, log_context: null, user_context: null };
    return { ...nothing, context_error: error.message };
  }
  // A task without arguments has nil in their place, which Rage calls with none.
  const orEmpty = (value: RubyValue, empty: string): string => (value.type === "nil" ? empty : inspect(value));
  return {
    args: orEmpty(context.args, "[]"),
    kwargs: orEmpty(context.kwargs, "{}"),
    log_tags: inspect(context.logTags),
    log_context: inspect(context.logContext),
    user_context: inspect(context.userContext),
  };
}

const contextLabels = [
  ["args", "Arguments"],
  ["kwargs", "Keywords"],
  ["log_tags", "Log tags"],
  ["log_context", "Log context"],
  ["user_context", "User context"],
] as const;

function detailText(task: DeadTask, context: ContextText): string {
  const fields: [string, string][] = [
    ["Task", task.id],
    ["Class", task.taskClass],
    ["Attempts", String(task.attempts)],
    ["Enqueued", task.enqueuedAt === 0 ? "unknown" : timeText(task.enqueuedAt)],
    ["Failed", timeText(task.failedAt)],
    ["Exception", task.exceptionClass ?? "(anonymous)"],
    ["Message", task.exceptionMessage],
  ];
  if (context.context_error !== undefined) fields.push(["Arguments", context.context_error]);
  for (const [name, label] of contextLabels) {
    const text = context[name];
    if (text !== null) fields.push([label, text]);
  }
  for (const { name, value } of extraTexts(task.extra)) fields.push([name, value]);
  fields.push(["Backtrace", task.backtrace.length === 0 ? "none" : task.backtrace.join("\n")]);

  const width = Math.max(...fields.map(([label]) => safeText(label).length)) + 2;
  const lines = fields.map(([label, text]) => {
    const indented = text
      .split(/\r?\n/)
      .map(safeText)
      .join(`\n${" ".repeat(width)}`);
    return `${safeText(label).padEnd(width)}${indented}`.trimEnd();
  });
  return `${lines.join("\n")}\n`;
}

export async function retry(command: Extract<Command, { name: "retry" }>, context: CommandContext): Promise<Success> {
  const { backend, json, output, signal } = context;
  const ids = await selectedIds(command.selection, backend);
  const publishAt = publishTime(command, context);
  const result = await backend.replay(ids, publishAt, { signal, onFinished: noteFinished(output) });
  const { retried, missing, failed, log } = result;
  if (json) {
    const renamed = retried.map(({ id, newId }) => ({ id, new_id: newId }));
    await output.writeLine(toJson({ retried: renamed, missing, failed, log }));
  } else {
    for (const { id, newId } of retried) await output.writeLine(`retried ${safeText(id)} as ${safeText(newId)}`);
  }
  if (log !== null) {
    const when = publishAt === null ? "" : `, not before ${timeText(publishAt)}`;
    const [what, verb] = retried.length === 1 ? ["The task runs", "it waits"] : ["The tasks run", "they wait"];
    output.note(`${what} when a Rage worker next starts${when}; until then ${verb} in ${log}`);
  }
  reportRest(missing, failed, output);
  return missing.length === 0 && failed.length === 0;
}

/** Unix seconds, null for at once. */
function publishTime({ in: seconds, at }: Extract<Command, { name: "retry" }>, { now }: CommandContext): number | null {
  if (at !== null) return at === 0 ? null : at;
  return seconds === null || seconds === 0 ? null : Math.ceil(now() / 1000) + seconds;
}

export async function remove(
  selection: Selection,
  { backend, json, output, signal }: CommandContext,
): Promise<Success> {
  const ids = await selectedIds(selection, backend);
  const { removed, missing } = await backend.remove(ids, { signal, onFinished: noteFinished(output) });
  if (json) await output.writeLine(toJson({ deleted: removed, missing, failed: [] }));
  else for (const id of removed) await output.writeLine(`deleted ${safeText(id)}`);
  reportRest(missing, [], output);
  return missing.length === 0;
}

function noteFinished(output: Output): (finished: readonly FinishedReplay[]) => void {
  return (finished) => {
    for (const { id, newId, elsewhere } of finished) {
      const where = elsewhere === undefined ? "" : ` in ${safeText(elsewhere.directory)}`;
      output.note(
        `finished an interrupted retry: dead task ${safeText(id)} had been enqueued as ${safeText(newId)}${where} and is removed now`,
      );
    }
  };
}

/** The ids asked for; with `--all`, those that are there now, and no task that dies later. */
async function selectedIds(selection: Selection, backend: DeadTaskBackend): Promise<readonly string[]> {
  if (!selection.all) return selection.ids;
  const listing = await backend.list();
  try {
    return listing.ids;
  } finally {
    listing.close();
  }
}

function reportRest(missing: readonly string[], failed: readonly FailedTask[], output: Output): void {
  for (const id of missing) output.note(`there is no dead task ${id}; see: dead-tasks list`);
  for (const { id, error } of failed) output.note(`task ${id}: ${error}`);
}

export async function pending({ backend, json, output }: CommandContext): Promise<Success> {
  const waiting = await backend.pending();
  if (json) {
    const tasks = waiting.tasks.map(({ id, publishAt, context, log }) => ({
      id,
      task_class: context.taskClass,
      attempts: context.attempts,
      publish_at: publishAt,
      args: inspect(context.args),
      kwargs: inspect(context.kwargs),
      log,
    }));
    await output.writeLine(toJson({ tasks, damage: damageOf(waiting) }));
    return true;
  }
  const rows = waiting.tasks.map(({ id, publishAt, context, log }) => [
    publishAt === null ? "at once" : timeText(publishAt),
    String(context.attempts ?? 0),
    safeText(id),
    safeText(context.taskClass),
    safeText(log),
  ]);
  await printTable(["RUNS", "TRIES", "ID", "CLASS", "LOG"], each(rows), output);
  return true;
}

// eslint-disable-next-line @typescript-eslint/require-await -- it has nothing to wait for; the table takes what comes later, too
async function* each<Item>(items: readonly Item[]): AsyncIterableIterator<Item> {
  yield* items;
}
