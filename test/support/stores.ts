import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { crc32 } from "node:zlib";
import { dumpString } from "../../src/marshal";
import { DeadTaskStore, storageEnvironment, type NewDeadTask, type StorageEnvironment } from "../../src/storage";
import { deadTaskLine } from "../../src/storage/frames";
import { encodeRecord } from "../../src/storage/record";

const fixtures = resolve(__dirname, "..", "fixtures");

/** Folders that vanish after each test of the suite that asks for them. */
export function temporaryFolders(): { make(place?: string): string } {
  const made: string[] = [];
  afterEach(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return {
    make: (place = tmpdir()) => {
      const folder = mkdtempSync(join(place, "dead-tasks-"));
      made.push(folder);
      return folder;
    },
  };
}

export async function openStore(
  path: string,
  replaced: Partial<StorageEnvironment> = {},
  prefix = "deferred-",
): Promise<DeadTaskStore> {
  return new DeadTaskStore({ path, prefix }, await storageEnvironment(replaced));
}

/** A directory of dead tasks as Rage wrote it. */
export interface FixtureCase {
  readonly name: string;
  readonly prefix: string;
  readonly dataFile: Buffer;
  readonly expected: readonly ExpectedTask[];
}

/** What Rage itself read back. Text that is not UTF-8 stands as base64. `random` has fewer fields than the others. */
export interface ExpectedTask {
  readonly id: string;
  readonly task_class?: string;
  readonly attempts?: number;
  readonly enqueued_at?: number;
  readonly failed_at?: number;
  readonly exception_class?: ExpectedText | null;
  readonly exception_message?: ExpectedText;
  readonly backtrace?: readonly ExpectedText[];
  readonly args_inspect?: string;
  readonly kwargs_inspect?: string;
  readonly log_tags?: string;
  readonly log_context?: string;
  readonly user_context?: string;
  readonly retry_payload?: string;
  readonly context_base64: string;
}

export type ExpectedText = string | { readonly base64: string };

export function expectedText(text: ExpectedText): string {
  return typeof text === "string" ? text : new TextDecoder().decode(Buffer.from(text.base64, "base64"));
}

const cases = {
  "bad-payload": ["deferred-"],
  basic: ["deferred-"],
  contexts: ["deferred-"],
  corrupt: ["deferred-"],
  duplicates: ["deferred-"],
  empty: ["deferred-"],
  "odd-text": ["deferred-"],
  prefixes: ["deferred-", "jobs-"],
  random: ["deferred-"],
  "torn-only": ["deferred-"],
  "torn-tail": ["deferred-"],
  values: ["deferred-"],
} as const;

export const fixtureCases: readonly FixtureCase[] = Object.entries(cases).flatMap(([name, prefixes]) =>
  prefixes.map((prefix) => {
    const folder = join(fixtures, "dead-tasks", name);
    return {
      name,
      prefix,
      dataFile: readFileSync(join(folder, "storage", `${prefix}dead_tasks-0`)),
      expected: JSON.parse(readFileSync(join(folder, `expected.${prefix}json`), "utf8")) as ExpectedTask[],
    };
  }),
);

export const logFixture = join(fixtures, "wal");

/** Copies a fixture's storage directory into `folder`; returns the copy's path. */
export function copyFixture(folder: string, name: string): string {
  const storage = join(folder, "storage");
  cpSync(join(fixtures, "dead-tasks", name, "storage"), storage, { recursive: true });
  return storage;
}

/** A line as this file understands the format, on its own and in the plainest way. */
export interface ReferenceLine {
  /** With its newline. */
  readonly bytes: Buffer;
  readonly offset: number;
  /** Latin-1; null for a line that is not a valid frame. */
  readonly id: string | null;
}

export function referenceLines(file: Buffer): { readonly lines: ReferenceLine[]; readonly tornTail: Buffer } {
  const lines: ReferenceLine[] = [];
  let offset = 0;
  for (let end = file.indexOf("\n"); end >= 0; end = file.indexOf("\n", offset)) {
    const bytes = file.subarray(offset, end + 1);
    lines.push({ bytes, offset, id: referenceId(bytes) });
    offset = end + 1;
  }
  return { lines, tornTail: file.subarray(offset) };
}

function referenceId(line: Buffer): string | null {
  const match = /^([0-9a-f]{8}):(dead_task:([^:]+):[^]*)\n$/.exec(line.toString("latin1"));
  if (match === null) return null;
  const [, checksum, payload = "", id = ""] = match;
  return crc32(Buffer.from(payload, "latin1")) === Number.parseInt(checksum ?? "", 16) ? id : null;
}

/** What must be left of a data file after these ids (Latin-1) were removed from it. */
export function referenceSurvivors(file: Buffer, removed: Iterable<string>): Buffer {
  const ids = new Set(removed);
  const kept = referenceLines(file).lines.filter(({ id }) => id !== null && !ids.has(id));
  return Buffer.concat(kept.map(({ bytes }) => bytes));
}

export const contextOfSyncInvoice = Buffer.from("\x04\b[\fc\x10SyncInvoice[\x06i\x060i\x07000", "latin1");

/** A task of plain content; what a test is about it names itself. */
export function newTask(id: string, replaced: Partial<NewDeadTask> = {}): NewDeadTask {
  return {
    id,
    taskClass: "SyncInvoice",
    attempts: 2,
    enqueuedAt: 1767225637,
    failedAt: 1767225640,
    exceptionClass: "RuntimeError",
    exceptionMessage: `message of ${id}`,
    backtrace: ["/srv/app/app/tasks/sync_invoice.rb:14:in `perform'"],
    context: contextOfSyncInvoice,
    ...replaced,
  };
}

/** A task's line as the storage writes it; the peers prove that Ruby writes the same. */
export function taskLine(task: NewDeadTask): Buffer {
  return deadTaskLine(task.id, dumpString(encodeRecord(task)));
}
