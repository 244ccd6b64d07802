// Folders for the tests to open and change: copies in the system's temporary directory.
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
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

/** Fills the storage of the demo application in `folder`. @param {string} folder */
export async function fillDemo(folder) {
  const script = join(demoApp, "fill.ts");
  await mustRun("The demo's storage could not be filled.", process.execPath, [
    packageScript("tsx/dist/cli.mjs"),
    script,
    folder,
  ]);
}
