import { readFile, stat } from "node:fs/promises";
import { classesInSource } from "./classes";
import type { Parse } from "./prism";
import { mayDefine } from "./textFilter";
import {
  largestSource,
  type Definitions,
  type FoundDefinition,
  type SkippedFile,
  type SourceClasses,
} from "./protocol";

/** How many files' classes are remembered. */
const rememberedFiles = 500;

interface Remembered {
  readonly modified: number;
  readonly size: number;
  readonly source: SourceClasses;
}

/** Finds the definitions of classes in files. What a file defines is remembered until its time or size changes. */
export class DefinitionFinder {
  readonly #parse: Parse;
  readonly #remembered = new Map<string, Remembered>();

  constructor(parse: Parse) {
    this.#parse = parse;
  }

  async find(name: string, paths: readonly string[]): Promise<Definitions> {
    const found: FoundDefinition[] = [];
    const skipped: SkippedFile[] = [];
    for (const path of paths) {
      try {
        const source = await this.#classes(path, name);
        for (const definition of source?.classes ?? []) {
          if (definition.name === name || definition.otherNames.includes(name)) {
            found.push({ path, isSound: source?.problem === null, definition });
          }
        }
      } catch (error) {
        if (isGone(error)) continue;
        skipped.push({ path, reason: error instanceof Error ? error.message : String(error) });
      }
    }
    return { found, skipped };
  }

  /** Null where the file's text does not name the class. */
  async #classes(path: string, name: string): Promise<SourceClasses | null> {
    const { mtimeMs: modified, size } = await stat(path);
    const known = this.#remembered.get(path);
    if (known?.modified === modified && known.size === size) return known.source;
    if (size > largestSource) throw new Error(tooLarge(size));
    const text = await readFile(path, "utf8");
    if (!mayDefine(text, name)) return null;
    const source = classesInSource(this.#parse, text);
    this.#remembered.delete(path);
    this.#remembered.set(path, { modified, size, source });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > rememberedFiles && oldest !== undefined) this.#remembered.delete(oldest);
    return source;
  }
}

export function tooLarge(bytes: number): string {
  const megabytes = (count: number): string => (count / (1024 * 1024)).toFixed(1);
  return `It has ${megabytes(bytes)} MiB, and sources above ${megabytes(largestSource)} MiB are not read.`;
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
