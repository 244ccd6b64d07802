import { posix, win32, type PlatformPath } from "node:path";
import type { FrameView } from "../detail/protocol";

/** A line of a Ruby backtrace, such as `app/tasks/charge.rb:12:in 'Charge#perform'`. */
export interface Frame {
  readonly text: string;
  /** As Ruby printed it; null for a line of another form. */
  readonly file: string | null;
  /** 1-based. */
  readonly line: number;
  /** `Charge#perform`; empty where Ruby printed none. */
  readonly method: string;
  readonly origin: FrameView["origin"];
}

export function parseFrame(text: string): Frame {
  const match = /^(.+?):(\d+)(?::in (.*))?$/s.exec(text);
  const file = match?.[1] ?? null;
  // Ruby 3.4 quotes the method as 'Charge#perform', older ones as `perform'.
  const method = (match?.[3] ?? "").replace(/^[`'](.*)'$/s, "$1");
  return { text, file, line: Math.max(1, Number(match?.[2] ?? 1)), method, origin: originOf(file ?? text) };
}

/** A frame's file and line, short: from the root of the workspace that `file` lies in, else from the gem's or Ruby's name on. */
export function framePlace(frame: Frame, file: string | null, roots: readonly string[]): string {
  if (frame.file === null) return frame.text;
  return `${shortFile(frame, frame.file, file, roots)}:${frame.line}`;
}

function shortFile(frame: Frame, printed: string, file: string | null, roots: readonly string[]): string {
  if (file !== null) {
    const inside = roots.map((root) => posix.relative(root, file)).find((relative) => isInside(relative, posix));
    if (inside !== undefined) return inside;
  }
  if (frame.origin === "gem") return /.*[/\\]gems[/\\](.+)$/s.exec(printed)?.[1] ?? printed;
  if (frame.origin === "ruby") return /.*[/\\]lib[/\\]ruby[/\\]?(.+)$/s.exec(printed)?.[1] ?? printed;
  return printed;
}

/** Where gems and Ruby itself live, whatever installs them: RubyGems, Bundler, rbenv, asdf, Debian, Windows. */
const gemPath = /[/\\](gems|bundler[/\\]gems|vendor[/\\]bundle)[/\\]/;
const rubyPath = /^<internal:|^\(eval|[/\\]lib[/\\]ruby[/\\]|[/\\]lib[/\\]ruby\d/;

function originOf(file: string): FrameView["origin"] {
  if (gemPath.test(file)) return "gem";
  return rubyPath.test(file) ? "ruby" : "application";
}

/**
 * Files that a frame may mean, best first: the path itself where it lies in a folder of the workspace, then its longest
 * endings below each folder. Tasks die in containers and on servers where the application lies elsewhere, and the end of the
 * path is what both places share. Only files below `roots` ever come out: the path is data that anyone may have written.
 * Code of gems is looked for by its very path alone, since `lib/client.rb` at its end says nothing.
 */
export function candidateFiles(frame: Frame, roots: readonly string[], path: PlatformPath = posix): string[] {
  if (frame.file === null || frame.file.startsWith("<") || frame.file.startsWith("(")) return [];
  const separators = path === win32 ? /[/\\]+/ : /\/+/;
  const parts = frame.file.split(separators).filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return [];
  const candidates: string[] = [];
  const isAbsolute = path.isAbsolute(frame.file);
  if (isAbsolute) {
    const exact = path.normalize(frame.file);
    if (roots.some((root) => isInside(path.relative(root, exact), path))) candidates.push(exact);
  }
  if (frame.origin !== "application") return candidates;
  for (let start = isAbsolute ? 1 : 0; start < parts.length; start++) {
    for (const root of roots) candidates.push(path.join(root, ...parts.slice(start)));
  }
  // A path of one part, such as `/config.ru`, has no shorter ending, and is still worth a look.
  if (isAbsolute && parts.length === 1) for (const root of roots) candidates.push(path.join(root, ...parts));
  return [...new Set(candidates)];
}

function isInside(relative: string, path: PlatformPath): boolean {
  return relative !== "" && relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
