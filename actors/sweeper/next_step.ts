/**
 * The next step for one address, decided on what the books and the chain say. One step at a time:
 * coin or energy for the address, the sweep, undelegating the energy. Each poll decides anew, so that
 * after any death or failure the next poll simply goes on from what is true then.
 *
 * @module
 */

import type { SweepCosts } from "../../chains/fees.ts";
import { type Amount, formatAmount, max, subtract, ZERO } from "../../ledger/money/amount.ts";
import { worthOf } from "../../ledger/money/fees.ts";
import { tokenDecimals } from "../../ledger/money/pair.ts";
import { MOST_ITEMS, type OpenItem, type SweepFacts } from "../../ledger/sweeps/sweep_facts.ts";
import type { SweepAddress, SweepReason } from "../../ledger/sweeps/sweep_addresses.ts";
import type { SweepPace, SweepTerms } from "./sweep_terms.ts";
import { listableOf, splitAt, sumOf } from "./what_is_there.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Interval at which an address is polled that only other money or other prices can make worth it. */
const POOR_POLL_MS = 60 * 60_000;
/** Interval at which an address is polled that waits for the operator. */
const STUCK_POLL_MS = 5 * 60_000;

/** Pause before an address is polled again whose transfer was final a moment ago. */
const SOON_MS = 500;
/** Within this long a merchant has booked what was found, unless something holds it. */
const BOOKED_WITHIN_MS = 60_000;

/** Next step for an address. */
export type NextStep =
  /** Carries everything that is there, listing these transfers. */
  | { readonly do: "sweep"; readonly amount: Amount; readonly items: readonly OpenItem[] }
  | { readonly do: "fund-gas"; readonly amount: Amount; readonly wakes: boolean }
  | { readonly do: "delegate"; readonly amount: Amount }
  | { readonly do: "undelegate"; readonly amount: Amount }
  /** Gives up a transfer that could not be signed for too long. */
  | { readonly do: "give-up"; readonly outgoingId: string; readonly why: string }
  /** Notifies merchants that wait for final sweeps, once more. */
  | { readonly do: "notify"; readonly outgoingIds: readonly string[]; readonly wait: Wait }
  | Wait
  /** Nothing is left to do. */
  | { readonly do: "close" };

/** The address is left alone for a while, with a reason that operators see. */
export interface Wait {
  readonly do: "wait";
  readonly reason: SweepReason;
  readonly detail: string;
  readonly pollMs: number;
}

