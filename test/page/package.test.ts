import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { useWorkbench } from "./harness";

describe("the packaged extension", () => {
  const workbench = useWorkbench();

  it("lists the dead tasks of the demo application", async () => {
    await workbench().openView();
    await workbench().row("SendWelcomeEmail").first().waitFor();
    await workbench().screenshot("list");
    assert.ok((await workbench().rows.count()) > 5, "only a few of the demo's dead tasks are listed");
  });

  it("has flock, so that tasks can be changed", async () => {
    assert.doesNotMatch(await workbench().sideBar.innerText(), /read-only/i);
    await workbench().openMenu(workbench().row("SendWelcomeEmail").first());
    await workbench()
      .menuItem(/^Retry Later/)
      .waitFor();
    await workbench().page.keyboard.press("Escape");
  });

  it("brings a command line that can lock and delete", async () => {
    const extensions = process.env["DEAD_TASKS_EXTENSIONS"]!;
    const installed = (await readdir(extensions)).find((name) => name.startsWith("dead-tasks.dead-tasks-"))!;
    const cli = async (...args: string[]): Promise<unknown> => {
      const command = [join(extensions, installed, "dist", "cli.js"), ...args, "--json"];
      const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: workbench().folder });
      return JSON.parse(stdout);
    };
    const { tasks } = (await cli("list", "--limit", "1")) as { tasks: { id: string }[] };
    const { id } = tasks[0]!;
    assert.deepEqual(await cli("delete", id), { deleted: [id], missing: [], failed: [] });
  });
});
