// The windows in which the host suite runs, and which test files run in which.
import { readdir, rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { largestFirst, root } from "./steps.mjs";
import { emptyFolder, filledDemo, filledDemoInGit } from "./workspaces.mjs";

/**
 * @typedef {object} HostRun
 * @property {string} name `NAME.test.ts` and `NAME.*.test.ts` in test/host/ run in it; all other files in the first run.
 * @property {string} what
 * @property {() => Promise<import("./workspaces.mjs").Workspace>} prepareFolder
 * @property {boolean} trusted Whether the folder is opened trusted; otherwise in Restricted Mode.
 * @property {Record<string, unknown>} settings
 * @property {number} [windows] Among how many windows its files are divided, each with a folder of its own. Default: 1.
 * @property {boolean} [alone] Whether it measures time, and so must have the machine for itself.
 * @property {readonly string[]} [extensions] Folders of extensions that the window has beside ours.
 *
 * @typedef {object} HostWindow
 * @property {string} suite What its results are called.
 * @property {HostRun} run
 * @property {string[]} files In test/host/.
 */

/** @type {readonly HostRun[]} */
export const hostRuns = [
  {
    name: "demo",
    what: "the filled demo application, trusted",
    prepareFolder: filledDemo,
    trusted: true,
    settings: {},
    windows: 3,
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
    name: "debug",
    what: "a folder without any store, with an extension for the Ruby debugger",
    prepareFolder: () => Promise.resolve(emptyFolder()),
    trusted: true,
    settings: {},
    extensions: [join(root, "test", "support", "rdbgExtension")],
  },
  {
    name: "readonly",
    what: "a storage directory that the user may not write to",
    prepareFolder: filledDemo,
    trusted: true,
    settings: {},
  },
  {
    name: "speed",
    what: "the filled demo application, with nothing beside it",
    prepareFolder: filledDemo,
    trusted: true,
    settings: {},
    alone: true,
  },
];

const source = join(root, "test", "host");
const output = join(root, "out", "test", "host");

/** @param {string} file */
function runOf(file) {
  return hostRuns.find(({ name }) => file === `${name}.test.ts` || file.startsWith(`${name}.`)) ?? hostRuns[0];
}

async function testFiles() {
  return (await readdir(source)).filter((file) => file.endsWith(".test.ts")).sort();
}

/**
 * The windows that run the files which these words choose, those of the longest runs first.
 * @param {readonly string[]} words The name of a run, or a part of a file's name. Without words: all files.
 * @returns {Promise<HostWindow[]>}
 */
export async function hostWindows(words) {
  const parts = words.filter((word) => !hostRuns.some(({ name }) => name === word));
  const chosen = (await testFiles()).filter((file) => {
    return words.length === 0 || words.includes(String(runOf(file)?.name)) || parts.some((part) => file.includes(part));
  });
  return hostRuns.flatMap((run) => {
    const mine = largestFirst(
      relative(root, source),
      chosen.filter((file) => runOf(file) === run),
    ).map((file) => basename(file));
    const count = Math.min(run.windows ?? 1, mine.length);
    const shares = Array.from({ length: count }, (_, index) => ({
      suite: `host-${run.name}${index === 0 ? "" : `-${index + 1}`}`,
      run,
      files: /** @type {string[]} */ ([]),
    }));
    // There and back again, so that each window gets about as much as the others.
    for (const [index, file] of mine.entries()) {
      const turn = index % (2 * count);
      shares[turn < count ? turn : 2 * count - 1 - turn]?.files.push(file);
    }
    return shares;
  });
}

/**
 * Bundles test/host/ for the extension host, each file on its own.
 * @returns {Promise<{ index: string, bundleOf: (file: string) => string }>}
 */
export async function bundleHostTests() {
  const { build } = await import("esbuild");
  await rm(output, { recursive: true, force: true });
  await build({
    entryPoints: ["index.ts", ...(await testFiles())].map((file) => join(source, file)),
    outdir: output,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode", "mocha", "koffi", "esbuild"],
    // The helpers find the fixtures from the folder in which their source is.
    define: { __dirname: JSON.stringify(join(root, "test", "support")) },
  });
  return { index: join(output, "index.js"), bundleOf: (file) => join(output, file.replace(/\.ts$/, ".js")) };
}
