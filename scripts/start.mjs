// Opens the demo application, its storage filled with dead tasks, in VS Code with this extension.
//   npm start [-- --server] [-- --port PORT] [-- --check]
// --server  the server even where the desktop's `code` could be used
// --port    for the server; default: a free one
// --check   starts the server, makes sure that its address answers, and stops: for tests
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureDependencies } from "./lib/dependencies.mjs";
import { ensureServer, installExtension, startServer } from "./lib/server.mjs";
import { main, mustRun, progress, root, StepError } from "./lib/steps.mjs";
import { findProgram } from "./lib/system.mjs";
import { vsixPath } from "./lib/vsix.mjs";
import { demoApp, fillDemo } from "./lib/workspaces.mjs";

function options() {
  try {
    const { values } = parseArgs({
      options: { server: { type: "boolean" }, check: { type: "boolean" }, port: { type: "string", default: "0" } },
    });
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`${values.port} is not a port.`);
    return { server: values.server === true || values.check === true, check: values.check === true, port };
  } catch (error) {
    throw new StepError(
      `${error instanceof Error ? error.message : String(error)}\nUse: npm start [-- --server --port PORT]`,
    );
  }
}

/** The desktop's VS Code, where there is one with a screen to show it on. @returns {string | null} */
function desktopCode() {
  const screen = process.platform !== "linux" || process.env["DISPLAY"] || process.env["WAYLAND_DISPLAY"];
  return screen ? findProgram("code") : null;
}

/** @param {string} code */
async function openDesktop(code) {
  progress("Building");
  await mustRun("Mend the errors above.", process.execPath, ["esbuild.mjs"]);
  progress("Opening VS Code. It may ask whether you trust the folder: with trust, tasks can be retried and deleted.");
  await mustRun("Try `npm start -- --server`.", code, ["--new-window", `--extensionDevelopmentPath=${root}`, demoApp]);
}

/**
 * Whether the page comes to who has the token, and to nobody else. The server takes the token once, from the address, and
 * from then on as a cookie.
 * @param {string} address
 */
async function answers(address) {
  const greeting = await fetch(address, { redirect: "manual" });
  const cookie = greeting.headers
    .getSetCookie()
    .map((text) => text.split(";")[0])
    .join("; ");
  const page = await fetch(new URL(greeting.headers.get("location") ?? "/", address), { headers: { cookie } });
  const stranger = await fetch(new URL("/", address));
  return page.ok && (await page.text()).includes("workbench.js") && stranger.status === 403;
}

/** @param {{ port: number, check: boolean }} options */
async function openServer({ port, check }) {
  progress("Building and packaging");
  await mustRun("Mend the errors above.", process.execPath, ["scripts/package.mjs"]);
  const extensionsDirectory = join(root, "out", "start", `extensions-${process.pid}`);
  process.once("exit", () => rmSync(extensionsDirectory, { recursive: true, force: true }));
  await installExtension(await vsixPath(), extensionsDirectory);
  progress("Starting the VS Code server");
  const server = await startServer({ extensionsDirectory, port });
  const address = server.address(demoApp);
  if (check) {
    const ok = await answers(address);
    await server.stop();
    if (!ok)
      throw new StepError("The server did not answer as it should: with the token the page, without it status 403.");
    console.log("The server answers, and only to those who have its token.");
    return;
  }
  console.log(`
VS Code with the demo application is at

  ${address}

The address carries the key to this machine: whoever has it can act as you here. It answers on this machine alone;
from another one, forward the port first (ssh -L PORT:127.0.0.1:PORT). The folder is opened trusted, without asking.
Click the Dead Tasks icon at the left. Ctrl-C stops.`);
  await server.ended; // Ctrl-C ends this process, and the server with it.
  throw new StepError(`The server ended by itself. It said:\n${server.output()}`);
}

await main(async () => {
  const chosen = options();
  await ensureDependencies();
  const code = chosen.server ? null : desktopCode();
  if (code === null) await ensureServer();
  progress("Filling the demo's storage");
  await fillDemo(demoApp);
  await (code === null ? openServer(chosen) : openDesktop(code));
});
