import { extensions, type Event, type Uri } from "vscode";

/** The parts that are used of the API, version 1, of the Git extension that comes with the editor. */
export interface Git {
  readonly onDidOpenRepository: Event<GitRepository>;
  readonly onDidCloseRepository: Event<GitRepository>;
  /** A new object for each call. */
  getRepository(uri: Uri): GitRepository | null;
  /** The file as it was at a commit, as a document that the editor can open. */
  toGitUri(uri: Uri, commit: string): Uri;
}

export interface GitRepository {
  readonly rootUri: Uri;
  readonly state: {
    readonly HEAD: { readonly commit?: string } | undefined;
    readonly mergeChanges: readonly GitChange[];
    readonly indexChanges: readonly GitChange[];
    readonly workingTreeChanges: readonly GitChange[];
    readonly onDidChange: Event<void>;
  };
  /** Commits that touched a file, as `git log` orders them. */
  log(options: { readonly path: string; readonly maxEntries: number }): Promise<GitCommit[]>;
}

export interface GitChange {
  readonly uri: Uri;
}

export interface GitCommit {
  readonly hash: string;
  readonly commitDate?: Date;
}

export interface GitExtension {
  readonly enabled: boolean;
  readonly onDidChangeEnablement: Event<boolean>;
  /** Throws while the extension is switched off. */
  getAPI(version: 1): Git;
}

/** Null where there is none. Starts it, which runs git: only for trusted workspaces. */
export async function startGitExtension(): Promise<GitExtension | null> {
  const extension = extensions.getExtension<GitExtension>("vscode.git");
  if (extension === undefined) return null;
  return extension.isActive ? extension.exports : extension.activate();
}
