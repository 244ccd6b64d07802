import assert from "node:assert/strict";
import * as vscode from "vscode";

describe("the extension in an empty folder", () => {
  it("activates and makes no file", async () => {
    const extension = vscode.extensions.getExtension("dead-tasks.dead-tasks");
    assert.ok(extension, "the extension under development is not known to this window");
    await extension.activate();
    const [folder] = vscode.workspace.workspaceFolders!;
    assert.deepEqual(await vscode.workspace.fs.readDirectory(folder!.uri), []);
  });
});
