import assert from "node:assert/strict";
import { join } from "node:path";
import { consoleSnippet, testText, type Framework, type Reproduction } from "../../../src/reproduce/reproductionText";
import { literalCalls } from "../../../src/ruby/literalCalls";
import { loadParser, type Parse } from "../../../src/ruby/prism";
import type { ContextText, TaskDetail } from "../../../src/service/protocol";
import { taskDetail } from "../../support/taskDetail";

interface Changes {
  readonly task?: Partial<TaskDetail>;
  readonly context?: Partial<ContextText>;
  readonly arguments?: string;
  readonly taskClass?: string;
  readonly place?: string | null;
}

function reproduction(changes: Changes = {}): Reproduction {
  const { task } = taskDetail({ failedAt: 1_767_225_637, fullMessage: "gateway said 503", ...changes.task });
  const context = { ...task.context!, ...changes.context };
  const call = { taskClass: changes.taskClass ?? "Charge", arguments: changes.arguments ?? "1, currency: :eur" };
  return { task, context, call, place: changes.place === undefined ? "app/tasks/charge.rb:12" : changes.place };
}

function text(framework: Framework, changes: Changes = {}): string {
  return testText(framework, reproduction(changes), { requires: ['require "helper"'], distinction: "" });
}

const frameworks: readonly Framework[] = ["rspec", "minitest"];

describe("the text that reproduces a task", () => {
  let parse: Parse;

  before(async () => {
    const root = join(import.meta.dirname, "..", "..", "..");
    parse = await loadParser(join(root, "node_modules", "@ruby", "prism", "src", "prism.wasm"));
  });

  /** Its lines that are no comments, of a text that Ruby would load. */
  function code(source: string): string[] {
    assert.deepEqual(
      [...parse(source).errors].map(({ message }) => message),
      [],
      source,
    );
    return source.split("\n").filter((line) => !line.startsWith("#"));
  }

  it("is a test for RSpec", () => {
    assert.equal(
      text("rspec"),
      `require "helper"

# Dead task 17-1-1. It died on 2026-01-01 00:00:37 UTC at app/tasks/charge.rb:12:
#   PaymentError: gateway said 503
RSpec.describe Charge do
  it "is performed without PaymentError: gateway said 503" do
    expect do
      Charge.new.perform(1, currency: :eur)
    end.not_to raise_error
  end
end
`,
    );
  });

  it("is a test for Minitest", () => {
    assert.equal(
      testText("minitest", reproduction({ taskClass: "Billing::ChargeCard" }), {
        requires: ['require "test_helper"'],
        distinction: "DeadTask",
      }),
      `require "test_helper"

# Dead task 17-1-1. It died on 2026-01-01 00:00:37 UTC at app/tasks/charge.rb:12:
#   PaymentError: gateway said 503
class BillingChargeCardDeadTaskTest < Minitest::Test
  def test_is_performed_without_payment_error
    Billing::ChargeCard.new.perform(1, currency: :eur)
    pass # Any exception fails the test before.
  end
end
`,
    );
  });

  it("is a snippet for the console", () => {
    assert.equal(
      consoleSnippet(reproduction({ place: null })),
      `# Dead task 17-1-1. It died on 2026-01-01 00:00:37 UTC:
#   PaymentError: gateway said 503
Charge.new.perform(1, currency: :eur)
`,
    );
  });

  it("says what has to be filled in, what has to be loaded, and what is not set", () => {
    const changes = {
      arguments: 'Marshal.load("\\x04\\bo:\\nOrder\\x00"), token: "[FILTERED]"',
      context: { logTags: '["5f3c"]', logContext: "{}", userContext: "{tenant: 7}" },
    };
    for (const source of [text("rspec", changes), text("minitest", changes), consoleSnippet(reproduction(changes))]) {
      assert.match(source, /^# \[FILTERED\] stands for secrets/m);
      assert.match(source, /^# Marshal\.load rebuilds what has no literal/m);
      assert.match(source, /^# Set by a worker, and not here: log tags \["5f3c"\], user context \{tenant: 7\}\.$/m);
    }
    assert.doesNotMatch(text("rspec"), /FILTERED|Marshal|worker/);
  });

  it("names an anonymous error, one without a message, and a time that is none", () => {
    const changes = { task: { exceptionClass: null, fullMessage: "", failedAt: 1e300 } };
    assert.match(text("rspec", changes), /It died on 1e\+300 at .*:\n# {3}\(anonymous error\)\nRSpec/);
    assert.match(text("rspec", changes), /it "is performed without \(anonymous error\)" do/);
    assert.match(text("minitest", changes), /def test_is_performed_without_an_anonymous_error$/m);
  });

  const hostile = [
    "first\nsystem('true')\n=begin\n__END__",
    "first\rsystem('true')",
    "first\u2028system('true')\u2029x\u0085y",
    '#{system("true")} #$stdout #@x "quoted" \\',
    "-*- encoding: utf-16 -*- shareable_constant_value: literal",
    "\0\u0004\u001a\u001b[31mred",
    "\u202egnihtemos\u202c \u200bhidden",
    "end\nend\nsystem 'true'",
    "\ud800 half",
    "x".repeat(100_000),
  ];
  for (const [index, bad] of hostile.entries()) {
    it(`is no other code for a message, a class or an id that somebody chose (${index + 1})`, () => {
      const changes = {
        task: { id: bad, exceptionClass: bad, fullMessage: bad },
        context: { logTags: bad, userContext: bad },
        place: bad,
      };
      for (const framework of frameworks) {
        const source = text(framework, changes);
        const lines = code(source);
        const plain = code(text(framework));
        // Only the line with the name of the test is another.
        assert.deepEqual(lines.toSpliced(3, 1), plain.toSpliced(3, 1));
        assert.match(lines[3]!, framework === "rspec" ? /^ {2}it "is performed without .*" do$/ : /^ {2}def test_\w+$/);
        assert.ok(source.split("\n").every((line) => line.length < 500));
        assert.doesNotMatch(source, /(?!\n)[\p{Cc}\u202a-\u202e\u200b\u2028\u2029]/u);
        assert.deepEqual(
          literalCalls(parse, source, ["require", "system"]).map(({ name }) => name),
          ["require"],
        );
        // An interpolation would be a string of several parts.
        if (framework === "rspec") assert.equal(literalCalls(parse, source, ["it"]).length, 1);
      }
      assert.deepEqual(code(consoleSnippet(reproduction(changes))), ["Charge.new.perform(1, currency: :eur)", ""]);
    });
  }
});
