// Programs of the operating system that the tests need. Node built-ins only.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { mustRun, progress, StepError } from "./steps.mjs";

/** What code-server's native modules are compiled with. */
const buildPackages = [
  "build-essential",
  "python3",
  "pkg-config",
  "libkrb5-dev",
  "libsecret-1-dev",
  "libx11-dev",
  "libxkbfile-dev",
];

/**
 * @typedef {object} Need
 * @property {string} what
 * @property {string[]} packages Debian's names.
 * @property {() => boolean} present
 */

/** @type {Need} */
export const rubyNeed = { what: "Ruby", packages: ["ruby"], present: () => findProgram("ruby") !== null };

/** For the tests of the tests that are generated; Minitest comes with Ruby. @type {Need} */
export const rspecNeed = {
  what: "RSpec",
  packages: ["ruby-rspec-core", "ruby-rspec-expectations"],
  present: () => findProgram("rspec") !== null,
};

/** @type {Need} */
export const gitNeed = { what: "git", packages: ["git"], present: () => findProgram("git") !== null };

/** @type {Need} */
export const chromiumNeed = { what: "Chromium", packages: ["chromium"], present: () => findChromium() !== null };

/** @type {Need} */
export const compilerNeed = {
  what: "a C++ compiler, make, Python 3, pkg-config and the headers of X11, Kerberos and libsecret",
  packages: buildPackages,
  present: () =>
    isDebian()
      ? buildPackages.every(debianHas)
      : ["c++", "make", "python3", "pkg-config"].every((name) => findProgram(name) !== null),
};

/** @param {string} name @returns {string | null} the path of a program on the PATH */
export function findProgram(name) {
  const endings = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    for (const ending of endings) {
      const path = join(folder, name + ending);
      if (folder !== "" && existsSync(path)) return path;
    }
  }
  return null;
}

/** A Chromium for the tests: `DEAD_TASKS_CHROMIUM`, else one that is installed. @returns {string | null} */
export function findChromium() {
  const chosen = process.env["DEAD_TASKS_CHROMIUM"];
  if (chosen !== undefined && chosen !== "") return chosen;
  const mac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  return names.map(findProgram).find((path) => path !== null) ?? (existsSync(mac) ? mac : null);
}

function isDebian() {
  return existsSync("/etc/debian_version") && findProgram("apt-get") !== null;
}

/** @param {string} name */
function debianHas(name) {
  const { stdout } = spawnSync("dpkg-query", ["-W", "-f=${db:Status-Status}", name], { encoding: "utf8" });
  return stdout === "installed";
}

/**
 * Makes sure that the programs are there. On Debian, as root, installs the missing ones; elsewhere says how to.
 * @param {readonly Need[]} needs
 */
export async function ensureSystem(needs) {
  const missing = needs.filter(({ present }) => !present());
  if (missing.length === 0) return;
  if (!isDebian()) {
    throw new StepError(
      `Missing on this machine: ${missing.map(({ what }) => what).join("; ")}. ` +
        `Install what corresponds to Debian's ${missing.flatMap(({ packages }) => packages).join(" ")} and run this again. ` +
        `DEAD_TASKS_CHROMIUM may name a Chromium or Chrome that is not on the PATH.`,
    );
  }
  const packages = missing.flatMap((need) => need.packages);
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  if (process.getuid?.() !== 0) {
    throw new StepError(
      `System packages are missing. Run this, then try again:\n\n` +
        `  sudo apt-get update && sudo apt-get ${install.join(" ")}`,
    );
  }
  progress(`Installing system packages: ${packages.join(" ")}`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const advice = "Mend the package manager's complaint above and run this again.";
  await mustRun(advice, "apt-get", ["update", "--quiet"], { env });
  await mustRun(advice, "apt-get", ["--quiet", ...install], { env });
}
