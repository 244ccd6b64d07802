import Mocha from "mocha";

/** Runs inside the extension host: the files and the place for the results come from `scripts/host.mjs`. */
export async function run(): Promise<void> {
  const { DEAD_TASKS_HOST_FILES: files, DEAD_TASKS_RESULTS: output } = process.env;
  if (files === undefined || output === undefined) {
    throw new Error("The host suite is started by `npm run test:host`, which says which files to run.");
  }
  const mocha = new Mocha({
    ui: "bdd",
    timeout: 20_000,
    forbidOnly: process.env["CI"] === "true",
    reporter: "json",
    reporterOptions: { output },
  });
  for (const file of JSON.parse(files) as string[]) mocha.addFile(file);
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  if (failures > 0) throw new Error(`${failures} failed`);
}
