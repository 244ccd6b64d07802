import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { classesInSource } from "../../../src/ruby/classes";
import { loadParser, type Parse } from "../../../src/ruby/prism";
import type { ClassDefinition, SourceClasses, SourceRange } from "../../../src/ruby/protocol";

const root = join(import.meta.dirname, "..", "..", "..");

describe("the classes of a Ruby source", () => {
  let parse: Parse;

  before(async () => {
    parse = await loadParser(join(root, "node_modules", "@ruby", "prism", "src", "prism.wasm"));
  });

  function read(text: string): SourceClasses {
    return classesInSource(parse, text);
  }

  /** The names of a sound source's classes. */
  function names(text: string): string[] {
    const { classes, problem } = read(text);
    assert.equal(problem, null);
    return classes.map(({ name }) => name);
  }

  function only(text: string): ClassDefinition {
    const [first, ...more] = read(text).classes;
    assert.ok(first);
    assert.deepEqual(more, []);
    return first;
  }

  /** What stands at a range, as the editor counts. */
  function at(text: string, { start, end }: SourceRange): string {
    const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
    const taken = lines.slice(start.line, end.line + 1);
    taken[taken.length - 1] = taken.at(-1)!.slice(0, end.character);
    taken[0] = taken[0]!.slice(start.character);
    return taken.join("\n");
  }

  it("names classes by their lexical nesting", () => {
    assert.deepEqual(
      names(`
        class Plain; end
        module Outer
          class Inner < Base; end
          module Deeper
            class ::Absolute; end
            class Way::Down; end
            class Inner
              class Nested; end
            end
          end
        end
        class Billing::SyncInvoice::Retry; end
        class self::Here; end
      `),
      [
        "Plain",
        "Outer::Inner",
        "Absolute",
        "Outer::Deeper::Way::Down",
        "Outer::Deeper::Inner",
        "Outer::Deeper::Inner::Nested",
        "Billing::SyncInvoice::Retry",
        "Here",
      ],
    );
  });

  it("gives the other names that only the running program can rule out", () => {
    const [made] = read("module A; module B; class C::D; end; end; end").classes;
    assert.equal(made!.name, "A::B::C::D");
    assert.deepEqual(made!.otherNames, ["A::C::D", "C::D"]);
    assert.deepEqual(read("module A; class B; end; end").classes[0]!.otherNames, []);
    assert.deepEqual(read("class C::D; end").classes[0]!.otherNames, []);
  });

  it("knows classes that are made by a call", () => {
    const { classes } = read(`
      module Jobs
        Made = Class.new(Base) do
          include Rage::Deferred::Task
          def perform(id) = id
          Inner = Class.new
        end
        Point = Struct.new(:x, :y) { def perform; end }
        Coordinates ||= Data.define(:lat)
        Jobs::Path = ::Class.new(StandardError)
        Number = 12
        Thing = Other.new do
          def perform; end
        end
      end
    `);
    assert.deepEqual(
      classes.map(({ name, superclass, perform }) => [name, superclass, perform !== null]),
      [
        ["Jobs::Made", "Base", true],
        ["Jobs::Inner", null, false],
        ["Jobs::Point", "Struct", true],
        ["Jobs::Coordinates", "Data", false],
        ["Jobs::Jobs::Path", "StandardError", false],
      ],
    );
    assert.equal(classes[0]!.includesTask, true);
  });

  it("leaves out what has no name in the text, and finds what is beside it", () => {
    assert.deepEqual(
      names(`
        class foo::Bar
          class Unknown; end
          class ::Known; end
        end
        class << self; def perform; end; end
        Class.new { def perform; end }
        if true
          class Conditional; end
        end
        begin
          class Tried; end
        rescue LoadError
        end
      `),
      ["Known", "Conditional", "Tried"],
    );
  });

  it("sees no class in comments, strings, heredocs, symbols and behind __END__", () => {
    assert.deepEqual(
      names(
        `
        # class Comment
=begin
class Block
end
=end
        TEXT = <<~RUBY
          class Heredoc
            def perform; end
          end
        RUBY
        'class Quoted; end'
        %q(class Percent; end)
        [:class, :Symbol]
        object.class
        class Real
          SQL = <<~ONE + <<~TWO
            class First; end
          ONE
            class Second; end
          TWO
        end
`.replaceAll(/^ {8}/gm, "") + "\n__END__\nclass Data; end\n",
      ),
      ["Real"],
    );
  });

  it("tells what includes the task module from what does not", () => {
    const includes = (body: string): boolean => only(`class A\n${body}\nend`).includesTask;
    assert.equal(includes("include Rage::Deferred::Task"), true);
    assert.equal(includes("include ::Rage::Deferred::Task"), true);
    assert.equal(includes("include Comparable, Rage::Deferred::Task"), true);
    assert.equal(includes("self.include(Rage::Deferred::Task)"), true);
    assert.equal(includes("extend Rage::Deferred::Task"), false);
    assert.equal(includes("include Other::Rage::Deferred::Task"), false);
    assert.equal(includes("Other.include Rage::Deferred::Task"), false);
    assert.equal(includes("# include Rage::Deferred::Task"), false);
    assert.equal(includes("def self.x; include Rage::Deferred::Task; end"), false);
  });

  describe("perform", () => {
    const perform = (body: string) => only(`class A\n${body}\nend`).perform;

    it("is the instance method of the class itself", () => {
      assert.equal(perform("def self.perform(id); end"), null);
      assert.equal(perform("class << self; def perform(id); end; end"), null);
      assert.equal(perform("def other; def perform; end; end"), null);
      assert.equal(perform("def object.perform; end"), null);
      assert.equal(perform("def perform?; end; def performs; end"), null);
      assert.equal(perform("Other.class_eval do\n def perform; end\nend"), null);
      assert.equal(perform("B = Class.new { def perform; end }".replace("B =", "x =")), null);
      assert.ok(perform("def perform; end"));
      assert.ok(perform("private def perform; end"));
      assert.ok(perform("if RUBY_VERSION > '3'\n def perform; end\nend"));
      assert.ok(perform("memoize(def perform; end)"));
    });

    it("of an inner class is not the outer one's", () => {
      const [outer, inner] = read("class A\nclass B\ndef perform; end\nend\nend").classes;
      assert.equal(outer!.perform, null);
      assert.equal(inner!.name, "A::B");
      assert.ok(inner!.perform);
    });

    it("is the last of several", () => {
      assert.deepEqual(perform("def perform(a); end\ndef perform(b); end")!.parameters, [{ kind: "req", name: "b" }]);
    });

    it("may be made of a block, or be another's name", () => {
      assert.deepEqual(perform("define_method(:perform) { |id, force: false| }")!.parameters, [
        { kind: "req", name: "id" },
        { kind: "key", name: "force" },
      ]);
      assert.deepEqual(perform('define_method("perform") { }')!.parameters, []);
      assert.deepEqual(perform("define_method(:perform) { _1 + _2 }")!.parameters, [
        { kind: "req", name: null },
        { kind: "req", name: null },
      ]);
      assert.deepEqual(perform("define_method(:perform) { it }")!.parameters, [{ kind: "req", name: null }]);
      assert.equal(perform("define_method(:perform, &block)")!.parameters, null);
      assert.equal(perform("alias perform run")!.parameters, null);
      assert.equal(perform("alias_method :perform, :run")!.parameters, null);
      assert.equal(perform("alias run perform"), null);
      assert.equal(perform("alias_method :run, :perform"), null);
    });
  });

  it("gives places as the editor counts them", () => {
    const lines = [
      "# Grüße 📚",
      'module Bücher; X = "📚"; class Zähler::Größe < Basis::Oben # 📚',
      '    "é"; def perform(größe, « = 1)'.replace("« = 1", "b = 1"),
      "    end",
      "  end; end",
    ];
    for (const [lineEnd, mark] of [
      ["\n", ""],
      ["\r\n", ""],
      ["\n", "\ufeff"],
      ["\r\n", "\ufeff"],
    ] as const) {
      const text = mark + lines.join(lineEnd);
      const { name, range, nameRange, superclass, perform } = only(text);
      assert.equal(name, "Bücher::Zähler::Größe");
      assert.equal(superclass, "Basis::Oben");
      assert.equal(at(text, nameRange), "Zähler::Größe");
      assert.equal(at(text, perform!.nameRange), "perform");
      assert.equal(at(text, perform!.range), "def perform(größe, b = 1)\n    end");
      assert.match(at(text, range), /^class Zähler[^]*\n {2}end$/);
      assert.deepEqual(perform!.parameters, [
        { kind: "req", name: "größe" },
        { kind: "opt", name: "b" },
      ]);
    }
  });

  it("reads UTF-8 whatever encoding a comment names", () => {
    const { name, nameRange } = only("# encoding: iso-8859-1\nclass Größe; end");
    assert.equal(name, "Größe");
    assert.deepEqual(nameRange.end, { line: 1, character: 11 });
  });

  it("gives what there is of a broken source, and what is wrong with it", () => {
    const open = read("class A\n  def perform(id, force: false)\n    foo(\n");
    assert.deepEqual(
      open.classes.map(({ name, perform }) => [name, perform?.parameters?.length]),
      [["A", 2]],
    );
    assert.ok(open.problem!.message.length > 0);
    assert.ok(open.problem!.position.line >= 2);
    const middle = read("class A\n  def perform(; end\nend\nclass B\n  def perform; end\nend\n");
    assert.ok(middle.classes.some(({ name }) => name === "B" || name === "A::B"));
    assert.notEqual(middle.problem, null);
    assert.notEqual(read("class lower; end").problem, null);
    assert.notEqual(read("class A::; end").problem, null);
    assert.notEqual(read("def").problem, null);
    assert.notEqual(read("\ufffd}}}end").problem, null);
  });

  it("reads an empty source, and one of nothing but a mark", () => {
    for (const text of ["", "\ufeff", "\n\n", "# nothing"]) {
      assert.deepEqual(read(text), { classes: [], problem: null });
    }
  });

  it("refuses a source that is nested without end, and reads the next", () => {
    assert.throws(() => read("[".repeat(20_000)), {
      message: "Ruby's parser cannot read this source; perhaps it is nested too deeply.",
    });
    assert.deepEqual(names("class A; end"), ["A"]);
  });

  it("reads a thousand sources one after another", () => {
    const source = readFileSync(join(root, "test/demo-app/app/tasks/send_welcome_email.rb"), "utf8");
    for (let round = 0; round < 1_000; round++) assert.equal(read(source).classes.length, 1);
  });

  it("reads the tasks of the demo application", () => {
    const task = (file: string): ClassDefinition => {
      const { classes } = read(readFileSync(join(root, "test", "demo-app", "app", "tasks", file), "utf8"));
      return classes.find(({ includesTask }) => includesTask)!;
    };
    const charge = task("billing/charge_card.rb");
    assert.equal(charge.name, "Billing::ChargeCard");
    assert.deepEqual(charge.perform!.nameRange.start, { line: 9, character: 8 });
    assert.deepEqual(charge.perform!.parameters, [
      { kind: "req", name: "amount" },
      { kind: "keyreq", name: "token" },
      { kind: "keyreq", name: "currency" },
      { kind: "key", name: "invoice_id" },
      { kind: "key", name: "idempotency_key" },
    ]);
    for (const file of ["sync_invoice.rb", "import_catalog.rb", "resize_image.rb", "notify_slack.rb"]) {
      assert.ok(task(file).perform, file);
    }
  });
});
