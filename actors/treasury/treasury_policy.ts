import type { Amount } from "../../ledger/money/amount.ts";
import type { Currency } from "../../ledger/money/pair.ts";
import type { SecondOpinionPolicy } from "./second_opinion.ts";

/** Between which amounts the hot wallet's free funds are kept. */
export interface HotLevels {
  /** Above this the surplus goes to the cold wallet. */
  readonly ceiling: Amount;
  /** What is left then. */
  readonly target: Amount;
}

/** Where the hot wallet's surplus goes. */
export interface ColdPolicy {
  /** An address that is none of the service's own. */
  readonly address: string;
  /** Currencies without levels stay where they are. */
  readonly levels: ReadonlyMap<Currency, HotLevels>;
}

/** How the treasury of one network behaves. */
export interface TreasuryPolicy {
  /** Null: our own scan decides alone what is dead. */
  readonly second: SecondOpinionPolicy | null;
  /** Transfers to us of more than this, in any token, need a second node's word; null: none does. */
  readonly depositProofAbove?: Amount | null;
  /** Below this the hot wallet is low; `native` is the chain's own coin. */
  readonly low: Readonly<Record<Currency | "native", Amount>>;
  /** Null: nothing is moved to a cold wallet. */
  readonly cold: ColdPolicy | null;
}
