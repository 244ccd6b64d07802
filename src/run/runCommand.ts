import { access, constants } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { isFile } from "../code/frameFiles";

const bundleExec = ["bundle", "exec"];
const gemfiles = ["Gemfile", "gems.rb"];

/**
 * The command that runs a Ruby script in the application at `root`, as words. Without a Gemfile there or above, or one that
 * BUNDLE_GEMFILE names, `bundle exec` is left out: Bundler would refuse. Null for a setting that is no list of words.
 */
export async function commandWords(
  setting: unknown,
  root: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<readonly string[] | null> {
  if (!Array.isArray(setting)) return null;
  const words: unknown[] = setting;
  if (words.length === 0 || !words.every((word): word is string => typeof word === "string" && word !== ""))
    return null;
  const isBundled = bundleExec.every((word, index) => words[index] === word);
  const rest = words.slice(bundleExec.length);
  if (!isBundled || rest.length === 0 || environment["BUNDLE_GEMFILE"] !== undefined) return words;
  return (await hasGemfile(root)) ? words : rest;
}

async function hasGemfile(directory: string): Promise<boolean> {
  for (const name of gemfiles) if (await isFile(join(directory, name))) return true;
  const parent = dirname(directory);
  return parent !== directory && hasGemfile(parent);
}

/** Whether a command would be found, from `root`. */
export async function isFound(
  command: string,
  root: string,
  searchPath: string | undefined = process.env["PATH"],
): Promise<boolean> {
  if (command.includes("/")) return isExecutable(resolve(root, command));
  for (const directory of (searchPath ?? "").split(delimiter)) {
    if (directory !== "" && (await isExecutable(join(directory, command)))) return true;
  }
  return false;
}

/** The first of these directories that is an application's root; null where none is. */
export async function applicationRoot(candidates: readonly string[]): Promise<string | null> {
  for (const candidate of candidates) {
    if (await isFile(join(candidate, "config", "application.rb"))) return candidate;
  }
  return null;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return await isFile(path);
  } catch {
    // Not there, or not ours to run.
    return false;
  }
}
