import assert from "node:assert/strict";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { failingFrame, FrameFinder, type FrameSearch } from "../../../src/code/frameFiles";
import { Gems } from "../../../src/code/gems";
import { parsePathMappings } from "../../../src/code/pathMappings";
import { temporaryFolders } from "../../support/stores";

describe("FrameFinder", () => {
  const folders = temporaryFolders();
  let home = "";
  let shop = "";

  beforeEach(() => {
    home = realpathSync(folders.make());
    shop = join(home, "shop");
    mkdirSync(shop);
  });

  /** Makes files with their directories; returns their paths. */
  function files(...paths: string[]): string[] {
    return paths.map((path) => {
      const file = join(home, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "# code\n");
      return file;
    });
  }

  function search(
    options: Partial<{ mappings: object; roots: string[]; variables: Record<string, string>; trusted: boolean }> = {},
  ): FrameSearch {
    const { mappings = {}, roots = [shop], variables = {}, trusted = true } = options;
    return {
      roots,
      mappings: parsePathMappings(mappings, shop).mappings,
      gems: new Gems({ variables, home, applications: roots, trusted }),
    };
  }

  async function resolved(path: string, where: FrameSearch = search()) {
    const [frame] = await new FrameFinder(where).resolve([`${path}:7:in 'x'`]);
    return frame!;
  }

  it("finds a path of another machine by its longest ending, and the first root where endings are as long", async () => {
    const [, longest] = files("shop/a.rb", "shop/tasks/a.rb", "other/tasks/a.rb", "other/app/tasks/b.rb");
    const roots = [shop, join(home, "other")];
    assert.equal((await resolved("/srv/app/tasks/a.rb", search({ roots }))).file, longest);
    assert.equal((await resolved("/srv/app/tasks/b.rb", search({ roots }))).file, join(home, "other/app/tasks/b.rb"));
    const back = await resolved("/srv/app/tasks/a.rb", search({ roots: [...roots].reverse() }));
    assert.equal(back.file, join(home, "other/tasks/a.rb"));
  });

  it("finds paths with spaces, colons and of Windows, and where text was evaluated", async () => {
    const [spaced, drive] = files("shop/my app/1:2/a b.rb", "shop/app/c.rb");
    assert.equal((await resolved("/srv/my app/1:2/a b.rb")).file, spaced);
    assert.equal((await resolved("D:\\deploy\\app\\c.rb")).file, drive);
    const [evaluated] = await new FrameFinder(search()).resolve(["(eval at /srv/app/c.rb:12):1:in 'C#x'"]);
    assert.equal(evaluated!.file, drive);
    assert.equal(evaluated!.frame.line, 12);
    assert.equal(evaluated!.place, "app/c.rb:12 (eval)");
  });

  it("goes by the mappings first", async () => {
    const [, mapped] = files("shop/lib/a.rb", "elsewhere/lib/a.rb");
    const mappings = { "/srv/app": join(home, "elsewhere"), "/srv/app/missing": "." };
    assert.equal((await resolved("/srv/app/lib/a.rb", search({ mappings }))).file, mapped);
    assert.equal((await resolved("/srv/other/lib/a.rb", search({ mappings }))).file, join(shop, "lib/a.rb"));
    const [gem] = files("bundle/rage-rb-1.2/lib/rage.rb");
    const bundle = { "/usr/local/bundle/gems": join(home, "bundle") };
    const found = await resolved("/usr/local/bundle/gems/rage-rb-1.2/lib/rage.rb", search({ mappings: bundle }));
    assert.deepEqual([found.file, found.frame.origin], [gem, "gem"]);
  });

  it("takes an application in a directory called gems for one, and what is bundled in it for gems", async () => {
    files("gems/shop/app/a.rb", "gems/shop/vendor/bundle/ruby/3.3.0/gems/x-1.0/lib/x.rb");
    const where = search({ roots: [join(home, "gems/shop")] });
    const own = await resolved(join(home, "gems/shop/app/a.rb"), where);
    assert.deepEqual([own.frame.origin, own.place], ["application", "app/a.rb:7"]);
    const bundled = await resolved("/b/vendor/bundle/ruby/3.3.0/gems/x-1.0/lib/x.rb", where);
    assert.equal(bundled.file, join(home, "gems/shop/vendor/bundle/ruby/3.3.0/gems/x-1.0/lib/x.rb"));
    assert.deepEqual([bundled.frame.origin, bundled.place], ["gem", "x-1.0/lib/x.rb:7"]);
  });

  it("opens no file outside the workspace, the mapped directories and those of gems", async () => {
    const [secret] = files("secret.rb");
    symlinkSync(home, join(home, "linked"));
    for (const path of [
      secret!,
      "/etc/passwd",
      "../secret.rb",
      `${shop}/../secret.rb`,
      "/gems/x-1.0/../../secret.rb",
    ]) {
      const { file, missing } = await resolved(path, search({ mappings: { "/srv": "." } }));
      assert.equal(file, null, path);
      assert.ok(missing !== null && missing.length > 10);
    }
    assert.equal((await resolved(`${"/x".repeat(3000)}\0.rb`)).file, null);
    assert.equal((await resolved(shop)).file, null, "a directory is no file");
  });

  describe("gems", () => {
    const printed = "/usr/local/bundle/gems/rage-rb-1.26.1/lib/rage/task.rb";
    const places: readonly (readonly [
      what: string,
      path: string,
      variables?: (home: string) => Record<string, string>,
    ])[] = [
      ["the application's vendor/bundle", "shop/vendor/bundle/ruby/3.3.0"],
      ["GEM_HOME", "gem home", (home) => ({ GEM_HOME: join(home, "gem home") })],
      ["GEM_PATH", "two", (home) => ({ GEM_PATH: `${join(home, "one")}:${join(home, "two")}` })],
      ["BUNDLE_PATH", "bundle/ruby/3.3.0", (home) => ({ BUNDLE_PATH: join(home, "bundle") })],
      ["rbenv", ".rbenv/versions/3.3.6/lib/ruby/gems/3.3.0"],
      ["an rbenv elsewhere", "env/versions/3.3.6/lib/ruby/gems/3.3.0", (home) => ({ RBENV_ROOT: join(home, "env") })],
      ["asdf", ".asdf/installs/ruby/3.3.6/lib/ruby/gems/3.3.0"],
      ["mise", ".local/share/mise/installs/ruby/3.3.6/lib/ruby/gems/3.3.0"],
      ["RVM", ".rvm/gems/ruby-3.3.6"],
      ["chruby", ".rubies/ruby-3.3.6/lib/ruby/gems/3.3.0"],
      ["the user's own gems", ".local/share/gem/ruby/3.3.0"],
    ];
    for (const [what, path, variables] of places) {
      it(`are found in ${what}`, async () => {
        const [file] = files(`${path}/gems/rage-rb-1.26.1/lib/rage/task.rb`, "shop/lib/rage/task.rb");
        const found = await resolved(printed, search({ variables: variables?.(home) ?? {} }));
        assert.deepEqual([found.file, found.frame.origin, found.missing], [file, "gem", null]);
      });
    }

    it("are found where .bundle/config says, in a trusted workspace alone", async () => {
      const [file] = files("shop/my bundle/ruby/3.3.0/gems/rage-rb-1.26.1/lib/rage/task.rb");
      mkdirSync(join(shop, ".bundle"));
      writeFileSync(join(shop, ".bundle/config"), '---\nBUNDLE_WITHOUT: "x"\nBUNDLE_PATH: "my bundle"\n');
      assert.equal((await resolved(printed)).file, file);
      assert.equal((await resolved(printed, search({ trusted: false }))).file, null);
    });

    it("are those of that version, of another platform's build if need be", async () => {
      const [, other] = files(
        ".rvm/gems/ruby-3.3.6/gems/nokogiri-1.18.0/lib/n.rb",
        ".rvm/gems/ruby-3.3.6/gems/nokogiri-1.18.1-arm64-darwin/lib/n.rb",
      );
      assert.equal((await resolved("/b/gems/nokogiri-1.18.1-x86_64-linux/lib/n.rb")).file, other);
      assert.equal((await resolved("/b/gems/nokogiri-1.18.1/lib/n.rb")).file, other);
      const { missing } = await resolved("/b/gems/nokogiri-1.18.2/lib/n.rb");
      assert.equal(missing, "nokogiri 1.18.2 is not installed here");
      const gone = await resolved("/b/gems/nokogiri-1.18.0/lib/gone.rb");
      assert.equal(gone.missing, "Not found in nokogiri 1.18.0 as it is installed here");
    });

    it("from Git are found by their commit", async () => {
      const [file] = files("shop/vendor/bundle/ruby/3.3.0/bundler/gems/rage-1a2b3c4d5e6f/lib/rage.rb");
      assert.equal((await resolved("/usr/local/bundle/bundler/gems/rage-1a2b3c4d5e6f/lib/rage.rb")).file, file);
      const other = await resolved("/usr/local/bundle/bundler/gems/rage-ffffffffffff/lib/rage.rb");
      assert.equal(other.missing, "rage ffffffffffff is not installed here");
    });

    it("that are missing are said to be, with the version that Gemfile.lock has", async () => {
      const lock =
        "GEM\n  remote: https://rubygems.org/\n  specs:\n    rage-rb (1.27.0)\n      rack (< 4)\n    rack (3.1.0)\n";
      writeFileSync(join(shop, "Gemfile.lock"), lock);
      assert.equal((await resolved(printed)).missing, "rage-rb 1.26.1 is not installed here; Gemfile.lock has 1.27.0");
      const same = await resolved("/b/gems/rack-3.1.0/lib/rack.rb");
      assert.equal(same.missing, "rack 3.1.0 is not installed here");
    });

    it("and Ruby's own library are found in another Ruby of the same version", async () => {
      const [library] = files(".rbenv/versions/3.3.6/lib/ruby/3.3.0/net/http.rb", "shop/net/http.rb");
      files(".rbenv/versions/3.3.6/lib/ruby/gems/3.3.0/gems/x-1.0/lib/x.rb");
      const found = await resolved("/opt/other/lib/ruby/3.3.0/net/http.rb");
      assert.deepEqual([found.file, found.frame.origin], [library, "ruby"]);
      assert.equal((await resolved("/opt/other/lib/ruby/2.1.0/net/http.rb")).file, null);
    });
  });

  it("says of every frame without a file why it has none", async () => {
    const lines = [
      "<internal:kernel>:1:in 'loop'",
      "(eval):1:in 'x'",
      "/gone/a.rb:1:in 'x'",
      "odd",
      "/lib/ruby/9.9.9/a.rb:1",
    ];
    const frames = await new FrameFinder(search()).resolve(lines);
    assert.deepEqual(
      frames.map(({ file, missing }) => [file, missing]),
      [
        [null, "Part of Ruby itself"],
        [null, "Evaluated text; Ruby did not keep where it came from"],
        [null, "Not found in the workspace"],
        [null, "This line names no file"],
        [null, "Not found in the gems and Ruby versions that are installed here"],
      ],
    );
  });

  it("takes the first of the application's own frames that has a file for the failing one", async () => {
    files("shop/app/a.rb", "shop/app/b.rb");
    const lines = [
      "<internal:kernel>:1",
      "/b/gems/x-1.0/lib/x.rb:2",
      "/srv/gone.rb:3",
      "/srv/app/b.rb:4",
      "/srv/app/a.rb:5",
    ];
    const finder = new FrameFinder(search());
    const found = failingFrame(await finder.resolve(lines));
    assert.equal(found?.place, "app/b.rb:4");
    assert.deepEqual(await finder.failingFrame(lines), found);
    assert.equal(await finder.failingFrame(lines.slice(0, 3)), null);
    assert.equal(failingFrame([]), null);
  });
});
