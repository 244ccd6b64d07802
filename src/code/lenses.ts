import path from "node:path";
import {
  CodeLens,
  EventEmitter,
  languages,
  Range,
  workspace,
  type CancellationToken,
  type CodeLensProvider,
  type TextDocument,
} from "vscode";
import { Command, Setting } from "../ids";
import { userMessage, type Reporter } from "../reporter";
import { largestSource, type ClassDefinition } from "../ruby/protocol";
import type { RubyReader } from "../ruby/reader";
import { lastPart, namesIn } from "../ruby/textFilter";
import type { Disposable } from "../stores/emitter";
import type { StoreModel } from "../stores/storeModel";
import type { StoreRegistry } from "../stores/storeRegistry";
import { formatCount } from "../text/labels";
import { relativeTime } from "../text/times";
import { insideOf } from "./frames";
import { applicationOf, isNamed } from "./taskClasses";

/** Updates come in bursts while a store is read, in milliseconds. */
const refreshInterval = 200;
/** How often "5 min ago" is brought up to date, in milliseconds. */
const timesInterval = 30_000;

/** What is known of a document that lenses were asked for. */
interface Seen {
  readonly document: TextDocument;
  readonly version: number;
  /** Null before there was a dead task that made it worth a look. */
  readonly words: ReadonlySet<string> | null;
  /** What its lenses said, as of `#picture`. */
  shown: string;
}

interface Parsed {
  readonly version: number;
  readonly classes: Promise<readonly ClassDefinition[]>;
}

