import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { classesInSource } from "../../src/ruby/classes";
import { loadParser } from "../../src/ruby/prism";

/** Parameter lists in every form that Ruby 3.1 knows. */
const signatures = [
  "",
  "()",
  "(a)",
  "(a, b)",
  "(a, b = 1)",
  "(a = 1, b = [a, 2], c)",
  "(*)",
  "(*rest)",
  "(a, *rest, b)",
  "(a, b = {}, *rest, c, d)",
  "((a, b), c)",
  "((a, (b, *c)), d = 1)",
  "(a:)",
  "(a: 1)",
  "(b: 1, a:, d: 2, c:)",
  "(x, a:, b: nil)",
  "(**)",
  "(**options)",
  "(a, **nil)",
  "(&)",
  "(&block)",
  "(...)",
  "(a, ...)",
  "(a, b = 1, *c, d, e:, f: 1, **g, &h)",
  " a, b: 1",
  "(größe, 名前:)",
  "(if:, class: 1)",
  '(\n  a, # first, = none\n  b: "(c, d)",\n  c: <<~TEXT\n    e:, f\n  TEXT\n)',
];

describe("parameters, as Ruby itself gives them", () => {
  /** `[kind, name]`. Later Rubies name an anonymous one `*`, `**` or `&`. */
  type Pair = readonly [kind: string, name: string | null];

  it("are the same for every form of a parameter list", async () => {
    const wasm = join(import.meta.dirname, "..", "..", "node_modules", "@ruby", "prism", "src", "prism.wasm");
    const parse = await loadParser(wasm);
    const sources = signatures.map((list) => `class Task\n  def perform${list}\n  end\nend\n`);
    const script = `
      require "json"
      puts JSON.generate(JSON.parse(STDIN.read).map { |source|
        Object.send(:remove_const, :Task) if Object.const_defined?(:Task)
        eval(source)
        Task.instance_method(:perform).parameters
      })`;
    const printed = execFileSync("ruby", ["-E", "UTF-8:UTF-8", "-e", script], {
      input: JSON.stringify(sources),
      encoding: "utf8",
    });
    const expected = (JSON.parse(printed) as (readonly [string, string?])[][]).map((list) =>
      list.map(([kind, name]): Pair => [kind, name === undefined || /^[*&]+$/.test(name) ? null : name]),
    );
    const read = sources.map((source): readonly Pair[] => {
      const { classes, problem } = classesInSource(parse, source);
      assert.equal(problem, null, source);
      return classes[0]!.perform!.parameters!.map(({ kind, name }): Pair => [kind, name]);
    });
    assert.equal(read.length, signatures.length);
    for (const [index, list] of signatures.entries()) assert.deepEqual(read[index], expected[index], list);
  });
});
