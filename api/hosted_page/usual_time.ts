/**
 * The time that a network usually takes to make a payment final, in the words of a customer.
 *
 * @module
 */

/** A few seconds, a minute or two, a quarter of an hour. */
export type UsualTime = "seconds" | "minutes" | "quarter";

/**
 * The words for a network's time.
 *
 * @param finalityMs the time after which its blocks are final, milliseconds; see `ChainPace`
 */
export function usualTime(finalityMs: number): UsualTime {
  if (finalityMs <= 20_000) return "seconds";
  return finalityMs <= 2 * 60_000 ? "minutes" : "quarter";
}
