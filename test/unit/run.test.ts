import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordReference } from "../../src/actions/references";
import { applicationRoot, commandWords, isFound } from "../../src/run/runCommand";
import { runNews, runQuestion, typed } from "../../src/run/runMessages";
import type { RunFailure } from "../../src/service/runProtocol";
import { temporaryFolders } from "../support/stores";

describe("the command that runs a dead task", () => {
  const folders = temporaryFolders();
  const bundled = ["bundle", "exec", "ruby"];

  it("leaves Bundler out where there is no Gemfile for it", async () => {
    const folder = folders.make();
    const root = join(folder, "apps", "shop");
    mkdirSync(root, { recursive: true });
    assert.deepEqual(await commandWords(bundled, root, {}), ["ruby"]);
    assert.deepEqual(await commandWords(bundled, root, { BUNDLE_GEMFILE: "/elsewhere" }), bundled);
    assert.deepEqual(await commandWords(["bundle", "exec"], root, {}), ["bundle", "exec"]);
    assert.deepEqual(await commandWords(["env", "A=b c", ...bundled], root, {}), ["env", "A=b c", ...bundled]);
    writeFileSync(join(folder, "Gemfile"), "");
    assert.deepEqual(await commandWords(bundled, root, {}), bundled, "one above counts, as for Bundler");
  });

  it("is a list of words, or nothing", async () => {
    for (const setting of [undefined, null, "bundle exec ruby", [], ["ruby", 1], [""], {}]) {
      assert.equal(await commandWords(setting, "/", {}), null, JSON.stringify(setting));
    }
  });

  it("is found on the path, or where it says", async () => {
    const folder = folders.make();
    const tool = join(folder, "tool");
    writeFileSync(tool, "");
    assert.equal(await isFound("tool", "/", folder), false, "not to be run");
    chmodSync(tool, 0o755);
    assert.equal(await isFound("tool", "/", `/nowhere::${folder}`), true);
    assert.equal(await isFound("tool", "/", ""), false);
    assert.equal(await isFound("./tool", folder, ""), true);
    assert.equal(await isFound(tool, "/", ""), true);
    assert.equal(await isFound(folder, "/", ""), false, "a directory");
  });

  it("runs in the first directory that holds an application", async () => {
    const folder = folders.make();
    mkdirSync(join(folder, "shop", "config"), { recursive: true });
    writeFileSync(join(folder, "shop", "config", "application.rb"), "");
    assert.equal(await applicationRoot([folder, join(folder, "shop")]), join(folder, "shop"));
    assert.equal(await applicationRoot([folder]), null);
  });

  it("is shown as one would type it", () => {
    assert.equal(typed(["bundle", "exec", "/a b/ruby", "it's", "$HOME"]), "bundle exec '/a b/ruby' 'it'\\''s' '$HOME'");
  });
});

describe("what is said about a run", () => {
  const record = { name: "PayOrder", store: { name: "shop" } } as unknown as RecordReference;
  const failure = (of: Partial<RunFailure>): RunFailure => ({
    class: "KeyError",
    message: "gone",
    backtrace: [],
    ...of,
  });

  it("asks with what is known of the code", () => {
    const asked = runQuestion(record, "debug", "ruby", "/srv/shop", "Its perform takes 1 argument.");
    assert.equal(asked.message, "Debug PayOrder now in shop?");
    assert.equal(asked.button, "Debug");
    assert.match(
      asked.detail,
      /^Its perform takes 1 argument\. As the code stands, it would fail again\.\n\nIt runs in/,
    );
  });

  it("tells each end by what became of the task", () => {
    const news = (end: Parameters<typeof runNews>[2], code?: number): string => {
      const told = runNews("PayOrder", "ruby", end, code);
      return told === null ? "nothing" : `${told.severity}: ${told.text}`;
    };
    assert.equal(news({ kind: "settled" }), "nothing");
    assert.match(news({ kind: "succeeded", removed: true, stands: false }), /^information: .* no longer among/);
    assert.match(news({ kind: "succeeded", removed: false, stands: true }), /^warning: .* died again meanwhile/);
    assert.match(news({ kind: "succeeded", removed: false, stands: false }), /^warning: .* it runs twice\.$/);
    assert.equal(news({ kind: "failed", failure: failure({}) }), "error: PayOrder failed again: KeyError: gone");
    assert.equal(
      news({ kind: "failed", failure: failure({ message: "KeyError" }) }),
      "error: PayOrder failed again: KeyError",
    );
    assert.equal(
      news({ kind: "failed", failure: null }),
      "error: PayOrder failed again: the application's log says why.",
    );
    assert.match(news({ kind: "unknown" }), /^warning: It is not known whether PayOrder ran to its end/);
    assert.match(news({ kind: "notBegun" }), /^error: PayOrder was not run: “ruby” ended before it came to/);
    assert.match(news({ kind: "notBegun" }, 7), /“ruby” ended \(exit code 7\)/);
    const ofAnother = runNews("PayOrder", null, { kind: "notBegun" }, undefined);
    assert.match(ofAnother!.text, /^PayOrder was not run: its process ended before it came to/);
    const changed = failure({ class: null, message: "Another death of this task stands there now." });
    assert.equal(
      news({ kind: "notRun", reason: "changed", failure: changed }),
      "warning: PayOrder was not run. Another death of this task stands there now.",
    );
    const syntax = failure({ class: "SyntaxError", message: "unexpected end" });
    assert.match(
      news({ kind: "notRun", reason: "boot", failure: syntax }),
      /could not be booted\. SyntaxError: unexpected end$/,
    );
  });

  it("says what to do where the framework is not installed", () => {
    for (const missing of [
      failure({ class: "LoadError", message: "cannot load such file -- rage" }),
      failure({ class: "Bundler::GemNotFound", message: "Could not find gem 'rage-rb'" }),
    ]) {
      const told = runNews("PayOrder", "ruby", { kind: "notRun", reason: "boot", failure: missing }, 2);
      assert.match(told!.text, /Install the application's gems \(“bundle install”\)/);
    }
  });
});
