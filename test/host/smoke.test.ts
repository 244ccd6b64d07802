import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commands, extensions, window, workspace } from "vscode";
import { deadTasks, eventually, root } from "./window";

describe("the extension in a trusted window", () => {
  it("activates by itself, without blocking, and without waiting for the disk", async () => {
    const extension = extensions.getExtension("dead-tasks.dead-tasks")!;
    await eventually(() => {
      assert.equal(extension.isActive, true);
    });
    assert.equal(workspace.isTrusted, true);
    const { stores } = await deadTasks();
    await eventually(() => {
      assert.equal(stores.looked, true);
    });
  });

  it("registers every command of its manifest and no other", async () => {
    await deadTasks();
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      contributes: { commands: { command: string }[] };
    };
    const declared = manifest.contributes.commands.map(({ command }) => command).sort();
    // The editor makes some of its own for every view: `deadTasks.tasks.focus` and the like.
    const registered = (await commands.getCommands(true)).filter((id) => /^deadTasks\.\w+$/.test(id)).sort();
    assert.deepEqual(registered, declared);
  });

  it("asks nothing of the network: no module that could is in what it runs", () => {
    for (const file of ["extension.js", "worker.js", "rubyWorker.js"]) {
      const text = readFileSync(join(root, "dist", file), "utf8");
      const modules = [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = ""]) => name.replace("node:", ""));
      assert.ok(modules.length > 0);
      for (const name of ["dgram", "dns", "http", "http2", "https", "net", "tls", "child_process"]) {
        assert.ok(!modules.includes(name), `${file} uses ${name}`);
      }
      assert.doesNotMatch(text, /\bfetch\(|XMLHttpRequest|WebSocket/);
    }
  });

  it("opens no window of its own: the list is there, the pane is not", async () => {
    const { pane } = await deadTasks();
    assert.equal(pane.state, null);
    assert.deepEqual(
      window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label)),
      [],
    );
  });
});
