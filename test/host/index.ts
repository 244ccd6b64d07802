import { openSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import Mocha from "mocha";

/** Runs inside the extension host: the files and the place for the results come from `scripts/host.mjs`. */
export async function run(): Promise<void> {
  const { DEAD_TASKS_HOST_FILES: files, DEAD_TASKS_RESULTS: output } = process.env;
  if (files === undefined || output === undefined) {
    throw new Error("The host suite is started by `npm run test:host`, which says which files to run.");
  }
  // Opened now: one of the runs gives up the right to.
  const results = openSync(output, "w");
  const mocha = new Mocha({
    ui: "bdd",
    timeout: 40_000,
    forbidOnly: process.env["CI"] === "true",
    reporter: "json",
    reporterOptions: { output: devNull },
  });
  for (const file of JSON.parse(files) as string[]) mocha.addFile(file);
  const failures = await new Promise<number>((resolve) => {
    // The JSON reporter leaves there what it prints; the types do not know of it.
    const runner: Mocha.Runner & { testResults?: unknown } = mocha.run((count) => {
      writeSync(results, JSON.stringify(runner.testResults));
      resolve(count);
    });
  });
  if (failures > 0) throw new Error(`${failures} failed`);
}
