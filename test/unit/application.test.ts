import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findApplicationStore, type EnvironmentVariables } from "../../src/application/applicationStore";
import { nodeFileSystem, type FileSystem } from "../../src/storage/fileSystem";

describe("the store of an application, read off its files", () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "dead-tasks-application-"));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  function write(name: string, text: string): void {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }

  function find(environment: EnvironmentVariables = {}) {
    return findApplicationStore(nodeFileSystem, root, environment);
  }

  /** What an application finds whose config/application.rb holds these lines. */
  function configured(...lines: string[]) {
    write("config/application.rb", ['require "rage"', "Rage.configure do", ...lines, "end", ""].join("\n"));
    const store = find();
    assert.ok(store);
    return store;
  }

  function assertPath(given: string, expected: string) {
    const store = configured(`  config.deferred.backend = :disk, { path: ${given} }`);
    assert.deepEqual(store, {
      path: join(root, expected),
      prefix: "deferred-",
      backend: "disk",
      source: "config/application.rb:3",
      problem: null,
    });
  }

  function assertUnknown(store: ReturnType<typeof configured>, what: string, place = "config/application.rb:3") {
    assert.equal(store.path, join(root, "storage"), "the default stays");
    const problem = store.problem ?? "";
    assert.ok(problem.startsWith(`${place} gives the ${what} of deferred tasks`), problem);
    assert.match(problem, /deadTasks\.stores/);
  }

  describe("recognition", () => {
    it("knows an application by its Gemfile", () => {
      write("Gemfile", 'source "https://rubygems.org"\ngem "rage-rb", "~> 1.26"\n');
      assert.deepEqual(find(), {
        path: join(root, "storage"),
        prefix: "deferred-",
        backend: "disk",
        source: "default",
        problem: null,
      });
    });

    for (const text of ["gem('rage-rb')", "gem %q(rage-rb)", 'group :web do\n  gem "rage-rb"\nend']) {
      it(`reads ${JSON.stringify(text)} in a Gemfile`, () => {
        write("Gemfile", text);
        assert.ok(find());
      });
    }

    for (const entry of ["rage", "rage/all", "rage/setup", "rage/rails"]) {
      it(`knows one that requires ${entry}`, () => {
        write("config/application.rb", `require "${entry}"\n`);
        assert.ok(find());
      });
    }

    it("knows one by what it runs", () => {
      write("config.ru", 'require_relative "config/application"\n\nrun Rage.application\n');
      assert.ok(find());
    });

    for (const [name, text] of [
      ["Gemfile", '# gem "rage-rb"\ngem "rails"\n'],
      ["Gemfile", 'puts "gem \\"rage-rb\\""\n'],
      ["Gemfile", '=begin\ngem "rage-rb"\n=end\n'],
      ["Gemfile", 'gem "rails"\n__END__\ngem "rage-rb"\n'],
      ["Gemfile", 'gem "rage-rb-extras"\n'],
      ["Gemfile", 'text = <<~RUBY\n  gem "rage-rb"\nRUBY\n'],
      ["config/application.rb", 'require "rails/all"\n'],
      ["config.ru", 'run "Rage.application"\n'],
      ["config.ru", "run Sinatra::Application\n"],
    ] as const) {
      it(`is not taken in by ${name} with ${JSON.stringify(text)}`, () => {
        write(name, text);
        assert.equal(find(), null);
      });
    }

    it("finds nothing in an empty folder, in a missing one and in a file", () => {
      assert.equal(find(), null);
      assert.equal(findApplicationStore(nodeFileSystem, join(root, "missing"), {}), null);
      write("file", "");
      assert.equal(findApplicationStore(nodeFileSystem, join(root, "file"), {}), null);
    });
  });

  describe("paths that the text gives", () => {
    for (const [given, expected] of [
      ['"var/tasks"', "var/tasks"],
      ["'var/tasks'", "var/tasks"],
      ["%q(var/tasks)", "var/tasks"],
      ["%(var/tasks)", "var/tasks"],
      ['"var/" "tasks"', "var/tasks"],
      ['"./var/../tasks"', "tasks"],
      ['Rage.root.join("var", "tasks")', "var/tasks"],
      ['::Rage.root.join("var").join("tasks")', "var/tasks"],
      ['Rage.root.join("tmp", "..", "var/tasks").cleanpath', "var/tasks"],
      ['(Rage.root + "var" + "tasks")', "var/tasks"],
      ['Rage.root / "var" / "tasks"', "var/tasks"],
      ['Rage.root.to_s + "/var/tasks"', "var/tasks"],
      ['"var" + "/tasks"', "var/tasks"],
      ['Rails.root.join("var/tasks").to_s', "var/tasks"],
      ['Pathname("var/tasks")', "var/tasks"],
      ['Pathname.new("var").join("tasks").freeze', "var/tasks"],
      ['Pathname.new("var/tasks").expand_path', "var/tasks"],
      ['File.join("var", "/tasks")', "var/tasks"],
      ['File.join(Rage.root, "var", "tasks")', "var/tasks"],
      ['File.join(__dir__, "../var/tasks")', "var/tasks"],
      ['File.expand_path("../var/tasks", __dir__)', "var/tasks"],
      ['File.expand_path("../../var/tasks", __FILE__)', "var/tasks"],
      ['File.expand_path("var/tasks")', "var/tasks"],
      ['File.join(Dir.pwd, "var/tasks")', "var/tasks"],
      ['Rage.root\n    .join("var")\n    .join(\n      "tasks",\n    )', "var/tasks"],
      ["nil", "storage"],
    ] as const) {
      it(JSON.stringify(given), () => {
        assertPath(given, expected);
      });
    }

    it("absolute ones, which `Pathname#join` does not put under the root", () => {
      assert.equal(configured('  config.deferred.backend = :disk, { path: "/var/tasks" }').path, "/var/tasks");
      assert.equal(
        configured('  config.deferred.backend = :disk, { path: Rage.root.join("/var/tasks") }').path,
        "/var/tasks",
      );
    });
  });

  describe("forms of the assignment", () => {
    for (const text of [
      'config.deferred.backend = :disk, path: "jobs", prefix: "work-", fsync_frequency: 1',
      'config.deferred.backend = :disk, { prefix: "work", fsync_frequency: 0.5, path: "jobs" }',
      'config.deferred.backend = :disk, { :path => "jobs", "prefix": "work" }',
      'config.deferred.backend = [:disk, { path: "jobs", prefix: "work" }]',
      'Rage.config.deferred.backend = :disk, { path: "jobs", prefix: "work" }',
      'config.deferred.backend=:disk,{path:"jobs",prefix:"work"}',
      'config\n  .deferred\n  .backend =\n    :disk,\n    {\n      # where\n      path: "jobs", # here\n      prefix: "work",\n    }',
      'config.deferred.backend = \\\n  :disk, { path: "jobs", prefix: "work" }',
      'config.deferred.backend = :disk, { fsync_frequency: [ENV["A"], 1].max, path: "jobs", prefix: "work" }',
      'config.deferred.backend = nil; config.deferred.backend = :disk, { path: "jobs", prefix: "work" }',
      'text = "a#{"}" + "{"} # no comment"; config.deferred.backend = :disk, { path: "jobs", prefix: "work" }',
      'pattern = /"[^"]*/; config.deferred.backend = :disk, { path: "jobs", prefix: "work" }',
      'half = total / 2; config.deferred.backend = :disk, { path: "jobs", prefix: "work" } # / "',
      'letter = ?"; config.deferred.backend = :disk, { path: "jobs", prefix: "work" }',
      "list = %w[a\" b']; config.deferred.backend = :disk, { path: 'jobs', prefix: 'work' }",
    ]) {
      it(JSON.stringify(text), () => {
        const store = configured(text);
        assert.deepEqual(
          { path: store.path, prefix: store.prefix, backend: store.backend, problem: store.problem },
          { path: join(root, "jobs"), prefix: "work-", backend: "disk", problem: null },
        );
      });
    }

    it("names the line of the assignment, counted over comments, strings and here-documents", () => {
      const store = configured(
        "=begin",
        'config.deferred.backend = :disk, { path: "commented" }',
        "=end",
        "  text = <<~TEXT",
        '    config.deferred.backend = :disk, { path: "quoted" }',
        "  TEXT",
        '  # config.deferred.backend = :disk, { path: "commented" }',
        '  other = "',
        '    config.deferred.backend = nil"',
        '  config.deferred.backend = :disk, { path: "real" }',
      );
      assert.equal(store.path, join(root, "real"));
      assert.equal(store.source, "config/application.rb:12");
    });

    it("ignores what follows __END__", () => {
      write("config/application.rb", 'require "rage"\n__END__\nconfig.deferred.backend = nil\n');
      assert.equal(find()?.source, "default");
    });

    it("takes a plain :disk for the defaults", () => {
      const store = configured("  config.deferred.backend = :disk");
      assert.equal(store.path, join(root, "storage"));
      assert.equal(store.source, "config/application.rb:3");
    });

    it("takes nil for a backend that keeps nothing", () => {
      assert.equal(configured("  config.deferred.backend = nil").backend, "nil");
      assert.equal(configured("  config.deferred.backend = [nil]").backend, "nil");
    });

    it("does not take a comparison for an assignment", () => {
      assert.equal(configured("  warn if config.deferred.backend == nil").source, "default");
    });

    it("reads files with a byte-order mark and CRLF", () => {
      write(
        "config/application.rb",
        '\uFEFFrequire "rage"\r\nRage.configure do\r\n  config.deferred.backend = :disk,\r\n    { path: "jobs" }\r\nend\r\n',
      );
      assert.equal(find()?.path, join(root, "jobs"));
    });
  });

  describe("what only the running application knows", () => {
    for (const given of [
      'ENV["TASKS"]',
      'ENV["TASKS"] || "tasks"',
      'ENV.fetch("TASKS", "tasks")',
      'ENV.fetch("TASKS") { "tasks" }',
      "STORAGE",
      "Settings.storage.path",
      '"#{Rage.root}/tasks"',
      '"tasks-#{Rage.env}"',
      '"tas\\x6bs"',
      'Rage.root.join(ENV["TASKS"], "x")',
      'File.join(HOME, "tasks")',
      'File.expand_path("~/tasks")',
      'Rage.root.parent.join("tasks")',
      'condition ? "a" : "b"',
      "<<~X\n    tasks\n  X\n",
      ":tasks",
      "42",
    ]) {
      it(`path: ${JSON.stringify(given)}`, () => {
        const store = configured(`  config.deferred.backend = :disk, { path: ${given}, prefix: "work" }`);
        assertUnknown(store, "path");
        if (!given.startsWith("<<")) assert.equal(store.prefix, "work-", "the prefix is read all the same");
      });
    }

    it("a prefix", () => {
      const store = configured('  config.deferred.backend = :disk, { prefix: "#{app}-", path: "jobs" }');
      assert.equal(store.path, join(root, "jobs"));
      assert.equal(store.prefix, "deferred-");
      assert.match(store.problem ?? "", /^config\/application\.rb:3 gives the prefix/);
    });

    it("options from elsewhere", () => {
      assertUnknown(configured("  config.deferred.backend = :disk, options"), "path and prefix");
      assertUnknown(configured("  config.deferred.backend = :disk, { **options }"), "path and prefix");
      assertUnknown(configured('  config.deferred.backend = :disk, { path:, prefix: "x" }'), "path");
    });

    it("the backend itself", () => {
      assertUnknown(configured("  config.deferred.backend = BACKEND"), "backend");
      assertUnknown(configured('  config.deferred.backend = ENV["X"] ? :disk : nil'), "backend");
      assertUnknown(configured("  config.deferred.backend ||= :disk"), "backend");
      assertUnknown(configured("  config.deferred.backend ="), "backend");
    });

    for (const lines of [
      ["config.deferred.backend = nil if Rage.env.test?"],
      ['config.deferred.backend = :disk, { path: "x" } unless ENV["CI"]'],
      ["if Rage.env.production?", '  config.deferred.backend = :disk, { path: "/var/x" }', "end"],
      ["case Rage.env", 'when "test" then config.deferred.backend = nil', "end"],
      ["def later", "  config.deferred.backend = nil", "end"],
      ["ready && config.deferred.backend = nil"],
    ]) {
      it(`a condition: ${JSON.stringify(lines.join("\n"))}`, () => {
        const store = configured('config.deferred.backend = :disk, { path: "jobs" }', ...lines);
        assert.equal(store.path, join(root, "jobs"), "what was set before stays");
        assert.equal(store.backend, "disk");
        assert.match(
          store.problem ?? "",
          /^config\/application\.rb:[45] sets the backend .* under a condition.*deadTasks\.stores/,
        );
      });
    }

    for (const lines of [
      ["warn(1) if debug", "x = if a then 1 else 2 end"],
      ["while busy do", "  wait", "end"],
      ["def short(a) = a + 1"],
      ["def self.long(a)", "  return 1 if a", "end"],
      ["numbers.each do |n|", "  puts n unless n.zero?", "end"],
      ["range.begin", "range.end", "object.class", "object.if"],
      ["class Options", "  attr_reader :if, :end", "end"],
      ["begin", "  require 'x'", "rescue LoadError", "end"],
    ]) {
      it(`no condition after ${JSON.stringify(lines.join("\n"))}`, () => {
        const store = configured(...lines, 'config.deferred.backend = :disk, { path: "jobs" }');
        assert.equal(store.path, join(root, "jobs"));
        assert.equal(store.problem, null);
      });
    }
  });

  describe("the order of files", () => {
    beforeEach(() => {
      write("Gemfile", 'gem "rage-rb"\n');
      write("config/application.rb", 'config.deferred.backend = :disk, { path: "application" }\n');
    });

    it("lets the environment's file win over the application's", () => {
      write("config/environments/development.rb", 'config.deferred.backend = :disk, { path: "development" }\n');
      write("config/environments/staging.rb", "config.deferred.backend = nil\n");
      assert.equal(find()?.path, join(root, "development"));
      assert.equal(find()?.source, "config/environments/development.rb:1");
      assert.equal(find({ RAGE_ENV: "staging", RAILS_ENV: "development" })?.backend, "nil");
      assert.equal(find({ RAILS_ENV: "staging" })?.backend, "nil");
      assert.equal(find({ RACK_ENV: "staging" })?.backend, "nil");
      assert.equal(find({ RAGE_ENV: "production" })?.path, join(root, "application"));
    });

    it("lets the last initializer win, folders included, hidden and linked ones not", () => {
      write("config/environments/development.rb", "config.deferred.backend = nil\n");
      write("config/initializers/10_a.rb", 'config.deferred.backend = :disk, { path: "a" }\n');
      write("config/initializers/20/b.rb", 'config.deferred.backend = :disk, { path: "b" }\n');
      write("config/initializers/30.txt", 'config.deferred.backend = :disk, { path: "text" }\n');
      write("config/initializers/.40.rb", 'config.deferred.backend = :disk, { path: "hidden" }\n');
      symlinkSync(root, join(root, "config/initializers/loop"));
      const store = find();
      assert.equal(store?.path, join(root, "b"));
      assert.equal(store.source, "config/initializers/20/b.rb:1");
      assert.equal(store.problem, null);
    });

    it("goes back to the defaults for what a later assignment leaves out, and forgets an earlier problem", () => {
      write("config/application.rb", 'config.deferred.backend = :disk, { path: ENV["X"], prefix: "work" }\n');
      assert.notEqual(find()?.problem, null);
      write("config/initializers/tasks.rb", "config.deferred.backend = :disk\n");
      assert.deepEqual(find(), {
        path: join(root, "storage"),
        prefix: "deferred-",
        backend: "disk",
        source: "config/initializers/tasks.rb:1",
        problem: null,
      });
    });

    it("does not follow an environment's name out of the folder", () => {
      write("secret.rb", "config.deferred.backend = nil\n");
      assert.equal(find({ RAGE_ENV: "../../secret" })?.backend, "disk");
    });
  });

  describe("files that cannot be read", () => {
    beforeEach(() => {
      write("Gemfile", 'gem "rage-rb"\n');
    });

    it("says so, and what to do", () => {
      write("config/application.rb", 'config.deferred.backend = :disk, { path: "jobs" }\n');
      chmodSync(join(root, "config/application.rb"), 0);
      // Root reads everything, so the refusal is put in where the test runs as root.
      const refusing: FileSystem = {
        ...nodeFileSystem,
        readFile: (path) => {
          if (!path.endsWith("application.rb")) return nodeFileSystem.readFile(path);
          throw Object.assign(new Error(`EACCES: permission denied, open '${path}'`), {
            code: "EACCES",
            syscall: "open",
          });
        },
      };
      const store = findApplicationStore(process.getuid?.() === 0 ? refusing : nodeFileSystem, root, {});
      assert.equal(store?.path, join(root, "storage"));
      assert.match(
        store.problem ?? "",
        /^config\/application\.rb could not be read \(EACCES: permission denied\)\. .*deadTasks\.stores/,
      );
    });

    it("says so of one that is too big to be configuration", () => {
      write("config/application.rb", `# ${"x".repeat(1_048_576)}\nconfig.deferred.backend = nil\n`);
      assert.equal(find()?.backend, "disk");
      assert.match(find()?.problem ?? "", /^config\/application\.rb is too big/);
    });

    it("takes a folder in a file's place for nothing", () => {
      mkdirSync(join(root, "config/application.rb"), { recursive: true });
      assert.equal(find()?.problem, null);
    });
  });

  it("stays quick and upright on hostile text", () => {
    write("Gemfile", 'gem "rage-rb"\n');
    for (const text of [
      '"#{'.repeat(200_000),
      "(".repeat(500_000),
      `config.deferred.backend = :disk, { path: ${"(".repeat(200_000)}`,
      `config.deferred.backend = :disk, { path: ${'"a" + '.repeat(100_000)}`,
      "config.deferred.backend = ".repeat(30_000),
      "=begin\n".repeat(100_000),
      "while a do ".repeat(20_000),
      "if ".repeat(300_000),
      "x = <<A\n".repeat(100_000),
      "%w(".repeat(300_000),
    ]) {
      write("config/application.rb", text);
      const started = process.hrtime.bigint();
      assert.equal(find()?.path, join(root, "storage"));
      const milliseconds = Number(process.hrtime.bigint() - started) / 1e6;
      assert.ok(milliseconds < 3000, `${text.slice(0, 40)}… took ${milliseconds} ms`);
    }
  });

  it("finds the demo application's", () => {
    const demo = join(__dirname, "../demo-app");
    assert.deepEqual(findApplicationStore(nodeFileSystem, demo, {}), {
      path: join(demo, "storage"),
      prefix: "deferred-",
      backend: "disk",
      source: "config/application.rb:14",
      problem: null,
    });
    assert.equal(findApplicationStore(nodeFileSystem, demo, { RAGE_ENV: "test" })?.backend, "nil");
  });
});
