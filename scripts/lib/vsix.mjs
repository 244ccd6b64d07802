// What is in a packaged extension, and what has to be.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root, StepError } from "./steps.mjs";

/** The platform as the Marketplace calls it. @returns {string} */
export function target() {
  return `${process.platform}-${process.arch === "arm" ? "armhf" : process.arch}`;
}

/** Where `npm run package` leaves the package. @returns {Promise<string>} */
export async function vsixPath() {
  /** @type {{ name: string, version: string }} */
  const { name, version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return join(root, "out", "package", `${name}-${target()}-${version}.vsix`);
}

const { platform, arch } = process;

/** Files that must all be there, without their leading `extension/`; vsce renames the first four. */
const required = [
  "LICENSE.txt",
  "changelog.md",
  "package.json",
  "readme.md",
  "dist/THIRD-PARTY-NOTICES.txt",
  "dist/cli.js",
  "dist/codicon.css",
  "dist/codicon.ttf",
  "dist/detail.js",
  "dist/raw.js",
  "dist/extension.js",
  "dist/prism.wasm",
  "dist/rubyWorker.js",
  "dist/runDeadTask.rb",
  "dist/worker.js",
  "node_modules/koffi/LICENSE.txt",
  "node_modules/koffi/index.cjs",
  "node_modules/koffi/package.json",
  "node_modules/koffi/src/koffi/index.cjs",
  "node_modules/koffi/src/koffi/src/static.cjs",
  `node_modules/@koromix/koffi-${platform}-${arch}/index.js`,
  `node_modules/@koromix/koffi-${platform}-${arch}/package.json`,
  `node_modules/@koromix/koffi-${platform}-${arch}/${platform}_${arch}/koffi.node`,
];

const allowed = /^media\/[\w-]+\.(png|svg|css)$/;

/**
 * The names in a zip archive, from its central directory (PKWARE's APPNOTE, 4.3.12 and 4.3.16).
 * @param {Buffer} zip
 */
function zipNames(zip) {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0) throw new StepError("The package is not a zip archive.");
  const names = [];
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    names.push(zip.toString("utf8", at + 46, at + 46 + Number(name)));
    at += 46 + Number(name) + Number(extra) + Number(comment);
  }
  return names;
}

/**
 * Checks that a package holds what it needs and nothing else.
 * @param {string} file
 * @returns {Promise<{ files: number, bytes: number }>}
 */
export async function verifyVsix(file) {
  const zip = await readFile(file);
  const names = zipNames(zip)
    .filter((name) => name.startsWith("extension/"))
    .map((name) => name.slice("extension/".length));
  const missing = required.filter((name) => !names.includes(name));
  const unexpected = names.filter((name) => !required.includes(name) && !allowed.test(name));
  if (missing.length + unexpected.length > 0) {
    throw new StepError(
      [
        "The package's content is not what it should be: mend .vscodeignore, or the list in scripts/lib/vsix.mjs.",
        ...missing.map((name) => `  missing     ${name}`),
        ...unexpected.map((name) => `  unexpected  ${name}`),
      ].join("\n"),
    );
  }
  return { files: names.length, bytes: zip.length };
}
