import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** The Marshal of a task's context as Ruby itself writes it: one of those in `contextValues.rb`. */
export function rubyContext(name: "types" | "sharing" | "many" | "secrets"): Buffer {
  const run = spawnSync("ruby", ["-W0", join(__dirname, "contextValues.rb"), name], { encoding: "utf8" });
  assert.equal(run.status, 0, `Ruby is needed for this test: ${run.error?.message ?? run.stderr}`);
  return Buffer.from(run.stdout, "base64");
}
