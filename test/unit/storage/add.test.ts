import assert from "node:assert/strict";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { intercepted, type FileCall } from "../../support/fileSystems";
import { copyFixture, newTask, openStore, referenceLines, taskLine, temporaryFolders } from "../../support/stores";

const dataName = "deferred-dead_tasks-0";
const lockName = "deferred-dead_tasks.lock";

/** What becomes of 0644 under this process's umask. */
function usualMode(folder: string): number {
  const path = join(folder, "sample");
  closeSync(openSync(path, "w", 0o644));
  return statSync(path).mode & 0o777;
}

describe("adding a dead task", () => {
  const folders = temporaryFolders();

  it("makes the directory, the data file and the lock, and each of their names durable", async () => {
    const root = folders.make();
    const path = join(root, "var", "storage");
    const calls: FileCall[] = [];
    const store = await openStore(path, { fileSystem: intercepted({ after: (call) => calls.push(call) }) });
    await store.add(newTask("1-1-1"));

    assert.deepEqual(readdirSync(path).sort(), [dataName, lockName]);
    assert.equal(statSync(join(path, lockName)).size, 0);
    assert.ok(readFileSync(join(path, dataName)).equals(taskLine(newTask("1-1-1"))));
    const usual = usualMode(root);
    for (const name of [dataName, lockName]) assert.equal(statSync(join(path, name)).mode & 0o777, usual);

    const order = calls.map(({ name, path: file }) => `${name} ${file}`);
    const first = (call: string): number => {
      const index = order.indexOf(call);
      assert.ok(index >= 0, call);
      return index;
    };
    assert.ok(first(`mkdir ${join(root, "var")}`) < first(`fsync ${root}`));
    assert.ok(first(`mkdir ${path}`) < first(`fsync ${join(root, "var")}`));
    const named = first(`fsync ${path}`);
    const written = first(`write ${join(path, dataName)}`);
    const durable = first(`fsync ${join(path, dataName)}`);
    assert.ok(named < written && written < durable, "the file exists by name before anything is stored in it");
    assert.equal(order.filter((call) => call.startsWith("write ")).length, 1, "one write for the whole line");
  });

  it("keeps no descriptor between two operations", async () => {
    const path = join(folders.make(), "storage");
    const open = new Set<unknown>();
    const store = await openStore(path, {
      fileSystem: intercepted({
        after: ({ name, parameters }, result) => {
          if (name === "open") open.add(result);
          if (name === "close") open.delete(parameters[0]);
        },
      }),
    });
    await store.add(newTask("1-1-1"));
    await store.add(newTask("1-1-2"));
    await store.find("1-1-1");
    await store.remove(["1-1-1"]);
    await store.remove(["1-1-1"]);
    await store.replay(["1-1-2"], null);
    (await store.list()).close();
    assert.deepEqual([...open], []);
  });

  for (const [name, what] of [
    ["basic", "complete lines"],
    ["corrupt", "corrupt lines"],
    ["torn-tail", "an unfinished last line"],
    ["torn-only", "nothing but an unfinished line, longer than a chunk or not"],
    ["empty", "nothing"],
  ] as const) {
    it(`appends to a file of ${what}, of which it drops the unfinished part alone`, async () => {
      const path = copyFixture(folders.make(), name);
      const data = join(path, dataName);
      const before = readFileSync(data);
      const inode = statSync(data).ino;
      const complete = before.subarray(0, before.length - referenceLines(before).tornTail.length);
      await (await openStore(path)).add(newTask("1-1-1"));
      assert.ok(readFileSync(data).equals(Buffer.concat([complete, taskLine(newTask("1-1-1"))])));
      assert.equal(statSync(data).ino, inode);
    });
  }

  it("mends an unfinished line of more than one chunk", async () => {
    const path = copyFixture(folders.make(), "empty");
    const data = join(path, dataName);
    const kept = taskLine(newTask("1-1-1"));
    writeFileSync(data, Buffer.concat([kept, Buffer.alloc(200_000, "x")]));
    await (await openStore(path)).add(newTask("1-1-2"));
    assert.ok(readFileSync(data).equals(Buffer.concat([kept, taskLine(newTask("1-1-2"))])));
  });

  it("never truncates a store that is there", async () => {
    const path = copyFixture(folders.make(), "basic");
    const before = readFileSync(join(path, dataName));
    const store = await openStore(path);
    for (let number = 0; number < 5; number++) await store.add(newTask(`1-1-${number}`));
    assert.ok(readFileSync(join(path, dataName)).subarray(0, before.length).equals(before));
  });

  it("lets the newest of several records of one id stand", async () => {
    const path = join(folders.make(), "storage");
    const store = await openStore(path);
    await store.add(newTask("1-1-1", { exceptionMessage: "first" }));
    await store.add(newTask("1-1-2"));
    await store.add(newTask("1-1-1", { exceptionMessage: "second" }));
    const found = await store.find("1-1-1");
    assert.equal(found?.kind === "task" && found.exceptionMessage, "second");
    const listing = await store.list();
    listing.close();
    assert.deepEqual(listing.ids, ["1-1-2", "1-1-1"]);
    assert.deepEqual(await store.remove(["1-1-1"]), { removed: ["1-1-1"], missing: [] });
    assert.ok(readFileSync(join(path, dataName)).equals(taskLine(newTask("1-1-2"))));
  });

  it("refuses an id that no line could hold, and makes no store for it", async () => {
    const path = join(folders.make(), "storage");
    const store = await openStore(path);
    for (const id of ["", "1:1", "1\n1"]) {
      await assert.rejects(store.add(newTask(id)), {
        code: "invalid",
        message: /id must be text without colon or newline/,
      });
    }
    assert.ok(!existsSync(path));
  });

  it("keeps the mode of the data file when it replaces it", async () => {
    const path = copyFixture(folders.make(), "basic");
    const data = join(path, dataName);
    for (const mode of [0o600, 0o640, 0o664, 0o666]) {
      chmodSync(data, mode);
      const inode = statSync(data).ino;
      const listing = await (await openStore(path)).list();
      listing.close();
      assert.equal((await (await openStore(path)).remove([listing.ids[0]!])).removed.length, 1);
      assert.equal(statSync(data).mode & 0o7777, mode);
      assert.notEqual(statSync(data).ino, inode);
    }
  });

  it("writes a log that the application can read whatever the mode of the data file", async () => {
    const path = copyFixture(folders.make(), "basic");
    chmodSync(join(path, dataName), 0o600);
    const { log } = await (await openStore(path)).replay(["1767225637-4101-1"], null);
    assert.equal(statSync(join(path, log ?? "")).mode & 0o777, usualMode(path));
  });

  it("works through a symbolic link to the directory, together with a store opened by the real path", async () => {
    const root = folders.make();
    const path = copyFixture(root, "basic");
    const link = join(root, "link");
    symlinkSync(path, link);
    const [linked, direct] = [await openStore(link), await openStore(path)];
    await Promise.all([linked.add(newTask("1-1-1")), direct.add(newTask("1-1-2")), linked.add(newTask("1-1-3"))]);
    const results = await Promise.all([linked.remove(["1-1-1", "1-1-2"]), direct.remove(["1-1-1", "1-1-2"])]);
    assert.deepEqual(results.flatMap(({ removed }) => removed).sort(), ["1-1-1", "1-1-2"]);
    assert.notEqual(await direct.find("1-1-3"), null);
    assert.equal(realpathSync(link), path);
  });

  it("takes a prefix without its dash", async () => {
    const path = join(folders.make(), "storage");
    mkdirSync(path);
    await (await openStore(path, {}, "jobs")).add(newTask("1-1-1"));
    assert.deepEqual(readdirSync(path).sort(), ["jobs-dead_tasks-0", "jobs-dead_tasks.lock"]);
  });
});
