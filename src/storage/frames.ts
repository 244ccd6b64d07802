import { crc32 } from "node:zlib";
import { idFromBytes } from "./naming";

/**
 * A line of a store or a log: `{crc}:{operation}:…\n`. The checksum is zlib's CRC-32 of every byte after the first colon,
 * up to but not including the newline, as 8 lowercase hex digits.
 */
const crcDigits = 8;
const colon = 0x3a;
const newline = 0x0a;

const hexValues = (() => {
  const values = new Int8Array(256).fill(-1);
  for (let digit = 0; digit < 16; digit++) values["0123456789abcdef".charCodeAt(digit)] = digit;
  return values;
})();

/**
 * The checksum that a line (without its newline) begins with; null where it does not hold, or where there is none. Of an
 * overlong line, which is not there as a whole, the actual checksum is given as `payloadChecksum`.
 */
export function checksumOf(line: Buffer, payloadChecksum?: number): number | null {
  if (line.length <= crcDigits + 1 || line[crcDigits] !== colon) return null;
  let expected = 0;
  for (let index = 0; index < crcDigits; index++) {
    const value = hexValues[line[index] ?? 0] ?? -1;
    if (value < 0) return null;
    expected = expected * 16 + value;
  }
  return (payloadChecksum ?? crc32(line.subarray(crcDigits + 1))) === expected ? expected : null;
}

/** A whole line, newline included. */
export function frameLine(payload: Uint8Array): Buffer {
  const crc = crc32(payload).toString(16).padStart(crcDigits, "0");
  return Buffer.concat([Buffer.from(`${crc}:`, "latin1"), payload, Buffer.of(newline)]);
}

/** What a dead-task line, `{crc}:dead_task:{id}:{dumped}`, consists of. */
export interface DeadTaskFrame {
  readonly checksum: number;
  readonly id: string;
  /** Where the dumped record begins in the line; it goes on to its end. A place and not a view: a store has many lines. */
  readonly dumpedAt: number;
}

const payloadStart = crcDigits + 1;
const deadTaskOperation = Buffer.from("dead_task:", "latin1");
const idStart = payloadStart + deadTaskOperation.length;

/** A line as a dead-task frame; null for anything that counts as physical corruption. `payloadChecksum` as `checksumOf`. */
export function parseDeadTaskLine(line: Buffer, payloadChecksum?: number): DeadTaskFrame | null {
  const checksum = checksumOf(line, payloadChecksum);
  if (checksum === null) return null;
  for (let index = payloadStart; index < idStart; index++) {
    if (line[index] !== deadTaskOperation[index - payloadStart]) return null;
  }
  const idEnd = line.indexOf(colon, idStart);
  if (idEnd <= idStart) return null;
  return { checksum, id: idFromBytes(line, idStart, idEnd), dumpedAt: idEnd + 1 };
}

export function deadTaskLine(id: string, dumped: Uint8Array): Buffer {
  return frameLine(Buffer.concat([Buffer.from(`dead_task:${id}:`, "utf8"), dumped]));
}

/** A line of a log of pending tasks: an `add` with its time and context, or a `rem`. */
export type LogFrame =
  | { readonly operation: "add"; readonly id: string; readonly publishAt: number | null; readonly dumped: Buffer }
  | { readonly operation: "rem"; readonly id: string };

/** A line as a log frame; null for anything that Rage would skip or fail on. `payloadChecksum` as `checksumOf`. */
export function parseLogLine(line: Buffer, payloadChecksum?: number): LogFrame | null {
  if (checksumOf(line, payloadChecksum) === null) return null;
  const operation = line.toString("latin1", payloadStart, payloadStart + 4);
  const logIdStart = payloadStart + operation.length;
  if (operation === "rem:") return { operation: "rem", id: idFromBytes(line, logIdStart) };
  if (operation !== "add:") return null;
  const idEnd = line.indexOf(colon, logIdStart);
  const timeEnd = idEnd < 0 ? -1 : line.indexOf(colon, idEnd + 1);
  if (timeEnd < 0) return null;
  const time = line.toString("latin1", idEnd + 1, timeEnd);
  if (!/^\d{1,15}$/.test(time)) return null;
  return {
    operation: "add",
    id: idFromBytes(line, logIdStart, idEnd),
    publishAt: time === "0" ? null : Number(time),
    dumped: line.subarray(timeEnd + 1),
  };
}

/** `publishAt`: whole Unix seconds, null for at once. */
export function logAddLine(id: string, publishAt: number | null, dumped: Uint8Array): Buffer {
  return frameLine(Buffer.concat([Buffer.from(`add:${id}:${publishAt ?? 0}:`, "utf8"), dumped]));
}

export function logRemoveLine(id: string): Buffer {
  return frameLine(Buffer.from(`rem:${id}`, "utf8"));
}
