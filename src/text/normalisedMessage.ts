/**
 * What two messages of one kind have in common: all that differs from case to case is replaced. `user 17 not found` and
 * `user 42 not found` are one, and so are messages that differ in an address, a path or a quoted text.
 */

// UTF-16 units. Summaries carry no more of a message than this, and both sides of a comparison must see the same.
const longestMessage = 500;
/** What is compared of a long one: where it is cut depends on what stands in it. */
const longestNormalised = 200;

/** In this order, since a link holds a path, a path holds numbers, and a quoted text may hold all of them. */
const varying: readonly (readonly [name: string, pattern: string])[] = [
  ["link", String.raw`\b[a-z][a-z\d+.-]{1,20}://[^\s"'<>()]+`],
  ["quoted", String.raw`"[^"\n]*"|“[^”\n]*”|(?<![\w'])['\x60][^'\x60\n]*'(?!\w)|\x60[^\x60\n]*\x60`],
  ["e-mail", String.raw`(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*`],
  ["uuid", String.raw`\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b`],
  ["path", String.raw`(?<![\w/.~])(?:~|\.{1,2})?(?:/[^\s/:"'\x60()<>,;]+)+/?|\b[a-z]:[\\/][^\s:"'\x60()<>,;]+`],
  // Digests, tokens and the like: long, of letters and digits.
  ["hex", String.raw`\b0x[\da-f]+\b|\b(?=[\da-f]*\d)[\da-f]{8,}\b|\b(?=\w*\d)(?=\w*[a-z])\w{16,}\b`],
  ["number", String.raw`(?:(?<![\w-])[-+])?\d+(?:[.,_]\d+)*`],
];
const variable = new RegExp(varying.map(([, pattern]) => `(${pattern})`).join("|"), "gi");

/** For comparing, not for people, though it can be read: each varying part is its kind in braces. */
export function normalisedMessage(message: string): string {
  return message
    .slice(0, longestMessage)
    .replace(variable, (_text, ...groups: readonly unknown[]) => {
      const kind = varying.find((_one, index) => groups[index] !== undefined);
      return `{${kind?.[0] ?? ""}}`;
    })
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, longestNormalised);
}
