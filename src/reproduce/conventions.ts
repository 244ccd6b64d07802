import { posix } from "node:path";
import { conventionalPath, isTest } from "../code/taskClassesNames";
import type { LiteralCall } from "../ruby/protocol";
import type { Framework } from "./reproductionText";

/** How an application tests, as its files tell. All paths are relative to it, with slashes. */
export interface TestHabits {
  /** Files and directories of these that it has: `.rspec`, `spec`, `test`, and its helpers below `spec` and `test`. */
  readonly present: ReadonlySet<string>;
  /** Names of the gems that its Gemfile names. */
  readonly gems: ReadonlySet<string>;
  /** Some of its own tests, with their `require` and `require_relative`. */
  readonly tests: readonly { readonly path: string; readonly requires: readonly LiteralCall[] }[];
}

export const helpers: Readonly<Record<Framework, readonly string[]>> = {
  rspec: ["spec/rage_helper.rb", "spec/rails_helper.rb", "spec/spec_helper.rb"],
  minitest: ["test/test_helper.rb"],
};

const signs: Readonly<Record<Framework, { readonly files: readonly string[]; readonly gem: RegExp }>> = {
  rspec: { files: [".rspec", "spec"], gem: /^rspec(-|$)/ },
  minitest: { files: ["test"], gem: /^minitest(-|$)/ },
};

/** The frameworks that the application uses: one, both or none. */
export function frameworksOf({ present, gems }: TestHabits): Framework[] {
  return (["rspec", "minitest"] as const).filter((framework) => {
    const { files, gem } = signs[framework];
    return files.some((file) => present.has(file)) || [...gems].some((name) => gem.test(name));
  });
}

/**
 * Where the test of a class belongs: at the place of the class's own file, below `spec` or `test`. `file`: relative to the
 * application; null where it is not in it. With `attempt` 1 and more, other names, for when one is taken.
 */
export function testPath(framework: Framework, taskClass: string, file: string | null, attempt: number): string {
  const source =
    file === null || isTest(file, null) || !file.endsWith(".rb")
      ? `tasks/${conventionalPath(taskClass)}`
      : file.replace(/^app\//, "");
  const other = attempt === 0 ? "" : `_dead_task${attempt > 1 ? `_${attempt}` : ""}`;
  const name = source.replace(/\.rb$/, "") + other;
  return framework === "rspec" ? `spec/${name}_spec.rb` : `test/${name}_test.rb`;
}

/** The same in the name of a Minitest class. */
export function distinction(attempt: number): string {
  return attempt === 0 ? "" : `DeadTask${attempt > 1 ? attempt : ""}`;
}

/** Lines with which a test at `target` loads the application: those of most of its own tests, else of the helper that is there. */
export function requiresFor(framework: Framework, { present, tests }: TestHabits, target: string): string[] {
  const ending = framework === "rspec" ? "_spec.rb" : "_test.rb";
  const counts = new Map<string, number>();
  for (const { path, requires } of tests) {
    if (!path.endsWith(ending)) continue;
    const lines = requires.flatMap((call) => helperLine(call, path, target) ?? []);
    if (lines.length === 0) continue;
    const text = lines.join("\n");
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  if (most !== undefined) return most[0].split("\n");
  const helper = helpers[framework].find((file) => present.has(file));
  if (helper !== undefined) return [`require "${posix.basename(helper, ".rb")}"`];
  const application = `require_relative "${relative(target, "config/application")}"`;
  // `rage/rspec` sets the environment and loads the application.
  return framework === "rspec"
    ? ['require "rage/rspec"']
    : ['ENV["RAGE_ENV"] ||= "test"', 'require "minitest/autorun"', application];
}

/** A `require` of a test as another test has it; null for one that is that test's own matter. */
function helperLine({ name, argument }: LiteralCall, path: string, target: string): string | null {
  if (!/^[\w./-]+$/.test(argument)) return null;
  const isCommon =
    /(^|\/)\w*helper(\.rb)?$/.test(argument) || argument === "minitest/autorun" || argument === "rage/rspec";
  if (!isCommon) return null;
  if (name === "require") return `require "${argument}"`;
  return `require_relative "${relative(target, posix.join(posix.dirname(path), argument))}"`;
}

function relative(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to);
}
