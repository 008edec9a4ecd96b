/**
 * The sweep of an address that pays for its own transfers: coin or energy for it first, the sweep, and
 * undelegating the energy.
 *
 * @module
 */

import type { SweepCosts } from "../../chains/fees.ts";
import { type Amount, formatAmount, max, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { LivingStep } from "../../ledger/sweeps/sweep_facts.ts";
import { undelegatedOr, unlessItPays, unlessSentPays } from "./books_step.ts";
import { type AddressState, type Holding, type NextStep, wait } from "./next_step.ts";
import { DAY_MS } from "./sweep_terms.ts";

/** An address on a chain where it pays for its own transfers. */
export interface OwnCoinView extends Holding {
  readonly costs: SweepCosts;
  /** Stake that can still be delegated. */
  readonly delegatable: Amount;
}

/** The step that the books and the chain decide together; only where the books alone do not. */
export function ownCoinStep(state: AddressState, view: OwnCoinView): NextStep {
  const { facts } = state;
  const { balance, items, costs } = view;
  const delegates = canDelegate(state, costs, view.delegatable);
  const poor = unlessItPays(state, view, delegates ? costs.costByDelegation : costs.costByCoin);
  if (poor !== null) return undelegatedOr(facts, poor);
  // what was given before is used first, also when it was meant for an earlier sweep
  if (costs.isActive && costs.coin >= costs.enough) {
    return { do: "sweep", amount: balance, items };
  }
  if (facts.delegated > 0n) return usedDelegation(state);
  if (delegates && costs.isActive && costs.coin >= costs.costDelegated) {
    return { do: "delegate", amount: costs.stakeNeeded ?? ZERO };
  }
  return fundGas(state, costs, delegates);
}

/** True where energy may be delegated: the stake is there, and what was delegated before was not in vain. */
function canDelegate(
  { facts, terms }: AddressState,
  costs: SweepCosts,
  delegatable: Amount,
): boolean {
  return terms.gas === "auto" && costs.stakeNeeded !== null && costs.stakeNeeded > 0n &&
    delegatable >= costs.stakeNeeded && facts.failures === 0;
}

/** Energy was delegated and does not suffice: it was used, or it is not seen yet. */
function usedDelegation({ facts, pace, now }: AddressState): NextStep {
  const isFresh = facts.delegation !== null && !facts.delegation.used &&
    now - facts.delegation.at < pace.staleMs;
  return isFresh
    ? wait("waiting_gas", "energy was delegated and is not seen yet", pace.pollMs)
    : { do: "undelegate", amount: facts.delegated };
}

/**
 * True where coin that the books have given had long enough to be seen: what is not there by then is
 * gone, or was never this chain's. Coin that goes again and again is given ever more rarely.
 */
export function isFundingOver({ facts, pace, now }: AddressState): boolean {
  if (facts.funding === null) return true;
  const { at, count } = facts.funding;
  return now - at > Math.min(pace.staleMs * 2 ** Math.min(Math.max(count - 1, 0), 16), DAY_MS);
}

/**
 * Coin for an address that has sent its sweep with less than blocks ask for by now, where that pays.
 *
 * @param costs of the same sweep by now
 * @returns null where what it has suffices, or is on its way
 */
export function coinForSent(
  state: AddressState,
  sent: LivingStep,
  coinRate: string | null,
  costs: SweepCosts,
): Extract<NextStep, { readonly do: "fund-gas" | "wait" }> | null {
  if (costs.coin >= costs.enough) return null;
  const poor = unlessSentPays(state, sent, coinRate, costs.costByCoin);
  if (poor !== null) return poor;
  const step = fundGas(state, costs, false);
  return step.do === "fund-gas" ? step : null;
}

/** Coin for the address: what it lacks by the chain, and by the books, so that none is sent twice. */
function fundGas(state: AddressState, costs: SweepCosts, delegates: boolean): NextStep {
  const { facts, pace } = state;
  const target = delegates ? costs.costDelegated : costs.costAtMost;
  const has = isFundingOver(state) ? costs.coin : max(costs.coin, facts.coin);
  const missing = subtract(target, has);
  if (missing > 0n) return { do: "fund-gas", amount: missing, wakes: !costs.isActive };
  const detail = `${formatAmount(facts.coin)} were given and are not seen yet`;
  return wait("waiting_gas", detail, pace.pollMs);
}
