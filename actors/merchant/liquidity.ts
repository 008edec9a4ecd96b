import { add, type Amount, subtract, ZERO } from "../../ledger/money/amount.ts";
import { type Currency, type Network, pairKey } from "../../ledger/money/pair.ts";
import type { OutgoingRow } from "../../ledger/rows.ts";

/** What a hot wallet can still promise; null where it is not known. */
export type Liquidity = (network: Network, currency: Currency) => Amount | null;

/** An amount that was promised out of a hot wallet. */
export interface Promised {
  readonly network: Network;
  readonly currency: Currency;
  readonly amount: Amount;
}

/** What new rows of the treasury promise to merchants. */
export function promisesOf(rows: Iterable<OutgoingRow>): readonly Promised[] {
  const promises: Promised[] = [];
  for (const { network, currency, amount, status } of rows) {
    if (status === "queued" && currency !== "native") promises.push({ network, currency, amount });
  }
  return promises;
}

/** What hot wallets can still promise while payouts are decided, one after the other. */
export class HotFunds {
  readonly #before: Liquidity;
  readonly #promised = new Map<string, Amount>();

  /** @param before what they could promise when this began */
  constructor(before: Liquidity) {
    this.#before = before;
  }

  /** What is left after the promises made here; null where it is not known. */
  left(network: Network, currency: Currency): Amount | null {
    const before = this.#before(network, currency);
    if (before === null) return null;
    return subtract(before, this.#promised.get(pairKey(currency, network)) ?? ZERO);
  }

  /** Takes promises into account. */
  promise(promises: readonly Promised[]): void {
    for (const { network, currency, amount } of promises) {
      const key = pairKey(currency, network);
      this.#promised.set(key, add(this.#promised.get(key) ?? ZERO, amount));
    }
  }
}
