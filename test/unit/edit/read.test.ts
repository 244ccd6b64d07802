import assert from "node:assert/strict";
import { readEdit } from "../../../src/edit/read";
import type { EditedCall, ReadEdit } from "../../../src/edit/protocol";
import type { Parse } from "../../../src/ruby/prism";
import type { SourceRange } from "../../../src/ruby/protocol";
import { rubyParser } from "../../support/edits";

/** What the values mean is told by the peer tests; here is what is refused, and where. */
describe("an edited text", () => {
  let parse: Parse;

  before(async () => {
    parse = await rubyParser();
  });

  function read(text: string, names: readonly string[] = ["order_1", "secret_1"]): ReadEdit {
    return readEdit(parse, text, "Billing::Pay", names);
  }

  function call(text: string): EditedCall {
    const { call, problems } = read(text);
    assert.deepEqual(problems, []);
    assert.ok(call);
    return call;
  }

  /** What stands at a range, as the editor counts. */
  function at(text: string, { start, end }: SourceRange): string {
    const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n/);
    const taken = lines.slice(start.line, end.line + 1);
    taken[taken.length - 1] = taken.at(-1)!.slice(0, end.character);
    taken[0] = taken[0]!.slice(start.character);
    return taken.join("\n");
  }

  function problemsIn(text: string): string[][] {
    const { call, problems } = read(text);
    assert.equal(call === null, problems.length > 0);
    return problems.map(({ message, range }) => [at(text, range), message]);
  }

  function assertRefused(text: string, where: string, message: RegExp): void {
    const problems = problemsIn(text);
    assert.equal(problems.length, 1, `${text}: ${JSON.stringify(problems)}`);
    assert.equal(problems[0]![0], where, text);
    assert.match(problems[0]![1]!, message, text);
  }

  it("is one call with its arguments and keywords", () => {
    assert.deepEqual(call('# comment\nBilling::Pay.enqueue(1, { "a" => nil }, order_1, at: 1.5, "k" => [:b])\n'), {
      taskClass: "Billing::Pay",
      args: [
        { kind: "integer", digits: "1" },
        { kind: "hash", entries: [[{ kind: "string", bytes: "a", encoding: "UTF-8" }, { kind: "nil" }]] },
        { kind: "placeholder", name: "order_1" },
      ],
      kwargs: [
        [
          { kind: "symbol", bytes: "at", encoding: "US-ASCII" },
          { kind: "float", digits: "1.5" },
        ],
        [
          { kind: "string", bytes: "k", encoding: "UTF-8" },
          { kind: "array", elements: [{ kind: "symbol", bytes: "b", encoding: "US-ASCII" }] },
        ],
      ],
    });
    for (const same of [
      "::Billing::Pay.enqueue()",
      "Billing::Pay::enqueue()",
      "Billing::Pay\n  .enqueue",
      "\ufeffBilling::Pay.enqueue()\r\n",
    ]) {
      assert.deepEqual(call(same), { taskClass: "Billing::Pay", args: [], kwargs: [] }, same);
    }
  });

  it("tells where it uses placeholders, also while something is amiss", () => {
    const text = "Billing::Pay.enqueue(order_1,\n  [secret_1, other], é: order_1)";
    const { call, uses } = read(text);
    assert.equal(call, null);
    assert.deepEqual(
      uses.map(({ name, range }) => [name, at(text, range), range.start.line]),
      [
        ["order_1", "order_1", 0],
        ["secret_1", "secret_1", 1],
        ["order_1", "order_1", 1],
      ],
    );
  });

  const hint = "Write a literal, or use one of order_1, secret_1.";

  const values: readonly (readonly [value: string, where: string, message: RegExp])[] = [
    ["order_2", "order_2", new RegExp(`^There is no value of the name order_2. ${hint}$`)],
    ["\ufefforder_1", "\ufefforder_1", /^There is no value of the name/],
    ["Time.now", "Time.now", new RegExp(`^Nothing is run here, so no method can be called. ${hint}$`)],
    ["system('ls')", "system('ls')", /^Nothing is run/],
    ["1 + 1", "1 + 1", /^Nothing is run/],
    ["- 1", "- 1", /^Nothing is run/],
    ["!true", "!true", /^Nothing is run/],
    ["'a' * 2", "'a' * 2", /^Nothing is run/],
    ["'a'&.b", "'a'&.b", /^Nothing is run/],
    ["'a'.b(1)", "'a'.b(1)", /^Nothing is run/],
    ["'a'.b { }", "'a'.b { }", /^Nothing is run/],
    ["'a'.\ufeffb", "'a'.\ufeffb", /^Nothing is run/],
    ["'a'.force_encoding('Shift_JIS')", "'a'.force_encoding('Shift_JIS')", /^Nothing is run/],
    ["1.b", "1.b", /^Nothing is run/],
    ['"a#{1}b"', "#{1}", /^Nothing is run here: write the text itself/],
    ['"a#@b"', "#@b", /^Nothing is run here: write the text itself/],
    ['"a" "#{1}"', "#{1}", /^Nothing is run here: write the text itself/],
    [':"a#{1}"', "#{1}", /^Nothing is run here: write the text itself/],
    ["%W[a #{1}]", "#{1}", /^Nothing is run here: write the text itself/],
    ["<<~A\n  b\n  \\ufeffa\nA\n", "  \\ufeffa\n", /^Write this text in double quotes/],
    ["<<~A\n  a #{1}\nA\n", "#{1}", /^Nothing is run here: write the text itself/],
    ["<<~A\n  \\ufeffa\nA\n", "<<~A", /^Write this as a text in double quotes/],
    ["`ls`", "`ls`", /^Nothing is run here/],
    ["Float::MAX", "Float::MAX", /^A constant is no literal/],
    ["::Float::NAN", "::Float::NAN", /^A constant is no literal/],
    ["ENV", "ENV", /^A constant is no literal/],
    ["-Float::NAN", "-Float::NAN", /^Nothing is run/],
    ["@a", "@a", /^This is no literal/],
    ["$a", "$a", /^This is no literal/],
    ["__FILE__", "__FILE__", /^This is no literal/],
    ["self", "self", /^This is no literal/],
    ["-> {}", "-> {}", /^This is no literal/],
    ["(a = 1)", "a = 1", /^This is no literal/],
    ["/a/", "/a/", /^A Regexp cannot be written here/],
    ["1r", "1r", /^A Rational cannot/],
    ["2i", "2i", /^A Complex cannot/],
    ["1e400", "1e400", /^This number is out of the range of a Float/],
    ["-1e400", "-1e400", /^This number is out of the range of a Float/],
    ["1e-400", "1e-400", /^This number is out of the range of a Float/],
    ["*[1]", "*[1]", /^Write the arguments themselves/],
    ["[*[1]]", "*[1]", /^Write the elements themselves/],
    ["**{}", "**{}", /^Write the entries themselves/],
    ["{ **order_1 }", "**order_1", /^Write the entries themselves/],
    ["{ order_1: }", "order_1:", /^A key needs its value written after it/],
    ["order_1:", "order_1:", /^A key needs its value written after it/],
    ["&order_1", "&order_1", /^A task takes no block/],
    ["()", "()", /^One value can stand in parentheses/],
    ["(1; 2)", "(1; 2)", /^One value can stand in parentheses/],
    ['(1.."a")', '1.."a"', /^A range here goes from number to number/],
    ["(order_1..)", "order_1..", /^A range here goes from number to number/],
    ["(Float::NAN..1)", "Float::NAN..1", /^A range here goes from number to number/],
    ["a: 1, a: 2", "a:", /^This key is here twice/],
    ["'a' => 1, 'a'.b => 2", "'a'.b", /^This key is here twice/],
    ["{ a: 1, :a => 2 }", ":a", /^This key is here twice/],
    ["{ 0.0 => 1, -0.0 => 2 }", "-0.0", /^This key is here twice/],
    ["{ [1, 'a'] => 1, [1, 'a'] => 2 }", "[1, 'a']", /^This key is here twice/],
    ["{ { a: 1, b: 2 } => 1, { b: 2, a: 1 } => 2 }", "{ b: 2, a: 1 }", /^This key is here twice/],
    ["{ order_1 => 1, order_1 => 2 }", "order_1", /^This key is here twice/],
    [`${"[".repeat(102)}${"]".repeat(102)}`, "[]", /^Values cannot be nested more than 100 levels/],
  ];
  for (const [value, where, message] of values) {
    it(`is refused at ${JSON.stringify(where)} of ${JSON.stringify(value.slice(0, 50))}`, () => {
      assertRefused(`Billing::Pay.enqueue("é",\n  ${value})`, where, message);
    });
  }

  it("takes keys that only look alike", () => {
    assert.equal(
      call('Billing::Pay.enqueue({ 1 => 1, 1.0 => 2, "1" => 3, :"1" => 4, "é" => 5, "é".b => 6 })').args.length,
      1,
    );
  });

  it("is one call of enqueue on the task's class", () => {
    assertRefused("Pay.enqueue(1)", "Pay", /^The task is one of Billing::Pay, which cannot be changed/);
    assertRefused("Billing::Pay::More.enqueue(1)", "Billing::Pay::More", /^The task is one of Billing::Pay/);
    assertRefused("foo.enqueue(1)", "foo", /^The task is one of Billing::Pay/);
    assertRefused("Billing::Pay.enqueue_in(5, 1)", "enqueue_in", /^The method cannot be changed/);
    assertRefused("Billing::Pay.(1)", "Billing::Pay.(1)", /^The method cannot be changed/);
    assertRefused("Billing::Pay.enqueue(1) { 2 }", "{ 2 }", /^A task takes no block/);
    assertRefused("Billing::Pay.enqueue(1) do 2 end", "do 2 end", /^A task takes no block/);
    for (const other of [
      "enqueue(1)",
      "Billing::Pay&.enqueue(1)",
      "[1]",
      "Billing::Pay.enqueue(1) if true",
      "x = Billing::Pay.enqueue(1)",
    ]) {
      assertRefused(other, other, /^Here must stand a call of Billing::Pay\.enqueue/);
    }
    assertRefused("# nothing\n\n", "", /^Here must stand a call of Billing::Pay\.enqueue/);
    assert.deepEqual(problemsIn("Billing::Pay.enqueue(1)\nputs 1; exit"), [
      ["puts 1", "One call of Billing::Pay.enqueue is all that can stand here."],
      ["exit", "One call of Billing::Pay.enqueue is all that can stand here."],
    ]);
  });

  it("tells all that is amiss, in the order of the text", () => {
    assert.deepEqual(
      problemsIn("Other.start(a,\n  1r, b: c)").map(([where]) => where),
      ["Other", "start", "a", "1r", "c"],
    );
    const many = `Billing::Pay.enqueue(${"x, ".repeat(500)}1)`;
    assert.equal(problemsIn(many).length, 100);
  });

  it("passes on what Ruby's parser says of a broken text, and nothing else of it", () => {
    assertRefused(
      "Billing::Pay.enqueue(1, x,\n",
      "\n",
      /^Ruby cannot read this: unexpected end-of-input; expected a `\)`/,
    );
    for (const text of [
      'Billing::Pay.enqueue(:"\\xff")',
      "Billing::Pay.enqueue(08)",
      "Billing::Pay.enqueue(a: 1, 2)",
      'Billing::Pay.enqueue("\\ud800")',
    ]) {
      const problems = problemsIn(text);
      assert.ok(problems.length > 0, text);
      for (const [, message] of problems) assert.match(message!, /^Ruby cannot read this: .*\w\.$/, text);
    }
  });

  it("drops nothing silently that Ruby would not read", () => {
    assertRefused(
      "Billing::Pay.enqueue(1)\n__END__\nmore\n",
      "__END__\nmore\n",
      /^Ruby does not read what stands from here on/,
    );
    for (const [character, escape] of [
      ["\0", "00"],
      ["\x04", "04"],
      ["\x1a", "1A"],
    ] as const) {
      assertRefused(`Billing::Pay.enqueue("é${character}")`, character, new RegExp(`write it as \\\\x${escape}\\.$`));
    }
    const half = read('Billing::Pay.enqueue("\ud83d")');
    assert.deepEqual(
      half.problems.map(({ message, range }) => [message, range.start]),
      [["This is half of a character.", { line: 0, character: 22 }]],
    );
  });

  it("is refused where it is too large, or nested without end", () => {
    const [large] = read(`Billing::Pay.enqueue("${"x".repeat(2 * 1024 * 1024)}")`).problems;
    assert.match(large!.message, /^The text is longer than 2 MiB/);
    const [deep] = read(`Billing::Pay.enqueue(${"[".repeat(100_000)}`).problems;
    assert.match(deep!.message, /nested too deeply/);
    assert.equal(call("Billing::Pay.enqueue(1)").args.length, 1, "and the next one is read");
  });

  it("hints at literals alone where there are no placeholders, and at a few where there are many", () => {
    const message = (names: readonly string[]): string => read("Billing::Pay.enqueue(x)", names).problems[0]!.message;
    assert.match(message([]), / Write a literal\.$/);
    const many = Array.from({ length: 9 }, (_, index) => `order_${index}`);
    assert.match(message(many), /use one of order_0, order_1, order_2, order_3, order_4, order_5, …\.$/);
  });
});
