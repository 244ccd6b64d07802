import { posix, type PlatformPath } from "node:path";
import type { FrameView } from "../detail/protocol";
import { printedPath } from "./printedPath";

/** A line of a Ruby backtrace, such as `app/tasks/charge.rb:12:in 'Charge#perform'`. */
export interface Frame {
  readonly text: string;
  /** As Ruby printed it; of evaluated text the file that evaluated it, where Ruby says. Null for a line of another form. */
  readonly file: string | null;
  /** 1-based. */
  readonly line: number;
  /** `Charge#perform`; empty where Ruby printed none. */
  readonly method: string;
  readonly origin: FrameView["origin"];
  /** Whether the code was a string that was evaluated at `line`; where in the string it failed only `text` says. */
  readonly evaluated: boolean;
}

/** No path is as long in any system. What is longer is no frame, and would take the patterns below a long time. */
const longestFrame = 10_000;

export function parseFrame(text: string): Frame {
  if (text.length > longestFrame) {
    return { text, file: null, line: 1, method: "", origin: "application", evaluated: false };
  }
  // `from` stands before the frames of a printed backtrace. Ruby 3.4 quotes the method as 'Charge#perform', older ones as
  // `perform'. With the quotes the last number before them is the line, however many colons the path has.
  const quoted = /^\s*(?:from )?(.+):(\d+):in [`'](.*)'$/s.exec(text);
  const match = quoted ?? /^\s*(?:from )?(.+?):(\d+)(?::in (.*))?$/s.exec(text);
  const { file, line, evaluated } = place(match?.[1] ?? null, match?.[2] ?? "1");
  return { text, file, line, method: match?.[3] ?? "", origin: originOf(file ?? text), evaluated };
}

/** `(eval at FILE:LINE)`, from Ruby 3.3 on, says where the evaluated text came from, and such a place can be evaluated itself. */
function place(file: string | null, line: string): { file: string | null; line: number; evaluated: boolean } {
  const outer = file === null ? null : /^\(eval at (.+):(\d+)\)$/s.exec(file);
  if (outer !== null) return { ...place(outer[1] ?? null, outer[2] ?? "1"), evaluated: true };
  const number = Math.min(Math.max(1, Number(line)), Number.MAX_SAFE_INTEGER);
  return { file, line: number, evaluated: file === "(eval)" };
}

/** A frame's file and line, short: from the root of the workspace that `file` lies in, else from the gem's or Ruby's name on. */
export function framePlace(frame: Frame, file: string | null, roots: readonly string[]): string {
  if (frame.file === null) return frame.text;
  const short = `${shortFile(frame, frame.file, file, roots)}:${frame.line}`;
  return frame.evaluated && frame.file !== "(eval)" ? `${short} (eval)` : short;
}

function shortFile(frame: Frame, printed: string, file: string | null, roots: readonly string[]): string {
  if (frame.origin === "gem") return /.*[/\\]gems[/\\](.+)$/s.exec(printed)?.[1] ?? printed;
  if (frame.origin === "ruby") return /.*[/\\]lib[/\\]ruby[/\\]?(.+)$/s.exec(printed)?.[1] ?? printed;
  const inside =
    file === null ? undefined : roots.map((root) => insideOf(root, file, posix)).find((one) => one !== null);
  return inside ?? printed;
}

/** Where gems and Ruby itself live, whatever installs them: RubyGems, Bundler, rbenv, asdf, Debian, Windows. */
const gemPath = /(?:^|[/\\])(?:gems|bundler[/\\]gems|vendor[/\\]bundle)[/\\]/;
const rubyPath = /^<internal:|^\(eval|[/\\]lib[/\\]ruby[/\\]|[/\\]lib[/\\]ruby\d|[/\\]rubygems-integration[/\\]/;

export function originOf(file: string): FrameView["origin"] {
  if (file.startsWith("<internal:")) return "ruby";
  if (gemPath.test(file)) return "gem";
  return rubyPath.test(file) ? "ruby" : "application";
}

/**
 * Files below `roots` that a frame's path may mean, best first: the path itself where it lies in one of them, then its endings,
 * the longest first and each in the order of `roots`. Tasks die in containers and on servers where the application lies
 * elsewhere, and the end of the path is what both places share. Nothing outside `roots` ever comes out: the path is data that
 * anyone may have written.
 */
export function candidateFiles(file: string, roots: readonly string[], path: PlatformPath): string[] {
  const printed = printedPath(file);
  if (printed === null) return [];
  const { parts, drive } = printed;
  const candidates: string[] = [];
  const exact = path.normalize(file);
  if (path.isAbsolute(file) && roots.some((root) => insideOf(root, exact, path) !== null)) candidates.push(exact);
  const origin = originOf(file);
  if (origin === "ruby") return candidates;
  // `gems/x/lib/client.rb` in a workspace is that gem's; `lib/client.rb` is anybody's.
  const gem = origin === "gem" ? parts.lastIndexOf("gems") : parts.length;
  for (let start = drive ? 1 : 0; start < parts.length && start <= gem; start++) {
    for (const root of roots) candidates.push(path.join(root, ...parts.slice(start)));
  }
  return [...new Set(candidates)];
}

/** The path of `file` relative to a directory above it; null where it is not below it. */
export function insideOf(directory: string, file: string, path: PlatformPath): string | null {
  const relative = path.relative(directory, file);
  const isInside =
    relative !== "" && relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
  return isInside ? relative : null;
}
