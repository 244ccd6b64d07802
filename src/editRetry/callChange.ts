import type { EditedCall, EditedEntry, EditedValue } from "../edit/protocol";
import { callShape } from "../service/callShape";
import type { ArgumentShape } from "../service/protocol";
import { counted, oneLine } from "../text/labels";

/** How many arguments a sentence names. */
const mostNamed = 4;

/**
 * Which arguments differ, without their values: `Changed: argument 1 and keyword locale. Added: argument 2.`
 */
export function changeSentences(before: EditedCall, after: EditedCall): string {
  const [changed, added, removed]: [string[], string[], string[]] = [[], [], []];
  const compare = (name: string, was: EditedValue | undefined, is: EditedValue | undefined): void => {
    if (is === undefined) removed.push(name);
    else if (was === undefined) added.push(name);
    else if (!isSame(was, is)) changed.push(name);
  };
  for (let index = 0; index < Math.max(before.args.length, after.args.length); index++) {
    compare(`argument ${index + 1}`, before.args[index], after.args[index]);
  }
  const [was, is] = [byKey(before.kwargs), byKey(after.kwargs)];
  for (const [key, [name]] of new Map([...was, ...is])) compare(name, was.get(key)?.[1], is.get(key)?.[1]);
  const sentence = (what: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${what}: ${list(names)}.`];
  const sentences = [...sentence("Changed", changed), ...sentence("Added", added), ...sentence("Removed", removed)];
  return sentences.length === 0 ? "The keywords are in another order." : sentences.join(" ");
}

/** Null where a keyword's name is in another encoding than a source's. */
export function shapeOfCall({ taskClass, args, kwargs }: EditedCall): ArgumentShape | null {
  const keys = kwargs.map(([key]) => (key.kind === "symbol" ? textOf(key.bytes) : null));
  return callShape(taskClass, args.length, keys, args.at(-1)?.kind === "hash");
}

/** What each keyword is called, and its value. */
function byKey(entries: readonly EditedEntry[]): Map<string, readonly [name: string, value: EditedValue]> {
  return new Map(entries.map(([key, value]) => [JSON.stringify(key), [keywordName(key), value]]));
}

function keywordName(key: EditedValue): string {
  if (key.kind === "symbol") return `keyword ${oneLine(textOf(key.bytes), 60)}`;
  return key.kind === "string" ? `keyword "${oneLine(textOf(key.bytes), 60)}"` : "a keyword that is no symbol";
}

/** Plain data of one shape, so that their JSON tells them apart. */
function isSame(one: EditedValue, other: EditedValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function list(names: readonly string[]): string {
  const shown = names.length > mostNamed ? names.slice(0, mostNamed - 1) : [...names];
  if (shown.length < names.length) shown.push(counted(names.length - shown.length, "more", "more"));
  const last = shown.pop() ?? "";
  return shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString();
}
