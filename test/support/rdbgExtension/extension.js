// Starts scripts under rdbg and lets VS Code speak with it over its socket. It parts commands at spaces, as the common extension does.
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
      const words = `${command} ${script} ${args.join(" ")}`.trim().split(" ");
      const rdbg = ["-I", join(gem, "lib"), join(gem, "exe", "rdbg"), "--command", "--open", "--stop-at-load"];
      const all = [...rdbg, `--sock-path=${socket}`, "--", ...words];
      const started = spawn("ruby", all, { cwd, env: { ...process.env, ...env }, stdio: "ignore" });
      for (let look = 0; look < 200 && !existsSync(socket); look++) await delay(50);
      context.subscriptions.push({ dispose: () => started.kill() });
      return new DebugAdapterNamedPipeServer(socket);
    },
  };
  context.subscriptions.push(debug.registerDebugAdapterDescriptorFactory("rdbg", factory));
};
