import assert from "node:assert/strict";
import * as vscode from "vscode";

describe("the extension in a trusted window", () => {
  it("activates and knows that the folder is trusted", async () => {
    const extension = vscode.extensions.getExtension("dead-tasks.dead-tasks");
    assert.ok(extension, "the extension under development is not known to this window");
    await extension.activate();
    assert.equal(extension.isActive, true);
    assert.equal(vscode.workspace.isTrusted, true);
  });
});
