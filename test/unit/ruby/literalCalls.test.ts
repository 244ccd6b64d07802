import assert from "node:assert/strict";
import { join } from "node:path";
import { literalCalls } from "../../../src/ruby/literalCalls";
import { loadParser, type Parse } from "../../../src/ruby/prism";

describe("the calls with a literal String in a Ruby source", () => {
  let parse: Parse;

  before(async () => {
    const root = join(import.meta.dirname, "..", "..", "..");
    parse = await loadParser(join(root, "node_modules", "@ruby", "prism", "src", "prism.wasm"));
  });

  it("are those of the names asked for, in the order of the text, however deep they stand", () => {
    const source = `
      source "https://rubygems.org"
      gem "rage-rb", "~> 1.26"
      # gem "commented"
      group :test do
        gem('rspec') if ENV["X"]
        gem "mini" + "test"
        gem "inter#{1}polated"
        other.gem "elsewhere"
        gem name
        gem
      end
      TEXT = 'gem "in a string"'
      gem "minitest", require: false
    `;
    assert.deepEqual(
      literalCalls(parse, source, ["gem"]).map(({ argument }) => argument),
      ["rage-rb", "rspec", "minitest"],
    );
    assert.deepEqual(literalCalls(parse, 'require "a"; require_relative "b"', ["require", "require_relative"]), [
      { name: "require", argument: "a" },
      { name: "require_relative", argument: "b" },
    ]);
  });

  it("are what can be made out of a broken source", () => {
    assert.deepEqual(literalCalls(parse, 'require "a"\ndef broken(\n', ["require"]), [
      { name: "require", argument: "a" },
    ]);
  });
});
