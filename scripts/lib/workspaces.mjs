// Folders for the tests to open and change: copies in the system's temporary directory.
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mustRun, packageScript, root } from "./steps.mjs";

export const demoApp = join(root, "test", "demo-app");

/**
 * @typedef {object} Workspace
 * @property {string} folder Absolute, without symbolic links.
 * @property {() => void} remove Done at the end of the process in any case.
 */

/** @param {string} [name] @returns {Workspace} */
export function emptyFolder(name = "empty") {
  const parent = mkdtempSync(join(realpathSync(tmpdir()), "dead-tasks-workspace-"));
  const folder = join(parent, name);
  mkdirSync(folder);
  const remove = () => {
    process.off("exit", remove);
    rmSync(parent, { recursive: true, force: true });
  };
  process.once("exit", remove);
  return { folder, remove };
}

/**
 * A copy of the demo application without the scripts that fill it, its storage filled anew so that the backtraces point
 * into the copy.
 * @returns {Promise<Workspace>}
 */
export async function filledDemo() {
  const { folder, remove } = emptyFolder("bookshop");
  const storage = join(demoApp, "storage");
  cpSync(demoApp, folder, { recursive: true, filter: (source) => source !== storage && !source.endsWith(".ts") });
  await fillDemo(folder);
  return { folder, remove };
}

/**
 * The filled demo application in a git repository, committed a month ago: before any of its tasks died.
 * @returns {Promise<Workspace>}
 */
export async function filledDemoInGit() {
  const workspace = await filledDemo();
  writeFileSync(join(workspace.folder, ".gitignore"), "/storage/\n");
  const date = `${Math.floor(Date.now() / 1000) - 30 * 24 * 3600} +0000`;
  const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const options = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgSign=false"];
  const commands = [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "--all"],
    ["commit", "--quiet", "--message", "The application"],
  ];
  for (const command of commands) {
    const args = ["-C", workspace.folder, ...options, ...command];
    await mustRun("The demo's repository could not be made.", "git", args, { env });
  }
  return workspace;
}

/** Fills the storage of the demo application in `folder`. @param {string} folder */
export async function fillDemo(folder) {
  const script = join(demoApp, "fill.ts");
  await mustRun("The demo's storage could not be filled.", process.execPath, [
    packageScript("tsx/dist/cli.mjs"),
    script,
    folder,
  ]);
}
