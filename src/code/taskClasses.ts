import path, { dirname } from "node:path";
import { commands, RelativePattern, workspace, type Disposable, type SymbolInformation, type Uri } from "vscode";
import { userMessage, type Reporter } from "../reporter";
import type { ClassDefinition, Definitions, FoundDefinition } from "../ruby/protocol";
import type { RubyReader } from "../ruby/reader";
import { isClassName, lastPart, mayDefine } from "../ruby/textFilter";
import { Emitter } from "../stores/emitter";
import { counted, oneLine } from "../text/labels";
import { insideOf } from "./frames";
import { conventionalPath, isTest, likeliestFirst, unlikelihood } from "./taskClassesNames";

/** Language servers can hang while they index, in milliseconds. */
const symbolTime = 1_500;
/** For how long one that hung is not asked again, in milliseconds. */
const symbolPause = 60_000;
/** How many Ruby files a search looks into. */
const searchedFiles = 5_000;
/** Code of others, and what is no code, beside what the user's settings exclude. */
const neverSearched = ["**/node_modules/**", "**/vendor/bundle/**", "**/.git/**", "**/tmp/**", "**/log/**"];

export interface FoundClass {
  readonly file: string;
  /** Whether Ruby would load the file. */
  readonly isSound: boolean;
  readonly definition: ClassDefinition;
}

/** What a store's application is told by. */
export interface Located {
  readonly description: { readonly target: { readonly path: string } };
}

export interface ClassSearch {
  /** The likeliest first; those that define `perform` before those that do not. */
  readonly found: readonly FoundClass[];
  /** Why nothing was found, fit for a user. */
  readonly absence: string;
  /** Whether nothing was left out, so that what was not found is not there. */
  readonly isComplete: boolean;
}

/** Finds where the workspace's Ruby files define the classes of tasks. */
export class TaskClasses implements Disposable {
  readonly #ruby: RubyReader;
  readonly #reporter: Reporter;
  readonly #searches = new Map<string, Promise<ClassSearch>>();
  readonly #disposables: Disposable[] = [];
  readonly #changed = new Emitter<undefined>();
  #watching = false;
  #symbolsFrom = 0;

  /** What was found may be otherwise now. Comes often while somebody types. */
  readonly onDidChange = this.#changed.event;

  constructor(ruby: RubyReader, reporter: Reporter) {
    this.#ruby = ruby;
    this.#reporter = reporter;
  }

  /** `store`: one whose application comes first. Rejects with an Error fit for a user where Ruby source cannot be read at all. */
  async find(name: string, store: Located | null): Promise<ClassSearch> {
    this.#watch();
    const application = store === null ? null : applicationOf(store);
    const key = `${application ?? ""} ${name}`;
    let search = this.#searches.get(key);
    if (search === undefined) {
      search = this.#search(name, application);
      this.#searches.set(key, search);
      search.catch(() => this.#searches.delete(key));
    }
    return search;
  }

  async #search(name: string, application: string | null): Promise<ClassSearch> {
    if (!isClassName(name)) {
      return { found: [], absence: `“${oneLine(name, 80)}” is not the name of a Ruby class.`, isComplete: false };
    }
    if ((workspace.workspaceFolders ?? []).length === 0) {
      return { found: [], absence: `No folder is open in which ${name} could be defined.`, isComplete: false };
    }
    const convention = conventionalPath(name);
    const near = (await Promise.all([rubyFiles(`**/${convention}`), this.#symbolFiles(name)])).flat();
    const nearby = await this.#definitions(name, near, application);
    if (nearby.found.length > 0) return { found: ordered(nearby.found, application), absence: "", isComplete: true };
    const all = await rubyFiles("**/*.rb");
    const searched = await this.#definitions(name, all, application);
    return {
      found: ordered(searched.found, application),
      absence: absence(name, convention, all.length, searched),
      isComplete: all.length < searchedFiles && searched.skipped.length === 0,
    };
  }

  /** Where an editor has changes that are not saved, what it shows counts. */
  async #definitions(name: string, files: readonly string[], application: string | null): Promise<Definitions> {
    const unsaved = workspace.textDocuments.filter(
      ({ isDirty, languageId, uri }) => isDirty && languageId === "ruby" && uri.scheme === "file",
    );
    const shown = new Set(unsaved.map(({ uri }) => uri.fsPath));
    const saved = likeliestFirst([...new Set(files)], application).filter((file) => !shown.has(file));
    const { found, skipped } = await this.#ruby.definitionsOf(name, saved);
    const all = [...found];
    for (const document of unsaved) {
      const text = document.getText();
      if (!files.includes(document.uri.fsPath) || !mayDefine(text, name)) continue;
      const { classes, problem } = await this.#ruby.classesInText(text);
      for (const definition of classes) {
        if (!isNamed(definition, name)) continue;
        all.push({ path: document.uri.fsPath, isSound: problem === null, definition });
      }
    }
    return { found: all, skipped };
  }

  /** Files in which a Ruby language server knows a class of this name. Without one the answer is empty, and comes at once. */
  async #symbolFiles(name: string): Promise<string[]> {
    if (!workspace.isTrusted || Date.now() < this.#symbolsFrom) return [];
    const last = lastPart(name);
    try {
      const asked = commands.executeCommand<readonly SymbolInformation[] | undefined>(
        "vscode.executeWorkspaceSymbolProvider",
        last,
      );
      const symbols = await within(symbolTime, asked);
      if (symbols === null) {
        this.#symbolsFrom = Date.now() + symbolPause;
        this.#reporter.log("info", `The workspace's symbols did not come within ${symbolTime / 1000} s.`);
        return [];
      }
      return (symbols ?? [])
        .filter((symbol) => lastPart(symbol.name) === last)
        .map(({ location }) => location.uri)
        .filter(({ scheme, path: file }) => scheme === "file" && file.endsWith(".rb"))
        .map(({ fsPath }) => fsPath);
    } catch (error) {
      this.#reporter.log("warn", `The workspace's symbols could not be asked for: ${userMessage(error)}`);
      return [];
    }
  }

  /** From the first search on: before it there is nothing to forget. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    const forget = (): void => {
      this.#searches.clear();
      this.#changed.fire(undefined);
    };
    const watcher = workspace.createFileSystemWatcher("**/*.rb");
    this.#disposables.push(
      watcher,
      watcher.onDidCreate(forget),
      watcher.onDidChange(forget),
      watcher.onDidDelete(forget),
      workspace.onDidChangeWorkspaceFolders(forget),
      workspace.onDidGrantWorkspaceTrust(forget),
      workspace.onDidSaveTextDocument(forget),
      workspace.onDidChangeTextDocument(({ document }) => {
        if (document.languageId === "ruby") forget();
      }),
    );
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    this.#changed.dispose();
  }
}

