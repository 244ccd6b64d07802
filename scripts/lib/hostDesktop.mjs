// One host run in the desktop's VS Code, where its download works.
import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./steps.mjs";

/**
 * @param {import("./hostServer.mjs").HostJob} job
 * @returns {Promise<number>} 0 when every test passed.
 */
export async function runInDesktop({ run, folder, index, env }) {
  const { runTests } = await import("@vscode/test-electron");
  const data = mkdtempSync(join(tmpdir(), "dead-tasks-desktop-"));
  try {
    await mkdir(join(data, "User"), { recursive: true });
    await writeFile(join(data, "User", "settings.json"), JSON.stringify(run.settings));
    return await runTests({
      extensionDevelopmentPath: root,
      extensionTestsPath: index,
      extensionTestsEnv: env,
      launchArgs: [
        folder,
        "--disable-extensions",
        `--user-data-dir=${data}`,
        ...(run.trusted ? ["--disable-workspace-trust"] : []),
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      ],
    });
  } catch (error) {
    console.error(`The desktop's VS Code did not run the tests: ${String(error)}`);
    console.error("Where its download is blocked, `npm run test:host` runs the same suite.");
    return 1;
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}
