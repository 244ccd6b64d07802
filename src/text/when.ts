const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: minute, h: hour, d: day };

/**
 * The time that a user means, in whole Unix seconds: `90s`, `10m`, `2h`, `1d` from now, `14:30` at the next such time of day, or
 * `2026-12-01 09:00`, both local. Null for anything else, and for a time that is past. `now`: Unix seconds.
 */
export function parseWhen(text: string, now: number): number | null {
  const trimmed = text.trim();
  const [, count, unit] = /^(?:in\s+)?(\d{1,6})\s*([smhd])$/i.exec(trimmed) ?? [];
  if (count !== undefined && unit !== undefined) {
    const seconds = Number(count) * (unitSeconds[unit.toLowerCase()] ?? 0);
    return seconds === 0 ? null : Math.floor(now) + seconds;
  }
  const [, date, hours, minutes] = /^(?:(\d{4}-\d{2}-\d{2})[ T])?(\d{1,2}):(\d{2})$/.exec(trimmed) ?? [];
  if (hours === undefined || minutes === undefined || Number(hours) > 23 || Number(minutes) > 59) return null;
  const time = new Date(now * 1000);
  if (date !== undefined) {
    const [year = 0, month = 0, dayOfMonth = 0] = date.split("-").map(Number);
    time.setFullYear(year, month - 1, dayOfMonth);
    // 2026-02-30 would be a day in March.
    if (time.getMonth() !== month - 1 || time.getDate() !== dayOfMonth) return null;
  }
  time.setHours(Number(hours), Number(minutes), 0, 0);
  if (date === undefined && time.getTime() <= now * 1000) time.setDate(time.getDate() + 1);
  const seconds = Math.floor(time.getTime() / 1000);
  return seconds > now ? seconds : null;
}

/** The next time of day `hours`:00, local, in Unix seconds. */
export function nextMorning(now: number, hours: number): number {
  const time = new Date(now * 1000);
  time.setDate(time.getDate() + 1);
  time.setHours(hours, 0, 0, 0);
  return Math.floor(time.getTime() / 1000);
}
