// One process of fuzzing, to be run with a small heap. What it is to do stands in its one parameter, as JSON.
import { openSync, writeSync } from "node:fs";
import { hostileCases } from "./cases";
import { mostBytes, mostMilliseconds, type Assignment, type Failure, type Outcome } from "./protocol";
import { Random } from "./random";
import type { Target } from "./target";
import { targets } from "./targets";

function targetNamed(name: string): Target {
  const target = targets.find((candidate) => candidate.name === name);
  if (target === undefined)
    throw new Error(`There is no target ${name}, only ${targets.map((each) => each.name).join(", ")}.`);
  return target;
}

/** What every object has. Hostile names must not change it. */
const prototypes = [Object, Array, Function, Map, Set, String, Number, Uint8Array, Buffer].map(
  ({ prototype }) => prototype as object,
);

function describePrototypes(): string {
  return prototypes
    .map((prototype) => Reflect.ownKeys(prototype).map(String).join())
    .concat(String(prototypes.map((prototype) => (Object.getPrototypeOf(prototype) as unknown) === Object.prototype)))
    .join("\n");
}

/** Bytes of resident memory at the highest so far. */
function peakMemory(): number {
  return process.resourceUsage().maxRSS * 1024;
}

async function checked(target: Target, bytes: Buffer): Promise<{ milliseconds: number; isAccepted: boolean }> {
  const before = process.cpuUsage();
  const isAccepted = await target.check(bytes);
  const { user, system } = process.cpuUsage(before);
  return { milliseconds: (user + system) / 1000, isAccepted };
}

type Input = (index: number) => { readonly target: Target; readonly bytes: Buffer; readonly what: string };

async function run(input: Input, { from, count, progressFile }: Assignment): Promise<Outcome> {
  const progress = openSync(progressFile, "w");
  const number = Buffer.alloc(8);
  const prototypesBefore = describePrototypes();
  const memoryBefore = process.memoryUsage.rss();
  let accepted = 0;
  let slowest = { index: from, milliseconds: 0 };
  const outcome = (inputs: number, failure: Failure | null): Outcome => {
    return { inputs, accepted, slowest, peakBytes: Math.max(0, peakMemory() - memoryBefore), failure };
  };
  for (let index = from; index < from + count; index++) {
    number.writeDoubleLE(index);
    writeSync(progress, number, 0, 8, 0);
    const { target, bytes, what } = input(index);
    const failed = (reason: string): Outcome =>
      outcome(index - from, {
        index,
        message: `${what}: ${reason}`,
        input: assignment.target === "cases" ? "" : bytes.subarray(0, 3000).toString("base64"),
      });
    try {
      const limit = mostMilliseconds * (target.operations ?? 1);
      let { milliseconds, isAccepted } = await checked(target, bytes);
      // Once more where it took long: a crowded machine is slow now and then, a hang is slow again.
      if (milliseconds > limit) ({ milliseconds, isAccepted } = await checked(target, bytes));
      if (isAccepted) accepted++;
      if (milliseconds > slowest.milliseconds) slowest = { index, milliseconds };
      if (milliseconds > limit) return failed(`took ${milliseconds.toFixed(0)} ms`);
    } catch (error) {
      return failed(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    const grown = peakMemory() - memoryBefore;
    if (grown > mostBytes) return failed(`memory grew by ${(grown / 2 ** 20).toFixed(0)} MiB`);
    if (describePrototypes() !== prototypesBefore) return failed("a prototype was changed");
  }
  return outcome(count, null);
}

const assignment = JSON.parse(process.argv[2] ?? "") as Assignment;

function inputs(): Input {
  if (assignment.target === "cases") {
    return (index) => {
      const { name, target, input } = hostileCases[index]!;
      return { target: targetNamed(target), bytes: input(), what: name };
    };
  }
  const target = targetNamed(assignment.target);
  return (index) => {
    const random = new Random(`${assignment.seed}:${target.name}:${index}`);
    return { target, bytes: target.make(random), what: `${target.name} ${index}` };
  };
}

void run(inputs(), assignment).then((outcome) => {
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
});
