import assert from "node:assert/strict";
import { posix, win32 } from "node:path";
import { candidateFiles, framePlace, parseFrame, type Frame } from "../../../src/code/frames";

describe("parseFrame", () => {
  const frames: readonly (readonly [string, string | null, number, string, Frame["origin"], evaluated?: boolean])[] = [
    ["app/tasks/charge.rb:12:in 'Charge#perform'", "app/tasks/charge.rb", 12, "Charge#perform", "application"],
    ["/srv/a.rb:3:in `block (2 levels) in perform'", "/srv/a.rb", 3, "block (2 levels) in perform", "application"],
    ["\tfrom /srv/app/a.rb:3:in 'Object#<main>'", "/srv/app/a.rb", 3, "Object#<main>", "application"],
    ["/srv/app/config.ru:1", "/srv/app/config.ru", 1, "", "application"],
    ["/gems/3.3.0/gems/rage-rb-1.2/lib/r.rb:7:in 'x'", "/gems/3.3.0/gems/rage-rb-1.2/lib/r.rb", 7, "x", "gem"],
    ["vendor/bundle/ruby/3.3.0/a.rb:1:in 'x'", "vendor/bundle/ruby/3.3.0/a.rb", 1, "x", "gem"],
    ["/b/bundler/gems/rails-1a2b3c4d/a.rb:1:in 'x'", "/b/bundler/gems/rails-1a2b3c4d/a.rb", 1, "x", "gem"],
    ["/usr/lib/ruby/3.3.0/net/http.rb:9:in 'x'", "/usr/lib/ruby/3.3.0/net/http.rb", 9, "x", "ruby"],
    ["<internal:kernel>:187:in 'Kernel#loop'", "<internal:kernel>", 187, "Kernel#loop", "ruby"],
    [
      "<internal:/usr/lib/ruby/vendor_ruby/rubygems/core_ext/kernel_require.rb>:85:in `require'",
      "<internal:/usr/lib/ruby/vendor_ruby/rubygems/core_ext/kernel_require.rb>",
      85,
      "require",
      "ruby",
    ],
    ["(eval):1:in `x'", "(eval)", 1, "x", "ruby", true],
    ["(eval at /srv/app/a.rb:3):1:in 'A#x'", "/srv/app/a.rb", 3, "A#x", "application", true],
    ["(eval at (eval at /srv/a.rb:3):1):2:in 'x'", "/srv/a.rb", 3, "x", "application", true],
    ["C:/app/tasks/a.rb:4:in 'x'", "C:/app/tasks/a.rb", 4, "x", "application"],
    ["C:\\app\\a.rb:4:in 'x'", "C:\\app\\a.rb", 4, "x", "application"],
    ["/srv/my app/a b.rb:5:in 'x'", "/srv/my app/a b.rb", 5, "x", "application"],
    ["a:b.rb:5:in 'x'", "a:b.rb", 5, "x", "application"],
    ["/srv/v:12:in 'a'/x.rb:5:in 'y'", "/srv/v:12:in 'a'/x.rb", 5, "y", "application"],
    ["/srv/12:30/a.rb:5", "/srv/12:30/a.rb", 5, "", "application"],
    ["a.rb:0:in '<main>'", "a.rb", 1, "<main>", "application"],
    [`a.rb:${"9".repeat(400)}`, "a.rb", Number.MAX_SAFE_INTEGER, "", "application"],
    ["something else", null, 1, "", "application"],
    ["", null, 1, "", "application"],
  ];
  for (const [text, file, line, method, origin, evaluated = false] of frames) {
    it(`reads ${JSON.stringify(text.slice(0, 80))}`, () => {
      assert.deepEqual(parseFrame(text), { text, file, line, method, origin, evaluated });
    });
  }

  it("is quick, whatever the line", () => {
    const started = performance.now();
    for (const count of [1_000, 100_000]) {
      parseFrame(`${":1:in `".repeat(count)}x`);
      parseFrame(`${"(eval at ".repeat(count)}a.rb${":1)".repeat(count)}:1`);
      parseFrame(`${" ".repeat(count)}:${"1".repeat(count)}x`);
    }
    assert.ok(performance.now() - started < 1_000);
  });
});

describe("candidateFiles", () => {
  const roots = ["/work/shop", "/work/lib"];

  it("tries the path itself, then its endings, the longest first and each in the order of the roots", () => {
    assert.deepEqual(candidateFiles("/work/shop/a.rb", roots, posix), [
      "/work/shop/a.rb",
      "/work/shop/work/shop/a.rb",
      "/work/lib/work/shop/a.rb",
      "/work/shop/shop/a.rb",
      "/work/lib/shop/a.rb",
      "/work/lib/a.rb",
    ]);
    assert.deepEqual(candidateFiles("app/a.rb", ["/work/shop"], posix), ["/work/shop/app/a.rb", "/work/shop/a.rb"]);
  });

  it("never leaves the roots", () => {
    const hostile = [
      "/etc/passwd",
      "../../etc/passwd",
      "/work/shop/../../etc/passwd",
      "app/../../x",
      "/work/shopping/a",
    ];
    for (const path of hostile) {
      for (const file of candidateFiles(path, roots, posix)) {
        assert.ok(
          roots.some((root) => file.startsWith(`${root}/`)),
          file,
        );
      }
    }
    assert.deepEqual(candidateFiles("app/../../x", roots, posix), []);
    assert.deepEqual(candidateFiles("C:\\app\\..\\..\\x", roots, posix), []);
    assert.deepEqual(candidateFiles("/srv/app/..\\..\\..\\x", ["C:\\shop"], win32), []);
  });

  it("takes a gem's file for the workspace's only with the gem's name in its path", () => {
    assert.deepEqual(candidateFiles("/x/gems/a-1/lib/app.rb", ["/w"], posix), [
      "/w/x/gems/a-1/lib/app.rb",
      "/w/gems/a-1/lib/app.rb",
    ]);
    assert.deepEqual(candidateFiles("/usr/lib/ruby/3.3.0/net/http.rb", ["/w"], posix), []);
  });

  it("has none for code without a file", () => {
    for (const text of ["<internal:kernel>", "(eval)", "/", ""])
      assert.deepEqual(candidateFiles(text, roots, posix), []);
  });

  it("understands Windows, on it and from elsewhere", () => {
    const files = candidateFiles("C:/shop/app/a.rb", ["C:\\shop"], win32);
    assert.equal(files[0], "C:\\shop\\app\\a.rb");
    const share = candidateFiles("//server/share/app/a.rb", ["C:\\shop"], win32);
    assert.ok(share.length > 0 && share.every((file) => file.startsWith("C:\\shop\\")));
    assert.ok(candidateFiles("D:\\Deploy\\shop\\app\\a.rb", ["/work/shop"], posix).includes("/work/shop/app/a.rb"));
  });
});

describe("framePlace", () => {
  it("starts at the root of the workspace, at the gem, or at Ruby's version", () => {
    const place = (text: string, file: string | null): string => framePlace(parseFrame(text), file, ["/work/shop"]);
    assert.equal(place("/srv/app/a.rb:3:in 'x'", "/work/shop/app/a.rb"), "app/a.rb:3");
    assert.equal(place("/srv/app/a.rb:3:in 'x'", null), "/srv/app/a.rb:3");
    assert.equal(place("/usr/lib/ruby/gems/3.3.0/gems/a-1/lib/a.rb:4", null), "a-1/lib/a.rb:4");
    assert.equal(place("/usr/lib/ruby/3.3.0/net/http.rb:5", null), "3.3.0/net/http.rb:5");
    assert.equal(place("(eval at /srv/app/a.rb:3):1:in 'x'", "/work/shop/app/a.rb"), "app/a.rb:3 (eval)");
    assert.equal(place("(eval):7:in 'x'", null), "(eval):7");
    assert.equal(place("odd", null), "odd");
  });
});
