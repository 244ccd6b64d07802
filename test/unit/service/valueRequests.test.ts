import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { startStoreService } from "../../../src/service/client";
import type { DetailOptions } from "../../../src/service/protocol";
import type { StoreService } from "../../../src/service/storeService";
import { writeMarshal } from "../../../src/marshal";
import { bundle } from "../../support/processes";
import { array, classNamed, nil, str } from "../../support/ruby";
import { rubyContext } from "../../support/rubyContext";
import { newTask, openStore, temporaryFolders } from "../../support/stores";

const hidden: DetailOptions = {
  reveal: false,
  maskedNames: ["password", "token", "card", "credentials", "session", "authorization", "cookie"],
};

describe("asking the storage worker for values", function () {
  this.timeout(20_000);
  const folders = temporaryFolders();
  const services: StoreService[] = [];

  afterEach(() => {
    for (const service of services.splice(0)) service.dispose();
  });

  async function open(): Promise<{ service: StoreService; path: string }> {
    const path = folders.make();
    const store = await openStore(path);
    await store.add(newTask("1-1-1", { context: rubyContext("secrets") }));
    await store.add(newTask("1-1-2", { context: rubyContext("many") }));
    await store.add(newTask("1-1-3", { context: Buffer.from("no context") }));
    const service = startStoreService(bundle("src/service/worker.ts"), () => undefined);
    services.push(service);
    await service.open({ key: "store", path, prefix: "deferred-", backend: "disk" });
    return { service, path };
  }

  it("gets no byte of a secret from the worker, be it asked for details, values, text, content or places", async () => {
    const { service } = await open();
    const got: unknown[] = [await service.detail("store", "1-1-1", hidden)];
    const first = (await service.values("store", "1-1-1", hidden, null))!;
    got.push(first);
    for (const { path } of first.flatMap(({ node, parts }) => [node, ...parts])) {
      for (const one of [path, `${path}.0`, `${path}.1`]) {
        got.push(await service.values("store", "1-1-1", hidden, [{ path: one, from: 0 }]));
        got.push(await service.valueText("store", "1-1-1", hidden, one));
        got.push(await service.valueContent("store", "1-1-1", hidden, one, 0));
      }
    }
    for (const text of ["s3cret", "s3cret-1"]) got.push(await service.findValues("store", "1-1-1", hidden, text));
    const told = JSON.stringify(got);
    assert.match(told, /s3cret-shared/, "which stands in the open as well");
    assert.doesNotMatch(told, /s3cret-\d/);
  });

  it("gets one secret that is revealed, in the tree and in the text alike", async () => {
    const { service } = await open();
    const options = { ...hidden, revealed: ["args.1.1"] };
    const pages = await service.values("store", "1-1-1", options, [{ path: "args.1", from: 0 }]);
    assert.equal(pages?.[0]?.parts[1]?.preview, '"s3cret-4"');
    const detail = await service.detail("store", "1-1-1", options);
    assert.ok(detail.kind === "task");
    assert.deepEqual(new Set(JSON.stringify(detail).match(/s3cret-\d+/g)), new Set(["s3cret-4"]));
    assert.equal(detail.task.masked, true, "of the others");
  });

  it("goes on with what it read last when the task has gone, and with nothing else", async () => {
    const { service } = await open();
    assert.equal((await service.values("store", "1-1-2", hidden, null))?.[0]?.node.path, "args");
    await service.delete("store", ["1-1-2", "1-1-1"]);
    const page = await service.values("store", "1-1-2", hidden, [{ path: "args.0", from: 300 }]);
    assert.equal(page?.[0]?.parts[0]?.preview, "301");
    assert.equal(await service.values("store", "1-1-1", hidden, null), null);
    assert.equal(await service.valueText("store", "9-9-9", hidden, "args"), null);
    await service.close("store");
    await assert.rejects(service.values("store", "1-1-2", hidden, null), /not open/);
  });

  it("reads a task again that died again", async () => {
    const { service, path } = await open();
    const text = (): Promise<string | null> => service.valueText("store", "1-1-2", hidden, "args");
    assert.ok((await text())?.startsWith("[[1, 2, 3"));
    const context = writeMarshal(array(classNamed("C"), array(str("other")), nil(), nil(), nil(), nil(), nil()));
    await (await openStore(path)).add(newTask("1-1-2", { context }));
    assert.equal(await text(), '["other"]');
  });

  it("has no values of what cannot be decoded", async () => {
    const { service } = await open();
    assert.equal(await service.values("store", "1-1-3", hidden, null), null);
    assert.equal(await service.findValues("store", "1-1-3", hidden, "x"), null);
  });

  it("masks what a record has beside the known keys", async () => {
    const { service, path } = await open();
    const run = `
      require "zlib"
      record = { id: "1-1-9", task_class: "C", attempts: 1, enqueued_at: 1, failed_at: 2, exception_class: "E",
        exception_message: "m", backtrace: [], context: Marshal.dump([Class, nil, nil, 1]).b,
        api_token: "s3cret-20", meta: { password: "s3cret-21", queue: :low } }
      body = "dead_task:1-1-9:" + Marshal.dump(record).dump
      File.write(${JSON.stringify(join(path, "deferred-dead_tasks-0"))}, format("%08x:%s\\n", Zlib.crc32(body), body), mode: "a")`;
    assert.equal(spawnSync("ruby", ["-e", run], { encoding: "utf8" }).stderr, "");
    const detail = await service.detail("store", "1-1-9", hidden);
    assert.ok(detail.kind === "task");
    assert.deepEqual(detail.task.extra, [
      { name: "api_token", value: "[FILTERED]" },
      { name: "meta", value: "{password: [FILTERED], queue: :low}" },
    ]);
    assert.equal(detail.task.masked, true);
  });
});
