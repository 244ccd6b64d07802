// The windows in which the host suite runs, and which test files run in which.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { root, StepError } from "./steps.mjs";
import { emptyFolder, filledDemo, filledDemoInGit } from "./workspaces.mjs";

/**
 * @typedef {object} HostRun
 * @property {string} name `NAME.test.ts` and `NAME.*.test.ts` in test/host/ run in it; all other files in the first run.
 * @property {string} what
 * @property {() => Promise<import("./workspaces.mjs").Workspace>} prepareFolder
 * @property {boolean} trusted Whether the folder is opened trusted; otherwise in Restricted Mode.
 * @property {Record<string, unknown>} settings
 */

/** @type {readonly HostRun[]} */
export const hostRuns = [
  {
    name: "demo",
    what: "the filled demo application, trusted",
    prepareFolder: filledDemo,
    trusted: true,
    settings: {},
  },
  {
    name: "git",
    what: "the filled demo application in a git repository",
    prepareFolder: filledDemoInGit,
    trusted: true,
    settings: {},
  },
  {
    name: "restricted",
    what: "the filled demo application, in a git repository, in Restricted Mode",
    prepareFolder: filledDemoInGit,
    trusted: false,
    settings: {},
  },
  {
    name: "empty",
    what: "a folder without any store",
    prepareFolder: () => Promise.resolve(emptyFolder()),
    trusted: true,
    settings: {},
  },
  {
    name: "readonly",
    what: "a storage directory that the user may not write to",
    prepareFolder: filledDemo,
    trusted: true,
    settings: {},
  },
];

const source = join(root, "test", "host");
const output = join(root, "out", "test", "host");

/**
 * Bundles test/host/ for the extension host, each file on its own.
 * @returns {Promise<{ index: string, filesOf: (run: HostRun) => string[] }>}
 */
export async function bundleHostTests() {
  const { build } = await import("esbuild");
  const files = (await readdir(source)).filter((file) => file.endsWith(".test.ts")).sort();
  await rm(output, { recursive: true, force: true });
  await build({
    entryPoints: ["index.ts", ...files].map((file) => join(source, file)),
    outdir: output,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode", "mocha", "koffi", "esbuild"],
    // The helpers find the fixtures from the folder in which their source is.
    define: { __dirname: JSON.stringify(join(root, "test", "support")) },
  });
  const runOf = (/** @type {string} */ file) =>
    hostRuns.find(({ name }) => file === `${name}.test.ts` || file.startsWith(`${name}.`)) ?? hostRuns[0];
  return {
    index: join(output, "index.js"),
    filesOf: (run) => {
      const mine = files.filter((file) => runOf(file) === run);
      if (mine.length === 0) throw new StepError(`No file in test/host/ runs in "${run.name}".`);
      return mine.map((file) => join(output, file.replace(/\.ts$/, ".js")));
    },
  };
}
