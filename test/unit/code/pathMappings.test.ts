import assert from "node:assert/strict";
import { mappedFiles, parsePathMappings } from "../../../src/code/pathMappings";

describe("path mappings", () => {
  it("reads directories that are absolute or relative to the folder, the longest prefix first", () => {
    const setting = { "/srv": "/mirror", "/srv/app/": ".", "C:\\shop": "sub/dir", "/": "/everything" };
    assert.deepEqual(parsePathMappings(setting, "/work/shop"), {
      mappings: [
        { prefix: "/srv/app/", directory: "/work/shop" },
        { prefix: "C:\\shop", directory: "/work/shop/sub/dir" },
        { prefix: "/srv", directory: "/mirror" },
        { prefix: "/", directory: "/everything" },
      ],
      problems: [],
    });
    for (const none of [undefined, null, {}]) {
      assert.deepEqual(parsePathMappings(none, null), { mappings: [], problems: [] });
    }
  });

  it("says what is wrong and keeps the rest", () => {
    const setting = { "": "/a", "/x/../y": "/b", "/n": 7, "/blank": " ", "/relative": "lib", "/ok": "/ok" };
    const { mappings, problems } = parsePathMappings(setting, null);
    assert.deepEqual(mappings, [{ prefix: "/ok", directory: "/ok" }]);
    assert.deepEqual(problems, [
      "“deadTasks.pathMappings”: “” must be the beginning of paths in a backtrace, without “..”.",
      "“deadTasks.pathMappings”: “/x/../y” must be the beginning of paths in a backtrace, without “..”.",
      "“deadTasks.pathMappings”, “/n”: must name a directory, absolute or relative to the workspace folder.",
      "“deadTasks.pathMappings”, “/blank”: must name a directory, absolute or relative to the workspace folder.",
      "“deadTasks.pathMappings”, “/relative”: “lib” is relative, and no folder is open that it could be relative to.",
    ]);
    for (const other of ["/srv", ["/srv"], 7]) {
      const { problems: all } = parsePathMappings(other, "/work");
      assert.deepEqual(all, [
        "“deadTasks.pathMappings” must be an object of prefixes in backtraces and directories here.",
      ]);
    }
  });

  it("maps whole names alone, and never out of the directory", () => {
    const { mappings } = parsePathMappings(
      { "/srv/app": "/work", "D:\\shop": "/win", "/": "/all", app: "/relative" },
      null,
    );
    const files = (printed: string): string[] => mappedFiles(printed, mappings).map(({ file }) => file);
    assert.deepEqual(files("/srv/app/lib/a.rb"), ["/work/lib/a.rb", "/all/srv/app/lib/a.rb"]);
    assert.deepEqual(files("/srv/application/a.rb"), ["/all/srv/application/a.rb"]);
    assert.deepEqual(files("/srv/app"), ["/all/srv/app"]);
    assert.deepEqual(files("D:/shop/a.rb"), ["/win/a.rb", "/all/D:/shop/a.rb"]);
    assert.deepEqual(files("app/a.rb"), ["/relative/a.rb"]);
    for (const none of ["/srv/app/../../etc/passwd", "<internal:kernel>", "(eval)", ""])
      assert.deepEqual(files(none), []);
  });
});
