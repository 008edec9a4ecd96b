/**
 * The age of a thing, in words.
 *
 * @module
 */

const UNITS = [
  { name: "day", ms: 86_400_000 },
  { name: "hour", ms: 3_600_000 },
  { name: "minute", ms: 60_000 },
  { name: "second", ms: 1_000 },
] as const;

/**
 * Relative age in English.
 *
 * @param thenMs Unix milliseconds
 * @param nowMs Unix milliseconds
 * @returns for example `"just now"`, `"1 minute ago"`, `"3 days ago"`
 */
export function age(thenMs: number, nowMs: number): string {
  const elapsed = nowMs - thenMs;
  for (const unit of UNITS) {
    const count = Math.floor(elapsed / unit.ms);
    if (count >= 1) return `${count} ${unit.name}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

const GMT8_MS = 8 * 3_600_000;

/** The same instant as ISO 8601 text at UTC+8, for example `2026-01-01T08:00:00.000+08:00`. */
export function atGmt8(ms: number): string {
  return new Date(ms + GMT8_MS).toISOString().replace("Z", "+08:00");
}
