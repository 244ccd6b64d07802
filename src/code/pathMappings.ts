import { isAbsolute, join, resolve } from "node:path";
import { printedPath } from "./printedPath";

/** Code that a backtrace names below `prefix` lies below `directory` here. */
export interface PathMapping {
  readonly prefix: string;
  /** Absolute. */
  readonly directory: string;
}

export interface PathMappings {
  /** The longest prefix first: the most particular one counts. */
  readonly mappings: readonly PathMapping[];
  /** What is wrong with the setting, each fit for a user. */
  readonly problems: readonly string[];
}

const name = "“deadTasks.pathMappings”";

/** Reads the setting; `folder` is the workspace folder that it applies to, null for a window without one. */
export function parsePathMappings(setting: unknown, folder: string | null): PathMappings {
  if (setting === undefined || setting === null) return { mappings: [], problems: [] };
  if (typeof setting !== "object" || Array.isArray(setting)) {
    return { mappings: [], problems: [`${name} must be an object of prefixes in backtraces and directories here.`] };
  }
  const mappings: PathMapping[] = [];
  const problems: string[] = [];
  for (const [prefix, directory] of Object.entries(setting)) {
    if (prefix !== "/" && printedPath(prefix) === null) {
      problems.push(`${name}: “${prefix}” must be the beginning of paths in a backtrace, without “..”.`);
    } else if (typeof directory !== "string" || directory.trim() === "") {
      problems.push(`${name}, “${prefix}”: must name a directory, absolute or relative to the workspace folder.`);
    } else if (folder === null && !isAbsolute(directory)) {
      problems.push(
        `${name}, “${prefix}”: “${directory}” is relative, and no folder is open that it could be relative to.`,
      );
    } else {
      mappings.push({ prefix, directory: folder === null ? resolve(directory) : resolve(folder, directory) });
    }
  }
  const length = ({ prefix }: PathMapping): number => printedPath(prefix)?.parts.length ?? 0;
  return { mappings: mappings.sort((one, other) => length(other) - length(one)), problems };
}

export interface MappedFile {
  readonly file: string;
  /** Below the mapping's directory, with forward slashes. */
  readonly inside: string;
}

/** What the mappings make of a printed path, the longest prefix first; whole names alone match, and no file outside a mapped directory comes out. */
export function mappedFiles(file: string, mappings: readonly PathMapping[]): MappedFile[] {
  const printed = printedPath(file);
  if (printed === null) return [];
  return mappings.flatMap(({ prefix, directory }) => {
    const { parts: head, rooted } = printedPath(prefix) ?? { parts: [], rooted: true };
    const rest = printed.parts.slice(head.length);
    const matches =
      rooted === printed.rooted && rest.length > 0 && head.every((part, index) => part === printed.parts[index]);
    return matches ? [{ file: join(directory, ...rest), inside: rest.join("/") }] : [];
  });
}
