// The long form: a million inputs, each target in turn, on new ones at every run. With parameters it repeats some:
// `npm run fuzz:long -- "Marshal" 4711 1`, with the seed that was printed as FUZZ_SEED.
import { availableParallelism } from "node:os";
import { hostileCases } from "./cases";
import type { Outcome } from "./protocol";
import { fuzz } from "./runner";
import { targets } from "./targets";

const seed = process.env["FUZZ_SEED"] ?? String(Date.now());
// A process of its own for so many inputs, so that what one leaves behind shows.
const inputsPerProcess = 10_000;

interface Slice {
  readonly target: string;
  readonly from: number;
  readonly count: number;
}

function slices(): Slice[] {
  const [target, from, count] = process.argv.slice(2);
  if (target !== undefined) return [{ target, from: Number(from ?? 0), count: Number(count ?? 1) }];
  const cases = { target: "cases", from: 0, count: hostileCases.length };
  const all = targets.flatMap(({ name, runs }) =>
    Array.from({ length: Math.ceil(runs.long / inputsPerProcess) }, (_, index) => ({
      target: name,
      from: index * inputsPerProcess,
      count: Math.min(inputsPerProcess, runs.long - index * inputsPerProcess),
    })),
  );
  return [cases, ...all];
}

const totals = new Map<
  string,
  { inputs: number; accepted: number; slowest: number; peakBytes: number; failures: number }
>();

function add(target: string, outcome: Outcome): void {
  const before = totals.get(target) ?? { inputs: 0, accepted: 0, slowest: 0, peakBytes: 0, failures: 0 };
  totals.set(target, {
    inputs: before.inputs + outcome.inputs,
    accepted: before.accepted + outcome.accepted,
    slowest: Math.max(before.slowest, outcome.slowest.milliseconds),
    peakBytes: Math.max(before.peakBytes, outcome.peakBytes),
    failures: before.failures + (outcome.failure === null ? 0 : 1),
  });
  if (outcome.failure === null) return;
  process.stdout.write(`FAILED ${target} ${outcome.failure.index}: ${outcome.failure.message}\n`);
  process.stdout.write(`       input (base64): ${outcome.failure.input}\n`);
}

const started = Date.now();

function seconds(): string {
  return ((Date.now() - started) / 1000).toFixed(0);
}

async function main(): Promise<void> {
  process.stdout.write(`Seed ${seed}; FUZZ_SEED=${seed} repeats the run.\n`);
  const waiting = slices();
  const work = async (): Promise<void> => {
    for (let slice = waiting.shift(); slice !== undefined; slice = waiting.shift()) {
      if (slice.from === 0) process.stdout.write(`> ${slice.target}, after ${seconds()} s\n`);
      add(slice.target, await fuzz({ ...slice, seed }));
    }
  };
  const processes = Number(process.env["FUZZ_PROCESSES"] ?? availableParallelism());
  await Promise.all(Array.from({ length: processes }, work));
  process.stdout.write("target                inputs  readable  slowest ms  memory MiB  failures\n");
  let inputs = 0;
  let failures = 0;
  for (const [target, total] of totals) {
    inputs += total.inputs;
    failures += total.failures;
    const columns = [
      target.padEnd(20),
      String(total.inputs).padStart(8),
      String(total.accepted).padStart(9),
      total.slowest.toFixed(0).padStart(11),
      (total.peakBytes / 2 ** 20).toFixed(0).padStart(11),
      String(total.failures).padStart(9),
    ];
    process.stdout.write(`${columns.join(" ")}\n`);
  }
  process.stdout.write(`${inputs} inputs in ${seconds()} s, ${failures} failures\n`);
  process.exitCode = failures === 0 ? 0 : 1;
}

void main();
