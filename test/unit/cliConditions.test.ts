import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as lockfile from "proper-lockfile";
import {
  assertOneLineError,
  buildCommandLine,
  deadTasks,
  json,
  shellCommand,
  type CommandOptions,
  type DeleteJson,
  type ListJson,
  type RetryJson,
} from "../support/commandLine";
import { copyStorage, dataFile, deadTaskOf, logLines, removeCopies } from "../support/fixtures";

describe("the command line, where things are not as usual", function () {
  this.timeout(60_000);

  before(buildCommandLine);

  afterEach(removeCopies);

  describe("where it is not allowed to", () => {
    /** An unprivileged user: another one where the tests run as root, which may do everything. */
    const isRoot = process.getuid?.() === 0;
    const unprivileged: CommandOptions = isRoot ? { uid: 65534, gid: 65534, cwd: "/" } : {};

    it("reads a directory that it may not write in, and changes nothing", async () => {
      const storage = copyStorage("basic");
      chmodSync(storage, 0o555);
      const before = readFileSync(dataFile(storage));
      try {
        assert.equal((await json<ListJson>(["list", "--storage", storage], 0, unprivileged)).tasks.length, 6);
        for (const command of ["retry", "delete"]) {
          const result = await deadTasks([command, "--all", "--storage", storage], unprivileged);
          assertOneLineError(
            result,
            1,
            /^dead-tasks: Could not (retry|delete) from .*: you have no permission to write in/,
          );
          assert.equal(result.stdout, "");
        }
        assert.deepEqual(readFileSync(dataFile(storage)), before);
        assert.deepEqual(readdirSync(storage).sort(), ["deferred-dead_tasks-0", "deferred-dead_tasks.lock"]);
      } finally {
        chmodSync(storage, 0o755);
      }
    });

    it("says which file it may not read", async () => {
      const storage = copyStorage("basic");
      chmodSync(storage, 0o755);
      chmodSync(dataFile(storage), 0);
      for (const command of [["list"], ["show", "x"], ["retry", "--all"], ["delete", "--all"]]) {
        const result = await deadTasks([...command, "--storage", storage], unprivileged);
        assertOneLineError(result, 1, /deferred-dead_tasks-0.*permission denied|permission/);
        assert.equal(result.stdout, "");
      }
    });

    it("says which log it may not read", async () => {
      const storage = copyStorage("wal");
      chmodSync(storage, 0o755);
      for (const name of readdirSync(storage)) chmodSync(join(storage, name), 0);
      assertOneLineError(await deadTasks(["pending", "--storage", storage], unprivileged), 1, /permission denied/);
    });

    // Only root can give a file to somebody else; everybody else meets the cases above.
    if (isRoot) {
      it("refuses to replace another user's file", async () => {
        const storage = copyStorage("basic");
        chmodSync(storage, 0o777);
        for (const name of readdirSync(storage)) chmodSync(join(storage, name), 0o666);
        chownSync(dataFile(storage), 65533, 65533);
        const result = await deadTasks(["delete", "--all", "--storage", storage], unprivileged);
        assertOneLineError(result, 1, /belongs to another user \(65533\)/);
      });
    }
  });

  describe("while others work on the same store", () => {
    it("gives up on a lock that a worker keeps, and changes nothing", async () => {
      const storage = copyStorage("basic");
      const before = readFileSync(dataFile(storage));
      const script = "f = File.open(ARGV[0], 'a'); f.flock(File::LOCK_EX); puts 'held'; $stdout.flush; $stdin.read";
      const worker = spawn("ruby", ["-e", script, join(storage, "deferred-dead_tasks.lock")]);
      try {
        await once(worker.stdout, "data");
        const result = await deadTasks(["delete", "--all", "--storage", storage]);
        assertOneLineError(
          result,
          1,
          /dead_tasks\.lock stayed locked by another process for 1\.45 seconds\. Nothing was changed/,
        );
        assert.deepEqual(readFileSync(dataFile(storage)), before);
      } finally {
        worker.stdin.end();
        await once(worker, "close");
      }
      assert.equal((await json<DeleteJson>(["delete", "--all", "--storage", storage])).deleted.length, 6);
    });

    it("waits for another window's operation", async () => {
      const storage = copyStorage("basic");
      const lock = join(storage, ".deferred-dead_tasks.busy");
      const release = await lockfile.lock(lock, { lockfilePath: lock, realpath: false });
      const running = json<DeleteJson>(["delete", "--all", "--storage", storage]);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      assert.ok(readFileSync(dataFile(storage)).length > 0);
      await release();
      assert.equal((await running).deleted.length, 6);
    });

    it("replays each task once when two command lines replay all", async () => {
      const storage = copyStorage("random");
      const results = await Promise.all(
        [0, 1].map(() => deadTasks(["retry", "--all", "--json", "--storage", storage])),
      );
      const retried = results.flatMap(({ stdout }) => (JSON.parse(stdout) as RetryJson).retried.map(({ id }) => id));
      assert.equal(retried.length, 200);
      assert.equal(new Set(retried).size, 200);
      assert.equal(logLines(storage).length, 200);
    });
  });

  describe("on a large store", () => {
    let storage: string;
    const tasks = 30_000;

    before(() => {
      storage = mkdtempSync(join(tmpdir(), "dead-tasks-large-"));
      const lines = Array.from({ length: tasks }, (_, index) => deadTaskOf({ id: `${1_767_000_001 + index}-1-1` }));
      writeFileSync(dataFile(storage), Buffer.concat(lines));
    });
    after(() => {
      rmSync(storage, { recursive: true });
    });

    it("ends quietly when its reader goes away", () => {
      const list = shellCommand(["list", "--storage", storage]);
      const script = `set -o pipefail; { ${list}; echo "status $?" >&2; } 2>&1 >/dev/null | cat; ${list} | head -1; echo "statuses \${PIPESTATUS[@]}"`;
      const output = execFileSync("bash", ["-c", script], { encoding: "utf8", stdio: "pipe" }).trimEnd().split("\n");
      assert.equal(output[0], "status 0");
      assert.match(output[1] ?? "", /1767030000-1-1/);
      assert.equal(output[2], "statuses 0 0");
      const json = execFileSync("bash", [
        "-c",
        `${shellCommand(["list", "--json", "--storage", storage])} 2>&1 | head -1`,
      ]);
      assert.equal(json.toString(), '{"tasks":[\n');
    });

    it("lists in bounded memory", async () => {
      // The file is some fifty megabytes; the list alone would be more than this heap.
      const { stdout } = await deadTasks(["list", "--json", "--storage", storage], {
        nodeOptions: ["--max-old-space-size=32"],
      });
      assert.equal((JSON.parse(stdout) as ListJson).tasks.length, tasks);
    });
  });
});
