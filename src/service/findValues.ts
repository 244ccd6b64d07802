import { inspect, quote, encodingOf, textOf } from "../marshal";
import { yieldToOthers } from "../storage/clock";
import { ownType } from "./describeValue";
import type { Mask } from "./masking";
import type { Part, Place } from "./valueParts";
import type { FoundValues, ValuePath } from "./valueProtocol";
import { pathOf, walkValues, type ContextRoots } from "./walkValues";

const mostFound = 500;
/** Characters of one value that are gone through. */
const longestText = 4_000_000;
/** Values that are gone through before others on this thread get their turn. */
const atOnce = 5_000;

/**
 * The values whose name, whose own text or whose class has this text in it, in upper or lower case, opened or not. Of what is
 * hidden only the name. An object that stands at several places is found at the first.
 */
export async function findValues(roots: ContextRoots, mask: Mask, text: string): Promise<FoundValues> {
  const paths: ValuePath[] = [];
  const wanted = text.toLowerCase();
  if (wanted === "") return { paths, more: false };
  let count = 0;
  for (const { place, step, hidden, metAt } of walkValues(roots, mask)) {
    count++;
    if (count % atOnce === 0) await yieldToOthers();
    const isFound = hasName(step.part, mask, wanted) || (!hidden && metAt === null && hasText(place, wanted));
    if (!isFound) continue;
    if (paths.length === mostFound) return { paths, more: true };
    paths.push(pathOf(step));
  }
  return { paths, more: false };
}

/** Positions are no names. */
function hasName(part: Part | null, mask: Mask, wanted: string): boolean {
  if (part === null || part.isElement) return false;
  return part.label(mask).toLowerCase().includes(wanted);
}

function hasText(place: Place, wanted: string): boolean {
  return textsOf(place).some((text) => text.toLowerCase().includes(wanted));
}

/** What is a value's own: not what its parts have. */
function textsOf(place: Place): readonly string[] {
  switch (place.type) {
    case "entry":
    case "array":
    case "hash":
      return [];
    case "string": {
      const bytes = place.bytes.subarray(0, longestText);
      // As it is, and as it is shown.
      return [textOf(bytes), quote(bytes, encodingOf(place))];
    }
    case "struct":
    case "object":
      return [ownType(place)];
    case "user-marshal":
    case "user-defined":
      return [ownType(place), place.type === "user-defined" ? inspect(place, { maxLength: longestText }) : ""];
    default:
      return [inspect(place, { maxLength: longestText })];
  }
}
