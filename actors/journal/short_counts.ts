import type { Currency, Network } from "../../ledger/money/pair.ts";
import type { AskOutcome, MerchantCommand } from "../merchant/merchants.ts";
import type { Refusal } from "../merchant/refusal.ts";

/** The number of payouts of a pair that were refused since the start. */
interface ShortCount {
  readonly network: Network;
  readonly currency: Currency;
  count: number;
}

/**
 * Counts payouts that were refused as the hot wallet has too little of their token free: they are in no table,
 * as nothing is written for a refusal.
 */
export class ShortCounts {
  readonly #counts = new Map<string, ShortCount>();

  /** Counts an answer where it is such a refusal. */
  note(command: MerchantCommand, outcome: AskOutcome<unknown, Refusal>): void {
    if (outcome.kind !== "refused" || outcome.refusal.code !== "treasury_short") return;
    if (!("network" in command && "currency" in command)) return;
    const { network, currency } = command;
    const key = `${network}/${currency}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.count++;
    else this.#counts.set(key, { network, currency, count: 1 });
  }

  /** All counts that are not zero. */
  get all(): readonly Readonly<ShortCount>[] {
    return [...this.#counts.values()];
  }
}
