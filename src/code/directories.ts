import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** Names of what lies in a directory, the highest version first; none where it cannot be read. */
export async function subdirectories(directory: string): Promise<string[]> {
  try {
    const names = await readdir(directory);
    return names.sort((one, other) => other.localeCompare(one, "en", { numeric: true }));
  } catch {
    // Most places where gems may be are not there.
    return [];
  }
}

/** Paths of which each part is a name, or `*` for all names or `Ruby*` for some. Whether the last part exists is not asked without a star. */
export async function expand(base: string, parts: readonly string[]): Promise<string[]> {
  const [part, ...rest] = parts;
  if (part === undefined) return [base];
  if (!part.endsWith("*")) return expand(join(base, part), rest);
  const beginning = part.slice(0, -1);
  const names = (await subdirectories(base)).filter((name) => name.startsWith(beginning));
  return (await Promise.all(names.map((name) => expand(join(base, name), rest)))).flat();
}
