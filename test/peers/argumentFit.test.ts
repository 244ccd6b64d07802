import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { misfit, misfitOfAll } from "../../src/code/argumentFit";
import { classesInSource } from "../../src/ruby/classes";
import { loadParser } from "../../src/ruby/prism";
import type { Parameter } from "../../src/ruby/protocol";
import { argumentShape } from "../../src/service/argumentShape";
import type { ArgumentShape } from "../../src/service/protocol";

/** Parameter lists in every form. */
const lists = [
  "()",
  "(a)",
  "(a, b)",
  "(a, b = 1)",
  "(a = 1)",
  "(a = 1, b = [a, 2], c)",
  "(*)",
  "(*rest)",
  "(a, *rest, b)",
  "(a, b = {}, *rest, c, d)",
  "((a, b), c)",
  "(a:)",
  "(a: 1)",
  "(b: 1, a:, d: 2, c:)",
  "(x, a:, b: nil)",
  "(x, y = 1, a: 1)",
  "(x, *rest, a:)",
  "(x = 1, *, y, a: 1)",
  "(**)",
  "(x, **options)",
  "(a:, **options)",
  "(x, a: 1, **options)",
  "(**nil)",
  "(x, **nil)",
  "(x = 1, **nil)",
  "(*rest, **nil)",
  "(&block)",
  "(x, &block)",
  "(...)",
  "(x, ...)",
  "(x, y = 1, *z, w, a:, b: 1, **options, &block)",
  "(if:, class: 1)",
];
const bodies = [
  ...lists.map((list) => `def perform${list}; end`),
  "define_method(:perform) { }",
  "define_method(:perform) { |x| }",
  "define_method(:perform) { |x,| }",
  "define_method(:perform) { |x, y = 1| }",
  "define_method(:perform) { |*rest, a: 1| }",
  "define_method(:perform) { |(x, y), a:| }",
  "define_method(:perform) { [_1, _2] }",
];

const positional = ["nil", "[]", "[1]", "[1, 2]", "[1, 2, 3]", "[1, 2, 3, 4, 5]", "[{ a: 1 }]", '[1, { "a" => 1 }]'];
const keywords = [
  "nil",
  "{}",
  "{ a: 1 }",
  "{ b: 1 }",
  "{ a: 1, b: 2 }",
  "{ a: 1, c: 3 }",
  "{ a: 1, z: 2 }",
  '{ "a" => 1 }',
  '{ a: 1, "b" => 2 }',
  "{ 7 => 1 }",
  "{ if: 1 }",
  "{ if: 1, class: 2, b: 3 }",
];
const calls = positional.flatMap((args) => keywords.map((kwargs) => `[${args}, ${kwargs}]`));

