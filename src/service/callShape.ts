import type { ArgumentShape } from "./protocol";

/** What a call passes. `keys`: those of its keywords, null for one that is no symbol. Null where a key is not in UTF-8. */
export function callShape(
  taskClass: string,
  positional: number,
  keys: readonly (string | null)[],
  lastIsHash: boolean,
): ArgumentShape | null {
  const keywords = keys.filter((key) => key !== null);
  // A name in another encoding than UTF-8 cannot be compared with one in a source.
  if (keywords.some((name) => name.includes("\ufffd"))) return null;
  return { taskClass, positional, keywords, otherKeys: keywords.length < keys.length, lastIsHash };
}