export interface AddressState {
  readonly target: SweepAddress;
  readonly facts: SweepFacts;
  readonly terms: SweepTerms;
  readonly pace: SweepPace;
  /** True where the chain has a contract of the currency. */
  readonly isSupported: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

function wait(reason: SweepReason, detail: string, pollMs: number): Wait {
  return { do: "wait", reason, detail, pollMs };
}

/** The items that a sweep may list, and what they come to. */
export function listed(facts: SweepFacts): {
  readonly items: readonly OpenItem[];
  readonly sum: Amount;
} {
  const items = facts.open.filter((item) => item.listable);
  return { items, sum: sumOf(items) };
}

/**
 * The step that the books alone decide.
 *
 * @returns null when the chain has to be asked
 */
export function stepWithoutChain(state: AddressState): NextStep | null {
  const { facts, terms, pace, isSupported, now } = state;
  const { living, failures, failedAt } = facts;
  if (living !== null) return waitFor(state, living);
  if (facts.unexpected !== null) {
    const detail = `${facts.unexpected} succeeded without the intended transfer`;
    return undelegatedOr(facts, wait("unexpected", detail, STUCK_POLL_MS));
  }
  if (listed(facts).items.length === 0) return end(state);
  if (!isSupported) {
    return undelegatedOr(facts, wait("unsupported", "the currency has no contract", STUCK_POLL_MS));
  }
  if (!terms.enabled) {
    return undelegatedOr(facts, wait("paused", "sweeps are switched off", STUCK_POLL_MS));
  }
  const rest = (failedAt ?? 0) + coolDownOf(failures, pace) - now;
  if (failures === 0 || rest <= 0) return null;
  const detail = `${facts.failure} (${failures} times)`;
  const coolingDown = wait("failed", detail, rest);
  return failures < pace.failureLimit ? coolingDown : undelegatedOr(facts, coolingDown);
}

/** Time for which an address is left alone after its latest failure. */
function coolDownOf(failures: number, pace: SweepPace): number {
  if (failures < pace.failureLimit) return pace.retryMs;
  return Math.min(pace.coolDownMs * 2 ** Math.min(failures - pace.failureLimit, 16), DAY_MS);
}

function waitFor(state: AddressState, living: NonNullable<SweepFacts["living"]>): NextStep {
  const { target, pace, now } = state;
  const detail = `${living.kind} ${living.id} is ${living.status}` +
    (living.reason === null ? "" : `: ${living.reason}`);
  if (living.status === "queued" && now - living.createdAt > pace.staleMs) {
    return { do: "give-up", outgoingId: living.id, why: living.reason ?? "never signed" };
  }
  const reason = living.kind === "sweep"
    ? "in_flight"
    : living.kind === "reclaim"
    ? "reclaiming"
    : target.reason === "address_not_activated" && living.kind === "gas"
    ? "address_not_activated"
    : "waiting_gas";
  return wait(reason, detail, pace.pollMs);
}

/** Nothing can be listed: energy is undelegated, merchants are notified, the address is forgotten. */
function end({ facts, now }: AddressState): NextStep {
  if (facts.delegated > 0n && !facts.isShared) return { do: "undelegate", amount: facts.delegated };
  // a merchant books what is final within moments; only where it does not, it is worth less looks
  const isNew = facts.open.some(({ foundAt }) => now - foundAt < BOOKED_WITHIN_MS);
  const pollMs = isNew ? SOON_MS : STUCK_POLL_MS;
  const held = wait("deposit_held", "a top-up is not booked by its merchant", pollMs);
  if (facts.unnotified.length > 0) {
    return { do: "notify", outgoingIds: facts.unnotified, wait: held };
  }
  return facts.open.length > 0 ? held : { do: "close" };
}

/** Undelegates energy, which is not left with an address that waits for something else. */
function undelegatedOr({ delegated, isShared }: SweepFacts, otherwise: Wait): NextStep {
  return delegated > 0n && !isShared ? { do: "undelegate", amount: delegated } : otherwise;
}

/**
 * True where as much is there as is noted, or as a sweep may list of that. Then it does not matter who
 * has brought it: should it be newer money than what is listed, that is as much.
 */
export function isAsNoted(facts: SweepFacts, balance: Amount): boolean {
  return balance === listed(facts).sum || balance === sumOf(facts.open);
}

/**
 * The transfers that a sweep of an address would list, or why there is none.
 *
 * @param balance what it holds of the currency, in solid blocks
 * @param isRead whether the balance is of the blocks that the scan has read; looked at only where more
 *   or less is there than is noted
 */
export function whatToList(
  state: AddressState,
  balance: Amount,
  isRead: boolean,
): { readonly items: readonly OpenItem[] } | NextStep {
  const { facts, pace, now } = state;
  const { items, sum } = listed(facts);
  if (isAsNoted(facts, balance)) return { items };
  const detail = `${formatAmount(balance)} of ${formatAmount(sum)} in solid blocks`;
  if (!isRead) {
    return wait(
      "balance_differs",
      `${detail} of a node that is not where the scan is`,
      pace.pollMs,
    );
  }
  if (balance >= sumOf(facts.open)) return { items };
  const there = listableOf(splitAt(facts.open, balance).there, now, pace.staleMs);
  if (there.length > 0) return { items: there };
  // a node may lag behind what was noted a moment ago
  if (items.some(({ foundAt }) => now - foundAt < pace.staleMs)) {
    return wait("balance_differs", detail, pace.pollMs);
  }
  // newer money has it looked at again at once, and is swept with what is left of this
  const gone = undelegatedOr(facts, wait("balance_differs", detail, POOR_POLL_MS));
  if (gone.do === "undelegate" || facts.unnotified.length === 0) return gone;
  const held = wait("balance_differs", detail, STUCK_POLL_MS);
  return { do: "notify", outgoingIds: facts.unnotified, wait: held };
}

/** State of an address on the chain. */
export interface ChainView {
  /** Balance of the currency, in solid blocks. */
  readonly balance: Amount;
  /** Transfers that a sweep of that would list, see {@linkcode whatToList}. */
  readonly items: readonly OpenItem[];
  readonly costs: SweepCosts;
  /** Stake that can still be delegated. */
  readonly delegatable: Amount;
  /** Units of the currency per coin; null: unknown. */
  readonly coinRate: string | null;
}

/** The step that the books and the chain decide together; only where the books alone do not. */
export function stepOnChain(state: AddressState, view: ChainView): NextStep {
  const { facts } = state;
  const { balance, items, costs } = view;
  const delegates = canDelegate(state, costs, view.delegatable);
  const poor = unlessItPays(state, view, delegates ? costs.costByDelegation : costs.costByCoin);
  if (poor !== null) return undelegatedOr(facts, poor);
  // what was given before is used first, also when it was meant for an earlier sweep
  if (costs.isActive && costs.coin >= costs.costAtMost) {
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

/**
 * True where it surely does not pay, by the books and by what the cheapest sweep of late has cost: so
 * that thousands of addresses with next to nothing do not use up the calls of a node.
 *
 * @param leastCost coin that no sweep has undercut of late
 */
export function stepByMemory(
  state: AddressState,
  leastCost: Amount,
  coinRate: string | null,
): Wait | null {
  const { facts } = state;
  // what was begun is examined in full
  if (facts.delegated > 0n || facts.coin > 0n || facts.failures > 0) return null;
  const { items, sum } = listed(facts);
  return unlessItPays(state, { balance: sum, items, coinRate }, leastCost);
}

/** The reason for which it does not pay to sweep now; null when it does, or has to be done anyway. */
function unlessItPays(
  state: AddressState,
  view: Pick<ChainView, "balance" | "items" | "coinRate">,
  coinCost: Amount,
): Wait | null {
  const { target, facts, terms, now } = state;
  const oldest = Math.min(...view.items.map(({ foundAt }) => foundAt));
  // beyond so many there may be older ones that were not read
  const dueIn = facts.open.length < MOST_ITEMS ? oldest + terms.topUpWaitMs - now : 0;
  if (target.isTopUp && dueIn <= 0) return null;
  const pollMs = target.isTopUp ? Math.min(dueIn, POOR_POLL_MS) : POOR_POLL_MS;
  if (view.coinRate === null) {
    return wait("no_rate", "the worth of the chain's coin is unknown", STUCK_POLL_MS);
  }
  const decimals = tokenDecimals(target.currency, target.network);
  const cost = worthOf(coinCost, view.coinRate, decimals);
  // a merchant waits for its top-up, so that one only has to be worth more than it costs
  const least = target.isTopUp ? cost : worthOf(cost, terms.factor, decimals);
  if (view.balance > least) return null;
  const detail = `${formatAmount(view.balance)} is not more than ${formatAmount(least)}`;
  return wait("below_economics", detail, pollMs);
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
