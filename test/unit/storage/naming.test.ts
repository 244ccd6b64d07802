import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  findStoresIn,
  networkFileSystem,
  nodeFileSystem,
  normalizePrefix,
  otherVersions,
  storeNames,
} from "../../../src/storage";
import { idFromBytes, isLogName, isStagingName, newLogName, stagingName } from "../../../src/storage/naming";
import { copyFixture, temporaryFolders } from "../../support/stores";

describe("naming", () => {
  it("appends the missing dash of a prefix as Rage does, and none where there is one", () => {
    assert.equal(normalizePrefix("jobs"), "jobs-");
    assert.equal(normalizePrefix("jobs-"), "jobs-");
    assert.equal(normalizePrefix("my-jobs"), "my-jobs-");
    assert.equal(normalizePrefix(""), "-");
  });

  it("names the files of a store", () => {
    assert.deepEqual(storeNames("/srv/app/storage", "jobs"), {
      directory: "/srv/app/storage",
      prefix: "jobs-",
      dataFile: "/srv/app/storage/jobs-dead_tasks-0",
      lockFile: "/srv/app/storage/jobs-dead_tasks.lock",
      longLock: "/srv/app/storage/.jobs-dead_tasks.busy",
    });
  });

  it("names a log by the local day, the process and a base-36 number", () => {
    const now = new Date(2026, 0, 5, 23, 59).getTime();
    assert.equal(newLogName("deferred-", now, 4711, 0), "deferred-0-20260105-4711-0");
    assert.equal(newLogName("deferred-", now, 4711, 0.999999999999), "deferred-0-20260105-4711-1z141z3");
    assert.ok(isLogName("deferred-", newLogName("deferred-", now, 4711, 0.5)));
  });

  it("knows a log by Rage's glob, whatever follows the prefix and version", () => {
    assert.ok(isLogName("deferred-", "deferred-0-20261129-18690-obltbo"));
    assert.ok(isLogName("deferred-", "deferred-0-x.tmp"), "Rage claims such a file, so it is one");
    for (const name of ["deferred-dead_tasks-0", "deferred-1-20261129-1-a", "jobs-0-20261129-1-a", "deferred-0"]) {
      assert.ok(!isLogName("deferred-", name), name);
    }
  });

  it("stages under names that Rage's globs miss and that are told from another store's", () => {
    for (const purpose of ["compaction", "log"] as const) {
      const name = stagingName("deferred-", purpose, 4711, 0.5);
      assert.ok(name.startsWith("."));
      assert.ok(!isLogName("deferred-", name));
      assert.ok(isStagingName("deferred-", name));
      assert.ok(!isStagingName("jobs-", name));
    }
    // A store's prefix can begin with another's whole staging prefix.
    assert.ok(!isStagingName("deferred-", stagingName("deferred-log-", "log", 4711, 0.5)));
    assert.ok(!isStagingName("deferred-", stagingName("deferred-compaction-", "compaction", 4711, 0.5)));
    for (const name of [
      ".deferred-dead_tasks.busy",
      "deferred-dead_tasks-0",
      "deferred-dead_tasks-0.tmp",
      ".deferred-log-x.staging",
    ]) {
      assert.ok(!isStagingName("deferred-", name), name);
    }
  });

  it("tells ids with bytes that are not UTF-8 apart", () => {
    const ids = [
      Buffer.from("1767225637-1-1"),
      Buffer.from("größe-1"),
      Buffer.from("gr\xf6\xdfe-1", "latin1"),
      Buffer.from([0xff]),
      Buffer.from([0xfe]),
      Buffer.from([0xc3]),
      Buffer.from([0xef, 0xbf, 0xbd]),
      Buffer.from([0xef, 0xbf, 0xbd, 0xff]),
      Buffer.from([0xed, 0xb3, 0xbf]),
      Buffer.from("\ufeff1-1-1"),
      Buffer.from("1-1-1"),
    ];
    const texts = ids.map((id) => idFromBytes(id));
    assert.equal(new Set(texts).size, ids.length);
    assert.equal(texts[0], "1767225637-1-1");
    assert.equal(texts[1], "größe-1");
  });
});

describe("discovery of stores by their files", () => {
  const folders = temporaryFolders();

  it("finds each store of a directory once", () => {
    const storage = copyFixture(folders.make(), "prefixes");
    assert.deepEqual(findStoresIn(nodeFileSystem, storage), [{ prefix: "deferred-" }, { prefix: "jobs-" }]);
  });

  it("finds a store by any of its files, and by nothing else", () => {
    const folder = folders.make();
    for (const name of [
      "data-dead_tasks-0",
      "lock-dead_tasks.lock",
      "log-0-20261129-18690-obltbo",
      "newer-dead_tasks-1",
      "-dead_tasks-0",
      ".hidden-dead_tasks-0",
      ".deferred-compaction-1-a.staging",
      "dead_tasks-0",
      "half-dead_tasks-0.tmp",
      "odd-0-notes",
      "README.md",
    ]) {
      writeFileSync(join(folder, name), "");
    }
    const prefixes = findStoresIn(nodeFileSystem, folder).map(({ prefix }) => prefix);
    assert.deepEqual(prefixes, ["-", "data-", "lock-", "log-", "newer-"]);
  });

  it("finds nothing where there is no directory", () => {
    const folder = folders.make();
    assert.deepEqual(findStoresIn(nodeFileSystem, join(folder, "storage")), []);
    writeFileSync(join(folder, "file"), "");
    assert.deepEqual(findStoresIn(nodeFileSystem, join(folder, "file")), []);
  });

  it("names data files of other versions of this store alone", () => {
    const folder = folders.make();
    for (const name of [
      "deferred-dead_tasks-0",
      "deferred-dead_tasks-1",
      "deferred-dead_tasks-12",
      "jobs-dead_tasks-3",
    ]) {
      writeFileSync(join(folder, name), "");
    }
    assert.deepEqual(otherVersions(nodeFileSystem, storeNames(folder, "deferred")), [
      "deferred-dead_tasks-1",
      "deferred-dead_tasks-12",
    ]);
    assert.deepEqual(otherVersions(nodeFileSystem, storeNames(folder, "jobs")), ["jobs-dead_tasks-3"]);
    assert.deepEqual(otherVersions(nodeFileSystem, storeNames(join(folder, "none"), "jobs")), []);
  });

  it("names a network file system, and says nothing of a local one or of a missing directory", () => {
    const folder = folders.make();
    mkdirSync(join(folder, "storage"));
    assert.equal(networkFileSystem(nodeFileSystem, join(folder, "storage")), null);
    assert.equal(networkFileSystem(nodeFileSystem, join(folder, "none")), null);
    assert.equal(networkFileSystem({ ...nodeFileSystem, fileSystemType: () => 0x6969 }, folder), "NFS");
    assert.equal(networkFileSystem({ ...nodeFileSystem, fileSystemType: () => 0xff534d42 }, folder), "CIFS");
  });
});
