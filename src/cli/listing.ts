import type { DeadTaskBackend, Listing, TaskFront } from "../storage";
import type { Command } from "./arguments";
import { cut, safeText, timeText, toJson, type Output } from "./output";
import { printTable } from "./table";

type ListCommand = Extract<Command, { name: "list" }>;

/** The fields of a task that a list shows, by their names in JSON. */
export function summaryOf(task: Omit<TaskFront, "offset" | "length">) {
  return {
    id: task.id,
    task_class: task.taskClass,
    attempts: task.attempts,
    enqueued_at: task.enqueuedAt,
    failed_at: task.failedAt,
    exception_class: task.exceptionClass,
    exception_message: task.exceptionMessage,
  };
}

/** How damage is named in JSON. */
export function damageOf({ damage }: Pick<Listing, "damage">) {
  return { lines: damage.lines, bytes: damage.bytes, torn_tail_bytes: damage.tornTailBytes };
}

/** Prints the list one task at a time: neither the store nor the output is ever in memory as a whole. */
export async function printList(
  backend: DeadTaskBackend,
  command: ListCommand,
  json: boolean,
  output: Output,
): Promise<Listing> {
  const listing = await backend.list();
  try {
    if (json) await printJson(listing, command, output);
    else await printTable(["FAILED", "TRIES", "ID", "CLASS", "ERROR"], rows(listing, command), output);
    return listing;
  } finally {
    listing.close();
  }
}

async function printJson(listing: Listing, command: ListCommand, output: Output): Promise<void> {
  const unreadable = listing.unreadable.map(({ id }) => id);
  let separator = '{"tasks":[\n';
  for await (const task of matching(listing, command)) {
    await output.write(`${separator}${toJson(summaryOf(task))}`);
    if (output.isClosed) return;
    separator = ",\n";
  }
  const isEmpty = separator.startsWith("{");
  const rest = toJson({ unreadable, damage: damageOf(listing) }).slice(1);
  await output.writeLine(`${isEmpty ? '{"tasks":[' : "\n"}],${rest}`);
}

async function* matching(
  listing: Listing,
  { limit, order, taskClass, exceptionClass }: ListCommand,
): AsyncIterableIterator<TaskFront> {
  if (limit === 0) return;
  let count = 0;
  for await (const task of listing.fronts(order)) {
    if (taskClass !== null && task.taskClass !== taskClass) continue;
    if (exceptionClass !== null && (task.exceptionClass ?? "") !== exceptionClass) continue;
    yield task;
    count += 1;
    if (count === limit) return;
  }
}

const longestError = 200;

async function* rows(listing: Listing, command: ListCommand): AsyncIterableIterator<readonly string[]> {
  for await (const task of matching(listing, command)) {
    const failedAt = timeText(task.failedAt);
    yield [failedAt, String(task.attempts), safeText(task.id), safeText(task.taskClass), errorLine(task)];
  }
}

function errorLine({ exceptionClass, exceptionMessage }: TaskFront): string {
  const message = exceptionMessage.trim();
  const [firstLine = ""] = message.split(/[\r\n]/, 1);
  const line = `${exceptionClass ?? "(anonymous)"}: ${firstLine}${firstLine.length < message.length ? "…" : ""}`;
  return cut(safeText(cut(line, longestError)), longestError);
}
