import { type Amount, AMOUNT_SCALE, fromUnits, parseAmount } from "../ledger/money/amount.ts";

/** Decimals of a quoted amount. */
const QUOTE_DECIMALS = 8;

const UNITS_PER_STEP = 10n ** BigInt(AMOUNT_SCALE - QUOTE_DECIMALS);
/** The largest amount has 20 integer digits. */
const TOO_LARGE = 10n ** BigInt(20 + AMOUNT_SCALE);

/**
 * The crypto amount to be paid for a fiat amount: `fiatAmount / rate`, rounded up to 8 decimals, so
 * that its payer never pays too little.
 *
 * Whole numbers throughout: a quotient that is rounded once to many digits and then up to 8 loses
 * the remainder that decides.
 *
 * @param fiatAmount above zero
 * @param rate fiat units per unit, as {@linkcode FiatRate.rate}
 * @returns null where the quotient is larger than any amount
 * @throws {RangeError} when the rate is not a positive decimal
 */
export function quoteAmount(fiatAmount: Amount, rate: string): Amount | null {
  const divisor = parseAmount(rate);
  if (divisor === null || divisor <= 0n) {
    throw new RangeError(`Cannot quote as the rate is no positive decimal: ${rate}`);
  }
  const steps = fiatAmount * 10n ** BigInt(QUOTE_DECIMALS);
  const units = ((steps + divisor - 1n) / divisor) * UNITS_PER_STEP;
  return units < TOO_LARGE ? fromUnits(units) : null;
}

/** A quoted amount as it is shown: always 8 decimals, for example `"14.50000000"`. */
export function formatQuote(amount: Amount): string {
  const digits = (amount / UNITS_PER_STEP).toString().padStart(QUOTE_DECIMALS + 1, "0");
  return `${digits.slice(0, -QUOTE_DECIMALS)}.${digits.slice(-QUOTE_DECIMALS)}`;
}
