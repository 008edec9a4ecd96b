import { Decimal } from "decimal.js";
import type { FiatRate } from "./rates.ts";

const Exact = Decimal.clone({ precision: 60, toExpNeg: -60, toExpPos: 60 });

/** Conditions under which quotes of several sources make a rate. */
export interface Agreement {
  /** Fewest sources that must agree. */
  readonly leastSources: number;
  /** Greatest distance of two quotes that count, as a fraction of the median, for example `"0.02"`. */
  readonly maxDeviation: string;
}

/**
 * The median of the quotes that agree. A quote further than half the allowed deviation from the
 * median of all is left out, so that one source gone wrong moves nothing.
 *
 * @returns null where too few are left
 */
export function agreedRate(quotes: readonly FiatRate[], agreement: Agreement): FiatRate | null {
  const { leastSources, maxDeviation } = agreement;
  if (quotes.length < Math.max(leastSources, 1)) return null;
  const centre = median(quotes);
  const reach = centre.times(maxDeviation).dividedBy(2);
  const kept = quotes.filter(({ rate }) =>
    new Exact(rate).minus(centre).abs().lessThanOrEqualTo(reach)
  );
  if (kept.length < Math.max(leastSources, 1)) return null;
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
