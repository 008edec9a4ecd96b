/**
 * Fees, the one place where rates and rounding are. Prices go through decimal.js with its precision
 * set to 60 digits: its default of 20 silently drops digits of 18-decimal amounts.
 *
 * @module
 */

import { Decimal } from "decimal.js";
import {
  add,
  type Amount,
  cutTo,
  formatAmount,
  fromTokenUnits,
  max,
  min,
  parseAmount,
  portionOf,
  roundUpTo,
  subtract,
  toTokenUnits,
  ZERO,
} from "./amount.ts";

const Exact = Decimal.clone({
  precision: 60,
  rounding: Decimal.ROUND_HALF_UP,
  toExpNeg: -60,
  toExpPos: 60,
});

/** A fraction as a canonical decimal string, for example `"0.01"` for one percent. */
export type Rate = string;

/** Longest rate that is accepted: an integer digit and 18 decimals, never above 1. */
const RATE_SHAPE = /^\d(?:\.\d{1,18})?$/;

/** Canonical form of a rate, or `null` when it is malformed, negative or above 1. */
export function parseRate(text: string): Rate | null {
  if (!RATE_SHAPE.test(text)) return null;
  const value = new Exact(text);
  return value.greaterThan(1) ? null : value.toFixed();
}

/**
 * `amount x rate`, rounded half up to a token's decimals.
 *
 * @param decimals the token's decimals on its network
 */
function portion(amount: Amount, rate: Rate, decimals: number): Amount {
  return round(amount, rate, decimals, "half_up");
}

/** An amount rounded half up to a token's decimals: what is taken must be something that can be paid. */
export function roundTo(amount: Amount, decimals: number): Amount {
  return portion(amount, "1", decimals);
}

/** `amount x rate`, rounded down to a token's decimals: used for margins, which must not exceed their fee. */
export function portionDown(amount: Amount, rate: Rate, decimals: number): Amount {
  return round(amount, rate, decimals, "down");
}

const ONE = parseAmount("1") as Amount;
/** The rate that was read last: all payments of a batch are charged by the same. */
let lastRead: { readonly rate: Rate; readonly factor: Amount | null } = { rate: "1", factor: ONE };

/** A rate as a whole number; null where it is none. */
function factorOf(rate: Rate): Amount | null {
  if (rate === "1") return ONE;
  if (rate !== lastRead.rate) lastRead = { rate, factor: parseAmount(rate) };
  return lastRead.factor;
}

/** Rates have no more decimals than amounts, so that whole numbers do: every payment comes by here. */
function round(amount: Amount, rate: Rate, decimals: number, rounding: "half_up" | "down"): Amount {
  const factor = factorOf(rate);
  if (factor === null || amount < ZERO) {
    const what = `${formatAmount(amount)} x ${rate}`;
    throw new RangeError(`Cannot take a portion as it would be no amount: ${what}`);
  }
  return portionOf(amount, factor, decimals, rounding);
}

/** True where `amount x rate` is below one unit of the quote currency (the contract's 1 USD rule). */
export function isWorthLessThanOne(amount: Amount, unitRate: string): boolean {
  return new Exact(formatAmount(amount)).times(unitRate).lessThan(1);
}

/** Terms by which a pair charges what the chain takes. */
export interface NetworkFeeTerms {
  /** `dynamic`: it follows the chain's estimate. */
  readonly networkFeeMode: "fixed" | "dynamic";
  /** The fixed fee; of a dynamic pair what counts while nothing is estimated. */
  readonly networkFee: Amount;
}

/** A dynamic network fee at a moment, taken once and stored with the request it is for. */
export interface DynamicFee {
  /** In the pair's currency; null while nothing fresh is known. */
  readonly estimate: Amount | null;
  /** The least that is charged. */
  readonly floor: Amount;
}

/**
 * The network fee that a payout is quoted: every place that shows or charges one asks here. Without
 * an estimate a dynamic pair charges its fixed fee, and never less than the floor, so that a pair
 * whose fixed fee is zero does not pay out for nothing by accident.
 */
export function networkFeeOf(terms: NetworkFeeTerms, dynamic: DynamicFee): Amount {
  return terms.networkFeeMode === "fixed"
    ? terms.networkFee
    : max(dynamic.estimate ?? terms.networkFee, dynamic.floor);
}

/** Decimals of a dynamic network fee: a quote to the hundredth is read and compared with ease. */
const DYNAMIC_FEE_DECIMALS = 2;

/**
 * The network fee for what a transfer costs, rounded up to hundredths.
 *
 * @param cost in the chain's own coin
 * @param coinRate units of the currency per coin, a positive decimal
 * @param margin added on top, as a fraction: `"0.1"` for a tenth
 */
export function dynamicFeeOf(cost: Amount, coinRate: string, margin: string): Amount {
  const worth = new Exact(formatAmount(cost)).times(coinRate).times(new Exact(margin).plus(1));
  return exactAmount(worth.toDecimalPlaces(DYNAMIC_FEE_DECIMALS, Decimal.ROUND_UP));
}

/**
 * Worth of an amount of a coin, rounded half up.
 *
 * @param rate units per coin
 * @param decimals of the answer
 */
export function worthOf(amount: Amount, rate: string, decimals: number): Amount {
  const worth = new Exact(formatAmount(amount)).times(rate);
  return exactAmount(worth.toDecimalPlaces(decimals, Decimal.ROUND_HALF_UP));
}

