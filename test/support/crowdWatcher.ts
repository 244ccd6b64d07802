import { closeSync, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { loadFlock, type Flock } from "../../src/storage/flock";

/**
 * A peer that tries the application's lock as fast as it can without keeping others from it, and notes how long it finds it
 * taken. `watch` begins anew; `report` answers with the longest such time since then, in milliseconds.
 */

// Microseconds between two tries: ours come through in between.
const pause = 40;
const turnMilliseconds = 5;

let longest = 0;
let tries = 0;

function now(): number {
  return performance.now();
}

/** Tries for a while, then lets requests in. */
function watch(flock: Flock, descriptor: number): void {
  const end = now() + turnMilliseconds;
  let takenSince: number | null = null;
  while (takenSince !== null || now() < end) {
    tries += 1;
    const tried = now();
    if (flock.tryLock(descriptor)) {
      flock.unlock(descriptor);
      if (takenSince !== null) longest = Math.max(longest, now() - takenSince);
      takenSince = null;
    } else {
      takenSince ??= tried;
    }
    const until = now() + pause / 1000;
    while (now() < until);
  }
  setImmediate(watch, flock, descriptor);
}

async function serve([lockFile = ""]: readonly string[]): Promise<void> {
  const { flock, unavailable } = await loadFlock();
  if (flock === null) throw new Error(unavailable);
  const descriptor = openSync(lockFile, "r+");
  createInterface({ input: process.stdin })
    .on("line", (line) => {
      const { sequence, do: what } = JSON.parse(line) as { readonly sequence: number; readonly do: string };
      const value = { longest, tries };
      if (what === "watch") [longest, tries] = [0, 0];
      writeSync(1, `${JSON.stringify({ sequence, ok: true, value })}\n`);
    })
    .on("close", () => {
      closeSync(descriptor);
      process.exit();
    });
  watch(flock, descriptor);
}

void serve(process.argv.slice(2));
