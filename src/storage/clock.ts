import { setTimeout as delay } from "node:timers/promises";

/** Time as the storage sees it; injected so that tests can decide it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (milliseconds) => {
    await delay(milliseconds);
  },
};

/** Lets everything else that waits on this thread have its turn. */
export function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
