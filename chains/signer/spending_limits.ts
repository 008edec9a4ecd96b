/**
 * How much the signer signs away, whatever it is asked for: the last bound on what a break-in into
 * the rest of the service can take.
 *
 * @module
 */

import { add, type Amount, formatAmount, ZERO } from "../../ledger/amount.ts";
import type { Network } from "../../ledger/pair.ts";
import type { Asset } from "../chain.ts";
import type { Intent } from "../signer.ts";

/** Bounds of one asset on one network; an absent one does not bind. */
export interface Limit {
  readonly perTransaction?: Amount;
  /** Over the last 24 hours, in hourly steps. */
  readonly perDay?: Amount;
}

/** Limits by asset and network, for example `"USDT/TRX"` or `"native/TRX"`. */
export type Limits = Readonly<Partial<Record<`${Asset}/${Network}`, Limit>>>;

const HOUR_MS = 60 * 60 * 1000;
const HOURS = 24;

/**
 * Keeps the sums of the last day. They start from zero with the process: the limit bounds a theft
 * in progress, and whoever can restart the signer could change the limits as well.
 */
export class SpendingLimits {
  /** Sums by asset and network, then by hour since 1970. */
  readonly #spent = new Map<string, Map<number, Amount>>();

  constructor(readonly limits: Limits) {}

  /**
   * Why an intent is over a limit.
   *
   * @param now Unix milliseconds
   * @returns `null` when it is within
   */
  fault(intent: Intent, now: number): string | null {
    const name = `${intent.currency}/${intent.network}` as const;
    const limit = this.limits[name];
    if (limit === undefined) return null;
    const { perTransaction, perDay } = limit;
    if (perTransaction !== undefined && intent.amount > perTransaction) {
      return `more than ${formatAmount(perTransaction)} per transaction`;
    }
    if (perDay !== undefined && add(this.#sum(name, now), intent.amount) > perDay) {
      return `more than ${formatAmount(perDay)} per day`;
    }
    return null;
  }

  /** Counts a signature. */
  count(intent: Intent, now: number): void {
    const name = `${intent.currency}/${intent.network}`;
    const hours = this.#spent.get(name) ?? new Map<number, Amount>();
    this.#spent.set(name, hours);
    const hour = Math.floor(now / HOUR_MS);
    hours.set(hour, add(hours.get(hour) ?? ZERO, intent.amount));
  }

  #sum(name: string, now: number): Amount {
    const hours = this.#spent.get(name);
    if (hours === undefined) return ZERO;
    const oldest = Math.floor(now / HOUR_MS) - HOURS;
    let sum = ZERO;
    for (const [hour, spent] of hours) {
      if (hour < oldest) hours.delete(hour);
      else sum = add(sum, spent);
    }
    return sum;
  }
}
