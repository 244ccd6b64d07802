import type { Writable } from "node:stream";

// Control characters (C1 included: U+009B begins an escape sequence), line separators and those that turn the direction
// of text: none of them may reach a terminal or a pipe from a task's data.
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

const shortEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\u001b": "\\e" };

/** Text on one line, with nothing in it that a terminal would act on: such characters stand as Ruby escapes. */
export function safeText(text: string): string {
  return wellFormed(text).replace(unsafe, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const long = code < 0x80 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
    return shortEscapes[character] ?? long;
  });
}

/** JSON on one line, safe for a terminal, too: the same characters stand as `\u` escapes. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, each: unknown) => (typeof each === "string" ? wellFormed(each) : each));
  return text.replace(unsafe, (character) => `\\u${hex(character.codePointAt(0) ?? 0, 4)}`);
}

/** Lone surrogates stand for bytes that are not UTF-8. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, "0");
}

/** Unix seconds as a time in UTC. Numbers that are no time stay numbers. */
export function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace(".000Z", "Z");
}

/** The first `length` characters, ending in `…` where there are more. */
export function cut(text: string, length: number): string {
  // Twice the length in UTF-16 units holds at least that many characters; a message may be megabytes.
  const characters = Array.from(text.slice(0, 2 * length + 2));
  return characters.length <= length ? text : `${characters.slice(0, Math.max(length - 1, 0)).join("")}…`;
}

/**
 * Where the results go. A reader that has gone away (`| head`) is no error: what is written after that is dropped, and
 * `isClosed` tells loops to stop.
 */
export class Output {
  #closed = false;

  constructor(
    private readonly results: Writable & { readonly isTTY?: boolean; readonly columns?: number },
    private readonly notes: Writable,
  ) {
    results.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") {
        this.note(`the output could not be written: ${error.message}`);
        process.exitCode = 1;
      }
      this.#closed = true;
    });
    // Nobody is left to be told.
    notes.on("error", () => undefined);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Columns of the terminal, null where the results do not go to one. */
  get columns(): number | null {
    return this.results.isTTY === true ? (this.results.columns ?? 80) : null;
  }

  /** Writes to standard output; waits for a slow reader, so that memory stays bounded. */
  async write(text: string): Promise<void> {
    if (this.#closed) return;
    if (this.results.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        for (const event of ["drain", "close", "error"]) this.results.off(event, done);
        resolve();
      };
      for (const event of ["drain", "close", "error"]) this.results.on(event, done);
    });
  }

  async writeLine(text: string): Promise<void> {
    await this.write(`${text}\n`);
  }

  /** One line for people on standard error. */
  note(text: string): void {
    this.notes.write(`dead-tasks: ${safeText(text)}\n`);
  }
}
