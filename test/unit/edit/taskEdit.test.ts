import assert from "node:assert/strict";
import { limits } from "../../../src/edit/limits";
import type { EditableTask, EditCheck } from "../../../src/edit/protocol";
import { checkEdit, editableTask, prepareEdit } from "../../../src/edit/taskEdit";
import { writeMarshal, type RubyArray, type RubyValue } from "../../../src/marshal";
import type { Parse } from "../../../src/ruby/prism";
import type { DeadTask } from "../../../src/storage";
import { readContext } from "../../../src/storage/context";
import { StreamGenerator } from "../../fuzz/generate";
import { Random } from "../../fuzz/random";
import { callIn, contextOf, foundTask, openedTask, readBack, rubyParser } from "../../support/edits";
import {
  array,
  ascii,
  binary,
  bool,
  classNamed,
  cyclicArray,
  date,
  float,
  hash,
  int,
  nil,
  object,
  range,
  set,
  str,
  struct,
  sym,
  symbolHash,
  time,
} from "../../support/ruby";
import { fixtureCases } from "../../support/stores";

describe("a dead task to be edited", () => {
  let parse: Parse;

  before(async () => {
    parse = await rubyParser();
  });

  function opened(args: RubyValue, kwargs?: RubyValue, maskedNames: readonly string[] = ["token"]): EditableTask {
    return openedTask(foundTask(contextOf(args, kwargs)), maskedNames);
  }

  /** The text from the call on. */
  function textOf(...parameters: Parameters<typeof opened>): string {
    const { text } = opened(...parameters);
    return text.slice(text.search(/^[^#]/m));
  }

  function check(
    found: DeadTask,
    change: (text: string) => string,
    maskedNames: readonly string[] = ["token"],
  ): EditCheck {
    const task = openedTask(found, maskedNames);
    return checkEdit(found, { version: task.version, call: callIn(parse, task, change(task.text)), maskedNames });
  }

  /** The context that an edit of the text makes. */
  function edited(found: DeadTask, change: (text: string) => string): RubyArray {
    const task = openedTask(found, ["token"]);
    const edit = prepareEdit(found, {
      version: task.version,
      call: callIn(parse, task, change(task.text)),
      maskedNames: ["token"],
    });
    assert.ok(edit.kind === "ready", JSON.stringify(edit));
    return readContext(edit.edited.context);
  }

  describe("opens as Ruby", () => {
    it("with an argument a line, and what to know of it above", () => {
      const order = object("Shop::OrderLine", { "@id": int(7), "@token": str("hidden") });
      const { text, placeholders } = opened(
        array(str("user@example.com"), hash([str("total"), float(12.5)], [sym("ids"), array(int(1), int(2))]), order),
        symbolHash({ locale: sym("en"), api_token: str("hidden") }),
      );
      assert.equal(
        text,
        `# The arguments of ImportCsv, dead task 1-1-1.
# Save to retry the task with what stands here; nothing of it is run before.
# Write literals: nil, true, numbers, strings, symbols, arrays, hashes, ranges.
# These names stand for values as they are. Move, remove or replace them:
#   order_line_1  #<Shop::OrderLine @id=7, @token=[FILTERED]>
#   secret_1      [FILTERED]
ImportCsv.enqueue(
  "user@example.com",
  { "total" => 12.5, ids: [1, 2] },
  order_line_1,
  locale: :en,
  api_token: secret_1,
)
`,
      );
      assert.deepEqual(placeholders, [
        { name: "order_line_1", description: "#<Shop::OrderLine @id=7, @token=[FILTERED]>", kind: "value" },
        { name: "secret_1", description: "[FILTERED]", kind: "secret" },
      ]);
      assert.equal(opened(nil()).text.split("\n").length, 5);
      const odd = openedTask({ ...foundTask(contextOf(nil())), id: "1\r\u2028\u202eexit" });
      assert.equal(odd.text.split("\n")[0], "# The arguments of ImportCsv, dead task 1 exit.");
      assert.equal(odd.id, "1\r\u2028\u202eexit");
    });

    it("with the literals of all plain types", () => {
      const huge = 2n ** 70n;
      assert.equal(
        textOf(
          array(
            nil(),
            bool(true),
            int(-1),
            int(huge),
            float(-0),
            float(1e300),
            float(NaN),
            float(-Infinity),
            sym("a b"),
          ),
          hash(
            [sym("é"), str("é\n#{x}\u202e\u0000")],
            [ascii("a"), ascii("b")],
            [int(1), binary(Buffer.from([0xff, 0x41]))],
            [nil(), array()],
            [sym("r"), range(int(1), nil(), true)],
            [sym("s"), range(nil(), str("z"))],
            [sym("h"), hash()],
          ),
        ),
        String.raw`ImportCsv.enqueue(
  nil,
  true,
  -1,
  1180591620717411303424,
  -0.0,
  1.0e+300,
  Float::NAN,
  -Float::INFINITY,
  :"a b",
  é: "é\n\#{x}\u202E\u0000",
  "a".force_encoding("US-ASCII") => "b".force_encoding("US-ASCII"),
  1 => "\xFFA".b,
  nil => [],
  r: (1...),
  s: (.."z"),
  h: {},
)
`,
      );
      assert.equal(textOf(nil()), "ImportCsv.enqueue()\n");
      assert.equal(textOf(array()), "ImportCsv.enqueue()\n");
    });

    it("with long containers broken up", () => {
      const long = Array.from({ length: 3 }, (_, index) => str(`${"x".repeat(40)}${index}`));
      assert.equal(
        textOf(array(symbolHash({ list: array(...long), b: int(1) }))),
        `ImportCsv.enqueue(\n  {\n    list: [\n${long.map(({ bytes }) => `      "${Buffer.from(bytes).toString()}",\n`).join("")}    ],\n    b: 1,\n  },\n)\n`,
      );
    });

    it("with a placeholder for each value that has no literal", () => {
      const noParts = { instanceVariables: [], extendedBy: [], userClass: null } as const;
      const others: readonly (readonly [name: string, value: RubyValue])[] = [
        ["point_1", struct("Point", { x: int(1) })],
        ["time_1", time(1767225637.123456)],
        ["date_1", date(2026, 11, 29)],
        ["set_1", set(int(1))],
        ["class_1", classNamed("String")],
        ["regexp_1", { type: "regexp", bytes: Buffer.from("a"), options: 0, ...noParts }],
        ["my_list_1", { ...array(), userClass: sym("MyList") }],
        ["array_1", { ...array(), extendedBy: [sym("Comparable")] }],
        ["hash_1", { ...hash(), defaultValue: int(1) }],
        ["hash_2", { ...hash(), comparesByIdentity: true }],
        [
          "string_1",
          { ...str("a"), instanceVariables: [...str("a").instanceVariables, { name: sym("@a"), value: nil() }] },
        ],
        [
          "string_2",
          {
            ...binary(Buffer.from([0x93])),
            instanceVariables: [{ name: sym("encoding"), value: binary(Buffer.from("Shift_JIS")) }],
          },
        ],
        ["range_1", range(time(1), time(2))],
        ["array_2", cyclicArray((itself) => [itself])],
        ["if_1", object("If", {})],
        ["http_client_1", object("Net::HTTPClient", {})],
        ["value_1", object("Größe", {})],
        ["secret_1", object("Secret", {})],
      ];
      const { text, placeholders } = opened(array(...others.map(([, value]) => value)));
      assert.deepEqual(
        placeholders.map(({ name, kind }) => [name, kind]),
        others.map(([name]) => [name, "value"]),
      );
      assert.match(text, /^#   array_2 +\[\[\.\.\.\]\]$/m);
    });

    it("with one placeholder for what is there more than once, be it in the log's context", () => {
      const [shared, logged] = [str("shared"), str("logged")];
      const found = foundTask(
        contextOf(array(shared, array(shared), logged, str("once")), nil(), nil(), array(logged), nil()),
      );
      const { text } = openedTask(found);
      assert.ok(text.endsWith('(\n  string_1,\n  [string_1],\n  string_2,\n  "once",\n)\n'), text);
      assert.equal(
        textOf(array(range(shared, nil()), shared, range(str("a"), str("b")))),
        'ImportCsv.enqueue(\n  range_1,\n  string_1,\n  ("a".."b"),\n)\n',
      );
      const number = float(1.5);
      assert.equal(textOf(array(number, number)), "ImportCsv.enqueue(\n  1.5,\n  1.5,\n)\n");
      const key = str("id");
      assert.equal(
        textOf(array(hash([key, int(1)]), hash([key, int(2)]))),
        'ImportCsv.enqueue(\n  { "id" => 1 },\n  { "id" => 2 },\n)\n',
      );
    });

    it("with what is too much to edit as a placeholder, the deepest first", () => {
      const many = array(...Array.from({ length: limits.entries + 1 }, () => nil()));
      const values: readonly (readonly [value: RubyValue, isLiteral: boolean])[] = [
        [str("x".repeat(limits.stringBytes)), true],
        [str("x".repeat(limits.stringBytes + 1)), false],
        [binary(Buffer.alloc(limits.escapedBytes, 0xff)), true],
        [binary(Buffer.alloc(limits.escapedBytes + 1, 0xff)), false],
        [sym("x".repeat(limits.stringBytes + 1)), false],
        [int(10n ** BigInt(limits.digits - 1)), true],
        [int(10n ** BigInt(limits.digits)), false],
        [array(...many.elements.slice(1)), true],
        [many, false],
      ];
      for (const [value, isLiteral] of values) {
        assert.equal(opened(array(value)).placeholders.length, isLiteral ? 0 : 1, value.type);
      }
      let deep: RubyValue = int(1);
      for (let depth = 0; depth < limits.depth; depth++) deep = array(deep);
      assert.equal(opened(array(deep)).placeholders.length, 0);
      assert.equal(opened(array(array(deep))).placeholders.length, 1);
      const wide = array(
        ...Array.from({ length: 20 }, () => array(...Array.from({ length: 200 }, () => array(int(1))))),
      );
      const { placeholders, text } = opened(wide);
      assert.ok(placeholders.length > 0 && !text.includes("and 1,"));
      assert.ok((text.match(/\[1\]|array_\d+/g) ?? []).length <= limits.values);
      for (const { description } of placeholders) assert.ok(description.length <= 120);
    });

    it("with as many placeholders in its comment as one reads", () => {
      const { text, placeholders } = opened(
        array(...Array.from({ length: 60 }, (_, index) => object("A", { "@i": int(index) }))),
      );
      assert.equal(placeholders.length, 60);
      assert.match(text, /^#   a_50 {2}#<A @i=49>\n#   and 10 more\nImportCsv/m);
    });

    it("with secrets masked, wherever they stand", () => {
      const secret = str("hidden");
      const { text, placeholders } = opened(
        array(symbolHash({ "x-TOKEN": int(4711) }), hash([str("token"), secret], [sym("token"), secret]), secret),
        symbolHash({ token: nil(), tokens: array(str("hidden")) }),
      );
      assert.ok(!/hidden|4711/.test(JSON.stringify([text, placeholders])), text);
      assert.ok(
        text.includes(
          '{ "token" => secret_2, token: secret_2 },\n  secret_2,\n  token: secret_3,\n  tokens: secret_4,',
        ),
        text,
      );
    });

    it("only where it can come back whole", () => {
      const refusal = (context: Uint8Array): string => {
        const reply = editableTask(foundTask(context), []);
        assert.ok(reply.kind === "refused");
        return reply.reason;
      };
      const list = array(int(1));
      const named = (name: string): Uint8Array => writeMarshal(array(classNamed(name), nil(), nil(), nil()));
      assert.match(refusal(Buffer.from("none")), /context cannot be decoded/);
      assert.match(refusal(named("#<Class:0x1>")), /has no name that Ruby source could call it by/);
      assert.match(refusal(named("a::B; exit")), /has no name/);
      for (const args of [cyclicArray((itself) => [itself]), { ...list, userClass: sym("List") }]) {
        assert.match(refusal(contextOf(args)), /^Its arguments refer to themselves, or are more than/);
      }
      assert.match(refusal(contextOf(list, nil(), list)), /^Its arguments refer to themselves/);
      assert.match(refusal(contextOf(nil(), { ...hash(), defaultValue: nil() })), /^Its arguments refer/);
      const many = array(...Array.from({ length: 299 }, () => nil()));
      assert.match(
        refusal(contextOf(many, symbolHash({ a: nil(), b: nil() }))),
        /^It has 301 arguments, and no more than 300/,
      );
      assert.equal(editableTask(null, []).kind, "gone");
      const unreadable = { kind: "unreadable", id: "1-1-1", reason: "it is no Hash", offset: 0, length: 1 } as const;
      assert.deepEqual(editableTask(unreadable, []), {
        kind: "refused",
        reason: "Its record cannot be read (it is no Hash), so it can only be deleted.",
      });
      assert.match(openedTask(foundTask(named("Größe::Köln"))).text, /^Größe::Köln\.enqueue\(\)$/m);
    });
  });

  describe("comes back", () => {
    it("as unchanged from its own text: the fixtures", () => {
      let count = 0;
      for (const { expected } of fixtureCases) {
        for (const { context_base64 } of expected) {
          const found = foundTask(Buffer.from(context_base64, "base64"));
          if (editableTask(found, []).kind === "refused") continue;
          assert.deepEqual(
            check(found, (text) => text),
            { kind: "unchanged" },
          );
          count++;
        }
      }
      assert.ok(count > 250, `${count} tasks`);
    });

    it("as unchanged from its own text: streams at random", () => {
      const random = new Random("edited streams");
      let [count, refused] = [0, 0];
      for (let round = 0; round < 3_000; round++) {
        const stream = new StreamGenerator(random).array([
          (write) => {
            write.class("ImportCsv");
          },
          (write) => {
            write.raw("[\x07");
            write.value(2);
            write.value(2);
          },
          ...[0, 1, 2, 3].map(() => (write: { raw(text: string): void }) => {
            write.raw("0");
          }),
        ]);
        const found = foundTask(stream);
        const reply = editableTask(found, ["password", "token"]);
        if (reply.kind !== "task") {
          refused++;
          continue;
        }
        assert.ok(!reply.text.includes("s3cr3t"));
        const { call, problems } = readBack(parse, reply);
        // Ruby writes no Hash with one key twice, and the generator does.
        if (problems.some(({ message }) => message.startsWith("This key is here twice"))) continue;
        assert.deepEqual(problems, [], reply.text);
        assert.equal(
          checkEdit(found, { version: reply.version, call: call!, maskedNames: ["password", "token"] }).kind,
          "unchanged",
          reply.text,
        );
        count++;
      }
      assert.ok(count > 1_000 && refused > 0, `${count} read back, ${refused} refused`);
    });

    it("with other values, and everything else as it was", () => {
      const order = object("Order", { "@id": int(7) });
      const rest = [array(str("tag")), symbolHash({ request: order }), str("user"), int(8)];
      const found = foundTask(
        contextOf(array(order, str("a")), symbolHash({ locale: sym("en"), token: str("hidden") }), ...rest),
      );
      const { elements } = edited(found, (text) => text.replace('"a"', '["b", order_1]').replace(":en", "2"));
      assert.deepEqual(elements, [
        classNamed("ImportCsv"),
        array(order, array(str("b"), order)),
        symbolHash({ locale: int(2), token: str("hidden") }),
        nil(),
        ...rest,
      ]);
      const [, args, , , , log] = elements;
      assert.ok(args?.type === "array" && args.elements[1]?.type === "array" && log?.type === "hash");
      assert.equal(args.elements[0], args.elements[1].elements[1], "one object, as before");
      assert.equal(args.elements[0], log.entries[0]![1], "also where it is not seen");
    });

    it("with nil where nothing was put in its place, and a list or a Hash where something was", () => {
      const nothing = foundTask(contextOf(nil(), nil()));
      const replaced = (found: DeadTask, call: string): RubyValue[] =>
        edited(found, () => `ImportCsv.enqueue${call}`).elements.slice(1, 3);
      assert.deepEqual(replaced(nothing, "()"), [nil(), nil()]);
      assert.deepEqual(replaced(nothing, "(1)"), [array(int(1)), nil()]);
      assert.deepEqual(replaced(nothing, "(a: 1)"), [nil(), symbolHash({ a: int(1) })]);
      assert.deepEqual(replaced(nothing, "({ a: 1 })"), [array(symbolHash({ a: int(1) })), nil()]);
      const both = foundTask(contextOf(array(int(1)), symbolHash({ a: int(1) })));
      assert.deepEqual(replaced(both, "(a: 1)"), [array(), symbolHash({ a: int(1) })]);
      assert.deepEqual(replaced(both, "(1)"), [array(int(1)), hash()]);
    });

    it("with its bytes where nothing was changed", () => {
      const found = foundTask(contextOf(array(float(100), str("é")), symbolHash({ a: int(1) })));
      const task = openedTask(found);
      const edit = prepareEdit(found, {
        version: task.version,
        call: callIn(parse, task, task.text.replace("100.0", "1e2")),
        maskedNames: [],
      });
      assert.ok(edit.kind === "ready" && !edit.isChange);
      assert.equal(edit.edited.context, found.context);
      assert.equal(edit.texts.before, edit.texts.after);
    });

    it("not where it has died anew, or other names are masked by now", () => {
      const found = foundTask(contextOf(array(int(1))), 1);
      const task = openedTask(found, ["token"]);
      const call = callIn(parse, task, task.text.replace("1,", "2,"));
      const again = foundTask(found.context, 2);
      for (const [now, names] of [
        [again, ["token"]],
        [found, ["token", "key"]],
      ] as const) {
        assert.deepEqual(checkEdit(now, { version: task.version, call, maskedNames: names }), {
          kind: "changedMeanwhile",
        });
        const edit = prepareEdit(now, { version: task.version, call, maskedNames: names });
        assert.ok(edit.kind === "failed");
        assert.match(edit.error, /Nothing was written; open it again/);
      }
      assert.equal(checkEdit(null, { version: task.version, call, maskedNames: ["token"] }).kind, "gone");
      assert.equal(prepareEdit(null, { version: task.version, call, maskedNames: ["token"] }).kind, "gone");
      assert.equal(checkEdit(found, { version: task.version, call, maskedNames: ["token"] }).kind, "changed");
    });

    it("not with what cannot be kept", () => {
      const long = str("x".repeat(3_000));
      const found = foundTask(
        contextOf(array(long, date(2026, 1, 1), date(2026, 1, 1), object("A", {}), object("A", {}))),
      );
      const refused = (parameters: string): string => {
        const result = check(found, () => `ImportCsv.enqueue(${parameters})`);
        assert.ok(result.kind === "refused", JSON.stringify(result));
        return result.reason;
      };
      const equalKeys = /^A hash has two keys that are equal/;
      assert.match(refused(`{ string_1 => 1, "${"x".repeat(3_000)}" => 2 }`), equalKeys);
      assert.match(refused("{ date_1 => 1, date_2 => 2 }"), equalKeys);
      assert.match(refused("[date_1] => 1, [date_2] => 2"), equalKeys);
      assert.equal(
        check(found, () => "ImportCsv.enqueue({ a_1 => 1, a_2 => 2, date_1 => 3, string_1 => 4 })").kind,
        "changed",
      );
      const task = openedTask(found, ["token"]);
      const made = (name: string, taskClass = "ImportCsv"): EditCheck =>
        checkEdit(found, {
          version: task.version,
          call: { taskClass, args: [{ kind: "placeholder", name }], kwargs: [] },
          maskedNames: ["token"],
        });
      assert.deepEqual(made("other_1"), { kind: "refused", reason: "No value is known as other_1." });
      assert.deepEqual(made("a_1", "Other"), { kind: "refused", reason: "The class of a task cannot be changed." });
    });
  });

  describe("is compared", () => {
    const order = object("Order", { "@id": int(7) });
    const found = foundTask(
      contextOf(array(str("a"), order), symbolHash({ token: str("hidden"), other_token: str("concealed") })),
    );

    function compared(change: (text: string) => string): { before: string; after: string } {
      const result = check(found, change);
      assert.ok(result.kind === "changed", result.kind);
      assert.ok(!/hidden|concealed/.test(result.before + result.after));
      return result;
    }

    const before = `ImportCsv.enqueue(
  "a",
  order_1,
  token: secret_1,
  other_token: secret_2,
)

# order_1   #<Order @id=7>
# secret_1  [FILTERED]
# secret_2  [FILTERED]
`;

    it("as two texts", () => {
      const texts = compared((text) => text.replace('"a"', '"b"').replace("  order_1,\n", ""));
      assert.equal(texts.before, before);
      assert.equal(
        texts.after,
        'ImportCsv.enqueue(\n  "b",\n  token: secret_1,\n  other_token: secret_2,\n)\n\n# secret_1  [FILTERED]\n# secret_2  [FILTERED]\n',
      );
    });

    it("with what was written in a secret's place hidden, and seen to be another", () => {
      const { after } = compared((text) => text.replace("token: secret_1", 'token: { a: "new and concealed" }'));
      assert.equal(after.split("\n")[3], "  token: [FILTERED, changed],");
    });

    it("with secrets seen to be exchanged, or moved", () => {
      const { after } = compared((text) =>
        text.replace("token: secret_1", "token: secret_2").replace("other_token: secret_2", "other_token: secret_1"),
      );
      assert.equal(after.split("\n")[3], "  token: secret_2,");
      assert.match(compared((text) => text.replace('"a"', "secret_1")).after, /^ {2}secret_1,$/m);
    });

    it("also where a literal differs that equals another to Ruby", () => {
      for (const [from, to] of [
        ["1", "1.0"],
        ['"a"', '"a".b'],
        ["0.0", "-0.0"],
        [":a", '"a"'],
        ["(1..2)", "(1...2)"],
      ] as const) {
        const plain = foundTask(
          contextOf(edited(foundTask(contextOf(nil())), () => `ImportCsv.enqueue(${from})`).elements[1]!),
        );
        assert.equal(check(plain, () => `ImportCsv.enqueue(${from})`).kind, "unchanged", from);
        assert.equal(check(plain, () => `ImportCsv.enqueue(${to})`).kind, "changed", to);
      }
    });
  });
});
