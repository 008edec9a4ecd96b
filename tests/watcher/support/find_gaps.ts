import type { HeightRange } from "../../../ledger/watcher/cursor.ts";

/**
 * The heights between the first solid block that was read and the cursor that no read block stands
 * for.
 *
 * @param ranges ascending, as `readScannedRanges` returns them
 * @param cursor height of the solid cursor
 */
export function findGaps(ranges: readonly HeightRange[], cursor: number): readonly HeightRange[] {
  const gaps: HeightRange[] = [];
  let next = ranges[0]?.first;
  if (next === undefined) return [];
  for (const { first, last } of ranges) {
    if (first > next) gaps.push({ first: next, last: first - 1 });
    next = Math.max(next, last + 1);
  }
  if (next <= cursor) gaps.push({ first: next, last: cursor });
  return gaps;
}
