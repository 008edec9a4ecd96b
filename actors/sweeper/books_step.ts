/**
 * Steps that the books alone decide, on every chain: what is under way or has failed, what a sweep may list, and
 * whether it pays.
 *
 * @module
 */

import { type Amount, amountOf, formatAmount } from "../../ledger/money/amount.ts";
import { worthOf } from "../../ledger/money/fees.ts";
import { tokenDecimals } from "../../ledger/money/pair.ts";
import {
  type LivingStep,
  MOST_ITEMS,
  type OpenItem,
  type SweepFacts,
} from "../../ledger/sweeps/sweep_facts.ts";
import { type AddressState, type Holding, type NextStep, type Wait, wait } from "./next_step.ts";
import { DAY_MS, type SweepPace } from "./sweep_terms.ts";
import { listableOf, splitAt, sumOf } from "./what_is_there.ts";

/** Interval at which an address is polled that only other money or other prices can make worth it. */
const POOR_POLL_MS = 60 * 60_000;
/** Interval at which an address is polled that waits for the operator. */
const STUCK_POLL_MS = 5 * 60_000;

/** Pause before an address is polled again whose transfer was final a moment ago. */
const SOON_MS = 500;
/** Within this long a merchant has booked what was found, unless something holds it. */
const BOOKED_WITHIN_MS = 60_000;

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

/** Nothing can be listed: what is delegated is undelegated, merchants are notified, the address is forgotten. */
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

/** Undelegates what was delegated, which is not left with an address that waits for something else. */
export function undelegatedOr({ delegated, isShared }: SweepFacts, otherwise: Wait): NextStep {
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
  // what was read are the newest ones: below as much dust there may be more than it comes to
  if (facts.open.length >= MOST_ITEMS) return null;
  const { items, sum } = listed(facts);
  return unlessItPays(state, { balance: sum, items, coinRate }, leastCost);
}

/**
 * The reason for which it does not pay to sweep now; null when it does, or has to be done anyway.
 *
 * @param coinCost cost of the sweep, in the chain's coin
 */
export function unlessItPays(
  state: AddressState,
  view: Holding,
  coinCost: Amount,
): Wait | null {
  const { facts, terms, now } = state;
  const oldest = Math.min(...view.items.map(({ foundAt }) => foundAt));
  // beyond so many there may be older ones that were not read
  const dueIn = facts.open.length < MOST_ITEMS ? oldest + terms.topUpWaitMs - now : 0;
  return unlessWorth(state, view, dueIn, coinCost);
}

/**
 * The reason for which a sweep that is sent is not worth what more it would cost to have a block take it; null when it
 * is, or has to be done anyway.
 *
 * @param coinCost cost of the same sweep by now
 */
export function unlessSentPays(
  state: AddressState,
  { id, amount, foundAt, createdAt }: LivingStep,
  coinRate: string | null,
  coinCost: Amount,
): Wait | null {
  const dueIn = (foundAt ?? createdAt) + state.terms.topUpWaitMs - state.now;
  const poor = unlessWorth(state, { balance: amountOf(amount), coinRate }, dueIn, coinCost);
  if (poor === null) return null;
  const detail =
    `sweep ${id} is signed and waits for lower fees: more coin for it does not pay, ${poor.detail}`;
  return wait("in_flight", detail, poor.pollMs);
}

/** @param dueIn time after which a top-up is swept whatever it costs, milliseconds */
function unlessWorth(
  { target, terms }: AddressState,
  { balance, coinRate }: Pick<Holding, "balance" | "coinRate">,
  dueIn: number,
  coinCost: Amount,
): Wait | null {
  if (target.isTopUp && dueIn <= 0) return null;
  const pollMs = target.isTopUp ? Math.min(dueIn, POOR_POLL_MS) : POOR_POLL_MS;
  if (coinRate === null) {
    return wait("no_rate", "the worth of the chain's coin is unknown", STUCK_POLL_MS);
  }
  const decimals = tokenDecimals(target.currency, target.network);
  const cost = worthOf(coinCost, coinRate, decimals);
  // a merchant waits for its top-up, so that one only has to be worth more than it costs
  const least = target.isTopUp ? cost : worthOf(cost, terms.factor, decimals);
  if (balance > least) return null;
  const detail = `${formatAmount(balance)} is not more than ${formatAmount(least)}`;
  return wait("below_economics", detail, pollMs);
}
