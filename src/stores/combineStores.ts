import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { DiscoveredStore } from "../service/protocol";
import { normalizePrefix } from "../storage/naming";
import type { StoreDescription } from "./storeModel";

/** What one workspace folder, or the window without any, says about stores. */
export interface FolderInput {
  /** Null for a window without a folder: then only absolute paths in the setting mean anything. */
  readonly folder: { readonly name: string; readonly path: string } | null;
  /** The value of `deadTasks.stores` that applies there; anything, since users write it. */
  readonly setting: unknown;
  readonly discovered: readonly DiscoveredStore[];
}

export interface CombinedStores {
  readonly stores: readonly StoreDescription[];
  /** What is wrong with the setting, each fit for a user and without repetition. */
  readonly problems: readonly string[];
}

interface Candidate extends Omit<StoreDescription, "name"> {
  readonly givenName: string | null;
  readonly folderName: string | null;
}

/** Two ways to the same files are one store: it is opened once, under the name that the user gave it, if any. */
export function storeKey(path: string, prefix: string, backend: "disk" | "nil"): string {
  return `${join(path, normalizePrefix(prefix))}${backend === "nil" ? " (nil)" : ""}`;
}

/** Settings and discovery of all folders together, without duplicates. What the setting names goes before what was found. */
export function combineStores(inputs: readonly FolderInput[]): CombinedStores {
  const problems = new Set<string>();
  const candidates = new Map<string, Candidate>();
  for (const input of inputs) {
    const configured = configuredStores(input, problems);
    const discovered = input.discovered
      // Once the user has said where this folder's stores are, a guess that discovery itself doubts is only confusing.
      .filter((store) => store.problem === null || configured.length === 0)
      .map((store) => discoveredCandidate(input, store));
    for (const candidate of [...configured, ...discovered]) {
      const known = candidates.get(candidate.target.key);
      if (known === undefined || (known.givenName === null && candidate.givenName !== null)) {
        candidates.set(candidate.target.key, candidate);
      }
    }
  }
  return { stores: nameStores([...candidates.values()]), problems: [...problems] };
}

function configuredStores(input: FolderInput, problems: Set<string>): Candidate[] {
  const { folder, setting } = input;
  if (setting === undefined || setting === null) return [];
  if (!Array.isArray(setting)) {
    problems.add("“deadTasks.stores” must be a list of stores, each with a path and a prefix.");
    return [];
  }
  const candidates: Candidate[] = [];
  setting.forEach((entry: unknown, index) => {
    const problem = (text: string): void => void problems.add(`“deadTasks.stores”, entry ${index + 1}: ${text}`);
    if (typeof entry !== "object" || entry === null) {
      problem("must be an object with a path and a prefix.");
      return;
    }
    const { path, prefix = "deferred-", name = null } = entry as Record<string, unknown>;
    if (typeof path !== "string" || path.trim() === "") {
      problem("“path” must be the storage directory, absolute or relative to the workspace folder.");
    } else if (typeof prefix !== "string" || prefix === "" || /[/\\]/.test(prefix)) {
      problem("“prefix” must be the beginning of the files' names, such as “deferred-”, without a slash.");
    } else if (name !== null && typeof name !== "string") {
      problem("“name” must be text.");
    } else if (folder === null && !isAbsolute(path)) {
      problem(`“${path}” is relative, and no folder is open that it could be relative to.`);
    } else {
      const absolute = folder === null ? resolve(path) : resolve(folder.path, path);
      candidates.push({
        target: { key: storeKey(absolute, prefix, "disk"), path: absolute, prefix, backend: "disk" },
        folder: folder?.path ?? null,
        folderName: folder?.name ?? null,
        givenName: name === null || name.trim() === "" ? null : name.trim(),
        source: "the setting deadTasks.stores",
        guess: null,
      });
    }
  });
  return candidates;
}

function discoveredCandidate({ folder }: FolderInput, store: DiscoveredStore): Candidate {
  const { path, prefix, backend, source, problem } = store;
  return {
    target: { key: storeKey(path, prefix, backend), path, prefix, backend },
    folder: folder?.path ?? null,
    folderName: folder?.name ?? null,
    givenName: null,
    source,
    guess: problem,
  };
}

/** The shortest of several names that tells a store from all others. */
function nameStores(candidates: readonly Candidate[]): StoreDescription[] {
  const used = new Set<string>();
  return candidates.map(({ givenName, folderName, ...candidate }) => {
    const names =
      givenName === null ? plainNames(candidate, folderName) : [givenName, ...plainNames(candidate, givenName)];
    const name = names.find((text) => !used.has(text)) ?? candidate.target.key;
    used.add(name);
    return { ...candidate, name };
  });
}

function plainNames(
  { target, folder }: Pick<StoreDescription, "target" | "folder">,
  folderName: string | null,
): string[] {
  const application = folder === null ? "" : applicationPath(folder, target.path);
  const base = application !== "" ? application : (folderName ?? basename(target.path));
  return [
    base,
    `${base} (${normalizePrefix(target.prefix)})`,
    `${base} (${target.path}, ${normalizePrefix(target.prefix)})`,
  ];
}

/** `shop` for `/work/shop/storage` in the folder `/work`, empty where the store is not in a sub-folder's `storage`. */
function applicationPath(folder: string, path: string): string {
  const inside = relative(folder, path);
  if (inside.startsWith("..") || isAbsolute(inside)) return "";
  const parts = inside.split(sep);
  return parts.length > 1 && parts.at(-1) === "storage" ? parts.slice(0, -1).join("/") : "";
}
