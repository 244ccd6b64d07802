/** Text as it is, in Markdown: nothing of it is taken for a mark. */

/** A fence longer than any in the text, which then cannot end it. */
export function fenced(text: string, language = ""): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Text of one line as it is, in a span of code that it cannot end. */
export function inlineCode(text: string): string {
  const flat = text.replace(/\s+/g, " ").trim();
  const ticks = "`".repeat(longestRun(flat) + 1);
  const space = flat.startsWith("`") || flat.endsWith("`") ? " " : "";
  return flat === "" ? "" : `${ticks}${space}${flat}${space}${ticks}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
