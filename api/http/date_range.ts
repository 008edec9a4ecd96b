/**
 * Rules over the two ends of a date filter.
 *
 * @module
 */

import type { Answer } from "./answer.ts";
import { validationFailed } from "./errors.ts";

/** The two ends, Unix milliseconds; `endDate` is excluded. */
export interface DateRange {
  readonly startDate?: number | undefined;
  readonly endDate?: number | undefined;
}

/** The 422 for a range that ends before it starts, otherwise null. */
export function refuseReversed(range: DateRange): Answer | null {
  const { startDate, endDate } = range;
  if (startDate === undefined || endDate === undefined || startDate < endDate) return null;
  return validationFailed("endDate", "The range ends before it starts", "reversed_range");
}
