import { inspect, type InspectOptions } from "../marshal";
import type { DeadTaskRecord } from "./record";

// Characters of each value beyond the known ones, and of all of them.
const longestExtra = 10_000;
const longestExtras = 200_000;
const mask = "[FILTERED]";

/** A record's keys beyond the known ones, their values as Ruby text, masked where `isMasked` says so. */
export function extraTexts(
  extra: DeadTaskRecord["extra"],
  isMasked: NonNullable<InspectOptions["isMasked"]> = () => false,
): { readonly name: string; readonly value: string }[] {
  let room = longestExtras;
  return extra.map((field) => {
    const options = { maxLength: Math.min(longestExtra, room), isMasked };
    const isCovered = isMasked(field.name, field);
    const value = isCovered ? mask : room > 0 ? inspect(field.value, options) : "…";
    room -= value.length;
    return { name: field.name, value };
  });
}
