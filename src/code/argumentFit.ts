import type { Parameter } from "../ruby/protocol";
import type { ArgumentShape } from "../service/protocol";
import { counted, formatCount, oneLine } from "../text/labels";

/** How many keywords a sentence names. */
const keywordsNamed = 3;

/** Why a method would not take what a task has. */
export interface Misfit {
  /** What is to be said of the method, such as `takes 1 argument, and the task has 2`. */
  readonly predicate: string;
  /** A sentence that helps to understand it; empty for none. */
  readonly hint: string;
}

/** Why none of several definitions of a method, of which one counts, takes the arguments; null where one does, or may. */
export function misfitOfAll(
  definitions: readonly (readonly Parameter[] | null)[],
  shape: ArgumentShape,
): Misfit | null {
  let first: Misfit | null = null;
  for (const parameters of definitions) {
    const found = parameters === null ? null : misfit(parameters, shape);
    if (found === null) return null;
    first ??= found;
  }
  return first;
}

/** By Ruby 3's rules for a call with `*args, **kwargs`: where it would raise an ArgumentError, why; else null. */
export function misfit(parameters: readonly Parameter[], shape: ArgumentShape): Misfit | null {
  const has = (...kinds: Parameter["kind"][]): boolean => parameters.some(({ kind }) => kinds.includes(kind));
  const required = parameters.filter(({ kind }) => kind === "req").length;
  const most = has("rest") ? null : required + parameters.filter(({ kind }) => kind === "opt").length;
  const hasKeywords = shape.keywords.length > 0 || shape.otherKeys;
  const takesKeywords = has("keyreq", "key", "keyrest");
  if (has("nokey") && hasKeywords) return takesNone(shape);
  // A method without any keyword gets them as one more argument, a Hash.
  const asHash = hasKeywords && !takesKeywords;
  const given = shape.positional + (asHash || (hasKeywords && mayForward(parameters)) ? 1 : 0);
  const tooMany = most !== null && given > most;
  if (tooMany && asHash && shape.positional === most) return takesNone(shape);
  if (given < required || tooMany) {
    const more = asHash ? " and, of its keywords, a Hash" : "";
    const predicate = `takes ${argumentRange(required, most)}, and the task has ${countOrNone(shape.positional)}${more}`;
    return { predicate, hint: tooMany && takesKeywords ? hashHint(shape) : "" };
  }
  return takesKeywords ? keywordMisfit(parameters, shape) : null;
}

/**
 * `...` takes keywords as a Hash where a required argument before it is missing, at least in some releases of Ruby. `*, **, &`, which
 * does not, looks the same.
 */
function mayForward(parameters: readonly Parameter[]): boolean {
  const anonymous = parameters.filter(({ name }) => name === null).map(({ kind }) => kind);
  return (["rest", "keyrest", "block"] as const).every((kind) => anonymous.includes(kind));
}

function keywordMisfit(parameters: readonly Parameter[], shape: ArgumentShape): Misfit | null {
  const named = (...kinds: Parameter["kind"][]): string[] =>
    parameters.flatMap(({ kind, name }) => (kinds.includes(kind) && name !== null ? [name] : []));
  const missing = named("keyreq").filter((name) => !shape.keywords.includes(name));
  if (missing.length > 0) {
    return { predicate: `needs the ${keywordList(missing)}, which the task has not`, hint: hashHint(shape) };
  }
  if (parameters.some(({ kind }) => kind === "keyrest")) return null;
  const known = named("keyreq", "key");
  const unknown = shape.keywords.filter((name) => !known.includes(name));
  if (unknown.length > 0) return { predicate: `has no ${keywordList(unknown)}`, hint: "" };
  if (shape.otherKeys) return { predicate: "has no keywords but symbols, and the task has others", hint: "" };
  return null;
}

function takesNone({ keywords }: ArgumentShape): Misfit {
  const what = keywords.length === 0 ? "some" : `the ${keywordList(keywords)}`;
  return { predicate: `takes no keywords, and the task has ${what}`, hint: "" };
}

function hashHint({ lastIsHash }: ArgumentShape): string {
  return lastIsHash ? "The Hash at the end of the task's arguments is no keywords to Ruby 3." : "";
}

function argumentRange(least: number, most: number | null): string {
  if (most === null) return `at least ${counted(least, "argument")}`;
  if (most === 0) return "no arguments";
  return least === most ? counted(least, "argument") : `${formatCount(least)} to ${counted(most, "argument")}`;
}

function countOrNone(count: number): string {
  return count === 0 ? "none" : formatCount(count);
}

/** `keyword locale:`, `keywords a:, b: and 2 more`. The names are data of the task's. */
function keywordList(names: readonly string[]): string {
  const shown = names.slice(0, keywordsNamed).map((name) => `${oneLine(name, 60)}:`);
  const left = names.length - shown.length;
  if (left > 0) shown.push(`${formatCount(left)} more`);
  const last = shown.pop() ?? "";
  const list = shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
  return `${names.length === 1 ? "keyword" : "keywords"} ${list}`;
}
