// The npm package code-server: VS Code's workbench and extension host as a server on the loopback interface. Installed once
// into .vscode-test/ (or the folder that DEAD_TASKS_VSCODE_TEST names) and reused. Node built-ins only.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { mustRun, progress, root, StepError } from "./steps.mjs";
import { compilerNeed, ensureSystem } from "./system.mjs";

/** code-server refuses any Node but its own major version, and the npm package `node` carries that runtime. */
const versions = { node: "24.21.0", "code-server": "4.139.1" };

const home = resolve(process.env["DEAD_TASKS_VSCODE_TEST"] || join(root, ".vscode-test"));
const nodeBin = join(home, "node", "node_modules", ".bin");
const serverMain = join(home, "server/node_modules/code-server/lib/vscode/out/server-main.js");
/** Written last, so that an installation that was interrupted is done again. */
const marker = join(home, "installed.json");

function installed() {
  try {
    return readFileSync(marker, "utf8") === JSON.stringify(versions) && existsSync(serverMain);
  } catch {
    return false; // No marker: never installed, or not to the end.
  }
}

/** Installs the server unless it is there: two to three minutes and 800 MB, the first time. */
export async function ensureServer() {
  if (installed()) return;
  if (process.platform === "win32") {
    throw new StepError(
      "code-server does not run on Windows. Use WSL, or `npm run test:desktop` for the desktop's VS Code.",
    );
  }
  await ensureSystem([compilerNeed]);
  progress(`Installing code-server ${versions["code-server"]} into ${home} (once, two to three minutes)`);
  await rm(marker, { force: true });
  for (const folder of [join(home, "node"), join(home, "server")]) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
  }
  const advice = "Is the npm registry reachable? Run this again once the complaint above is mended.";
  const install = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"];
  await mustRun(advice, "npm", [...install, join(home, "node"), `node@${versions.node}`]);
  await mustRun(advice, "npm", [...install, join(home, "server"), `code-server@${versions["code-server"]}`], {
    env: {
      PATH: nodeBin + delimiter + (process.env["PATH"] ?? ""),
      // Set by the npm that runs this script, and naming its Node: the inner npm must name its own.
      NODE: undefined,
      npm_config_user_agent: undefined,
      npm_node_execpath: undefined,
    },
  });
  await writeFile(marker, JSON.stringify(versions));
}

/** The environment without what a surrounding VS Code terminal or debugger put there. */
function cleanEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VSCODE_|ELECTRON_RUN_AS_NODE$|NODE_OPTIONS$)/.test(name)),
  );
}

/**
 * Installs a packaged extension as a user would.
 * @param {string} vsix
 * @param {string} extensionsDirectory
 */
export async function installExtension(vsix, extensionsDirectory) {
  await mustRun("The packaged extension is not fit to install.", join(nodeBin, "node"), [
    serverMain,
    "--install-extension",
    vsix,
    "--extensions-dir",
    extensionsDirectory,
    "--force",
  ]);
}

/** No gallery: whether one can be reached must not matter to a window that is there for one extension. */
const noGallery = { EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: "" }) };

