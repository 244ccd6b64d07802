// node_modules, brought in line with package-lock.json. Node built-ins only.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mustRun, progress, root, StepError } from "./steps.mjs";

/**
 * @typedef {{ integrity?: string, optional?: boolean, os?: string[], cpu?: string[], libc?: string[] }} LockEntry
 * What package-lock.json says of one package.
 */

/** Whether npm may leave this package out here: it is optional and not plainly one for this platform. @param {LockEntry} entry */
function mayBeMissing({ optional = false, os, cpu, libc }) {
  const forThisPlatform =
    os?.includes(process.platform) === true && cpu?.includes(process.arch) === true && libc === undefined;
  return optional && !forThisPlatform;
}

/** Whether node_modules holds what package-lock.json lists. npm keeps a copy of the lock beside what it installed. */
function upToDate() {
  const installed = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(installed)) return false;
  /** @type {(file: string) => Record<string, LockEntry>} */
  const packages = (file) => JSON.parse(readFileSync(file, "utf8")).packages;
  const present = packages(installed);
  return Object.entries(packages(join(root, "package-lock.json"))).every(([path, entry]) => {
    const found = present[path];
    return path === "" || (found === undefined ? mayBeMissing(entry) : found.integrity === entry.integrity);
  });
}

/** Installs the project's npm packages when they are missing or not those of package-lock.json. */
export async function ensureDependencies() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new StepError(`Node ${process.versions.node} is too old: install Node 20.19 or newer and run this again.`);
  }
  if (upToDate()) return;
  progress("Installing npm packages (npm ci)");
  await mustRun("Is the npm registry reachable? Run this again once it is.", "npm", [
    "ci",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ]);
}
