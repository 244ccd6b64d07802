import { readFile, stat } from "node:fs/promises";
import { join, normalize } from "node:path";
import { subdirectories } from "./directories";
import { gemHomes, type GemEnvironment } from "./gemHomes";
import { printedPath } from "./printedPath";

/** The part of a printed path that is the same wherever the gem is installed. */
export interface GemPath {
  /** `rage-rb-1.26.1`, `nokogiri-1.18.1-x86_64-linux`, or `rails-1a2b3c4d5e6f` of a gem from Git. */
  readonly directory: string;
  readonly name: string;
  /** A version, or the beginning of a commit's hash. */
  readonly version: string;
  readonly rest: readonly string[];
  readonly fromGit: boolean;
}

const platform =
  /-(?:java|jruby|x86|x64|x86_64|i386|i686|arm|arm64|aarch64|armv\d\w*|universal|ppc64le|s390x|riscv64)(?:[-_.]\w+)*$/;

/** Null where the path says neither gem nor version. */
export function gemPathOf(file: string): GemPath | null {
  const parts = printedPath(file)?.parts ?? [];
  // The last place that fits: RVM has `gems/ruby-3.3.0/gems/rage-rb-1.26.1`.
  for (let index = parts.length - 3; index >= 0; index--) {
    const directory = parts[index + 1] ?? "";
    if (parts[index] !== "gems") continue;
    const fromGit = parts[index - 1] === "bundler";
    const match = fromGit
      ? /^(.+)-([0-9a-f]{7,40})$/.exec(directory)
      : /^(.+)-(\d+(?:\.[0-9A-Za-z]+)*)$/.exec(directory.replace(platform, ""));
    const [, name, version] = match ?? [];
    if (name !== undefined && version !== undefined)
      return { directory, name, version, rest: parts.slice(index + 2), fromGit };
  }
  return null;
}

/**
 * Ruby's own library: `lib/ruby/3.3.0/net/http.rb` is the same file in each Ruby of that version. `version` may be `site_ruby` or
 * `vendor_ruby`, too. Null for other paths.
 */
export function libraryPathOf(file: string): { readonly version: string; readonly rest: readonly string[] } | null {
  const parts = printedPath(file)?.parts ?? [];
  for (let index = parts.length - 3; index >= 0; index--) {
    const version = parts[index + 1] ?? "";
    if (parts[index] === "ruby" && /^(?:\d+\.\d+\.\d+|site_ruby|vendor_ruby)$/.test(version))
      return { version, rest: parts.slice(index + 2) };
  }
  return null;
}

/** A look around takes some hundred system calls; what is installed meanwhile may wait as long, in milliseconds. */
const freshTime = 60_000;
/** A lock file beyond this many bytes is not read. */
const lockLimit = 4 * 1024 * 1024;

interface Installed {
  /** Names in `gems/` and `bundler/gems/` of each home, in the order in which homes are looked at. */
  readonly homes: readonly {
    readonly home: string;
    readonly gems: readonly string[];
    readonly fromGit: readonly string[];
  }[];
  /** Versions of gems in the applications' `Gemfile.lock`. */
  readonly locked: ReadonlyMap<string, string>;
}

/** The gems that are installed on this machine, as far as an application may use them. Runs no program, and none of its Ruby. */
export class Gems {
  readonly #environment: GemEnvironment;
  #installed: Promise<Installed> | null = null;
  #readAt = 0;

  constructor(environment: GemEnvironment) {
    this.#environment = environment;
  }

  /** Files that the path of a gem or of Ruby's library may mean here, best first; all of them below a directory of gems or Ruby's own. */
  async candidates(file: string): Promise<string[]> {
    const { homes } = await this.#look();
    const gem = gemPathOf(file);
    if (gem !== null) {
      const kind = gem.fromGit ? join("bundler", "gems") : "gems";
      const found = homes.flatMap(({ home, gems, fromGit }) =>
        sameGem(gem, gem.fromGit ? fromGit : gems).map((directory) => join(home, kind, directory, ...gem.rest)),
      );
      const exact = normalize(file);
      return found.includes(exact) ? [exact, ...found.filter((one) => one !== exact)] : found;
    }
    const library = libraryPathOf(file);
    if (library === null) return [];
    return homes.flatMap(({ home }) => {
      const [, directory, version] = /^(.*[/\\]lib[/\\]ruby)[/\\]gems[/\\]([\d.]+)$/.exec(home) ?? [];
      const fits = library.version === version || library.version.endsWith("_ruby");
      return directory !== undefined && fits ? [join(directory, library.version, ...library.rest)] : [];
    });
  }

  /** Why a gem's file was not found, fit for a user. */
  async absence(file: string): Promise<string> {
    const gem = gemPathOf(file);
    if (gem === null) return "Not found in the gems and Ruby versions that are installed here";
    const { homes, locked } = await this.#look();
    const named = `${gem.name} ${gem.version}`;
    const isInstalled = homes.some(({ gems, fromGit }) => sameGem(gem, gem.fromGit ? fromGit : gems).length > 0);
    if (isInstalled) return `Not found in ${named} as it is installed here`;
    const version = locked.get(gem.name);
    const hint = version === undefined || version === gem.version ? "" : `; Gemfile.lock has ${version}`;
    return `${named} is not installed here${hint}`;
  }

  #look(): Promise<Installed> {
    if (this.#installed === null || Date.now() - this.#readAt > freshTime) {
      this.#readAt = Date.now();
      this.#installed = readInstalled(this.#environment);
    }
    return this.#installed;
  }
}

/** The directory of that very name first; then that of another platform's build, whose Ruby code is the same. */
function sameGem(gem: GemPath, directories: readonly string[]): string[] {
  if (directories.includes(gem.directory)) return [gem.directory];
  if (gem.fromGit) return [];
  return directories.filter((directory) => directory.replace(platform, "") === `${gem.name}-${gem.version}`);
}

async function readInstalled(environment: GemEnvironment): Promise<Installed> {
  const homes = await gemHomes(environment);
  const read = homes.map(async (home) => ({
    home,
    gems: await subdirectories(join(home, "gems")),
    fromGit: await subdirectories(join(home, "bundler", "gems")),
  }));
  const locks = await Promise.all(environment.applications.map((directory) => lockedVersions(directory)));
  return { homes: await Promise.all(read), locked: new Map(locks.reverse().flat()) };
}

async function lockedVersions(directory: string): Promise<[string, string][]> {
  const file = join(directory, "Gemfile.lock");
  try {
    if ((await stat(file)).size > lockLimit) return [];
    const text = await readFile(file, "utf8");
    return [...text.matchAll(/^ {4}([\w.-]+) \(([^()\s]+)\)\r?$/gm)].map(([, name = "", version = ""]) => [
      name,
      version.replace(platform, ""),
    ]);
  } catch {
    // There is none, or it is not ours to read: it would only have said more about a gem that is missing.
    return [];
  }
}