/** The directory of a store's application. */
export function applicationOf({ description }: Located): string {
  return dirname(description.target.path);
}

/** Whether a definition may be the class of this name. */
export function isNamed({ name, otherNames }: ClassDefinition, wanted: string): boolean {
  return name === wanted || otherNames.includes(wanted);
}

/** The definitions that an action may mean: those of the likeliest place, with `perform` where any has it. */
export function choices(found: readonly FoundClass[], application: string | null): readonly FoundClass[] {
  const performing = found.filter(({ definition }) => definition.perform !== null);
  const meant = performing.length > 0 ? performing : found;
  const own = meant.filter(({ file }) => application !== null && insideOf(application, file, path) !== null);
  const near = own.length > 0 ? own : meant;
  const [best] = near;
  if (best === undefined || isTest(best.file, application)) return near;
  return near.filter(({ file }) => !isTest(file, application));
}

function ordered(found: readonly FoundDefinition[], application: string | null): FoundClass[] {
  const classes = found.map(({ path: file, ...rest }): FoundClass => ({ file, ...rest }));
  const rank = ({ file, definition }: FoundClass): number =>
    (definition.perform === null ? 1_000 : 0) + unlikelihood(file, application);
  return classes.sort((one, other) => rank(one) - rank(other));
}

function absence(name: string, convention: string, fileCount: number, { skipped }: Definitions): string {
  const searched =
    fileCount === searchedFiles ? `the first ${counted(fileCount, "Ruby file")}` : counted(fileCount, "Ruby file");
  const [first] = skipped;
  const left =
    first === undefined
      ? ""
      : ` ${counted(skipped.length, "file was", "files were")} left out, such as ${path.basename(first.path)}: ${first.reason}`;
  return `The class ${name} is not defined in this workspace: there is no ${convention}, and none in ${searched} that were searched.${left}`;
}

async function rubyFiles(pattern: string): Promise<string[]> {
  const folders = (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  const found = await Promise.all(
    folders.map((folder) =>
      workspace.findFiles(new RelativePattern(folder, pattern), excluded(folder.uri), searchedFiles),
    ),
  );
  return found
    .flat()
    .slice(0, searchedFiles)
    .map(({ fsPath }) => fsPath);
}

/** `search.exclude` and our own; the editor itself adds `files.exclude`. */
function excluded(folder: Uri): string {
  const setting = workspace.getConfiguration("search", folder).get<Record<string, unknown>>("exclude") ?? {};
  const patterns = Object.entries(setting).flatMap(([pattern, value]) => (value === true ? [pattern] : []));
  // Braces do not nest in every version of the editor.
  return `{${[...new Set([...neverSearched, ...patterns])].filter((pattern) => !/[{},]/.test(pattern)).join(",")}}`;
}

/** Null when time is over. */
async function within<Value>(milliseconds: number, promise: Thenable<Value>): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => {
      resolve(null);
    }, milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
