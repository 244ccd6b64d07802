import { dirname, posix, relative, win32 } from "node:path";
import { FileType, Uri, workspace } from "vscode";
import type { StoreModel } from "../stores/storeModel";
import { candidateFiles, framePlace, parseFrame } from "./frames";
import type { ResolvedFrame } from "../detail/taskState";

const path = process.platform === "win32" ? win32 : posix;

/** The frames of a backtrace, each with the file of the workspace that it means, where there is one. */
export async function resolveFrames(backtrace: readonly string[], store: StoreModel): Promise<ResolvedFrame[]> {
  const roots = rootsOf(store);
  return Promise.all(
    backtrace.map(async (text) => {
      const frame = parseFrame(text);
      const file = await firstFile(candidateFiles(frame, roots, path));
      return { frame, file, place: framePlace(frame, file, roots) };
    }),
  );
}

/** Where to look, the likeliest first: the directory that holds the store's, its workspace folder, the other folders. */
function rootsOf({ description }: StoreModel): string[] {
  const folders = (workspace.workspaceFolders ?? [])
    .filter((folder) => folder.uri.scheme === "file")
    .map((folder) => folder.uri.fsPath);
  const application = dirname(description.target.path);
  const isInWorkspace = folders.some((folder) => !relative(folder, application).startsWith(".."));
  const own = description.folder === null ? [] : [description.folder];
  return [...new Set([...(isInWorkspace ? [application] : []), ...own, ...folders])];
}

async function firstFile(candidates: readonly string[]): Promise<string | null> {
  for (const candidate of candidates) {
    try {
      const { type } = await workspace.fs.stat(Uri.file(candidate));
      if ((type & FileType.File) !== 0) return candidate;
    } catch {
      // Not there, or not ours to see: the next one may be.
    }
  }
  return null;
}
