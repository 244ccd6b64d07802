import { crc32 } from "node:zlib";

/** Numbers that are the same for the same seed, everywhere and for good (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: string) {
    this.#state = crc32(seed);
  }

  /** An integer from 0 up to, not including, `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  /** True once in `count` times. */
  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}
