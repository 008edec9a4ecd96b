import { add, type Amount, subtract, ZERO } from "../../ledger/money/amount.ts";
import { type Currency, type Network, pairKey } from "../../ledger/money/pair.ts";
import type { Reservation } from "../merchant/liquidity.ts";

/**
 * What the hot wallets can still promise: what the treasury saw when it last looked, less what this
 * node has promised since that look began. What was promised before is in what it saw; what was being
 * committed when it began may count twice until the next one, which errs on the safe side.
 */
export class LiquidityBoard {
  readonly #seen = new Map<Network, ReadonlyMap<Currency, Amount>>();
  /** Promised before the look at hand began, and after it did; by pair. */
  readonly #before = new Map<string, Amount>();
  readonly #since = new Map<string, Amount>();

  /** What can still be promised, negative where too much was; null while nobody has looked. */
  left(network: Network, currency: Currency): Amount | null {
    const seen = this.#seen.get(network)?.get(currency);
    if (seen === undefined) return null;
    const key = pairKey(currency, network);
    return subtract(
      subtract(seen, this.#before.get(key) ?? ZERO),
      this.#since.get(key) ?? ZERO,
    );
  }

  /** Payouts were committed. */
  promised(promises: readonly Reservation[]): void {
    for (const { network, currency, amount } of promises) {
      const key = pairKey(currency, network);
      this.#since.set(key, add(this.#since.get(key) ?? ZERO, amount));
    }
  }

  /** The treasury begins to look: it will see all that was promised until now. */
  begin(network: Network, currencies: readonly Currency[]): void {
    for (const currency of currencies) {
      const key = pairKey(currency, network);
      const since = this.#since.get(key);
      if (since === undefined) continue;
      this.#before.set(key, add(this.#before.get(key) ?? ZERO, since));
      this.#since.delete(key);
    }
  }

  /** The treasury has looked. */
  end(network: Network, seen: ReadonlyMap<Currency, Amount>): void {
    this.#seen.set(network, seen);
    for (const currency of seen.keys()) this.#before.delete(pairKey(currency, network));
  }
}