function exactAmount(value: Decimal): Amount {
  const parsed = parseAmount(value.toFixed());
  if (parsed === null) throw new RangeError(`Cannot use as an amount: ${value}`);
  return parsed;
}

/** Global withdrawal fee settings. */
export interface FeeSettings {
  readonly enabled: boolean;
  readonly baseFee: Amount;
  readonly markupRate: Rate;
}

/** Everything a withdrawal costs its merchant. */
export interface WithdrawalFees {
  readonly amount: Amount;
  readonly baseFee: Amount;
  readonly markupRate: Rate;
  readonly markupAmount: Amount;
  /** `baseFee + markupAmount`. */
  readonly commission: Amount;
  readonly networkFee: Amount;
  /** `commission + networkFee`. */
  readonly totalFees: Amount;
  /** The debit: `amount + totalFees`. */
  readonly grossAmount: Amount;
}

/**
 * The parts of every withdrawal's commission: base fee and rate, both zero where it is switched off.
 *
 * @param decimals the token's decimals; the base fee is rounded half up to them
 */
export function commissionTerms(
  settings: FeeSettings,
  decimals: number,
): { readonly baseFee: Amount; readonly markupRate: Rate } {
  return settings.enabled
    ? { baseFee: roundTo(settings.baseFee, decimals), markupRate: settings.markupRate }
    : { baseFee: ZERO, markupRate: "0" };
}

/**
 * Fees of a withdrawal of `amount` under the given settings.
 *
 * @param networkFee the pair's quoted network fee, locked by this call
 * @param decimals the token's decimals; both parts of the commission are rounded half up to them
 */
export function withdrawalFees(
  amount: Amount,
  settings: FeeSettings,
  networkFee: Amount,
  decimals: number,
): WithdrawalFees {
  const { baseFee, markupRate } = commissionTerms(settings, decimals);
  const markupAmount = portion(amount, markupRate, decimals);
  const commission = add(baseFee, markupAmount);
  const totalFees = add(commission, networkFee);
  return {
    amount,
    baseFee,
    markupRate,
    markupAmount,
    commission,
    networkFee,
    totalFees,
    grossAmount: add(amount, totalFees),
  };
}

/** The amount that can be withdrawn after the network fee: cut to the token's decimals, never negative. */
export function maxWithdrawable(available: Amount, networkFee: Amount, decimals: number): Amount {
  return cutTo(max(subtract(available, networkFee), ZERO), decimals);
}

/**
 * The largest amount whose withdrawal the available balance pays with all its fees; zero where it pays
 * not even the minimum.
 *
 * @param minimum of the pair
 */
export function largestWithdrawal(
  available: Amount,
  settings: FeeSettings,
  networkFee: Amount,
  minimum: Amount,
  decimals: number,
): Amount {
  const isPaid = (amount: Amount) =>
    withdrawalFees(amount, settings, networkFee, decimals).grossAmount <= available;
  if (!isPaid(minimum)) return ZERO;
  // by halves, in units of the token: what is paid is paid for every lesser amount as well
  let least = toTokenUnits(roundUpTo(minimum, decimals), decimals);
  let most = toTokenUnits(cutTo(max(available, minimum), decimals), decimals);
  while (least < most) {
    const middle = (least + most + 1n) / 2n;
    if (isPaid(fromTokenUnits(middle, decimals))) least = middle;
    else most = middle - 1n;
  }
  const largest = fromTokenUnits(least, decimals);
  return isPaid(largest) ? largest : ZERO;
}

/** Fixed fee on the first confirmed, not exempt deposit to an issued address. */
export const ACTIVATION_FEE = parseAmount("0.5") as Amount;

export interface DepositFees {
  readonly commission: Amount;
  readonly commissionRate: Rate;
  readonly activationFee: Amount;
  /** Flat fee of a top-up, otherwise zero. */
  readonly flatFee: Amount;
  /** `amount` minus all of them, never negative. */
  readonly receivable: Amount;
}

/**
 * Fees of a deposit on an issued address; together capped at the deposit itself, the commission
 * first.
 *
 * @param exempt under the 1 USD threshold: no fee at all
 * @param activates whether this deposit is the one that activates its address
 */
export function depositFees(
  amount: Amount,
  rate: Rate,
  exempt: boolean,
  activates: boolean,
  decimals: number,
): DepositFees {
  if (exempt) {
    return {
      commission: ZERO,
      commissionRate: rate,
      activationFee: ZERO,
      flatFee: ZERO,
      receivable: amount,
    };
  }
  const commission = min(portion(amount, rate, decimals), amount);
  const left = subtract(amount, commission);
  const activationFee = activates ? min(ACTIVATION_FEE, left) : ZERO;
  return {
    commission,
    commissionRate: rate,
    activationFee,
    flatFee: ZERO,
    receivable: subtract(left, activationFee),
  };
}

/**
 * Fees of a top-up of the merchant's own address: the flat fee, capped at the deposit itself.
 *
 * @param flatFee the merchant's, in the deposit's currency
 * @param exempt under the 1 USD threshold: no fee at all
 * @param decimals the token's decimals; the fee is rounded half up to them
 */
export function topUpFees(
  amount: Amount,
  flatFee: Amount,
  exempt: boolean,
  decimals: number,
): DepositFees {
  const taken = exempt ? ZERO : min(roundTo(flatFee, decimals), amount);
  return {
    commission: ZERO,
    commissionRate: "0",
    activationFee: ZERO,
    flatFee: taken,
    receivable: subtract(amount, taken),
  };
}
