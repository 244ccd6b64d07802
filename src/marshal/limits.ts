/** What a reader takes on before it gives up on a stream. */
export interface MarshalLimits {
  /** Levels of nesting. They cost no stack, so that more can be allowed. */
  readonly maxDepth: number;
  /** Values of every kind, links and symbols included. */
  readonly maxValues: number;
}

/** As many values take up to some 100 MB as a tree; an honest task has a few thousand at most. */
export const DEFAULT_LIMITS: MarshalLimits = { maxDepth: 1000, maxValues: 500_000 };

/** Bytes of one Integer's digits. Printing a larger one takes noticeable time, and there is no honest use for it. */
export const MAX_INTEGER_BYTES = 16_384;
