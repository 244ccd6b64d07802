/** A path as Ruby printed it on the machine where the task died, which need not be of this one's kind. */
export interface PrintedPath {
  readonly parts: readonly string[];
  /** Whether it begins at a root: `/srv`, `C:/shop`, `\\server`. */
  readonly rooted: boolean;
  /** Whether the first part is a Windows drive. */
  readonly drive: boolean;
}

/** Null for what is no path to go by: code without a file, and paths that climb with `..`. */
export function printedPath(text: string): PrintedPath | null {
  if (/^[<(]/.test(text)) return null;
  const drive = /^[A-Za-z]:[\\/]/.test(text);
  const parts = text
    .split(drive || text.startsWith("\\\\") ? /[\\/]+/ : /\/+/)
    .filter((part) => part !== "" && part !== ".");
  // On Windows a backslash separates wherever it stands.
  if (parts.length === 0 || parts.some((part) => part.split("\\").includes(".."))) return null;
  return { parts, rooted: drive || /^[\\/]/.test(text), drive };
}
