import { checksumOf, frameLine } from "./frames";

/** Where the JSON begins in a line: after the checksum's eight digits and a colon. */
export const firstOfJson = 9;

/** A whole line, newline included: a frame of JSON. */
export function jsonLine(content: unknown): Buffer {
  return frameLine(Buffer.from(JSON.stringify(content), "utf8"));
}

/** What a line (without its newline) says; null for one that is no frame of JSON. */
export function parseJsonLine(line: Buffer): unknown {
  if (checksumOf(line) === null) return null;
  try {
    return JSON.parse(line.subarray(firstOfJson).toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
