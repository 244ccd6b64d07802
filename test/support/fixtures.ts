import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { dumpString, writeMarshal } from "../../src/marshal";
import type { NewDeadTask } from "../../src/storage";
import { deadTaskLine } from "../../src/storage/frames";
import { encodeRecord } from "../../src/storage/record";
import { array, classNamed, nil, str } from "./ruby";
import type { ExpectedTask, ExpectedText } from "./stores";

const stores = join(__dirname, "../fixtures/dead-tasks");

/** One store of the fixtures, with what Rage itself reads back from it. */
export interface FixtureStore {
  readonly name: string;
  readonly prefix: string;
  /** Oldest first. */
  readonly expected: readonly ExpectedTask[];
}

export function fixtureStores(): FixtureStore[] {
  return readdirSync(stores).flatMap((name) =>
    readdirSync(join(stores, name))
      .filter((file) => file.startsWith("expected."))
      .map((file) => ({
        name,
        prefix: file.slice("expected.".length, -"json".length),
        expected: JSON.parse(readFileSync(join(stores, name, file), "utf8")) as ExpectedTask[],
      })),
  );
}

// What the fixtures' README says of them, beyond what their expected files hold.
const unreadable: Readonly<Record<string, readonly string[]>> = {
  "bad-payload": ["1767225638-1-1", "1767225639-1-1", "1767225640-1-1"],
};
/** What the log carries for those contexts that a worker can run; the others cannot be replayed. */
const oddContexts: Readonly<Record<string, string | null>> = {
  "1767225637-5-1": String.raw`"\x04\b[\tc\x10SyncInvoice[\x06i\x0600"`,
  "1767225638-5-1": String.raw`"\x04\b[\vc\x10SyncInvoice[\x06i\a00I\"\x12req-id-string\x06:\x06ET0"`,
  "1767225639-5-1": String.raw`"\x04\b[\fc\x10SyncInvoice0{\x06:\x06ai\x060[\x06I\"\x06t\x06:\x06ET{\x06:\x06xi\x06{\x06:\x06ui\x06"`,
  "1767225640-5-1": String.raw`"\x04\b[\fc\x10SyncInvoice[\ai\x06i\a{\x000000"`,
  "1767225641-5-1": null,
  "1767225642-5-1": null,
  "1767225643-5-1": null,
};

/** Records of a fixture that cannot be read: listed as such, and only to be deleted. */
export function unreadableIds(fixture: string): readonly string[] {
  return unreadable[fixture] ?? [];
}

/** What a log must carry for a task that was replayed, as it stands in the file; null for one that cannot be. */
export function replayedPayload({ name }: FixtureStore, task: ExpectedTask): string | null {
  const payload = task.retry_payload ?? (name === "contexts" ? oddContexts[task.id] : undefined);
  if (payload === undefined) throw new Error(`The fixture ${name} does not say what a log carries for ${task.id}.`);
  return payload;
}

const copies: string[] = [];

/** A copy of a fixture's storage directory to work on, until `removeCopies`. */
export function copyStorage(name: string): string {
  const copy = mkdtempSync(join(tmpdir(), `dead-tasks-${name}-`));
  copies.push(copy);
  const source = name === "wal" ? join(stores, "../wal/storage") : join(stores, name, "storage");
  cpSync(source, copy, { recursive: true });
  return copy;
}

/** For `afterEach`. */
export function removeCopies(): void {
  for (const copy of copies.splice(0)) rmSync(copy, { recursive: true, force: true });
}

/** As our output shows text: bytes that are not UTF-8 as U+FFFD. */
export function plainText(text: ExpectedText): string {
  return typeof text === "string" ? text : Buffer.from(text.base64, "base64").toString("utf8");
}

/** The fixtures keep a place for the address of an object, which we leave out. */
export function withoutAddresses(text: ExpectedText): string {
  return plainText(text).replaceAll(":0xX", "");
}

export function dataFile(storage: string, prefix = "deferred-"): string {
  return join(storage, `${prefix}dead_tasks-0`);
}

/**
 * What a data file must hold after these ids were removed: valid lines of other ids, byte for byte; everything unchanged where
 * none of the ids was there. Written from the format's description, independently of the storage module.
 */
export function afterRemoval(before: Buffer, ids: readonly string[]): Buffer {
  const kept: Buffer[] = [];
  let found = false;
  for (let start = 0, end = before.indexOf(10); end >= 0; start = end + 1, end = before.indexOf(10, start)) {
    const line = before.subarray(start, end + 1);
    const payload = line.subarray(9, -1);
    const [operation, id = ""] = payload.toString("latin1").split(":", 2);
    const crc = crc32(payload).toString(16).padStart(8, "0");
    const isValid =
      line.toString("latin1", 0, 9) === `${crc}:` &&
      operation === "dead_task" &&
      id !== "" &&
      payload.indexOf(":", 10) > 0;
    if (!isValid) continue;
    if (ids.includes(id)) found = true;
    else kept.push(line);
  }
  return found ? Buffer.concat(kept) : before;
}

/** The lines of all logs of a storage directory, in name order. */
export function logLines(storage: string, prefix = "deferred-"): string[] {
  if (!existsSync(storage)) return [];
  const names = readdirSync(storage).filter((name) => name.startsWith(`${prefix}0-`));
  const text = names.map((name) => readFileSync(join(storage, name), "latin1")).join("");
  return text.split("\n").slice(0, -1);
}

/** A valid line of a data file, with this much of its own. */
export function deadTaskOf(own: Partial<NewDeadTask> & { readonly id: string }): Buffer {
  const record = encodeRecord({
    taskClass: "SyncInvoice",
    attempts: 21,
    enqueuedAt: 1_767_000_000,
    failedAt: 1_767_000_000,
    exceptionClass: "RuntimeError",
    exceptionMessage: "m".repeat(500),
    backtrace: Array.from({ length: 10 }, (_, index) => `/srv/app/app/tasks/sync_invoice.rb:${index}:in \`perform'`),
    context: writeMarshal(array(classNamed("SyncInvoice"), array(str("x".repeat(500))), nil(), nil())),
    ...own,
  });
  return deadTaskLine(own.id, dumpString(record));
}
