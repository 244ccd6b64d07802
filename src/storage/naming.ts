import { join } from "node:path";

/** The storage version that this program understands; it stands only in file names. */
export const storageVersion = "0";

/** The names of one store's files. Source: Rage's storage directory, `{prefix}dead_tasks-0` and its siblings. */
export interface StoreNames {
  readonly directory: string;
  /** Ends in `-`. */
  readonly prefix: string;
  /** Absolute or as given: paths, not bare names. */
  readonly dataFile: string;
  readonly lockFile: string;
  /** The directory that `proper-lockfile` makes. The leading dot keeps it out of Rage's glob for logs. */
  readonly longLock: string;
}

/** Rage's own rule: a prefix that does not end in `-` gets one. */
export function normalizePrefix(prefix: string): string {
  return prefix.endsWith("-") ? prefix : `${prefix}-`;
}

export function storeNames(directory: string, prefix: string): StoreNames {
  const normalized = normalizePrefix(prefix);
  return {
    directory,
    prefix: normalized,
    dataFile: join(directory, `${normalized}dead_tasks-${storageVersion}`),
    lockFile: join(directory, `${normalized}dead_tasks.lock`),
    longLock: join(directory, `.${normalized}dead_tasks.busy`),
  };
}

/** Whether a bare file name is a log of pending tasks of this prefix, by the glob with which Rage claims them. */
export function isLogName(prefix: string, name: string): boolean {
  return name.startsWith(`${prefix}${storageVersion}-`);
}

/** `{prefix}0-{YYYYMMDD}-{pid}-{base36}` as Rage names a new log; the day is local time, as in Rage. */
export function newLogName(prefix: string, now: number, processId: number, random: number): string {
  const date = new Date(now);
  const day = `${date.getFullYear()}${String(date.getMonth() + 1).padStart(2, "0")}${String(date.getDate()).padStart(2, "0")}`;
  return `${prefix}${storageVersion}-${day}-${processId}-${Math.floor(random * 0x100000000).toString(36)}`;
}

const stagingSuffix = ".staging";

/** A name for a file in the making: the leading dot keeps it out of Rage's glob, the suffix lets us find orphans. */
export function stagingName(
  prefix: string,
  purpose: "compaction" | "log" | "journal",
  processId: number,
  random: number,
): string {
  return `.${prefix}${purpose}-${processId}-${Math.floor(random * 0x100000000).toString(36)}${stagingSuffix}`;
}

/** Whether a bare name is one of `stagingName`'s. Whoever holds the long lock may remove such a file as an orphan. */
export function isStagingName(prefix: string, name: string): boolean {
  if (!name.startsWith(`.${prefix}`)) return false;
  // The whole name, since another store's prefix can begin with this one's and `log-`.
  return /^(compaction|log|journal)-\d+-[0-9a-z]+\.staging$/.test(name.slice(prefix.length + 1));
}

/** What a hidden file of ours is for. The leading dot keeps it out of Rage's glob. */
type HiddenKind = "replay" | "takeback" | "sending" | "receiving";

function hiddenName(kind: HiddenKind, prefix: string, processId: number, random: number): string {
  return `.${prefix}dead_tasks.${kind}-${processId}-${Math.floor(random * 0x100000000).toString(36)}`;
}

function isHiddenName(kind: HiddenKind, prefix: string, name: string): boolean {
  const start = `.${prefix}dead_tasks.${kind}-`;
  return name.startsWith(start) && /^\d+-[0-9a-z]+$/.test(name.slice(start.length));
}

/** A name for the journal of a replay. */
export function journalName(prefix: string, processId: number, random: number): string {
  return hiddenName("replay", prefix, processId, random);
}

/** Whether a bare name is one of `journalName`'s. */
export function isJournalName(prefix: string, name: string): boolean {
  return isHiddenName("replay", prefix, name);
}

/** A name for the journal of a take-back. */
export function takeBackName(prefix: string, processId: number, random: number): string {
  return hiddenName("takeback", prefix, processId, random);
}

/** Whether a bare name is one of `takeBackName`'s. */
export function isTakeBackName(prefix: string, name: string): boolean {
  return isHiddenName("takeback", prefix, name);
}

/** A name for the journal of a sending to another store, in the store that is sent from. */
export function sendingName(prefix: string, processId: number, random: number): string {
  return hiddenName("sending", prefix, processId, random);
}

/** Whether a bare name is one of `sendingName`'s. */
export function isSendingName(prefix: string, name: string): boolean {
  return isHiddenName("sending", prefix, name);
}

/** A name for the mark of a sending, in the store that is sent to. None of its orphans: only the store that sends removes it. */
export function receivingName(prefix: string, processId: number, random: number): string {
  return hiddenName("receiving", prefix, processId, random);
}

/** Whether a bare name is one of `receivingName`'s. */
export function isReceivingName(prefix: string, name: string): boolean {
  return isHiddenName("receiving", prefix, name);
}

/** The Unix time of the enqueue that an id of Rage's begins with, in seconds; null for an id of another form. */
export function timeOfId(id: string): number | null {
  const [, seconds] = /^(\d{1,12})-/.exec(id) ?? [];
  return seconds === undefined || seconds === "0" ? null : Number(seconds);
}

/** Task ids are bytes in the file and strings everywhere else; a byte that is not UTF-8 becomes a lone surrogate. */
export function idFromBytes(line: Buffer, start = 0, end = line.length): string {
  const text = line.toString("utf8", start, end);
  if (!text.includes("\uFFFD")) return text;
  const buffer = line.subarray(start, end);
  if (Buffer.from(text, "utf8").equals(buffer)) return text;
  // Every byte over 0x7F, so that two different ids never look the same.
  return Array.from(buffer, (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join("");
}
