import assert from "node:assert/strict";
import { distinction, frameworksOf, requiresFor, testPath, type TestHabits } from "../../../src/reproduce/conventions";

function habits(present: readonly string[], gems: readonly string[] = [], tests: TestHabits["tests"] = []): TestHabits {
  return { present: new Set(present), gems: new Set(gems), tests };
}

/** A test of an application with the `require` of these. */
function having(path: string, ...requires: readonly string[]): TestHabits["tests"][number] {
  return { path, requires: requires.map((argument) => ({ name: "require", argument })) };
}

describe("how an application tests", () => {
  it("is told by its directories and its Gemfile", () => {
    assert.deepEqual(frameworksOf(habits(["spec"])), ["rspec"]);
    assert.deepEqual(frameworksOf(habits([".rspec"])), ["rspec"]);
    assert.deepEqual(frameworksOf(habits([], ["rage-rb", "rspec-rails"])), ["rspec"]);
    assert.deepEqual(frameworksOf(habits(["test"])), ["minitest"]);
    assert.deepEqual(frameworksOf(habits([], ["minitest"])), ["minitest"]);
    assert.deepEqual(frameworksOf(habits(["test"], ["rspec"])), ["rspec", "minitest"]);
    assert.deepEqual(frameworksOf(habits([], ["rspectacular", "minitestify", "rage-rb"])), []);
  });

  it("is done by requiring what most of its own tests require", () => {
    const tests = [
      having("spec/models/user_spec.rb", "json", "spec_helper"),
      having("spec/tasks/one_spec.rb", "rage_helper"),
      having("spec/tasks/two_spec.rb", "rage_helper", "webmock/rspec"),
      having("test/tasks/three_test.rb", "test_helper"),
    ];
    const some = habits(["spec/spec_helper.rb"], [], tests);
    assert.deepEqual(requiresFor("rspec", some, "spec/tasks/a_spec.rb"), ['require "rage_helper"']);
    assert.deepEqual(requiresFor("minitest", some, "test/tasks/a_test.rb"), ['require "test_helper"']);
  });

  it("requires from where the new test is what others require from where they are", () => {
    const tests = [
      {
        path: "test/models/user_test.rb",
        requires: [
          { name: "require", argument: "minitest/autorun" },
          { name: "require_relative", argument: "../test_helper" },
        ],
      },
    ];
    assert.deepEqual(requiresFor("minitest", habits([], [], tests), "test/tasks/billing/a_test.rb"), [
      'require "minitest/autorun"',
      'require_relative "../../test_helper"',
    ]);
  });

  it("requires nothing that could be more than a name", () => {
    const tests = [having("spec/a_spec.rb", '"; system("true") # helper', "a b/spec_helper")];
    assert.deepEqual(requiresFor("rspec", habits([], [], tests), "spec/tasks/a_spec.rb"), ['require "rage/rspec"']);
  });

  it("goes by the helpers that are there, and loads the application itself where there are none", () => {
    const both = habits(["spec/spec_helper.rb", "spec/rails_helper.rb", "test/test_helper.rb"]);
    assert.deepEqual(requiresFor("rspec", both, "spec/tasks/a_spec.rb"), ['require "rails_helper"']);
    assert.deepEqual(requiresFor("minitest", both, "test/tasks/a_test.rb"), ['require "test_helper"']);
    assert.deepEqual(requiresFor("rspec", habits([]), "spec/tasks/a_spec.rb"), ['require "rage/rspec"']);
    assert.deepEqual(requiresFor("minitest", habits([]), "test/tasks/billing/a_test.rb"), [
      'ENV["RAGE_ENV"] ||= "test"',
      'require "minitest/autorun"',
      'require_relative "../../../config/application"',
    ]);
  });
});

describe("the place of a test", () => {
  it("mirrors that of the class", () => {
    assert.equal(testPath("rspec", "A", "app/tasks/send_mail.rb", 0), "spec/tasks/send_mail_spec.rb");
    assert.equal(testPath("minitest", "A", "app/tasks/billing/charge.rb", 0), "test/tasks/billing/charge_test.rb");
    assert.equal(testPath("rspec", "A", "lib/mailer.rb", 0), "spec/lib/mailer_spec.rb");
  });

  it("goes by the class's name where its file is not in the application, or is a test", () => {
    assert.equal(testPath("rspec", "Billing::ChargeCard", null, 0), "spec/tasks/billing/charge_card_spec.rb");
    assert.equal(testPath("rspec", "SendMail", "spec/support/send_mail.rb", 0), "spec/tasks/send_mail_spec.rb");
  });

  it("is another where one is taken, with another name of the class in it", () => {
    const names = [0, 1, 2, 3].map((attempt) => testPath("minitest", "A", "app/tasks/a.rb", attempt));
    assert.deepEqual(names, [
      "test/tasks/a_test.rb",
      "test/tasks/a_dead_task_test.rb",
      "test/tasks/a_dead_task_2_test.rb",
      "test/tasks/a_dead_task_3_test.rb",
    ]);
    assert.deepEqual([0, 1, 2].map(distinction), ["", "DeadTask", "DeadTask2"]);
  });
});
