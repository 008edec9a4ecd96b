import { Decimal } from "decimal.js";
import type { FiatRate } from "./rates.ts";

const Exact = Decimal.clone({ precision: 60, toExpNeg: -60, toExpPos: 60 });

/** Fewest sources that must agree. */
export const LEAST_SOURCES = 2;
/** Greatest distance of two quotes that count, as a fraction of the median. */
const MAX_DEVIATION = "0.02";

/**
 * The median of the quotes that agree. A quote further than half the allowed deviation from the
 * median of all is left out, so that one source gone wrong moves nothing.
 *
 * @returns null where too few are left
 */
export function agreedRate(quotes: readonly FiatRate[]): FiatRate | null {
  if (quotes.length < LEAST_SOURCES) return null;
  const centre = median(quotes);
  const reach = centre.times(MAX_DEVIATION).dividedBy(2);
  const kept = quotes.filter(({ rate }) =>
    new Exact(rate).minus(centre).abs().lessThanOrEqualTo(reach)
  );
  if (kept.length < LEAST_SOURCES) return null;
  const rate = median(kept).toDecimalPlaces(18, Decimal.ROUND_HALF_UP);
  return { rate: rate.toFixed(), at: Math.min(...kept.map(({ at }) => at)) };
}

function median(quotes: readonly FiatRate[]): Decimal {
  const sorted = quotes.map(({ rate }) => new Exact(rate)).sort((a, b) => a.comparedTo(b));
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) {
    throw new RangeError("Cannot take a median as there are no quotes");
  }
  return upper.plus(lower).dividedBy(2);
}
