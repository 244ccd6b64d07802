/** What a person still edits as text. Whatever is beyond it stands as a placeholder. */
export const limits = {
  /** Bytes of a String or Symbol. */
  stringBytes: 2_000,
  /** Bytes of a String of which most would be escapes. */
  escapedBytes: 200,
  /** Decimal digits of an Integer. */
  digits: 500,
  /** Elements of an Array, entries of a Hash, arguments of the call. */
  entries: 300,
  /** Levels of arrays and hashes. */
  depth: 16,
  /** Values of the whole text. Those that lie deeper are left out first. */
  values: 2_000,
} as const;
