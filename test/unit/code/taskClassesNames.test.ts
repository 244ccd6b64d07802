import assert from "node:assert/strict";
import { conventionalPath, likeliestFirst } from "../../../src/code/taskClassesNames";

describe("where a class is looked for", () => {
  it("is the path that Ruby's loaders expect", () => {
    assert.equal(conventionalPath("SyncInvoice"), "sync_invoice.rb");
    assert.equal(conventionalPath("Billing::ChargeCard"), "billing/charge_card.rb");
    assert.equal(conventionalPath("HTTPClient"), "http_client.rb");
    assert.equal(conventionalPath("Api::V2Sync"), "api/v2_sync.rb");
    assert.equal(conventionalPath("ABTest"), "ab_test.rb");
    assert.equal(conventionalPath("A"), "a.rb");
    assert.equal(conventionalPath("Foo_Bar"), "foo_bar.rb");
    assert.equal(conventionalPath("GrößeÄndern"), "größe_ändern.rb");
  });

  it("is the application first, then what it loads, its tests last", () => {
    const files = [
      "/w/other/app/tasks/a.rb",
      "/w/shop/spec/app/tasks/a.rb",
      "/w/shop/config/a.rb",
      "/w/shop/lib/a.rb",
      "/w/shop/app/tasks/a.rb",
    ];
    assert.deepEqual(likeliestFirst(files, "/w/shop"), [
      "/w/shop/app/tasks/a.rb",
      "/w/shop/lib/a.rb",
      "/w/shop/config/a.rb",
      "/w/shop/spec/app/tasks/a.rb",
      "/w/other/app/tasks/a.rb",
    ]);
    assert.deepEqual(likeliestFirst(["C:\\shop\\test\\a.rb", "C:\\shop\\app\\a.rb"], "C:\\shop"), [
      "C:\\shop\\app\\a.rb",
      "C:\\shop\\test\\a.rb",
    ]);
  });
});
