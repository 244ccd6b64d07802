import type { Damage, TaskSummary } from "../service/protocol";

/** `1,034`. Always with commas: the program speaks English whatever the machine's locale. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** `1 dead task`, `1,034 dead tasks`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `512 B`, `3.4 kB`, `120 MB`: powers of ten, as file managers count. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? ""}`;
}

/**
 * Text for one line: runs of white space and control characters become one space; longer than `limit` is cut. Controls of the
 * writing direction count as such, since one of them could make the rest of a row read backwards.
 */
export function oneLine(text: string, limit = 200): string {
  const flat = text.replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
  return flat.length <= limit ? flat : `${flat.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/**
 * Text for a notification, which makes links of `[text](command:…)`: a task class or a message must not become a button that
 * runs something.
 */
export function withoutLinks(text: string): string {
  return text.replaceAll("](", "]\u200b(");
}

/** An id for people: where an id has bytes that are not UTF-8, they stand as U+FFFD. */
export function shownId(id: string): string {
  return id.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** `PaymentError: gateway said 503`; only the class where there is no message. */
export function errorLine(task: TaskSummary): string {
  const name = exceptionName(task.exceptionClass);
  const message = oneLine(task.exceptionMessage, 120);
  // Ruby's own default message is the class's name.
  return message === "" || message === name ? name : `${name}: ${message}`;
}

export function exceptionName(exceptionClass: string | null): string {
  return exceptionClass ?? "(anonymous error)";
}

/** `6 lines, 210 bytes skipped`. */
export function damageLine(damage: Damage): string {
  const parts: string[] = [];
  if (damage.lines > 0) parts.push(`${counted(damage.lines, "line")}, ${counted(damage.bytes, "byte")} skipped`);
  if (damage.tornTailBytes > 0) parts.push(`unfinished last line of ${counted(damage.tornTailBytes, "byte")}`);
  return parts.join("; ");
}
