// Prints one table of what the storage takes at several sizes, beside the floor and a Ruby peer, measured in the same run.
//   npm run bench [-- COUNT…]    default: 1000 100000 1000000 tasks of 2.5 KB each
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { writeBigStore } from "../support/bigStore";
import { floor, measure, measured, type Measured, type Measurement } from "./measurements";

const defaultCounts = [1_000, 100_000, 1_000_000];
// Machines are noisy: the best of these is what the code can do.
const rounds = 3;

interface Column {
  readonly count: number;
  readonly bytes: number;
  readonly floor: number;
  readonly ruby: number;
  readonly measurements: Readonly<Record<Measured, Measurement>>;
}

function best(measurements: readonly Measurement[]): Measurement {
  const names = Object.keys(measurements[0]?.times ?? {});
  return {
    times: Object.fromEntries(
      names.map((name) => [name, Math.min(...measurements.map(({ times }) => times[name] ?? NaN))]),
    ),
    memory: Math.min(...measurements.map(({ memory }) => memory)),
    longestLock: Math.max(...measurements.map(({ longestLock }) => longestLock)),
  };
}

function inChild(directory: string, count: number, what: Measured): Measurement {
  const script = process.argv[1] ?? "";
  const output = execFileSync(process.execPath, [script, "--child", directory, String(count), what], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(output) as Measurement;
}

function rubyListing(directory: string): number {
  const script = resolve(__dirname, "..", "..", "..", "test", "bench", "peer.rb");
  const [seconds = "NaN"] = execFileSync("ruby", [script, directory], { encoding: "utf8" }).split(" ");
  return Number(seconds) * 1000;
}

function column(count: number): Column {
  const folder = mkdtempSync(join(tmpdir(), "dead-tasks-bench-"));
  try {
    const write = (): string => {
      const directory = join(folder, "storage");
      rmSync(directory, { recursive: true, force: true });
      writeBigStore(directory, count);
      return directory;
    };
    const directory = write();
    const { size } = statSync(join(directory, "deferred-dead_tasks-0"));
    const floors: number[] = [];
    const rubies: number[] = [];
    const all: Record<Measured, Measurement[]> = { indexing: [], listing: [], changing: [] };
    for (let round = 0; round < (count > 500_000 ? 1 : rounds); round++) {
      write();
      floors.push(floor(directory), floor(directory));
      rubies.push(rubyListing(directory));
      for (const what of measured) all[what].push(inChild(directory, count, what));
    }
    return {
      count,
      bytes: size,
      floor: Math.min(...floors),
      ruby: Math.min(...rubies),
      measurements: { indexing: best(all.indexing), listing: best(all.listing), changing: best(all.changing) },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function milliseconds(value: number): string {
  return value < 10
    ? `${value.toFixed(1)} ms`
    : value < 10_000
      ? `${Math.round(value)} ms`
      : `${(value / 1000).toFixed(1)} s`;
}

function print(columns: readonly Column[]): void {
  const row = (name: string, cell: (column: Column) => string): string[] => [name, ...columns.map(cell)];
  const withRatio = (value: number, column: Column): string =>
    `${milliseconds(value)} (${(value / column.floor).toFixed(1)}×)`;
  const rows = [
    row("", ({ count, bytes }) => `${count.toLocaleString("en-US")} (${(bytes / 1e6).toFixed(0)} MB)`),
    row("floor: one pass of reading and CRC", (one) => withRatio(one.floor, one)),
    row("Ruby peer: listing", (one) => withRatio(one.ruby, one)),
    ...measured.flatMap((what) =>
      Object.keys(columns[0]?.measurements[what].times ?? {}).map((name) =>
        row(name, (one) => withRatio(one.measurements[what].times[name] ?? NaN, one)),
      ),
    ),
    ...measured.map((what) =>
      row(`memory over the baseline, ${what}`, ({ measurements }) => `${measurements[what].memory.toFixed(0)} MB`),
    ),
    row("longest hold of the workers' lock", ({ measurements }) =>
      milliseconds(Math.max(...measured.map((what) => measurements[what].longestLock))),
    ),
    row("summaries, times as fast as the Ruby peer", (one) =>
      (one.ruby / (one.measurements.indexing.times["summaries of all"] ?? NaN)).toFixed(1),
    ),
  ];
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((cells) => cells[index]?.length ?? 0))) ?? [];
  for (const cells of rows) {
    const line = cells.map((cell, index) =>
      index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0),
    );
    process.stdout.write(`${line.join("  ")}\n`);
  }
}

async function main(): Promise<void> {
  const [first, directory = "", count = "", what] = process.argv.slice(2);
  if (first === "--child") {
    const known = measured.find((one) => one === what);
    if (known === undefined) throw new Error("what is to be measured?");
    process.stdout.write(JSON.stringify(await measure(directory, Number(count), known)));
    return;
  }
  const given = process.argv.slice(2).map(Number);
  if (given.some((number) => !Number.isInteger(number) || number < 3)) {
    process.stderr.write("Use: npm run bench [-- COUNT…], each at least 3\n");
    process.exitCode = 2;
    return;
  }
  print((given.length > 0 ? given : defaultCounts).map(column));
}

void main();
