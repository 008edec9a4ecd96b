/**
 * Exact money. An {@linkcode Amount} is a whole number of units of 10^-18, held in a bigint, so
 * that a token of any supported network (at most 18 decimals) adds, compares and prints without
 * rounding. Text is accepted and produced only at the edges.
 *
 * @module
 */

declare const amountBrand: unique symbol;

/** A quantity of one currency in units of 10^-18. May be negative where a balance effect is meant. */
export type Amount = bigint & { readonly [amountBrand]: true };

/** Decimal places every {@linkcode Amount} carries. */
export const AMOUNT_SCALE = 18;

const SCALE_FACTOR = 10n ** BigInt(AMOUNT_SCALE);
const INPUT_SHAPE = /^(\d{1,20})(?:\.(\d{1,18}))?$/;

/** No money. */
export const ZERO = 0n as Amount;

/**
 * The most that one payment, fee or limit may be: 10^12 of a currency. It leaves the columns room for
 * the sums of a hundred million such payments.
 */
export const LARGEST_PAYMENT = (10n ** 12n * SCALE_FACTOR) as Amount;

/**
 * The most that a merchant may hold of one pair together with a deposit by hand, 10^19: what comes
 * over a chain, which cannot be refused, fits on top of it.
 */
export const LARGEST_BALANCE_BY_HAND = (10n ** 19n * SCALE_FACTOR) as Amount;

/** Wraps a count of 10^-18 units. */
export function fromUnits(units: bigint): Amount {
  return units as Amount;
}

/**
 * Reads an amount as merchants write it: digits, optionally a point and 1 to 18 more digits.
 *
 * @param text for example `"100"` or `"0.000001"`; at most 20 integer digits
 * @returns the amount, or `null` when the text has any other shape (sign, exponent, spaces, ...)
 */
export function parseAmount(text: string): Amount | null {
  const match = INPUT_SHAPE.exec(text);
  if (match === null) return null;
  const fraction = (match[2] ?? "").padEnd(AMOUNT_SCALE, "0");
  return (BigInt(match[1] as string) * SCALE_FACTOR + BigInt(fraction)) as Amount;
}

/**
 * Reads an amount this program wrote itself: as {@linkcode parseAmount}, a leading minus allowed.
 *
 * @throws {RangeError} when the text is not an amount; stored money that cannot be read is a bug
 */
export function amountOf(text: string): Amount {
  const negative = text.startsWith("-");
  const magnitude = parseAmount(negative ? text.slice(1) : text);
  if (magnitude === null) throw new RangeError(`Cannot read an amount as it is malformed: ${text}`);
  return negative ? (-magnitude as Amount) : magnitude;
}

/**
 * Prints the canonical form: no exponent, no trailing zeros, no bare point.
 *
 * @returns for example `"100"`, `"0.5"`, `"-1.25"`
 */
export function formatAmount(amount: Amount): string {
  const negative = amount < 0n;
  const magnitude = negative ? -amount : amount;
  const whole = magnitude / SCALE_FACTOR;
  const fraction = magnitude % SCALE_FACTOR;
  const sign = negative ? "-" : "";
  if (fraction === 0n) return `${sign}${whole}`;
  const digits = fraction.toString().padStart(AMOUNT_SCALE, "0").replace(/0+$/, "");
  return `${sign}${whole}.${digits}`;
}

/** `a + b`. */
export function add(a: Amount, b: Amount): Amount {
  return (a + b) as Amount;
}

/** `a - b`; the result may be negative. */
export function subtract(a: Amount, b: Amount): Amount {
  return (a - b) as Amount;
}

/** `-a`. */
export function negate(a: Amount): Amount {
  return -a as Amount;
}

/** The smaller of two amounts. */
export function min(a: Amount, b: Amount): Amount {
  return a < b ? a : b;
}

/** The larger of two amounts. */
export function max(a: Amount, b: Amount): Amount {
  return a > b ? a : b;
}

/** One unit of the last place by the decimals of a token; a power is not taken again for each amount. */
const LAST_PLACES: readonly bigint[] = Array.from(
  { length: AMOUNT_SCALE + 1 },
  (_, decimals) => 10n ** BigInt(AMOUNT_SCALE - decimals),
);

/** The value of one unit of the last place of a token, for example 10^-6 as an amount. */
function lastPlace(decimals: number): bigint {
  const place = LAST_PLACES[decimals];
  if (place === undefined) throw new RangeError(`Cannot keep so many decimals: ${decimals}`);
  return place;
}

/** True where the amount can be written with the given number of decimals without rounding. */
export function isExactIn(amount: Amount, decimals: number): boolean {
  return amount % lastPlace(decimals) === 0n;
}

/** Cuts (towards zero) to the given number of decimals. */
export function cutTo(amount: Amount, decimals: number): Amount {
  return (amount - (amount % lastPlace(decimals))) as Amount;
}

/** The least amount with the given number of decimals that is not below this one. */
export function roundUpTo(amount: Amount, decimals: number): Amount {
  const cut = cutTo(amount, decimals);
  return cut === amount ? cut : add(cut, lastPlace(decimals) as Amount);
}

/**
 * `amount x rate`, to the given number of decimals; exact until it is rounded.
 *
 * @param rate a fraction, as an amount of 1
 */
export function portionOf(
  amount: Amount,
  rate: Amount,
  decimals: number,
  rounding: "half_up" | "down",
): Amount {
  const place = lastPlace(decimals);
  const product = amount * rate;
  const unit = place * SCALE_FACTOR;
  const rest = product % unit;
  const up = rounding === "half_up" && 2n * rest >= unit ? 1n : 0n;
  return ((product / unit + up) * place) as Amount;
}

/**
 * The integer a token contract works with.
 *
 * @param decimals the token's decimals, 0 to 18
 * @throws {RangeError} when the amount is not exact in that many decimals
 */
export function toTokenUnits(amount: Amount, decimals: number): bigint {
  if (!isExactIn(amount, decimals)) {
    throw new RangeError(
      `Cannot express an amount in ${decimals} decimals as digits would be lost: ${
        formatAmount(amount)
      }`,
    );
  }
  return amount / lastPlace(decimals);
}

/** The amount that a token contract's integer stands for. */
export function fromTokenUnits(units: bigint, decimals: number): Amount {
  return (units * lastPlace(decimals)) as Amount;
}
