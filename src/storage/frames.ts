import { crc32 } from "node:zlib";

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

/** The payload of a line (without its newline) whose checksum holds, else null. The payload is a view, not a copy. */
export function framePayload(line: Buffer): Buffer | null {
  if (line.length <= crcDigits + 1 || line[crcDigits] !== colon) return null;
  let expected = 0;
  for (let index = 0; index < crcDigits; index++) {
    const value = hexValues[line[index] ?? 0] ?? -1;
    if (value < 0) return null;
    expected = expected * 16 + value;
  }
  const payload = line.subarray(crcDigits + 1);
  return crc32(payload) === expected ? payload : null;
}

/** A whole line, newline included. */
export function frameLine(payload: Uint8Array): Buffer {
  const crc = crc32(payload).toString(16).padStart(crcDigits, "0");
  return Buffer.concat([Buffer.from(`${crc}:`, "latin1"), payload, Buffer.of(newline)]);
}

/** The parts of a dead-task payload, `dead_task:{id}:{dumped}`; views, not copies. */
export interface DeadTaskFrame {
  readonly id: Buffer;
  readonly dumped: Buffer;
}

const deadTaskOperation = Buffer.from("dead_task:", "latin1");

/** A line as a dead-task frame; null for anything that counts as physical corruption. */
export function parseDeadTaskLine(line: Buffer): DeadTaskFrame | null {
  const payload = framePayload(line);
  if (!payload?.subarray(0, deadTaskOperation.length).equals(deadTaskOperation)) return null;
  const end = payload.indexOf(colon, deadTaskOperation.length);
  if (end <= deadTaskOperation.length) return null;
  return { id: payload.subarray(deadTaskOperation.length, end), dumped: payload.subarray(end + 1) };
}

export function deadTaskLine(id: string, dumped: Uint8Array): Buffer {
  return frameLine(Buffer.concat([Buffer.from(`dead_task:${id}:`, "utf8"), dumped]));
}

/** A line of a log of pending tasks: an `add` with its time and context, or a `rem`. */
export type LogFrame =
  | { readonly operation: "add"; readonly id: Buffer; readonly publishAt: number | null; readonly dumped: Buffer }
  | { readonly operation: "rem"; readonly id: Buffer };

/** A line as a log frame; null for anything that Rage would skip or fail on. */
export function parseLogLine(line: Buffer): LogFrame | null {
  const payload = framePayload(line);
  if (payload === null) return null;
  const operation = payload.toString("latin1", 0, 4);
  if (operation === "rem:") return { operation: "rem", id: payload.subarray(4) };
  if (operation !== "add:") return null;
  const idEnd = payload.indexOf(colon, 4);
  const timeEnd = idEnd < 0 ? -1 : payload.indexOf(colon, idEnd + 1);
  if (timeEnd < 0) return null;
  const time = payload.toString("latin1", idEnd + 1, timeEnd);
  if (!/^\d{1,15}$/.test(time)) return null;
  return {
    operation: "add",
    id: payload.subarray(4, idEnd),
    publishAt: time === "0" ? null : Number(time),
    dumped: payload.subarray(timeEnd + 1),
  };
}

/** `publishAt`: whole Unix seconds, null for at once. */
export function logAddLine(id: string, publishAt: number | null, dumped: Uint8Array): Buffer {
  return frameLine(Buffer.concat([Buffer.from(`add:${id}:${publishAt ?? 0}:`, "utf8"), dumped]));
}
