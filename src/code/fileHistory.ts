import type { GitCommit } from "./git";

/** What has become of a file since a moment. */
export interface FileChange {
  /** Absolute. */
  readonly file: string;
  /** The hash of the last commit before that moment that touched the file. */
  readonly before: string;
  /** How many commits have touched it since. */
  readonly commits: number;
  /** Whether there are changes that are not committed, and were made since. */
  readonly uncommitted: boolean;
}

/** The last commit of `commits` that is not younger than `moment`, in Unix seconds. They are in the order of `git log`. */
export function commitBefore(commits: readonly GitCommit[], moment: number): GitCommit | undefined {
  return commits.find((commit) => seconds(commit) <= moment);
}

/**
 * `commits`: those that touched the file, as far as they are known. Null where nothing has changed since `moment`, in Unix
 * seconds, and where no commit is from before: git then knows no earlier state that the file could have changed from.
 */
export function changeSince(
  file: string,
  commits: readonly GitCommit[],
  uncommitted: boolean,
  moment: number,
): FileChange | null {
  const before = commitBefore(commits, moment);
  if (before === undefined) return null;
  const since = commits.filter((commit) => seconds(commit) > moment).length;
  return since > 0 || uncommitted ? { file, before: before.hash, commits: since, uncommitted } : null;
}

/** `a.rb (2 commits) and b.rb (1 commit, changes not committed) have changed since this task died.` */
export function changesSentence(changes: readonly FileChange[], nameOf: (file: string) => string): string {
  const named = changes.map((change) => `${nameOf(change.file)} (${howChanged(change)})`);
  return `${named.join(" and ")} ${changes.length === 1 ? "has" : "have"} changed since this task died.`;
}

function howChanged({ commits, uncommitted }: FileChange): string {
  const parts = commits === 0 ? [] : [commits === 1 ? "1 commit" : `${commits} commits`];
  if (uncommitted) parts.push("changes not committed");
  return parts.join(", ");
}

function seconds({ commitDate }: GitCommit): number {
  return (commitDate?.getTime() ?? NaN) / 1000;
}
