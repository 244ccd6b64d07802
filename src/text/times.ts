/**
 * Times for people. Unix seconds in; `now` is a parameter, since a list renders thousands at one instant, and for tests.
 * Runs in the webview as well.
 */

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** `just now`, `5 min ago`, `3 h ago`, `2 d ago`, and from 30 days on the date; `in 5 min` for a clock that runs ahead. */
export function relativeTime(seconds: number, now: number): string {
  const age = Math.floor(now - seconds);
  const distance = Math.abs(age);
  // A worker's clock and ours may differ by a little; nobody wants to read that a failure lies two seconds ahead.
  if (distance < minute) return "just now";
  if (distance >= 30 * day) return isoDate(seconds);
  const text =
    distance < hour
      ? `${Math.floor(distance / minute)} min`
      : distance < day
        ? `${Math.floor(distance / hour)} h`
        : `${Math.floor(distance / day)} d`;
  return age > 0 ? `${text} ago` : `in ${text}`;
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
