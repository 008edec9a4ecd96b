import { type Amount, subtract } from "../../ledger/money/amount.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";

/** The longest that anything of an address is left alone before it is tried again, milliseconds. */
export const DAY_MS = 24 * 60 * 60_000;

/** Terms on which the addresses of one network are swept. */
export interface SweepTerms {
  /** True where new sweeps are begun; what is under way is always brought to its end. */
  readonly enabled: boolean;
  /** `auto`: energy is delegated where the hot wallet has enough stake, otherwise coin is sent. */
  readonly gas: "auto" | "coin";
  /** An issued address is swept when it holds more than its cost times this, a decimal. */
  readonly factor: string;
  /** Top-ups that do not pay are swept when they were final for so long, milliseconds. */
  readonly topUpWaitMs: number;
}

/** Pace of a network's sweeps; derived from the lifetime of its transactions. */
export interface SweepPace {
  /** A transfer that cannot be signed for so long is taken back and planned anew, milliseconds. */
  readonly staleMs: number;
  /** Pause after the first failures of an address, milliseconds. */
  readonly retryMs: number;
  /** Failures after which the address cools down, and energy that was delegated to it is undelegated. */
  readonly failureLimit: number;
  /** Pause then, doubled with each further failure up to a day, milliseconds. */
  readonly coolDownMs: number;
  /** Interval at which an address is polled that waits for something, milliseconds. */
  readonly pollMs: number;
}

/** Units of a currency that one unit of the chain's coin is worth; null: unknown. */
export type CoinRate = (network: Network, currency: Currency) => string | null;

/** Time for which a cost is believed; then one address asks for all. */
const COST_MS = 30 * 60_000;

/** Costs of the cheapest sweeps of late, in the chain's coin. */
export class CostMemory {
  readonly #least = new Map<Currency, { readonly cost: Amount; readonly until: number }>();

  /** The least of late; null when nothing is known that is fresh. */
  least(currency: Currency, now: number): Amount | null {
    const known = this.#least.get(currency);
    return known === undefined || known.until <= now ? null : known.cost;
  }

  /** Remembers a cost as a node has answered it. */
  remember(currency: Currency, cost: Amount, now: number): void {
    const least = this.least(currency, now);
    if (least !== null && least <= cost) return;
    const until = least === null ? now + COST_MS : this.#least.get(currency)?.until ?? now;
    this.#least.set(currency, { cost, until });
  }
}

/** Stake that can still be delegated while a turn goes on. */
export class Stake {
  constructor(private amount: Amount) {}

  get left(): Amount {
    return this.amount;
  }

  /** Reserves stake for a delegation that is not on the chain yet. */
  take(amount: Amount): void {
    this.amount = subtract(this.amount, amount);
  }
}
