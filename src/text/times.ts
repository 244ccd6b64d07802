/**
 * Times for people. Unix seconds in; `now` is a parameter, since a list renders thousands at one instant, and for tests.
 * Runs in the webview as well.
 */

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** `just now`, `5 min ago`, `3 h ago`, `2 d ago`, and from 30 days on the date; `in 5 min` for a clock that runs ahead. */
export function relativeTime(seconds: number, now: number): string {
  const distance = distanceOf(seconds, now);
  if (distance === null) return isoDate(seconds);
  if (distance.unit === null) return "just now";
  const text = `${distance.count} ${distance.unit}`;
  return distance.ahead ? `in ${text}` : `${text} ago`;
}

/** The same for a narrow column: `now`, `5m`, `3h`, `2d`, and from 30 days on the date. */
export function shortTime(seconds: number, now: number): string {
  const distance = distanceOf(seconds, now);
  if (distance === null) return isoDate(seconds);
  if (distance.unit === null) return "now";
  const text = `${distance.count}${distance.unit.charAt(0)}`;
  return distance.ahead ? `in ${text}` : text;
}

interface Distance {
  readonly ahead: boolean;
  readonly count: number;
  /** Null below a minute: a worker's clock and ours may differ by a little, and nobody wants to read of two seconds ahead. */
  readonly unit: "min" | "h" | "d" | null;
}

/** Null where only the date says something. */
function distanceOf(seconds: number, now: number): Distance | null {
  const age = Math.floor(now - seconds);
  const distance = Math.abs(age);
  const ahead = age < 0;
  if (distance < minute) return { ahead, count: 0, unit: null };
  if (distance < hour) return { ahead, count: Math.floor(distance / minute), unit: "min" };
  if (distance < day) return { ahead, count: Math.floor(distance / hour), unit: "h" };
  if (distance < 30 * day) return { ahead, count: Math.floor(distance / day), unit: "d" };
  return null;
}

/** `20:15` in local time; with the date where that is more than a day from `now`, in Unix seconds. */
export function clockTime(seconds: number, now: number): string {
  const text = absoluteTime(seconds);
  return Math.abs(seconds - now) < day ? text.slice(11, 16) : text.slice(0, 16);
}

/** `2025-11-29 20:15:04` in local time, or the number as it is where no date can be made of it. */
export function absoluteTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return String(seconds);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":");
  return `${isoDate(seconds)} ${time}`;
}

function isoDate(seconds: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return String(seconds);
  return [date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join("-");
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
