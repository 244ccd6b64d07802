import assert from "node:assert/strict";
import { useWorkbench } from "./harness";

describe("the packaged extension in a window", () => {
  const workbench = useWorkbench();

  it("lists the dead tasks of the demo application", async () => {
    await workbench().openView();
    await workbench().row("SendWelcomeEmail").first().waitFor();
    await workbench().screenshot("list");
    assert.ok((await workbench().rows.count()) > 5, "only a few of the demo's dead tasks are listed");
  });
});
