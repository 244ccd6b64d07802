// Starts scripts under rdbg and lets VS Code speak with it over its socket. A shell reads the command line, as with the common extension.
const { spawn, execFileSync } = require("node:child_process");
const { existsSync, mkdtempSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { setTimeout: delay } = require("node:timers/promises");
const { DebugAdapterNamedPipeServer, debug } = require("vscode");

/** @param {import("vscode").ExtensionContext} context */
exports.activate = (context) => {
  const factory = {
    /** @param {import("vscode").DebugSession} session */
    createDebugAdapterDescriptor: async ({ configuration }) => {
      const find = "puts Gem::Specification.find_by_name('debug').full_gem_path";
      const gem = execFileSync("ruby", ["-e", find], { encoding: "utf8" }).trim();
      const socket = join(mkdtempSync(join(tmpdir(), "rdbg-")), "socket");
      const { command, script, args, cwd, env } = configuration;
      const rdbg = `ruby ${gem}/exe/rdbg --command --open --stop-at-load --sock-path=${socket}`;
      const line = `cd ${cwd}; exec ${rdbg} -- ${command} ${script} ${args.join(" ")}`;
      const started = spawn("sh", ["-c", line], {
        env: { ...process.env, ...env },
        stdio: ["ignore", "ignore", "pipe"],
      });
      let said = "";
      let ended = false;
      started.stderr.setEncoding("utf8").on("data", (text) => (said += text));
      started.once("close", () => (ended = true));
      // Not as soon as there is a socket: whoever comes before the script has been stopped gets the text for a terminal first. Nor as
      // soon as it says that it waits, which is before there is one.
      while (!said.includes("wait for debugger connection") || !existsSync(socket)) {
        if (ended) throw new Error(`rdbg ended: ${said}`);
        await delay(20);
      }
      context.subscriptions.push({ dispose: () => started.kill() });
      return new DebugAdapterNamedPipeServer(socket);
    },
  };
  context.subscriptions.push(debug.registerDebugAdapterDescriptorFactory("rdbg", factory));
};
