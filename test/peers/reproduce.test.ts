import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { testPath } from "../../src/reproduce/conventions";
import { consoleSnippet, testText, type Framework, type Reproduction } from "../../src/reproduce/reproductionText";
import { detailOf } from "../../src/service/taskDetail";
import { newTask, openStore, temporaryFolders } from "../support/stores";

/** The application: what its task is given, and the task itself, which takes it apart. */
const values = `
Money = Struct.new(:cents, :currency)
class Order
  attr_reader :money
  def initialize(money) = @money = money
end
`;
function taskClass(failure: string): string {
  return String.raw`${values}
module Billing
  class RefundOrder
    def perform(email, order, options = {}, token:, at: nil)
      raise ArgumentError, "wrong values" unless email == "ada@example.com\n\#{x}" && order.money == Money.new(1999, :eur) &&
        options == { "a" => [1, 2.5, nil, :b] } && token == "s3cret" && at == Time.at(1_767_225_637, in: "UTC")
      email << "!" # A worker gives it strings that it may change.
      ${failure}
    end
  end
end
`;
}
const failing = taskClass('raise KeyError, "key not found: :gateway"');
const mended = taskClass("nil");
const dump = String.raw`${failing}
args = ["ada@example.com\n\#{x}", Order.new(Money.new(1999, :eur)), { "a" => [1, 2.5, nil, :b] }]
kwargs = { token: "s3cret", at: Time.at(1_767_225_637, in: "UTC") }
print [Marshal.dump([Billing::RefundOrder, args, kwargs, 3, ["5f3c"], {}, nil])].pack("m0")
`;

interface Run {
  readonly status: number | null;
  readonly output: string;
}

function run(folder: string, program: string, ...parameters: string[]): Run {
  const { status, stdout, stderr, error } = spawnSync(program, parameters, { cwd: folder, encoding: "utf8" });
  assert.equal(error, undefined, `${program} is needed for this test: ${error?.message ?? ""}`);
  return { status, output: stdout + stderr };
}

describe("a test that was generated", () => {
  const folders = temporaryFolders();

  /** The task, as it comes out of a store that it was put into. */
  async function reproduction(folder: string, reveal: boolean): Promise<Reproduction> {
    const made = run(folder, "ruby", "-e", dump);
    assert.equal(made.status, 0, made.output);
    const store = await openStore(join(folder, "storage"));
    const message = "key not found: :gateway\nsystem('true')\n#{exit!}";
    const context = Buffer.from(made.output, "base64");
    const named = { taskClass: "Billing::RefundOrder", exceptionClass: "KeyError", exceptionMessage: message };
    await store.add(newTask("1767225637-1-1", { ...named, context }));
    const found = await store.find("1767225637-1-1");
    assert.ok(found?.kind === "task");
    const task = detailOf(found, { reveal, maskedNames: ["token"] });
    assert.ok(task.context?.call);
    return { task, context: task.context, call: task.context.call, place: "app/tasks/billing/refund_order.rb:9" };
  }

  function write(folder: string, path: string, text: string): string {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    return path;
  }

  const frameworks: readonly {
    readonly framework: Framework;
    readonly program: readonly [string, ...string[]];
    readonly helper: readonly [path: string, text: string];
    readonly fails: RegExp;
    readonly passes: RegExp;
  }[] = [
    {
      framework: "minitest",
      program: ["ruby", "-Itest"],
      helper: ["test/test_helper.rb", 'require "minitest/autorun"\nrequire_relative "../app"\n'],
      fails: /KeyError: key not found: :gateway[\s\S]*1 runs, 0 assertions, 0 failures, 1 errors/,
      passes: /1 runs, 1 assertions, 0 failures, 0 errors/,
    },
    {
      framework: "rspec",
      program: ["rspec"],
      helper: ["spec/test_helper.rb", 'require_relative "../app"\n'],
      fails: /KeyError: key not found: :gateway[\s\S]*1 example, 1 failure/,
      passes: /1 example, 0 failures/,
    },
  ];
  for (const { framework, program, helper, fails, passes } of frameworks) {
    it(`fails as the task did, and passes once the task is mended, with ${framework}`, async function () {
      this.timeout(60_000);
      const folder = folders.make();
      write(folder, ...helper);
      const options = { requires: ['require "test_helper"'], distinction: "" };
      const test = write(
        folder,
        testPath(framework, "Billing::RefundOrder", null, 0),
        testText(framework, await reproduction(folder, true), options),
      );
      assert.equal(run(folder, "ruby", "-wc", test).output.trim(), "Syntax OK");
      write(folder, "app.rb", failing);
      const before = run(folder, ...program, test);
      assert.notEqual(before.status, 0);
      assert.match(before.output, fails);
      write(folder, "app.rb", mended);
      const after = run(folder, ...program, test);
      assert.match(after.output, passes);
      assert.equal(after.status, 0);
    });
  }

  it("and a snippet for the console, too, perform the task with [FILTERED] in place of its secrets", async () => {
    const folder = folders.make();
    const masked = await reproduction(folder, false);
    assert.ok(masked.task.masked);
    const options = { requires: ['require "minitest/autorun"', 'require_relative "../../../app"'], distinction: "" };
    const test = write(folder, "test/tasks/billing/a_test.rb", testText("minitest", masked, options));
    const snippet = write(folder, "snippet.rb", consoleSnippet(masked));
    write(folder, "app.rb", mended);
    for (const text of [testText("minitest", masked, options), consoleSnippet(masked)]) {
      assert.doesNotMatch(text, /s3cret/);
      assert.match(text, /token: "\[FILTERED\]"/);
    }
    assert.match(run(folder, "ruby", test).output, /ArgumentError: wrong values/);
    assert.match(run(folder, "ruby", "-r./app", snippet).output, /wrong values \(ArgumentError\)/);

    const revealed = write(folder, "snippet.rb", consoleSnippet(await reproduction(folders.make(), true)));
    write(folder, "app.rb", failing);
    assert.match(run(folder, "ruby", "-r./app", revealed).output, /key not found: :gateway \(KeyError\)/);
    write(folder, "app.rb", mended);
    assert.deepEqual(run(folder, "ruby", "-r./app", revealed), { status: 0, output: "" });
  });
});
