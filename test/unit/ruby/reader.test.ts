import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { largestSource } from "../../../src/ruby/protocol";
import { rubyReader, type RubyReader, type RubyReaderOptions } from "../../../src/ruby/reader";
import { isClassName, mayDefine, namesIn } from "../../../src/ruby/textFilter";
import { bundle } from "../../support/processes";
import { temporaryFolders } from "../../support/stores";

const root = join(import.meta.dirname, "..", "..", "..");

describe("the thread that reads Ruby source", function () {
  this.timeout(20_000);
  const folders = temporaryFolders();
  const readers: RubyReader[] = [];
  let worker: string;

  before(() => {
    worker = bundle("src/ruby/worker.ts");
    copyFileSync(join(root, "node_modules/@ruby/prism/src/prism.wasm"), join(dirname(worker), "prism.wasm"));
  });

  afterEach(() => {
    for (const reader of readers.splice(0)) reader.dispose();
  });

  function start(options?: RubyReaderOptions, script = worker): RubyReader {
    const reader = rubyReader(script, options);
    readers.push(reader);
    return reader;
  }

  function write(folder: string, name: string, text: string): string {
    const path = join(folder, name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  it("starts with the first request, and ends when none has come for a while", async () => {
    const reader = start({ idleTime: 400 });
    assert.equal(reader.running, false);
    const { classes } = await reader.classesInText("class A; end");
    assert.equal(classes[0]!.name, "A");
    assert.equal(reader.running, true);
    await delay(250);
    await reader.classesInText("class B; end");
    await delay(250);
    assert.equal(reader.running, true, "a request puts the end off");
    await delay(600);
    assert.equal(reader.running, false);
    assert.equal((await reader.classesInText("class C; end")).classes[0]!.name, "C");
  });

  it("answers requests that come all at once", async () => {
    const reader = start();
    const texts = Array.from({ length: 50 }, (_, number) => `class C${number}; end`);
    const answers = await Promise.all(texts.map((text) => reader.classesInText(text)));
    assert.deepEqual(
      answers.map(({ classes }) => classes[0]!.name),
      texts.map((_, number) => `C${number}`),
    );
  });

  it("finds a class in files, and only the one that is meant", async () => {
    const folder = folders.make();
    const meant = write(
      folder,
      "billing/sync.rb",
      "module Billing\n  class Sync\n    def perform(id); end\n  end\nend\n",
    );
    const paths = [
      write(folder, "other.rb", "class Sync; end\n"),
      write(folder, "comment.rb", "# class Billing::Sync\nclass Else; end\n"),
      write(folder, "use.rb", "Billing::Sync.enqueue(1)\n"),
      join(folder, "gone.rb"),
      meant,
      write(folder, "reopened.rb", "class Billing::Sync\nend\n"),
      write(folder, "ambiguous.rb", "module Outer; class Billing::Sync; end; end\n"),
    ];
    const { found, skipped } = await start().definitionsOf("Billing::Sync", paths);
    assert.deepEqual(
      found.map(({ path, definition }) => [path, definition.name, definition.perform !== null]),
      [
        [meant, "Billing::Sync", true],
        [paths[5], "Billing::Sync", false],
        [paths[6], "Outer::Billing::Sync", false],
      ],
    );
    assert.deepEqual(skipped, []);
  });

  it("reads a file anew when it has changed", async () => {
    const path = write(folders.make(), "a.rb", "class A; end\n");
    const reader = start();
    const lineOf = async (): Promise<number> =>
      (await reader.definitionsOf("A", [path])).found[0]!.definition.range.start.line;
    assert.equal(await lineOf(), 0);
    assert.equal(await lineOf(), 0);
    writeFileSync(path, "\nclass A; end\n");
    assert.equal(await lineOf(), 1);
    writeFileSync(path, "class A; end\n\n");
    utimesSync(path, new Date(), new Date(Date.now() + 5_000));
    assert.equal(await lineOf(), 0);
    rmSync(path);
    assert.deepEqual(await reader.definitionsOf("A", [path]), { found: [], skipped: [] });
  });

  it("leaves out files that are too large or cannot be read, and says so", async () => {
    const folder = folders.make();
    const large = write(folder, "large.rb", `class A; end\n${"#".repeat(largestSource)}`);
    mkdirSync(join(folder, "directory.rb"));
    const small = write(folder, "small.rb", "class A; end\n");
    const nested = write(folder, "nested.rb", `class A; end\n${"[".repeat(20_000)}`);
    const { found, skipped } = await start().definitionsOf("A", [large, join(folder, "directory.rb"), nested, small]);
    assert.deepEqual(
      found.map(({ path }) => path),
      [small],
    );
    assert.deepEqual(
      skipped.map(({ path }) => path),
      [large, join(folder, "directory.rb"), nested],
    );
    assert.equal(skipped[0]!.reason, "It has 2.0 MiB, and sources above 2.0 MiB are not read.");
    assert.match(skipped[1]!.reason, /EISDIR/);
    assert.match(skipped[2]!.reason, /nested too deeply/);
  });

  it("refuses a text that is too large, and goes on", async () => {
    const reader = start();
    await assert.rejects(reader.classesInText("é".repeat(largestSource / 2 + 1)), {
      message: /sources above 2\.0 MiB/,
    });
    assert.equal((await reader.classesInText("class A; end")).classes.length, 1);
  });

  it("stops a request that takes too long, and goes on", async () => {
    const reader = start({ timeLimit: 500 });
    const endless = reader.classesInText("class A\n".repeat(20_000));
    await assert.rejects(endless, { message: "Reading Ruby source took longer than 0.5 s and was stopped." });
    assert.equal(reader.running, false);
    assert.equal((await start().classesInText("class A; end")).classes.length, 1);
  });

  it("says why it cannot read where the thread ends by itself, and tries again with the next request", async () => {
    const script = write(folders.make(), "worker.js", 'throw new Error("boom");');
    const reader = start({}, script);
    await assert.rejects(reader.classesInText(""), { message: "Ruby source cannot be read: boom." });
    await assert.rejects(reader.classesInText(""), { message: "Ruby source cannot be read: boom." });
    await assert.rejects(start({}, join(root, "none.js")).classesInText(""), {
      message: /cannot be read: .*none\.js/s,
    });
  });

  it("says so when the parser is not where the build puts it", async () => {
    const folder = folders.make();
    copyFileSync(worker, join(folder, "rubyWorker.js"));
    await assert.rejects(start({}, join(folder, "rubyWorker.js")).classesInText(""), { message: /prism\.wasm/ });
  });

  it("rejects what is under way when it is disposed of, and all that comes later", async () => {
    const reader = start();
    const waiting = reader.classesInText("class A; end");
    const rejected = assert.rejects(waiting, { message: "Dead Tasks is shutting down." });
    reader.dispose();
    await rejected;
    await assert.rejects(reader.classesInText(""), { message: "Dead Tasks is shutting down." });
  });
});

describe("what is worth parsing", () => {
  it("knows names that Ruby's classes can have", () => {
    for (const name of ["A", "SendMail", "Billing::ChargeCard", "Größe", "Übung::É", "A1_b"])
      assert.ok(isClassName(name), name);
    for (const name of [
      "",
      "a",
      "A::",
      "::A",
      "A::b",
      "A B",
      "A/../B",
      "#<Class:0x1>",
      "A\n",
      "{A,B}",
      "A*",
      "A".repeat(501),
    ])
      assert.ok(!isClassName(name), name);
  });

  it("passes every text that defines a class, and few others", () => {
    assert.ok(mayDefine("module A; class B; end; end", "A::B"));
    assert.ok(mayDefine("B = Class.new", "B"));
    assert.ok(mayDefine("B = Data.define(:a)", "B"));
    assert.ok(!mayDefine("A::B.enqueue", "A::B"));
    assert.ok(!mayDefine("class C; end", "B"));
    assert.deepEqual([...namesIn("class Outer::Größe < Base; end")], ["Outer", "Größe", "Base"]);
    assert.deepEqual([...namesIn("Outer::Größe.enqueue(1)")], []);
  });
});
