/**
 * The sweep of an address whose transfers the hot wallet pays for: nothing has to be given to it first.
 *
 * @module
 */

import type { Amount } from "../../ledger/money/amount.ts";
import { unlessItPays } from "./books_step.ts";
import type { AddressState, Holding, NextStep } from "./next_step.ts";

/** An address on a chain where the hot wallet pays for sweeps. */
export interface SponsoredView extends Holding {
  /** Cost of this sweep as its share of a full transaction, in the chain's coin. */
  readonly cost: Amount;
}

/** The step that the books and the chain decide together; only where the books alone do not. */
export function sponsoredStep(state: AddressState, view: SponsoredView): NextStep {
  const { balance, items, cost } = view;
  return unlessItPays(state, view, cost) ?? { do: "sweep", amount: balance, items };
}
