import assert from "node:assert/strict";
import { join } from "node:path";
import { writeMarshal, type RubyValue } from "../../../src/marshal";
import { detailOf } from "../../../src/service/taskDetail";
import type { TaskCall } from "../../../src/service/protocol";
import { array, classNamed, int, nil, str, symbolHash } from "../../support/ruby";
import { newTask, openStore, temporaryFolders } from "../../support/stores";

describe("the call that performs a task", () => {
  const folders = temporaryFolders();

  async function callOf(taskClass: string, args: RubyValue, kwargs: RubyValue = nil()): Promise<TaskCall | null> {
    const store = await openStore(join(folders.make(), "storage"));
    const context = writeMarshal(array(classNamed(taskClass), args, kwargs, int(3), nil(), nil(), nil()));
    await store.add(newTask("1-1-1", { taskClass, context }));
    const found = await store.find("1-1-1");
    assert.ok(found?.kind === "task");
    return detailOf(found, { reveal: false, maskedNames: ["token"] }).context!.call;
  }

  it("is its class and its arguments, secrets masked", async () => {
    assert.deepEqual(await callOf("Billing::ChargeCard", array(int(7)), symbolHash({ token: str("s3cret") })), {
      taskClass: "Billing::ChargeCard",
      arguments: '7, token: "[FILTERED]"',
    });
    assert.deepEqual(await callOf("Charge", nil()), { taskClass: "Charge", arguments: "" });
  });

  it("is none for what is no name of a class, whatever stands in the store", async () => {
    for (const name of ["system('true');Charge", "Charge\nsystem('true')", "charge", "#<Class:0x1>", ""]) {
      assert.equal(await callOf(name, nil()), null, name);
    }
  });

  it("is none where it would be too large to be read", async () => {
    assert.equal(await callOf("Charge", array(str("x".repeat(250_000)))), null);
  });
});
