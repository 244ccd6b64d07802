import { join, resolve } from "node:path";
import { findAssignments, type BackendAssignment } from "./backendAssignments";
import { reasonOf } from "../storage/errors";
import { hasCode, namesIn, statIfPresent, type FileSystem } from "../storage/fileSystem";
import { normalizePrefix } from "../storage/naming";
import { tokenizeRuby, type RubyToken } from "./rubySource";

/** Where a Rage application keeps its tasks, as far as the text of its configuration says. */
export interface ApplicationStore {
  /** Absolute path of the storage directory. It need not exist. */
  readonly path: string;
  /** Ends in `-`. */
  readonly prefix: string;
  readonly backend: "disk" | "nil";
  /** `config/application.rb:12`, or `default` where nothing is set. */
  readonly source: string;
  /** Why the rest is a guess, and what to do; null where it is not. */
  readonly problem: string | null;
}

/** The variables that name Rage's environment, in Rage's own order; `development` where none is set. */
export type EnvironmentVariables = Readonly<Partial<Record<"RAGE_ENV" | "RAILS_ENV" | "RACK_ENV", string>>>;

/** Configuration is short; a file of more bytes is something else. */
const maximumFileBytes = 262_144;
const maximumFolderDepth = 20;
const rageEntryPoints = ["rage", "rage/all", "rage/setup", "rage/rails"];

/**
 * The store of the Rage application at `root`, read from its files as text and never by running them; null where `root`
 * holds no Rage application. The last assignment wins, in the order `config/application.rb`,
 * `config/environments/{environment}.rb`, the initializers by name. A file that cannot be read is a `problem`, not an error.
 */
export function findApplicationStore(
  fileSystem: FileSystem,
  root: string,
  environment: EnvironmentVariables = process.env,
): ApplicationStore | null {
  const folder = new ApplicationFolder(fileSystem, resolve(root));
  if (!folder.isApplication()) return null;

  const byDefault: ApplicationStore = {
    path: join(folder.root, "storage"),
    prefix: "deferred-",
    backend: "disk",
    source: "default",
    problem: null,
  };
  let store = byDefault;
  for (const name of folder.configurationNames(environment)) {
    const place = { root: folder.root, file: join(folder.root, name) };
    for (const assignment of findAssignments(folder.tokens(name), place)) {
      store = afterAssignment(store, byDefault, assignment, place.root, `${name}:${assignment.line}`);
    }
  }
  return store.problem === null ? { ...store, problem: folder.problem } : store;
}

const whatToDo = 'Name the directory in the setting "deadTasks.stores" (on the command line: --storage and --prefix).';

function afterAssignment(
  store: ApplicationStore,
  byDefault: ApplicationStore,
  assignment: BackendAssignment,
  root: string,
  source: string,
): ApplicationStore {
  if (assignment.conditional) {
    return { ...store, problem: `${source} sets the backend of deferred tasks under a condition. ${whatToDo}` };
  }
  const { unknown } = assignment;
  return {
    path: assignment.path === null ? byDefault.path : resolve(root, assignment.path),
    prefix: assignment.prefix === null ? byDefault.prefix : normalizePrefix(assignment.prefix),
    backend: assignment.backend,
    source,
    problem:
      unknown.length === 0
        ? null
        : `${source} gives the ${unknown.join(" and ")} of deferred tasks in a way that only the running application knows. ${whatToDo}`,
  };
}

/** The files of an application that say something about its store. Names are relative to the root, with `/`. */
class ApplicationFolder {
  /** The first file that could not be read, and why. */
  problem: string | null = null;

  constructor(
    private readonly fileSystem: FileSystem,
    readonly root: string,
  ) {}

  isApplication(): boolean {
    return (
      this.#calls("Gemfile", "gem", ([name]) => name?.kind === "string" && name.text === "rage-rb") ||
      this.#calls(
        "config/application.rb",
        "require",
        ([name]) => name?.kind === "string" && rageEntryPoints.includes(name.text),
      ) ||
      this.#calls("config.ru", "run", (tokens) => tokens.map((token) => token.text).join("") === "Rage.application")
    );
  }

  configurationNames(environment: EnvironmentVariables): string[] {
    const name = environment.RAGE_ENV ?? environment.RAILS_ENV ?? environment.RACK_ENV ?? "development";
    const initializers = this.#rubyFilesUnder("config/initializers", 0).sort();
    // A name with a separator would be a path out of the folder.
    const environments = /^[\w.-]+$/.test(name) ? [`config/environments/${name}.rb`] : [];
    return ["config/application.rb", ...environments, ...initializers];
  }

  /** The code of a file; none where it is not there or cannot be read. */
  tokens(name: string): RubyToken[] {
    const file = join(this.root, name);
    try {
      const stat = this.fileSystem.stat(file);
      if (stat.isDirectory) return [];
      if (stat.size > maximumFileBytes) {
        this.problem ??= `${name} is too big to be read as configuration. ${whatToDo}`;
        return [];
      }
      return tokenizeRuby(this.fileSystem.readFile(file).toString("utf8"));
    } catch (error) {
      // Also between the two calls: an editor has just put a new file in its place, for one.
      if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
      this.problem ??= `${name} could not be read (${reasonOf(error)}). ${whatToDo}`;
      return [];
    }
  }

  /** Whether a file calls `method`, with or without brackets, and the three tokens that follow satisfy the test. */
  #calls(name: string, method: string, test: (tokens: readonly RubyToken[]) => boolean): boolean {
    const tokens = this.tokens(name);
    return tokens.some((token, index) => {
      if (token.kind !== "name" || token.text !== method) return false;
      const start = tokens[index + 1]?.text === "(" ? index + 2 : index + 1;
      return test(tokens.slice(start, start + 3));
    });
  }

  /** As Ruby's `**` does: hidden names and linked folders are left out. */
  #rubyFilesUnder(folder: string, depth: number): string[] {
    if (depth > maximumFolderDepth) return [];
    try {
      const absolute = join(this.root, folder);
      const names = namesIn(this.fileSystem, absolute).filter((name) => !name.startsWith("."));
      return names.flatMap((name) => {
        const file = join(absolute, name);
        const stat = statIfPresent(this.fileSystem, file);
        if (stat?.isDirectory !== true) return name.endsWith(".rb") && stat !== null ? [`${folder}/${name}`] : [];
        const isLink = this.fileSystem.realpath(file) !== join(this.fileSystem.realpath(absolute), name);
        return isLink ? [] : this.#rubyFilesUnder(`${folder}/${name}`, depth + 1);
      });
    } catch (error) {
      this.problem ??= `${folder} could not be read (${reasonOf(error)}). ${whatToDo}`;
      return [];
    }
  }
}
