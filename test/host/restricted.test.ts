import assert from "node:assert/strict";
import * as vscode from "vscode";

describe("the extension in Restricted Mode", () => {
  it("activates all the same", async () => {
    assert.equal(vscode.workspace.isTrusted, false);
    const extension = vscode.extensions.getExtension("dead-tasks.dead-tasks");
    assert.ok(extension, "the manifest must say that the extension supports untrusted workspaces");
    await extension.activate();
    assert.equal(extension.isActive, true);
  });
});
