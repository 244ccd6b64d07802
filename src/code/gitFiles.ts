import { stat } from "node:fs/promises";
import { Uri } from "vscode";
import { userMessage, type Reporter } from "../reporter";
import type { Disposable } from "../stores/emitter";
import { changeSince, commitBefore, type FileChange } from "./fileHistory";
import { startGitExtension, type Git, type GitCommit, type GitRepository } from "./git";

/** How many commits of a file are read, and how many where none of those is old enough. */
const historyLengths = [32, 1_000];

/** What git knows of files. It is started with the first question. */
export class GitFiles implements Disposable {
  readonly #reporter: Reporter;
  readonly #changed: (filesMoved: boolean) => void;
  readonly #disposables: Disposable[] = [];
  /** By their roots: the commit that was checked out last. */
  readonly #heads = new Map<string, string | undefined>();
  readonly #logs = new Map<string, { readonly head: string; readonly commits: Promise<readonly GitCommit[]> }>();
  #git: Promise<Git | null> | null = null;

  /** `changed` is told that answers may be different now, and whether files may have come or gone. */
  constructor(reporter: Reporter, changed: (filesMoved: boolean) => void) {
    this.#reporter = reporter;
    this.#changed = changed;
  }

  /** Null where there is no Git extension, or it is switched off. */
  connect(): Promise<Git | null> {
    this.#git ??= this.#start().catch((error: unknown) => {
      this.#reporter.log("warn", `The Git extension cannot be used: ${userMessage(error)}`);
      return null;
    });
    return this.#git;
  }

  async #start(): Promise<Git | null> {
    const extension = await startGitExtension();
    if (extension === null) return null;
    const lookAgain = (): void => {
      this.#changed(true);
    };
    const switched = extension.onDidChangeEnablement(() => {
      this.#git = null;
      switched.dispose();
      lookAgain();
    });
    this.#disposables.push(switched);
    if (!extension.enabled) return null;
    const git = extension.getAPI(1);
    // The extension looks for repositories on its own, and may still be at it.
    this.#disposables.push(git.onDidOpenRepository(lookAgain), git.onDidCloseRepository(lookAgain));
    return git;
  }

  /** What has changed in a file since `moment`, in Unix seconds. Null for nothing, and where git cannot tell. */
  async change(file: string, moment: number): Promise<FileChange | null> {
    const repository = (await this.connect())?.getRepository(Uri.file(file)) ?? null;
    if (repository === null) return null;
    this.#watch(repository);
    const uncommitted = (await modifiedAt(file)) > moment && isListed(repository, file);
    for (const length of historyLengths) {
      const commits = await this.#log(repository, file, length);
      if (commitBefore(commits, moment) !== undefined || commits.length < length) {
        return changeSince(file, commits, uncommitted, moment);
      }
    }
    return null;
  }

  async #log(repository: GitRepository, file: string, maxEntries: number): Promise<readonly GitCommit[]> {
    const head = repository.state.HEAD?.commit;
    if (head === undefined) return [];
    const key = `${maxEntries} ${file}`;
    let log = this.#logs.get(key);
    if (log?.head !== head) {
      log = { head, commits: this.#read(repository, file, maxEntries) };
      this.#logs.set(key, log);
    }
    return log.commits;
  }

  async #read(repository: GitRepository, file: string, maxEntries: number): Promise<readonly GitCommit[]> {
    try {
      return await repository.log({ path: file, maxEntries });
    } catch (error) {
      this.#reporter.log("warn", `git could not tell the history of ${file}: ${userMessage(error)}`);
      return [];
    }
  }

  #watch(repository: GitRepository): void {
    const root = repository.rootUri.fsPath;
    if (this.#heads.has(root)) return;
    this.#heads.set(root, repository.state.HEAD?.commit);
    const watching = repository.state.onDidChange(() => {
      const head = repository.state.HEAD?.commit;
      const moved = head !== this.#heads.get(root);
      this.#heads.set(root, head);
      this.#changed(moved);
    });
    this.#disposables.push(watching);
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }
}

/** Whether git lists the file among the changes that are not committed. */
function isListed({ state }: GitRepository, file: string): boolean {
  return [state.mergeChanges, state.indexChanges, state.workingTreeChanges].some((changes) =>
    changes.some(({ uri }) => uri.fsPath === file),
  );
}

/** Unix seconds; 0 where the file has gone. */
async function modifiedAt(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs / 1000;
  } catch {
    // Then there is nothing of it to compare either.
    return 0;
  }
}
