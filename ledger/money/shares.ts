import { type Amount, fromUnits } from "./amount.ts";

/**
 * The share of one in an amount that several have in common: equal parts, and the first takes what is left over, so
 * that the shares are exactly the amount.
 *
 * @param place of the one, from 0 on
 * @param count how many share it
 */
export function shareOf(amount: Amount, place: number, count: number): Amount {
  const part = amount / BigInt(count);
  return fromUnits(place === 0 ? amount - part * BigInt(count - 1) : part);
}
