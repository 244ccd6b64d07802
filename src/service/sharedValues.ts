import type { Mask } from "./masking";
import type { Place } from "./valueParts";
import type { ValueNode, ValuePath } from "./valueProtocol";
import { expressionOf, pathOf, walkValues, type ContextRoots, type Step } from "./walkValues";

/** Objects that stand at several places. */
export interface SharedValues {
  /** The first place of an object, where that is another than this path; else null. */
  sameAs(path: ValuePath, place: Place): ValueNode["same"];
}

/** Places behind masked names do not count: nothing must tell that something hidden is the same as something shown. */
export function sharedValues(roots: ContextRoots, mask: Mask): SharedValues {
  const first = new Map<Place, Step>();
  for (const { place, metAt } of walkValues(roots, mask)) if (metAt !== null) first.set(place, metAt);
  return {
    sameAs(path, place) {
      const step = first.get(place);
      if (step === undefined) return null;
      const firstPath = pathOf(step);
      return firstPath === path ? null : { path: firstPath, text: expressionOf(step, mask) };
    },
  };
}