describe("whether a method takes arguments, as Ruby itself decides it", () => {
  interface Call {
    readonly context: string;
    readonly outcomes: readonly (string | null)[];
  }

  function inRuby(signatures: readonly string[], sources: readonly string[]): Call[] {
    const script = join(import.meta.dirname, "..", "support", "argumentShapes.rb");
    const input = JSON.stringify({ signatures, calls: sources });
    return JSON.parse(execFileSync("ruby", ["-W0", script], { input, encoding: "utf8" })) as Call[];
  }

  function shapeOf({ context }: Call): ArgumentShape | null {
    return argumentShape({ context: Buffer.from(context, "base64") });
  }

  async function parametersOf(sources: readonly string[]): Promise<(readonly Parameter[])[]> {
    const wasm = join(import.meta.dirname, "..", "..", "node_modules", "@ruby", "prism", "src", "prism.wasm");
    const parse = await loadParser(wasm);
    return sources.map((body) => {
      const { classes, problem } = classesInSource(parse, `class Task\n  ${body}\nend\n`);
      assert.equal(problem, null, body);
      return classes[0]!.perform!.parameters!;
    });
  }

  it("is the same for every form of parameters and of arguments", async () => {
    const parameters = await parametersOf(bodies);
    const told = inRuby(bodies, calls);
    assert.equal(told.length, calls.length);
    let refused = 0;
    for (const [index, call] of told.entries()) {
      const shape = shapeOf(call);
      assert.ok(shape);
      assert.equal(shape.taskClass, "Named");
      for (const [method, error] of call.outcomes.entries()) {
        const found = misfit(parameters[method]!, shape);
        const what = `${bodies[method]!} with ${calls[index]!}: Ruby says ${error ?? "nothing"}, we ${found?.predicate ?? "nothing"}`;
        assert.equal(found !== null, error !== null, what);
        if (error !== null) refused++;
      }
    }
    const all = bodies.length * calls.length;
    assert.ok(refused > all / 4 && refused < (all * 3) / 4, `${refused} of ${all} were refused`);
  });

  it("is said in words", async () => {
    const says = async (list: string, call: string): Promise<string> => {
      const [parameters] = await parametersOf([`def perform${list}; end`]);
      const [told] = inRuby([`def perform${list}; end`], [call]);
      const { predicate, hint } = misfit(parameters!, shapeOf(told!)!)!;
      return `${predicate}.${hint}`;
    };
    const noKeywords = "The Hash at the end of the task's arguments is no keywords to Ruby 3.";
    const expected: readonly (readonly [list: string, call: string, sentence: string])[] = [
      ["(a)", "[[1, 2], nil]", "takes 1 argument, and the task has 2."],
      ["()", "[[1], nil]", "takes no arguments, and the task has 1."],
      ["(a, b)", "[nil, nil]", "takes 2 arguments, and the task has none."],
      ["(a, b = 1)", "[[1, 2, 3], nil]", "takes 1 to 2 arguments, and the task has 3."],
      ["(a, b, *c)", "[[1], nil]", "takes at least 2 arguments, and the task has 1."],
      ["(a, b, c)", "[[1], { x: 1 }]", "takes 3 arguments, and the task has 1 and, of its keywords, a Hash."],
      ["(a, locale: nil)", "[[1, { locale: 1 }], nil]", `takes 1 argument, and the task has 2.${noKeywords}`],
      ["(a)", "[[1], { locale: 1 }]", "takes no keywords, and the task has the keyword locale:."],
      ["(**nil)", '[nil, { "a" => 1 }]', "takes no keywords, and the task has some."],
      ["(a, b: 1)", "[[1], { locale: 1 }]", "has no keyword locale:."],
      ["(b: 1)", "[nil, { a: 1, c: 1, d: 1, e: 1, f: 1 }]", "has no keywords a:, c:, d: and 2 more."],
      ["(a, locale:)", "[[1], nil]", "needs the keyword locale:, which the task has not."],
      ["(a, x:, y:)", "[[{ x: 1 }], nil]", `needs the keywords x: and y:, which the task has not.${noKeywords}`],
      ["(a: 1)", '[nil, { "b" => 1 }]', "has no keywords but symbols, and the task has others."],
      ["(a: 1)", '[nil, { "x\\ny": 1 }]', "has no keyword x y:."],
    ];
    for (const [list, call, sentence] of expected) assert.equal(await says(list, call), sentence, `${list} ${call}`);
  });

  it("is doubted only where every definition that may count refuses", () => {
    const shape: ArgumentShape = { taskClass: "A", positional: 1, keywords: [], otherKeys: false, lastIsHash: false };
    const one: readonly Parameter[] = [{ kind: "req", name: "a" }];
    const two: readonly Parameter[] = [...one, ...one];
    assert.equal(misfitOfAll([two, []], shape)?.predicate, "takes 2 arguments, and the task has 1");
    assert.equal(misfitOfAll([two, one], shape), null);
    assert.equal(misfitOfAll([two, null], shape), null);
    assert.equal(misfitOfAll([null], shape), null);
  });

  it("is not told of what Ruby would pass in a way that the context does not show", () => {
    const flagged = "[[1, Hash.ruby2_keywords_hash({ a: 1 })], nil]";
    const foreign = '[nil, { "größe".encode("ISO-8859-1").to_sym => 1 }]';
    const many = '[nil, (1..201).to_h { |index| [:"key#{index}", 1] }]';
    const calls = inRuby(
      ["def perform(...); end"],
      [flagged, foreign, many, '[nil, (1..200).to_h { [:"k#{_1}", 1] }]'],
    );
    assert.deepEqual(calls.slice(0, 3).map(shapeOf), [null, null, null]);
    assert.equal(shapeOf(calls[3]!)?.keywords.length, 200);
    assert.equal(argumentShape({ context: Buffer.from("no Marshal") }), null);
  });
});
