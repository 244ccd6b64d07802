import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { callOf, referencesWithin } from "../../src/edit/callOf";
import type { EditableTask, EditedCall } from "../../src/edit/protocol";
import { checkEdit, prepareEdit } from "../../src/edit/taskEdit";
import { readMarshal, writeMarshal, type RubyArray } from "../../src/marshal";
import type { Parse } from "../../src/ruby/prism";
import type { DeadTask } from "../../src/storage";
import { readContext } from "../../src/storage/context";
import { Random } from "../fuzz/random";
import { callIn, contextOf, foundTask, openedTask, readBack, rubyParser } from "../support/edits";
import { array, hash, nil, object, str, sym, symbolHash } from "../support/ruby";
import { secondProcesses } from "../support/processes";
import { newTask, openStore, temporaryFolders } from "../support/stores";

const script = join(__dirname, "marshalPeer.rb");

function ruby<Answer>(mode: readonly string[], input: readonly object[] = []): Answer[] {
  const run = spawnSync("ruby", ["-W0", script, ...mode], {
    input: input.map((line) => `${JSON.stringify(line)}\n`).join(""),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Answer);
}

interface Question {
  readonly text: string;
  readonly names: readonly string[];
  /** Base64. */
  readonly values: string;
  readonly context: string;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** What Ruby is asked of a text and of the context that we make of it. */
function questionOf(found: DeadTask, task: EditableTask, text: string, context: Uint8Array): Question {
  const root = readMarshal(found.context) as RubyArray;
  const [args, kwargs] = [root.elements[1], root.elements[2]];
  const { values } = callOf(
    task.taskClass,
    args?.type === "array" ? args : null,
    kwargs?.type === "hash" ? kwargs : null,
    referencesWithin(root),
    () => false,
  );
  return {
    text,
    names: [...values.keys()],
    // In one stream, so that what they share stays shared.
    values: base64(writeMarshal(array(...values.values()))),
    context: base64(context),
  };
}

function contextFor(found: DeadTask, task: EditableTask, call: EditedCall): Uint8Array {
  const edit = prepareEdit(found, { version: task.version, call, maskedNames: [] });
  if (edit.kind !== "ready") throw new assert.AssertionError({ message: JSON.stringify(edit) });
  return edit.edited.context;
}

function assertSame(questions: readonly Question[]): void {
  const answers = ruby<{ same?: boolean; error?: string }>(["call"], questions);
  assert.equal(answers.length, questions.length);
  for (const [index, answer] of answers.entries()) {
    assert.equal(answer.error, undefined, questions[index]!.text);
    assert.equal(answer.same, true, questions[index]!.text);
  }
}

describe("an edited task against Ruby", function () {
  this.timeout(120_000);
  const folders = temporaryFolders();
  const processes = secondProcesses();
  let parse: Parse;
  /** Tasks of values of every kind at random. */
  let tasks: readonly DeadTask[];

  before(async () => {
    parse = await rubyParser();
    const values = ruby<{ marshal: string }>(["generate", "20261130", "2100"]).map(({ marshal }) =>
      readMarshal(Buffer.from(marshal, "base64")),
    );
    tasks = values.map((value, index) => {
      if (index % 3 === 0) return foundTask(contextOf(array(value, values[index - 1] ?? str("first"))));
      return foundTask(contextOf(nil(), hash([index % 3 === 1 ? sym("key") : str("key"), value])));
    });
    assert.equal(tasks.length, 2_100);
  });

  it("opens as a text that Ruby evaluates to what was stored, and that is read back as unchanged", () => {
    const questions = tasks.map((found) => {
      const task = openedTask(found);
      const call = callIn(parse, task);
      assert.deepEqual(checkEdit(found, { version: task.version, call, maskedNames: [] }), { kind: "unchanged" });
      assert.equal(base64(contextFor(found, task, call)), base64(found.context));
      return questionOf(found, task, task.text, found.context);
    });
    const literals = questions.filter(({ names }) => names.length === 0).length;
    assert.ok(
      literals > questions.length / 10 && literals < questions.length / 2,
      `${literals} of ${questions.length} are literals alone`,
    );
    assertSame(questions);
  });

  it("is enqueued with exactly what Ruby makes of the text", () => {
    const questions = tasks.map((found) => {
      const task = openedTask(found);
      const [one] = task.placeholders;
      const added = `nil, ${one === undefined ? '"é"' : `[${one.name}, ${one.name}]`},\n`;
      const text = task.text.replace("enqueue(\n", `enqueue(\n${added}`).replace(/\)\n$/, "added: 1)\n");
      return questionOf(found, task, text, contextFor(found, task, callIn(parse, task, text)));
    });
    assertSame(questions);
  });

  it("stands in the log as what Ruby loads from there", async () => {
    const path = join(folders.make(), "storage");
    const store = await openStore(path);
    await store.add(newTask("1-1-1", { context: contextOf(array(str("a@example.com"), str("shared"))) }));
    const found = await store.find("1-1-1");
    assert.ok(found?.kind === "task");
    const task = openedTask(found);
    const text = 'ImportCsv.enqueue("b@example.com", { "total" => 12.5, ids: [1, 2] }, locale: :é, "k" => nil)';
    const edit = prepareEdit(found, { version: task.version, call: callIn(parse, task, text), maskedNames: [] });
    assert.ok(edit.kind === "ready");
    const { retried } = await store.replay(["1-1-1"], null, { edited: new Map([["1-1-1", edit.edited]]) });
    const pending = (await processes.ruby(path).request({ do: "pending" })) as { id: string; context: string }[];
    assert.deepEqual(
      pending.map(({ id }) => id),
      retried.map(({ newId }) => newId),
    );
    const context = Buffer.from(pending[0]!.context, "base64");
    assertSame([questionOf(found, task, text, context)]);
    assert.deepEqual(readContext(context).elements.slice(3), [nil(), nil(), nil(), nil()]);
  });

  it("means in every form of a literal what Ruby means", () => {
    const shared = str("shared");
    const order = object("Plain", { "@a": shared, "@b": symbolHash({ x: shared }) });
    const found = foundTask(contextOf(array(order, order, shared)));
    const task = openedTask(found);
    assert.deepEqual(
      task.placeholders.map(({ name }) => name),
      ["plain_1", "string_1"],
    );
    const questions = accepted.map((parameters) => {
      const text = `ImportCsv.enqueue${parameters}\n`;
      return questionOf(found, task, text, contextFor(found, task, callIn(parse, task, text)));
    });
    assertSame(questions);
  });

  it("is read, of texts with something amiss, only where Ruby takes them, and then as Ruby does", () => {
    const random = new Random("edited texts");
    const pieces = accepted.flatMap((text) => text.match(/\S+|\s+/g) ?? []);
    const questions: Question[] = [];
    let refused = 0;
    const opened = tasks.slice(0, 200).map((found) => ({ found, task: openedTask(found) }));
    for (let round = 0; round < 4_000; round++) {
      const { found, task } = random.pick(opened);
      const base = random.oneIn(2) ? task.text : `ImportCsv.enqueue${random.pick(accepted)}\n`;
      const at = base.indexOf("enqueue") + 7 + random.below(base.length - base.indexOf("enqueue") - 7);
      const text = (base.slice(0, at) + random.pick(pieces) + base.slice(at + random.below(6))).replace(
        /\p{Surrogate}/gu,
        "",
      );
      const { call, problems } = readBack(parse, task, text);
      assert.equal(call === null, problems.length > 0, text);
      if (call === null) refused++;
      else questions.push(questionOf(found, task, text, contextFor(found, task, call)));
    }
    assert.ok(refused > 500 && questions.length > 500, `${refused} refused, ${questions.length} read`);
    assertSame(questions);
  });
});

/** Parameters in every form that is read. */
const accepted: readonly string[] = [
  "()",
  "",
  ' "no", "parentheses", with: "keywords"',
  "(nil, true, false, (1), ((nil)))",
  "(0, -0, +1, -1, 1_000, 0x1f, -0x1F, 0b101, 0o17, 017, 0d10, 0D9, 1_0_0)",
  "(1073741823, 1073741824, -1073741824, -1073741825, 3000000000, 4294967295, 4294967296, -3000000000)",
  "(18446744073709551616, -18446744073709551617, 0xffff_ffff_ffff_ffff_ffff, 9007199254740993)",
  "(0.0, -0.0, 1.5, 1e3, 1E-7, 1_0.2_5, 100.0, 1e15, 1e16, 5e-324, 1.7976931348623157e308, 123456789012345680.0)",
  "(0.001, 0.0001, 0.00001, -1.25e-5, 1e22, 1e23, 12345678.9, Float::NAN, Float::INFINITY, -Float::INFINITY)",
  String.raw`("", "plain", "é🙂", 'single \' \\ \n #{x}', "tab\tnew\nnull\0bell\a\e\s\x41\101\u00e9\u{1F600 41}")`,
  String.raw`("\xff", "\xe2\x82", "\xff\u00e9", "é\xff", "\M-a\C-a\c?\M-\C-a", "\x80\x81\x9f\xa0", "\#{no} \#$no # x")`,
  String.raw`("\xff\x00".b, "é".b, "ascii".b, "é".force_encoding("BINARY"), "a".force_encoding('us-ascii'), "b".b())`,
  String.raw`("\ufeffmark", "\xEF\xBB\xBFmark", "\357\273\277mark", '\ufeff', "﻿raw", '﻿raw', :"﻿raw", :"\ufeffmark", ?﻿)`,
  String.raw`("\ufeff", %w[﻿raw b], %W[\ufeffa \u00e9], %i[﻿raw], %Q(\ufeff "quoted" (nested)), %q(a\ufeff), "a\ufeff")`,
  `("adjacent" 'strings' "é" "\\xff", "over
two lines", "joined \\
lines", 'single
lines')`,
  "(?a, ?é, ?\\n, ?\\u00e9, ?\\\\, ?\\s)",
  "(%w[a b\\ c #{d}], %w(), %i[a b? c=], %W[a\\tb é], %I[a\\u00e9 b], %Q[a\"b], %q[a'b\\n], %(c))",
  `(<<~TEXT, <<-'RAW', <<TEXT, 1)
  squiggly
    indented \\u00e9

  end
TEXT
    raw \\u00e9
  RAW
plain \\x41
TEXT`,
  '(:a, :a?, :b!, :c=, :[], :[]=, :+, :-@, :!, :<=>, :@iv, :@@cv, :$g, :A, :nil, :é, :"a b", :\'c d\', :"\\u00e9", :"", %s(x y))',
  "([], [1, [2, [3]]], [nil,], [1, a: 2], [1, 'b' => 2], [{}])",
  '({}, { a: 1 }, { "a": 1, "b c": 2, \'d\': 3 }, { "k" => 1, 2 => 3, nil => 4, [1] => 5, 1.5 => 6 }, { a?: 1, b!: 2, if: 3, é: 4, A: 5 })',
  '({ 1 => :integer, 1.0 => :float, "1" => :string, :"1" => :symbol, [1] => :array, (1..1) => :range, "é" => 1, "é".b => 2 })',
  "({ trailing: 1 })",
  '(1, { "braced" => 1 })',
  '(1, "bare" => 1)',
  '(1, { "braced" => 1 }, bare: 2, "other" => 3, 4 => 5)',
  '("key" => 1, sym: 2, :rocket => 3, "quoted": 4, nil => 5, [1] => 6)',
  '((1..2), 1...2, (1..), (..1), (...1), (nil..nil), ("a".."f"), (1..2.5), (-1..-0.5), (:a..:b), (1.0...))',
  "(plain_1, [plain_1, { plain_1 => plain_1 }], string_1, key: string_1)",
  "(\n  # a comment\n  1, # another\n  2,\n)",
  "(1)\n=begin\nnothing\n=end\n# the end",
  '(1, 2,\r\n "a\r\nb")',
];