/** "7 dead, last 2 min ago" above the classes of dead tasks. While no task is dead nothing is looked at. */
export class TaskLenses implements CodeLensProvider, Disposable {
  readonly #registry: StoreRegistry;
  readonly #ruby: RubyReader;
  readonly #reporter: Reporter;
  readonly #changed = new EventEmitter<void>();
  readonly #seen = new Map<string, Seen>();
  readonly #parsed = new WeakMap<TextDocument, Parsed>();
  readonly #disposables: Disposable[];
  #timer: NodeJS.Timeout | null = null;

  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(registry: StoreRegistry, ruby: RubyReader, reporter: Reporter) {
    this.#registry = registry;
    this.#ruby = ruby;
    this.#reporter = reporter;
    const refresh = (): void => {
      this.#refreshSoon();
    };
    const times = setInterval(refresh, timesInterval);
    this.#disposables = [
      this.#changed,
      languages.registerCodeLensProvider({ language: "ruby", scheme: "file" }, this),
      registry.onDidChange(refresh),
      registry.onDidChangeStores(refresh),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${Setting.section}.${Setting.codeLens}`)) this.#refreshSoon();
      }),
      workspace.onDidCloseTextDocument(({ uri }) => {
        this.#seen.delete(uri.toString());
      }),
      {
        dispose: () => {
          clearInterval(times);
        },
      },
    ];
  }

  async provideCodeLenses(document: TextDocument, token: CancellationToken): Promise<CodeLens[]> {
    const names = this.#deadNames(document);
    const seen = this.#look(document, names.length > 0);
    seen.shown = this.#picture(seen);
    const meant = names.filter((name) => seen.words?.has(lastPart(name)) === true);
    if (meant.length === 0) return [];
    const classes = await this.#classes(document);
    if (token.isCancellationRequested) return [];
    return meant.flatMap((name) => {
      const definition = bestDefinition(classes, name);
      return definition === null ? [] : [this.#lens(document, name, definition)];
    });
  }

  #lens(document: TextDocument, name: string, { nameRange }: ClassDefinition): CodeLens {
    const { start, end } = nameRange;
    return new CodeLens(new Range(start.line, start.character, end.line, end.character), {
      title: this.#title(document, name),
      tooltip: `Show the dead tasks of ${name}`,
      command: Command.showClassTasks,
      arguments: [name, this.#stores(document).map(({ key }) => key)],
    });
  }

  #title(document: TextDocument, name: string): string {
    let count = 0;
    let last = -Infinity;
    for (const { classes } of this.#stores(document)) {
      count += classes.count(name);
      last = Math.max(last, classes.newest(name)?.failedAt ?? -Infinity);
    }
    const when = relativeTime(last, Date.now() / 1000);
    return count === 1 ? `1 dead, ${when}` : `${formatCount(count)} dead, last ${when}`;
  }

  /** Classes with dead tasks that the document may define. */
  #deadNames(document: TextDocument): string[] {
    if (!isOn(document)) return [];
    return [...new Set(this.#stores(document).flatMap(({ classes }) => [...classes.names()]))];
  }

  /**
   * The stores whose tasks run this document's code: those of the application that it lies in, and those from elsewhere, which
   * may be copies. Outside every application it may belong to any.
   */
  #stores(document: TextDocument): StoreModel[] {
    const ready = this.#registry.stores.filter(({ wasReady, taskCount }) => wasReady && taskCount > 0);
    const file = document.uri.fsPath;
    const own = (store: StoreModel): boolean => insideOf(applicationOf(store), file, path) !== null;
    if (!this.#registry.stores.some(own)) return ready;
    return ready.filter((store) => own(store) || store.description.folder === null || !isInWorkspace(store));
  }

  #look(document: TextDocument, hasDead: boolean): Seen {
    const key = document.uri.toString();
    const known = this.#seen.get(key);
    if (known?.version === document.version && (known.words !== null || !hasDead)) return known;
    const text = hasDead ? document.getText() : "";
    const words = hasDead ? (text.length > largestSource ? new Set<string>() : namesIn(text)) : null;
    const seen = { document, version: document.version, words, shown: "" };
    this.#seen.set(key, seen);
    return seen;
  }

  async #classes(document: TextDocument): Promise<readonly ClassDefinition[]> {
    const known = this.#parsed.get(document);
    if (known?.version === document.version) return known.classes;
    const classes = this.#ruby.classesInText(document.getText()).then(
      (source) => source.classes,
      (error: unknown) => {
        this.#reporter.log("warn", `No dead tasks are shown in ${document.uri.fsPath}: ${userMessage(error)}`);
        return [];
      },
    );
    this.#parsed.set(document, { version: document.version, classes });
    return classes;
  }

  #refreshSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      let changed = false;
      for (const seen of this.#seen.values()) {
        const picture = this.#picture(seen);
        if (picture === seen.shown) continue;
        // An editor that is out of sight asks when it comes back into it, and would be news for ever if it were waited for.
        seen.shown = picture;
        changed = true;
      }
      if (changed) this.#changed.fire();
    }, refreshInterval);
  }

  /** All that a document's lenses depend on; the same text as long as none would look otherwise. */
  #picture({ document, words }: Seen): string {
    const names = this.#deadNames(document);
    // A document that was not worth a look may be now.
    if (words === null) return names.length > 0 ? "unknown" : "";
    const meant = names.filter((name) => words.has(lastPart(name)));
    return meant.map((name) => `${name} ${this.#title(document, name)}`).join("\n");
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

function isOn(document: TextDocument): boolean {
  return workspace.getConfiguration(Setting.section, document).get(Setting.codeLens) !== false;
}

function isInWorkspace(store: StoreModel): boolean {
  const application = applicationOf(store);
  return (workspace.workspaceFolders ?? []).some(
    ({ uri }) => uri.fsPath === application || insideOf(uri.fsPath, application, path) !== null,
  );
}

/** Of several definitions in one file: the one that is the task rather than one that adds to it. */
function bestDefinition(classes: readonly ClassDefinition[], name: string): ClassDefinition | null {
  const meant = classes.filter((one) => isNamed(one, name));
  return meant.find(({ perform }) => perform !== null) ?? meant.find((one) => one.includesTask) ?? meant[0] ?? null;
}
