import { execFileSync } from "node:child_process";

/** Runs git in a folder; `seconds`: when a commit is said to be made, in Unix time. Returns what it printed. */
export function git(folder: string, args: readonly string[], seconds?: number): string {
  const date = seconds === undefined ? undefined : `${Math.floor(seconds)} +0000`;
  const dates = date === undefined ? {} : { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const person = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgSign=false"];
  return execFileSync("git", ["-C", folder, ...person, ...args], {
    encoding: "utf8",
    env: { ...process.env, ...dates },
  });
}
