import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commands, ConfigurationTarget, window, workspace } from "vscode";
import { deadTasks, folder, recordNodes, storeNamed } from "./window";

describe("code in Restricted Mode", () => {
  after(() => commands.executeCommand("workbench.action.closeAllEditors"));

  it("is opened, and git is asked nothing about it", async () => {
    const store = await storeNamed("bookshop");
    const { changes } = await deadTasks();
    const task = store.newestFirst().find(({ exceptionClass }) => exceptionClass === "PaymentGateway::CardDeclined")!;
    appendFileSync(join(folder(), "lib/payment_gateway.rb"), "# changed\n");
    const [node] = await recordNodes(store, [task.id]);
    await commands.executeCommand("deadTasks.openFailingLine", node);
    assert.equal(window.activeTextEditor?.document.uri.fsPath, join(folder(), "lib/payment_gateway.rb"));
    changes.lookSoon(store, task);
    await delay(1_000);
    assert.deepEqual(await changes.of(store, task), []);
  });

  it("is not looked for where the workspace's settings say", async () => {
    const settings = workspace.getConfiguration("deadTasks");
    await settings.update("pathMappings", { "/srv/app": "/etc" }, ConfigurationTarget.Workspace);
    assert.deepEqual(workspace.getConfiguration("deadTasks").get("pathMappings"), {});
    await settings.update("pathMappings", undefined, ConfigurationTarget.Workspace);
  });
});
