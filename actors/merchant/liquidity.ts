import { add, type Amount, subtract, ZERO } from "../../ledger/money/amount.ts";
import { type Currency, type Network, pairKey } from "../../ledger/money/pair.ts";
import type { OutgoingRow } from "../../ledger/rows.ts";

/** Amount that a hot wallet can still pay; null where it is not known. */
export type Liquidity = (network: Network, currency: Currency) => Amount | null;

/** An amount of a hot wallet that a payout has reserved. */
export interface Reservation {
  readonly network: Network;
  readonly currency: Currency;
  readonly amount: Amount;
}

/** Reservations by new rows of the treasury for merchants. */
export function reservationsOf(rows: Iterable<OutgoingRow>): readonly Reservation[] {
  const reservations: Reservation[] = [];
  for (const { network, currency, amount, status } of rows) {
    if (status !== "queued" || currency === "native") continue;
    reservations.push({ network, currency, amount });
  }
  return reservations;
}

/** Liquidity of hot wallets while payouts are decided, one after the other. */
export class RemainingLiquidity {
  readonly #before: Liquidity;
  readonly #reserved = new Map<string, Amount>();

  /** @param before what they could pay when this began */
  constructor(before: Liquidity) {
    this.#before = before;
  }

  /** What is left after the reservations made here; null where it is not known. */
  left(network: Network, currency: Currency): Amount | null {
    const before = this.#before(network, currency);
    if (before === null) return null;
    return subtract(before, this.#reserved.get(pairKey(currency, network)) ?? ZERO);
  }

  reserve(reservations: readonly Reservation[]): void {
    for (const { network, currency, amount } of reservations) {
      const key = pairKey(currency, network);
      this.#reserved.set(key, add(this.#reserved.get(key) ?? ZERO, amount));
    }
  }
}
