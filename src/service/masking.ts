import type { DetailOptions } from "./protocol";

/** What stands in place of a masked value, whatever its type and length. */
export const maskText = "[FILTERED]";

/** Names longer than this are not remembered. */
const longestRemembered = 100;

/** Which names hide their value, and whether any did. */
export class Mask {
  used = false;
  readonly #names: readonly string[];
  readonly #shown: ReadonlySet<object>;
  readonly #known = new Map<string, boolean>();

  /** `shown`: holders (entries of hashes, variables) of which the value is shown although their name is masked. */
  constructor({ reveal, maskedNames }: Pick<DetailOptions, "reveal" | "maskedNames">, shown: Iterable<object> = []) {
    this.#names = reveal ? [] : maskedNames.map((name) => name.toLowerCase());
    this.#shown = new Set(shown);
  }

  /** Whether the value of this holder is to be masked. */
  covers(name: string, holder?: object): boolean {
    if (!this.isSecret(name) || (holder !== undefined && this.#shown.has(holder))) return false;
    this.used = true;
    return true;
  }

  /** `covers` as an option of what prints values. */
  readonly asOption = (name: string, holder?: object): boolean => this.covers(name, holder);

  /** Whether a name is one of those that are masked, be this value shown or not. */
  isSecret(name: string): boolean {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const lower = name.toLowerCase();
    const isSecret = this.#names.some((masked) => lower.includes(masked));
    if (name.length <= longestRemembered) this.#known.set(name, isSecret);
    return isSecret;
  }
}
