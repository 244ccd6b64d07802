import assert from "node:assert/strict";
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dumpString } from "../../../src/marshal";
import { StoreIndex, nodeFileSystem, type IndexListener, type RecordFront } from "../../../src/storage";
import { deadTaskLine } from "../../../src/storage/frames";
import { encodeRecord } from "../../../src/storage/record";
import { bigStoreId, writeBigStore } from "../../support/bigStore";
import { newTask, openStore, taskLine, temporaryFolders } from "../../support/stores";

/** A record whose front is as it should be and whose end is missing: only reading it to its end tells. */
function brokenAtTheEnd(id: string): Buffer {
  const record = encodeRecord(newTask(id, { exceptionMessage: "broken" }));
  return deadTaskLine(id, dumpString(record.subarray(0, -1)));
}

class Told implements IndexListener {
  readonly messages = new Map<string, string>();
  newestIds: readonly string[] = [];
  goneIds: string[] = [];

  task(id: string, front: RecordFront): void {
    this.messages.set(id, front.exceptionMessage);
  }
  gone(ids: readonly string[]): void {
    this.goneIds.push(...ids);
    for (const id of ids) this.messages.delete(id);
  }
  newest(tasks: readonly { readonly id: string }[]): void {
    this.newestIds = tasks.map(({ id }) => id);
  }
  progress(): void {
    // Of no interest here.
  }
}

describe("an index of a big store", () => {
  const folders = temporaryFolders();
  const count = 5_000;

  async function bigIndex(added: Buffer): Promise<{ path: string; data: string; index: StoreIndex; told: Told }> {
    const path = join(folders.make(), "storage");
    writeBigStore(path, count);
    const data = join(path, "deferred-dead_tasks-0");
    appendFileSync(data, added);
    return { path, data, index: new StoreIndex(await openStore(path), nodeFileSystem), told: new Told() };
  }

  async function verify(index: StoreIndex, told: Told): Promise<number> {
    let calls = 0;
    while (!index.isVerified) {
      await index.verifyNext(told);
      calls += 1;
      assert.ok(calls < 100);
    }
    return calls;
  }

  it("tells the newest tasks first, then all, and finds nothing to correct", async () => {
    const { index, told } = await bigIndex(Buffer.concat([taskLine(newTask("a")), taskLine(newTask("b"))]));
    await index.refresh(told);
    assert.deepEqual(told.newestIds.slice(0, 3), ["b", "a", bigStoreId(count - 1)]);
    assert.ok(told.newestIds.length > 200 && told.newestIds.length < 1_000, String(told.newestIds.length));
    assert.equal(told.messages.size, count + 2);
    assert.equal(index.isVerified, false);
    assert.ok((await verify(index, told)) > 2);
    assert.equal(told.messages.size, count + 2);
    assert.deepEqual(told.goneIds, []);
  });

  it("lets the older copy stand for a record that breaks off, and lists one without such a copy as unreadable", async () => {
    const older = taskLine(newTask("twice", { exceptionMessage: "older copy" }));
    const { index, told, path, data } = await bigIndex(
      Buffer.concat([older, brokenAtTheEnd("twice"), brokenAtTheEnd("once"), taskLine(newTask("last"))]),
    );
    await index.refresh(told);
    await verify(index, told);
    assert.equal(told.messages.get("twice"), "older copy");
    assert.equal(told.messages.has("once"), false);
    assert.deepEqual(
      index.unreadable.map(({ id }) => id),
      ["once"],
    );
    assert.equal(index.taskCount, count + 2);

    // The same as a listing, which reads every record to its end at once.
    const listing = await (await openStore(path)).list();
    assert.deepEqual(listing.unreadable, index.unreadable);
    assert.equal(listing.ids.length, count + 3);
    listing.close();

    // What comes later is read to its end at once.
    appendFileSync(data, Buffer.concat([brokenAtTheEnd("later"), taskLine(newTask("once"))]));
    await index.refresh(told);
    assert.equal(index.isVerified, true);
    assert.deepEqual(
      index.unreadable.map(({ id }) => id),
      ["later"],
    );
    assert.equal(told.messages.has("once"), true);
  });

  it("verifies another file anew, though the old one was verified, and keeps none of its findings", async () => {
    const { index, told, data } = await bigIndex(brokenAtTheEnd("once"));
    await index.refresh(told);
    await verify(index, told);
    assert.equal(index.unreadable.length, 1);
    const content = readFileSync(data);
    // In place, so the inode is the same one; another record now stands where the broken one stood.
    const repaired = Buffer.concat([content.subarray(0, content.lastIndexOf(0x0a, -2) + 1), taskLine(newTask("once"))]);
    writeFileSync(data, repaired);
    await index.refresh(told);
    assert.equal(index.isVerified, false);
    await verify(index, told);
    assert.deepEqual(index.unreadable, []);
    assert.equal(told.messages.has("once"), true);
  });

  it("gets no further in a file that is not the indexed one any more, and says so", async () => {
    const { index, told, data } = await bigIndex(brokenAtTheEnd("once"));
    await index.refresh(told);
    assert.equal(await index.verifyNext(told), true);
    writeFileSync(`${data}.new`, readFileSync(data));
    renameSync(`${data}.new`, data);
    assert.equal(await index.verifyNext(told), false);
    rmSync(data);
    assert.equal(await index.verifyNext(told), false);
  });

  it("goes on verifying while the store grows", async () => {
    const { index, told, data } = await bigIndex(brokenAtTheEnd("once"));
    await index.refresh(told);
    await index.verifyNext(told);
    appendFileSync(data, taskLine(newTask("meanwhile")));
    await index.verifyNext(told);
    await index.refresh(told);
    assert.equal(index.isVerified, false);
    await verify(index, told);
    assert.deepEqual(
      index.unreadable.map(({ id }) => id),
      ["once"],
    );
    assert.equal(told.messages.has("meanwhile"), true);
  });
});