/** A window without what is not ours. */
const quietSettings = {
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  // As on the desktop: in a browser each change would be saved by itself a second later, in the middle of a test.
  "files.autoSave": "off",
  "telemetry.telemetryLevel": "off",
  "workbench.enableExperiments": false,
  "workbench.reduceMotion": "on", // What moves is drawn many times over, by the processor.
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

/**
 * @typedef {object} ServerOptions
 * @property {string} [extensionsDirectory] Default: a fresh one without extensions.
 * @property {Record<string, unknown>} [settings] Machine settings, beyond those that keep the window quiet.
 * @property {boolean} [trusted] Opens folders trusted, without asking. Default: true. False tests Restricted Mode.
 * @property {boolean} [testDriver] Lets the page's address name an extension under development and its tests.
 * @property {number} [port] Default: a free one.
 * @property {NodeJS.ProcessEnv} [env] Beyond the process's own; extensions see it.
 *
 * @typedef {object} Server
 * @property {string} authority `127.0.0.1:PORT`.
 * @property {(folder: string, payload?: readonly (readonly [string, string])[]) => string} address What to open in a
 *   browser. It carries the token that the server asks for: whoever has it can run anything as this user.
 * @property {(settings: Record<string, unknown>) => Promise<void>} applySettings Replaces `ServerOptions.settings`; windows
 *   follow.
 * @property {() => string} output What the server printed.
 * @property {Promise<number | null>} ended Settles when the server is gone.
 * @property {() => Promise<void>} stop Ends the server with all of its processes and removes its data. Safe to call twice.
 */

/** Undoings of the servers that still run, for a process that ends without `stop`. @type {Set<() => void>} */
const running = new Set();

function endAll() {
  for (const end of running) end();
}

process.once("exit", endAll);
for (const [signal, status] of /** @type {const} */ ([
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
])) {
  process.once(signal, () => process.exit(status));
}

/**
 * Starts a server on the loopback interface with a data directory of its own.
 * @param {ServerOptions} [options]
 * @returns {Promise<Server>}
 */
export async function startServer(options = {}) {
  const { settings = {}, trusted = true, testDriver = false, port = 0, env = {} } = options;
  const data = mkdtempSync(join(realpathSync(tmpdir()), "dead-tasks-server-"));
  const machine = join(data, "data", "Machine");
  await mkdir(machine, { recursive: true });
  const applySettings = (/** @type {Record<string, unknown>} */ changed) =>
    writeFile(join(machine, "settings.json"), JSON.stringify({ ...quietSettings, ...changed }));
  await applySettings(settings);
  const token = randomBytes(24).toString("hex");
  const tokenFile = join(data, "token"); // Not on the command line, which every user of the machine can read.
  await writeFile(tokenFile, token, { mode: 0o600 });
  const args = ["--host", "127.0.0.1", "--port", String(port), "--connection-token-file", tokenFile];
  args.push("--accept-server-license-terms", "--telemetry-level", "off", "--server-data-dir", data);
  args.push("--extensions-dir", options.extensionsDirectory ?? join(data, "extensions"));
  if (trusted) args.push("--disable-workspace-trust");
  if (testDriver) args.push("--enable-smoke-test-driver");

  // Its sockets go where they are removed with the rest. macOS' temporary paths are too long for a socket below them.
  const temporary = process.platform === "linux" ? { TMPDIR: data } : {};

  // A process group of its own, so that the extension hosts that it starts can be ended with it.
  const child = spawn(join(nodeBin, "node"), [serverMain, ...args], {
    cwd: data,
    env: { ...cleanEnvironment(), ...noGallery, ...temporary, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  /** @type {Promise<number | null>} */
  const ended = new Promise((settle) => child.once("close", settle));
  const end = () => {
    running.delete(end);
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // Already gone.
    }
    rmSync(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  running.add(end);
  const stop = async () => {
    end();
    await ended;
  };

  /** @type {Promise<number>} */
  const listening = new Promise((settle, reject) => {
    const fail = (/** @type {string} */ what) =>
      reject(new StepError(`The VS Code server ${what}. It said:\n${output}`));
    const timer = setTimeout(() => fail("did not start listening within 60 s"), 60_000);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
        const found = /Extension host agent listening on (\d+)/.exec(output)?.[1];
        if (found !== undefined) {
          clearTimeout(timer);
          settle(Number(found));
        }
      });
    }
    child.once("error", (error) => fail(`could not be started (${error.message})`));
    void ended.then((status) => fail(`ended with status ${status}`));
  });
  /** @type {number} */
  let bound;
  try {
    bound = await listening;
  } catch (error) {
    end();
    throw error;
  }
  const authority = `127.0.0.1:${bound}`;
  return {
    authority,
    address: (folder, payload = []) => {
      const query = new URLSearchParams({ tkn: token, folder });
      if (payload.length > 0) query.set("payload", JSON.stringify(payload));
      return `http://${authority}/?${query.toString()}`;
    },
    applySettings,
    output: () => output,
    ended,
    stop,
  };
}
