// Bundles the benchmark, so that what is measured is what users run, and runs it.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./lib/steps.mjs";

const outfile = join(root, "out", "bench", "test", "run.js");
await build({
  absWorkingDir: root,
  entryPoints: ["test/bench/run.ts"],
  outfile,
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["koffi"],
  logLevel: "warning",
});
process.exitCode = spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: "inherit" }).status ?? 1;
