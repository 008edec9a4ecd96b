/**
 * How a range of time is put together from sums that are kept per day (UTC): whole days from the
 * sums, and what is left at its two ends from the rows themselves.
 *
 * @module
 */

const DAY_MS = 86_400_000;

/** A stretch of time, Unix milliseconds; `until` is excluded. */
export interface Stretch {
  readonly from: number;
  readonly until: number;
}

/** A range of time in whole days and ends. */
export interface DaySplit {
  /** First whole day, `YYYY-MM-DD`; null: from the beginning. */
  readonly firstDay: string | null;
  /** The day after the last whole one; null: without end. */
  readonly endDay: string | null;
  /** Parts of days at the ends of the range, at most two. */
  readonly ends: readonly Stretch[];
}

/**
 * Splits a range.
 *
 * @param from not before, Unix milliseconds; undefined: from the beginning
 * @param until before, Unix milliseconds; undefined: without end
 */
export function splitDays(from: number | undefined, until: number | undefined): DaySplit {
  const first = from === undefined ? null : Math.ceil(from / DAY_MS) * DAY_MS;
  const end = until === undefined ? null : Math.floor(until / DAY_MS) * DAY_MS;
  if (from !== undefined && until !== undefined && (first ?? 0) > (end ?? 0)) {
    const nothing = dayOf(Math.max(from, 0));
    return { firstDay: nothing, endDay: nothing, ends: [{ from, until }] };
  }
  const ends: Stretch[] = [];
  if (from !== undefined && first !== null && from < first) ends.push({ from, until: first });
  if (until !== undefined && end !== null && end < until) ends.push({ from: end, until });
  return {
    firstDay: first === null ? null : dayOf(first),
    endDay: end === null ? null : dayOf(end),
    ends,
  };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
