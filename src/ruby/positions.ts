import type { SourcePosition, SourceRange } from "./protocol";

/** Byte offsets, as the parser counts, as places, as the editor counts. Lines end as in the editor: `\n`, `\r\n` or `\r`. */
export class Positions {
  readonly #bytes: Buffer;
  readonly #lineStarts: number[] = [0];

  constructor(source: string) {
    this.#bytes = Buffer.from(source, "utf8");
    const [lineFeed, carriageReturn] = [10, 13];
    for (let at = 0; at < this.#bytes.length; at++) {
      const byte = this.#bytes[at];
      if (byte === lineFeed || (byte === carriageReturn && this.#bytes[at + 1] !== lineFeed)) {
        this.#lineStarts.push(at + 1);
      }
    }
  }

  position(offset: number): SourcePosition {
    let [low, high] = [0, this.#lineStarts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low, character: this.#text(this.#lineStarts[low] ?? 0, offset).length };
  }

  range({ startOffset, length }: { startOffset: number; length: number }): SourceRange {
    return { start: this.position(startOffset), end: this.position(startOffset + length) };
  }

  /** The source at a location, as written. */
  slice({ startOffset, length }: { startOffset: number; length: number }): string {
    return this.#text(startOffset, startOffset + length);
  }

  #text(start: number, end: number): string {
    return this.#bytes.toString("utf8", start, end);
  }
}
