/**
 * Names of classes, and plain looks at a text that tell whether it is worth while to parse it: in microseconds, saying yes to
 * what may be none (`# class Foo` in a comment) and never no to a definition. What they let through is parsed.
 */

const className = /^\p{Lu}[\p{L}\p{M}\p{N}_]*(?:::\p{Lu}[\p{L}\p{M}\p{N}_]*)*$/u;

/** Whether Ruby could have a class of this name. A store can hold any text as one, which then is not looked for. */
export function isClassName(name: string): boolean {
  return name.length <= 500 && className.test(name);
}

/** `SyncInvoice` of `Billing::SyncInvoice`. */
export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}

/** Names that a text that defines classes has in it; nothing for a text that defines none. */
export function namesIn(text: string): Set<string> {
  return definesClasses(text) ? new Set(text.match(/\p{Lu}[\p{L}\p{M}\p{N}_]*/gu)) : new Set();
}

export function mayDefine(text: string, name: string): boolean {
  return text.includes(lastPart(name)) && definesClasses(text);
}

function definesClasses(text: string): boolean {
  return /\b(?:class|Class|Struct|Data)\b/.test(text);
}
