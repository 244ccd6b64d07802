// One host run in the desktop's VS Code, where its download works.
import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./steps.mjs";

/**
 * @param {import("./hostServer.mjs").HostJob} job
 * @returns {Promise<{ status: number, log: string }>} `status`: 0 when every test passed. `log` is empty: VS Code prints.
 */
export async function runInDesktop({ run, folder, index, env }) {
  const { runTests } = await import("@vscode/test-electron");
  const data = mkdtempSync(join(tmpdir(), "dead-tasks-desktop-"));
  try {
    await mkdir(join(data, "User"), { recursive: true });
    await writeFile(join(data, "User", "settings.json"), JSON.stringify(run.settings));
    const status = await runTests({
      extensionDevelopmentPath: [root, ...(run.extensions ?? [])],
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
    return { status, log: "" };
  } catch (error) {
    console.error(`The desktop's VS Code did not run the tests: ${String(error)}`);
    console.error("Where its download is blocked, `npm run test:host` runs the same suite.");
    return { status: 1, log: "" };
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}
