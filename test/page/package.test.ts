import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { newTask, taskLine } from "../support/stores";
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

  it("shows each task that is clicked, while the list is drawn anew all the time", async () => {
    const data = join(workbench().folder, "storage", "deferred-dead_tasks-0");
    const damage = workbench().row("Damage");
    // As many as a page of the list has: it takes its time to be drawn.
    const ids = Array.from({ length: 200 }, (_, index) => `9-9-${index}`);
    const tasks = ids.map((id) => taskLine(newTask(id, { exceptionMessage: `the one called ${id}.` })));
    appendFileSync(data, Buffer.concat(tasks));
    await workbench()
      .row(`called ${ids.at(-1)}.`)
      .waitFor();
    let lines = 0;
    // Each of them changes what the list says of the damage, and moves no row.
    const damaging = setInterval(() => {
      appendFileSync(data, "no record\n");
      lines++;
    }, 40);
    try {
      await damage.waitFor();
      for (const id of ids.slice(-12, -2)) {
        await workbench().row(`called ${id}.`).click();
        await workbench()
          .webview.locator("main")
          .filter({ hasText: `called ${id}.` })
          .waitFor({ timeout: 5_000 });
      }
    } finally {
      clearInterval(damaging);
    }
    await damage.getByText(`${lines} lines`).waitFor();
    assert.ok(lines > 50, `${lines}`);
    assert.equal(await workbench().page.locator(".notification-toast").count(), 0);
  });
});
