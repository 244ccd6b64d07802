import { readFileSync } from "node:fs";
import { join } from "node:path";

/** How a Ruby release names the method of a frame: 3.3 as `` `perform' ``, 3.4 as `'SyncInvoice#perform'`. */
export type RubyRelease = "3.3" | "3.4";

/** Where the application stood when a task failed. */
export interface Deployment {
  /** Absolute. */
  readonly root: string;
  readonly ruby: RubyRelease;
}

export type Frame = (deployment: Deployment) => string;

const sources = new Map<string, string[]>();

/** The 1-based number of the only line of a file of this application that contains `code`. */
function lineOf(file: string, code: string): number {
  const lines = sources.get(file) ?? readFileSync(join(__dirname, file), "utf8").split("\n");
  sources.set(file, lines);
  const found = lines.flatMap((line, index) => (line.includes(code) ? [index + 1] : []));
  const [only, ...more] = found;
  if (only === undefined || more.length > 0) {
    throw new Error(`${file} has ${found.length} lines with ${JSON.stringify(code)} instead of one`);
  }
  return only;
}

function place(path: string, line: number, method: string, ruby: RubyRelease): string {
  const owner = /(?:[A-Z]\w*(?:::[A-Z]\w*)*)[#.](?=\S+$)/;
  return ruby === "3.4" ? `${path}:${line}:in '${method}'` : `${path}:${line}:in \`${method.replace(owner, "")}'`;
}

/** A frame in this application, at the line that contains `code`. */
export function at(file: string, code: string, method: string): Frame {
  const line = lineOf(file, code);
  return ({ root, ruby }) => place(`${root}/${file}`, line, method, ruby);
}

/** A frame in a gem or in Ruby's own library. */
export function gem(path: string, line: number, method: string): Frame {
  return ({ ruby }) => place(`/usr/local/bundle/gems/${path}`, line, method, ruby);
}

/** A frame in the part of Ruby that is written in Ruby. */
export function internal(file: string, line: number, method: string): Frame {
  return ({ ruby }) => place(`<internal:${file}>`, line, method, ruby);
}

/** How every task is run. */
export const worker: readonly Frame[] = [
  gem("rage-rb-1.26.1/lib/rage/deferred/task.rb", 71, "block (3 levels) in Rage::Deferred::Task#__perform"),
  gem("rage-rb-1.26.1/lib/rage/logger/logger.rb", 118, "Rage::Logger#with_context"),
  gem("rage-rb-1.26.1/lib/rage/deferred/task.rb", 67, "block (2 levels) in Rage::Deferred::Task#__perform"),
  gem("rage-rb-1.26.1/lib/rage/deferred/queue.rb", 41, "block (2 levels) in Rage::Deferred::Queue#schedule"),
];
