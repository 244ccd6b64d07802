import { stat } from "node:fs/promises";
import { posix, win32 } from "node:path";
import type { ResolvedFrame } from "../detail/taskState";
import { candidateFiles, framePlace, insideOf, originOf, parseFrame, type Frame } from "./frames";
import { gemPathOf, type Gems } from "./gems";
import { mappedFiles, type PathMapping } from "./pathMappings";

const path = process.platform === "win32" ? win32 : posix;

/** Where the files of a backtrace may be. */
export interface FrameSearch {
  /** Directories of the application and the workspace, absolute, the likeliest first. */
  readonly roots: readonly string[];
  readonly mappings: readonly PathMapping[];
  readonly gems: Pick<Gems, "candidates" | "absence">;
}

interface FoundFile {
  readonly file: string | null;
  readonly origin: Frame["origin"];
  readonly missing: string | null;
}

/** Finds the files that backtraces name. It remembers what it found, so one is made for each round of looking. */
export class FrameFinder {
  readonly #search: FrameSearch;
  readonly #found = new Map<string, Promise<FoundFile>>();

  constructor(search: FrameSearch) {
    this.#search = search;
  }

  /** The frames of a backtrace, each with the file that it means here, or why there is none. */
  async resolve(backtrace: readonly string[]): Promise<ResolvedFrame[]> {
    return Promise.all(backtrace.map((text) => this.#resolve(text)));
  }

  /** As `failingFrame` of all frames, and without looking for those behind it. */
  async failingFrame(backtrace: readonly string[]): Promise<ResolvedFrame | null> {
    for (const text of backtrace) {
      const failing = failingFrame([await this.#resolve(text)]);
      if (failing !== null) return failing;
    }
    return null;
  }

  async #resolve(text: string): Promise<ResolvedFrame> {
    const parsed = parseFrame(text);
    if (parsed.file === null) return { frame: parsed, file: null, place: text, missing: "This line names no file" };
    let finding = this.#found.get(parsed.file);
    if (finding === undefined) this.#found.set(parsed.file, (finding = findFile(parsed, parsed.file, this.#search)));
    const { file, origin, missing } = await finding;
    const frame = { ...parsed, origin };
    return { frame, file, place: framePlace(frame, file, this.#search.roots), missing };
  }
}

/** The first of the application's own frames that has a file here: where a task failed, as far as its developer is concerned. */
export function failingFrame(frames: readonly ResolvedFrame[]): ResolvedFrame | null {
  return frames.find(({ frame, file }) => frame.origin === "application" && file !== null) ?? null;
}

async function findFile({ origin }: Frame, printed: string, search: FrameSearch): Promise<FoundFile> {
  for (const { file, inside } of mappedFiles(printed, search.mappings)) {
    // An application may lie in a directory that is called `gems`: what counts is the path inside what is mapped.
    if (await isFile(file))
      return { file, origin: gemPathOf(printed) === null ? originOf(inside) : origin, missing: null };
  }
  for (const file of candidateFiles(printed, search.roots, path)) {
    if (!(await isFile(file))) continue;
    const inside = search.roots.map((root) => insideOf(root, file, path)).find((one) => one !== null);
    return { file, origin: inside === undefined ? origin : originOf(inside), missing: null };
  }
  if (origin === "application") return { file: null, origin, missing: "Not found in the workspace" };
  for (const file of await search.gems.candidates(printed)) {
    if (await isFile(file)) return { file, origin, missing: null };
  }
  return { file: null, origin, missing: await absence(printed, search) };
}

async function absence(printed: string, { gems }: FrameSearch): Promise<string> {
  if (printed.startsWith("<internal:")) return "Part of Ruby itself";
  if (printed.startsWith("(eval")) return "Evaluated text; Ruby did not keep where it came from";
  return gems.absence(printed);
}

export async function isFile(candidate: string): Promise<boolean> {
  try {
    return (await stat(candidate)).isFile();
  } catch {
    // Not there, or not ours to see: the next one may be.
    return false;
  }
}
