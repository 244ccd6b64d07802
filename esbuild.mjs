// Bundles the extension, its workers, the command line and the pages of its webviews into dist/.
//   node esbuild.mjs [--production] [--watch]
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const production = process.argv.includes("--production");
const watch = process.argv.includes("--watch");

/** @type {esbuild.BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  minify: production,
  sourcemap: production ? false : "linked",
  metafile: true,
  logLevel: "silent",
};

/**
 * koffi stays outside since it finds its native module beside its own files; even import() of it becomes require(), so that
 * the package carries one of its two loaders. Only the extension may leave `vscode` outside:
 * a bundle that must run without an editor then fails to build as soon as anything in it imports the editor.
 * @type {esbuild.BuildOptions}
 */
const node = {
  ...common,
  platform: "node",
  format: "cjs",
  target: "node20",
  supported: { "dynamic-import": false },
  external: ["koffi"],
};

/** @type {esbuild.BuildOptions} */
const page = { ...common, platform: "browser", format: "iife", target: "es2022" };

/** @type {esbuild.BuildOptions[]} */
const bundles = [
  { ...node, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", external: ["koffi", "vscode"] },
  { ...node, entryPoints: ["src/service/worker.ts"], outfile: "dist/worker.js" },
  { ...node, entryPoints: ["src/ruby/worker.ts"], outfile: "dist/rubyWorker.js" },
  { ...node, entryPoints: ["src/cli/main.ts"], outfile: "dist/cli.js", banner: { js: "#!/usr/bin/env node" } },
  { ...page, entryPoints: ["src/detail/webview/main.ts"], outfile: "dist/detail.js" },
  { ...page, entryPoints: ["src/raw/webview/main.ts"], outfile: "dist/raw.js" },
];

/** @type {readonly (readonly [from: string, to: string])[]} */
const copies = [
  ["node_modules/@vscode/codicons/dist/codicon.css", "dist/codicon.css"],
  ["node_modules/@vscode/codicons/dist/codicon.ttf", "dist/codicon.ttf"],
  ["node_modules/@ruby/prism/src/prism.wasm", "dist/prism.wasm"],
  ["src/run/runDeadTask.rb", "dist/runDeadTask.rb"],
];
const noticesFile = "dist/THIRD-PARTY-NOTICES.txt";

/** The licence of a package whose publisher left it out, from its repository. @param {string} name */
function ownCopy(name) {
  const file = join(root, "scripts", "licences", `${name.replace("/", "+")}.txt`);
  if (!existsSync(file)) throw new Error(`${name} is bundled but has no licence file: put a copy of it into ${file}`);
  return file;
}

/**
 * The licences of everything that is carried inside dist/: their terms ask that they travel along.
 * @param {esbuild.Metafile[]} metafiles
 */
async function writeNotices(metafiles) {
  const packages = new Set(["@vscode/codicons"]);
  for (const input of metafiles.flatMap((metafile) => Object.keys(metafile.inputs))) {
    const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(input)?.[1];
    if (name !== undefined) packages.add(name);
  }
  const notices = [];
  for (const name of [...packages].sort()) {
    const folder = join(root, "node_modules", name);
    const licences = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying)/i.test(file)).sort();
    const files = licences.length > 0 ? licences.map((file) => join(folder, file)) : [ownCopy(name)];
    const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
    notices.push(`${name}\n${"=".repeat(name.length)}\n\n${texts.map((text) => text.trim()).join("\n\n")}\n`);
  }
  await writeFile(join(root, noticesFile), notices.join("\n\n"));
}

/** Removes what an earlier build left, such as source maps, so that dist/ never carries two builds at once. */
async function removeStale() {
  const current = new Set([...bundles.map(({ outfile }) => outfile), ...copies.map(([, to]) => to), noticesFile]);
  if (!production) for (const { outfile } of bundles) current.add(`${outfile}.map`);
  for (const file of await readdir(join(root, "dist"))) {
    if (!current.has(`dist/${file}`)) await rm(join(root, "dist", file), { recursive: true });
  }
}

async function build() {
  await mkdir(join(root, "dist"), { recursive: true });
  const results = await Promise.all(bundles.map((options) => esbuild.build(options)));
  for (const [from, to] of copies) await copyFile(join(root, from), join(root, to));
  await chmod(join(root, "dist/cli.js"), 0o755);
  await writeNotices(results.flatMap(({ metafile }) => metafile ?? []));
  await removeStale();
  for (const warning of await esbuild.formatMessages(
    results.flatMap(({ warnings }) => warnings),
    { kind: "warning" },
  )) {
    console.warn(warning);
  }
  for (const { outfile } of bundles) {
    const { size } = await stat(join(root, String(outfile)));
    console.log(`${String(outfile).padEnd(20)}${(size / 1024).toFixed(1).padStart(8)} KiB`);
  }
}

try {
  await build();
  if (watch) {
    for (const options of bundles) {
      const context = await esbuild.context({ ...options, logLevel: "info" });
      await context.watch();
    }
    console.log("Watching src/ for changes. Ctrl-C stops.");
  }
} catch (error) {
  const { errors } = /** @type {{ errors?: esbuild.Message[] }} */ (error);
  if (errors === undefined) throw error;
  console.error((await esbuild.formatMessages(errors, { kind: "error" })).join("\n"));
  console.error("The build failed: mend the errors above and run it again. dist/ is not complete.");
  process.exitCode = 1;
}
