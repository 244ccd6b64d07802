import type { RubyValue } from "../marshal";
import type { Mask } from "./masking";
import { isHidden, partsOf, type Part, type Place } from "./valueParts";
import type { ContextRoot, ValuePath } from "./valueProtocol";

export type ContextRoots = readonly (readonly [ContextRoot, RubyValue])[];

/** A step on the way from a root to a value. */
export interface Step {
  readonly before: Step | null;
  readonly root: ContextRoot;
  readonly index: number;
  /** Null for the root. */
  readonly part: Part | null;
}

export interface Visited {
  readonly place: Place;
  readonly step: Step;
  /** Whether it is hidden behind its name. What is within it is not visited. */
  readonly hidden: boolean;
  /** The step to the same object, where it was met before. What is within it is not visited a second time. */
  readonly metAt: Step | null;
}

/** Goes through all values in the order of the tree, each object once, so that cycles end. */
export function* walkValues(roots: ContextRoots, mask: Mask): Generator<Visited, void, undefined> {
  const met = new Map<Place, Step>();
  // Last in, first out.
  const stack: { readonly place: Place; readonly step: Step }[] = roots
    .map(([root, place]) => ({ place, step: { before: null, root, index: 0, part: null } }))
    .toReversed();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { place, step } = next;
    const hidden = step.part !== null && isHidden(step.part, mask);
    const metAt = hidden ? null : (met.get(place) ?? null);
    yield { place, step, hidden, metAt };
    if (hidden || metAt !== null) continue;
    if (hasIdentity(place)) met.set(place, step);
    const parts = partsOf(place);
    for (let index = parts.count - 1; index >= 0; index--) {
      const part = parts.at(index);
      if (part !== null) stack.push({ place: part.place, step: { before: step, root: step.root, index, part } });
    }
  }
}

/** Ruby has one nil, one of each symbol, class and number: that those stand at several places says nothing. */
function hasIdentity({ type }: Place): boolean {
  return !["nil", "boolean", "symbol", "integer", "float", "regexp", "module", "entry"].includes(type);
}

export function pathOf(step: Step): ValuePath {
  return [step.root, ...partSteps(step).map(({ index }) => index)].join(".");
}

/** What Ruby code would call a root. */
const rootNames: Record<ContextRoot, string> = {
  args: "args",
  kwargs: "kwargs",
  logTags: "log_tags",
  logContext: "log_context",
  userContext: "user_context",
};

/** `args[0][:user].@id`; the middle of a long way is left out. */
export function expressionOf(step: Step, mask: Mask): string {
  const texts = partSteps(step).map(({ part }) => part?.step(mask) ?? "");
  const short = texts.length > 6 ? [...texts.slice(0, 2), "…", ...texts.slice(-3)] : texts;
  return rootNames[step.root] + short.join("");
}

/** The steps from the root, which is left out, to this one. */
function partSteps(last: Step): Step[] {
  const steps: Step[] = [];
  for (let step = last; step.before !== null; step = step.before) steps.push(step);
  return steps.reverse();
}
