import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dumpString } from "../../../src/marshal";
import { StoreIndex, nodeFileSystem, type FileSystem, type IndexListener } from "../../../src/storage";
import { deadTaskLine } from "../../../src/storage/frames";
import { encodeRecord } from "../../../src/storage/record";
import { bigStoreId, newestBigStoreId, writeBigStore } from "../../support/bigStore";
import { fixtureCases, newTask, openStore, taskLine, temporaryFolders } from "../../support/stores";

const quiet: IndexListener = {
  task: () => undefined,
  gone: () => undefined,
  progress: () => undefined,
  newest: () => undefined,
};

describe("records at their indexed places", () => {
  const folders = temporaryFolders();

  async function storeOf(content: Uint8Array) {
    const path = join(folders.make(), "storage");
    mkdirSync(path);
    const data = join(path, "deferred-dead_tasks-0");
    writeFileSync(data, content);
    const store = await openStore(path);
    return { data, store, index: new StoreIndex(store, nodeFileSystem) };
  }

  function messageOf(found: Awaited<ReturnType<StoreIndex["records"]>>, id: string): string | undefined {
    const record = found?.get(id);
    return record?.kind === "task" ? record.exceptionMessage : record?.kind;
  }

  it("are of every fixture what a search through all of the file finds", async () => {
    let compared = 0;
    for (const { dataFile } of fixtureCases) {
      const { index, store } = await storeOf(dataFile);
      await index.refresh(quiet);
      const listing = await store.list();
      listing.close();
      const ids = listing.ids.slice(0, 120);
      const found = await index.records(ids);
      for (const id of ids) {
        assert.deepEqual(found?.get(id), await store.find(id));
        compared += 1;
      }
    }
    assert.ok(compared > 200, String(compared));
  });

  it("cost the reading of their lines, however large the store is", async () => {
    const path = join(folders.make(), "storage");
    writeBigStore(path, 4_000);
    let bytes = 0;
    const counting: FileSystem = {
      ...nodeFileSystem,
      read: (descriptor, buffer, offset, length, position) => {
        const read = nodeFileSystem.read(descriptor, buffer, offset, length, position);
        bytes += read;
        return read;
      },
    };
    const index = new StoreIndex(await openStore(path, { fileSystem: counting }), counting);
    await index.refresh(quiet);
    bytes = 0;
    const ids = [bigStoreId(0), bigStoreId(2_000), newestBigStoreId(4_000)];
    assert.deepEqual([...((await index.records(ids)) ?? new Map<string, never>()).keys()], ids);
    // The three lines, the last piece of the file to find its end in, and the proof that it is still the same file.
    assert.ok(bytes > 3 * 2_000 && bytes < 100_000, String(bytes));
  });

  it("are left out where the index has none, and null where the file was replaced", async () => {
    const { data, index } = await storeOf(taskLine(newTask("1-1-1")));
    assert.equal(await index.records(["1-1-1"]), null, "before the first read");
    await index.refresh(quiet);
    assert.deepEqual([...((await index.records(["1-1-1", "2-2-2"])) ?? [])].length, 1);
    writeFileSync(`${data}.new`, taskLine(newTask("1-1-1", { exceptionMessage: "in another file" })));
    renameSync(`${data}.new`, data);
    assert.equal(await index.records(["1-1-1"]), null);
    await index.refresh(quiet);
    assert.equal(messageOf(await index.records(["1-1-1"]), "1-1-1"), "in another file");
  });

  it("are those of the newest tasks while a first read goes on, and of none but them", async () => {
    const path = join(folders.make(), "storage");
    writeBigStore(path, 4_000);
    const index = new StoreIndex(await openStore(path), nodeFileSystem);
    const early: ReturnType<StoreIndex["records"]>[] = [];
    await index.refresh({
      ...quiet,
      newest: () => early.push(index.records([newestBigStoreId(4_000), bigStoreId(0)])),
    });
    assert.equal(early.length, 1);
    const found = await early[0];
    assert.deepEqual([...(found?.keys() ?? [])], [newestBigStoreId(4_000)]);
    assert.equal((await index.records([bigStoreId(0)]))?.size, 1, "afterwards all");
  });

  it("leave it to a search where the record breaks off behind what a list shows of it", async () => {
    const broken = encodeRecord(newTask("1-1-1", { exceptionMessage: "broken" })).subarray(0, -1);
    const path = join(folders.make(), "storage");
    writeBigStore(path, 4_000);
    appendFileSync(
      join(path, "deferred-dead_tasks-0"),
      Buffer.concat([
        taskLine(newTask("1-1-1", { exceptionMessage: "older copy" })),
        deadTaskLine("1-1-1", dumpString(broken)),
      ]),
    );
    const store = await openStore(path);
    const index = new StoreIndex(store, nodeFileSystem);
    await index.refresh(quiet);
    assert.equal((await index.records(["1-1-1"]))?.size, 0);
    const found = await store.find("1-1-1");
    assert.equal(found?.kind === "task" && found.exceptionMessage, "older copy");
  });
});
