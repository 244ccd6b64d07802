import { readFile } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { expand } from "./directories";

export interface GemEnvironment {
  /** Of the process: `GEM_HOME` and others. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  readonly home: string;
  /** Directories that may hold an application with its `Gemfile.lock`, the likeliest first. */
  readonly applications: readonly string[];
  /** Whether `.bundle/config` of the applications counts, which may name any directory. */
  readonly trusted: boolean;
}

/**
 * Directories with `gems/` in them, in the order in which an application looks: its own bundle, what the environment says, then
 * what version managers and systems install. Those that do not exist may be among them.
 */
export async function gemHomes({ variables, home, applications, trusted }: GemEnvironment): Promise<string[]> {
  const bundles = await Promise.all(applications.map((directory) => bundlePath(directory, trusted)));
  const userBundle = await configuredPath(join(home, ".bundle", "config"));
  const bundlePaths = [...bundles.flat(), variables["BUNDLE_PATH"], userBundle].filter(
    (path): path is string => path !== null && path !== undefined && isAbsolute(path),
  );
  const places: (readonly [base: string, ...parts: string[]])[] = [
    ...bundlePaths.flatMap((path) => [[path, "ruby", "*"] as const, [path] as const]),
    ...[variables["GEM_HOME"] ?? "", ...(variables["GEM_PATH"] ?? "").split(delimiter)]
      .filter((path) => isAbsolute(path))
      .map((path) => [path] as const),
    ...rubies(variables, home).flatMap((ruby) => [[...ruby, "lib", "ruby", "gems", "*"] as const]),
    [variables["rvm_path"] ?? join(home, ".rvm"), "gems", "*"],
    ["/usr/local/rvm/gems", "*"],
    [join(home, ".local", "share", "gem", "ruby"), "*"],
    [join(home, ".gem", "ruby"), "*"],
    // The official container images, and Debian's own places.
    ["/usr/local/bundle"],
    ["/var/lib/gems", "*"],
    ["/usr/share/rubygems-integration", "*"],
    ["/usr/share/gems"],
  ];
  const found = await Promise.all(places.map(([base, ...parts]) => expand(base, parts)));
  return [...new Set(found.flat())];
}

/** Where Rubies are installed, each as a base and parts that `expand` understands. */
function rubies(variables: GemEnvironment["variables"], home: string): (readonly [string, ...string[]])[] {
  const data = variables["XDG_DATA_HOME"] ?? join(home, ".local", "share");
  return [
    [variables["RBENV_ROOT"] ?? join(home, ".rbenv"), "versions", "*"],
    [variables["ASDF_DATA_DIR"] ?? join(home, ".asdf"), "installs", "ruby", "*"],
    [variables["MISE_DATA_DIR"] ?? join(data, "mise"), "installs", "ruby", "*"],
    [join(data, "rtx"), "installs", "ruby", "*"],
    [variables["rvm_path"] ?? join(home, ".rvm"), "rubies", "*"],
    ["/usr/local/rvm/rubies", "*"],
    [join(home, ".rubies"), "*"],
    ["/opt/rubies", "*"],
    ["/opt/homebrew"],
    ["/opt/homebrew/opt", "ruby*"],
    ["/usr/local/opt", "ruby*"],
    ["/usr/local"],
    ["/usr"],
    ...(process.platform === "win32" ? [["C:\\", "Ruby*"] as const] : []),
  ];
}

async function bundlePath(directory: string, trusted: boolean): Promise<string[]> {
  const configured = trusted ? await configuredPath(join(directory, ".bundle", "config")) : null;
  const own = join(directory, "vendor", "bundle");
  return configured === null ? [own] : [resolve(directory, configured), own];
}

/** `BUNDLE_PATH` of a file of Bundler's configuration, of which each setting has a line of its own; null where it has none. */
async function configuredPath(file: string): Promise<string | null> {
  try {
    const text = await readFile(file, "utf8");
    return /^BUNDLE_PATH: +["']?(.+?)["']?\s*$/m.exec(text)?.[1] ?? null;
  } catch {
    // Bundler works without one, too.
    return null;
  }
}
