import { parseFrame } from "../code/frames";
import type { TaskBacktrace } from "./protocol";

/** The ids of those that failed at the same place of the application's code as `backtrace`, in the order given. */
export function failedAtSamePlace(backtrace: readonly string[], candidates: readonly TaskBacktrace[]): string[] {
  const place = failingPlace(backtrace);
  return candidates.filter((candidate) => failingPlace(candidate.backtrace) === place).map(({ id }) => id);
}

/**
 * The first frame of the application's own code: the last two parts of its file's path and the bare name of its method. Not
 * the whole path, since an application lies elsewhere in each release and container, nor the line, which every edit above it
 * moves, nor the method's owner and block, which Ruby names since 3.4 alone. Empty where no frame is the application's.
 */
export function failingPlace(backtrace: readonly string[]): string {
  for (const text of backtrace) {
    const { file, method, origin } = parseFrame(text);
    if (origin !== "application" || file === null) continue;
    const path = file.split(/[/\\]/).slice(-2).join("/");
    return `${path} ${method.replace(/^.* in /s, "").replace(/^.*[#.:](?=[^#.:]+$)/s, "")}`;
  }
  return "";
}
