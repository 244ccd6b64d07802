import { randomInt } from "node:crypto";

const firstSlots = 2048;
/** Of a slot that holds nothing. */
const none = 0xffffffff;

/**
 * For each id the line that stands for it, without the ids: a hash of each, and whoever asks says whether a line with the same hash
 * has the same id. Open addressing in two arrays: a million ids take 16 MB, where a Map of strings takes some 100.
 */
export class IdTable {
  // An id is data that anyone may have written: without knowing the start nobody makes ids that all have one hash.
  readonly #start = randomInt(0x100000000);
  #lines = new Uint32Array(firstSlots).fill(none);
  #hashes = new Uint32Array(firstSlots);
  #count = 0;
  /** Where the last `find` ended: at the id, or at the free slot that is for it. */
  #slot = 0;
  #hash = 0;

  /** The line that stands for the id; null for a new one. `isSame`: whether the line of this index has the id. */
  find(id: Buffer, isSame: (line: number) => boolean): number | null {
    const mask = this.#lines.length - 1;
    this.#hash = this.#hashOf(id);
    this.#slot = this.#hash & mask;
    for (;;) {
      const line = this.#lines[this.#slot] ?? none;
      if (line === none) return null;
      if (this.#hashes[this.#slot] === this.#hash && isSame(line)) return line;
      this.#slot = (this.#slot + 1) & mask;
    }
  }

  /** For the id that was looked for last, and was not there. */
  add(line: number): void {
    this.#lines[this.#slot] = line;
    this.#hashes[this.#slot] = this.#hash;
    this.#count += 1;
    if (this.#count * 2 > this.#lines.length) this.#grow();
  }

  /** For the id that was looked for last, and was there. */
  replace(line: number): void {
    this.#lines[this.#slot] = line;
  }

  #grow(): void {
    const { length } = this.#lines;
    const [lines, hashes] = [this.#lines, this.#hashes];
    this.#lines = new Uint32Array(length * 2).fill(none);
    this.#hashes = new Uint32Array(length * 2);
    const mask = length * 2 - 1;
    for (let from = 0; from < length; from++) {
      const line = lines[from] ?? none;
      if (line === none) continue;
      const hash = hashes[from] ?? 0;
      let slot = hash & mask;
      while (this.#lines[slot] !== none) slot = (slot + 1) & mask;
      this.#lines[slot] = line;
      this.#hashes[slot] = hash;
    }
  }

  /** FNV-1a from a start of our own, its bits mixed at the end, since slots go by the lowest. */
  #hashOf(id: Buffer): number {
    let hash = this.#start;
    for (const byte of id) hash = Math.imul(hash ^ byte, 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    return (hash ^ (hash >>> 13)) >>> 0;
  }
}
