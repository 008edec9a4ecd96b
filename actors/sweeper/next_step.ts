/**
 * What is to be done next for one address, decided on what the books and the chain say. One step at
 * a time: coin or energy for the address, the sweep, taking the energy back. Each look decides anew,
 * so that after any death or failure the next look simply goes on from what is true then.
 *
 * @module
 */

import type { SweepCosts } from "../../chains/fees.ts";
import { type Amount, formatAmount, max, subtract, ZERO } from "../../ledger/money/amount.ts";
import { worthOf } from "../../ledger/money/fees.ts";
import { tokenDecimals } from "../../ledger/money/pair.ts";
import { MOST_ITEMS, type OpenItem, type SweepFacts } from "../../ledger/sweeps/sweep_facts.ts";
import type { SweepAddress, SweepReason } from "../../ledger/sweeps/targets.ts";
import type { SweepPace, SweepTerms } from "./sweep_terms.ts";
import { listableOf, splitAt, sumOf } from "./what_is_there.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Interval at which an address is looked at that only other money or other prices can make worth it. */
const POOR_LOOK_MS = 60 * 60_000;
/** Interval at which an address is looked at that waits for the operator. */
const STUCK_LOOK_MS = 5 * 60_000;

/** How soon an address is looked at again whose transfer was final a moment ago. */
const SOON_MS = 500;
/** Within this long a merchant has booked what was found, unless something holds it. */
const BOOKED_WITHIN_MS = 60_000;

/** Next step for an address. */
export type NextStep =
  /** Carries everything that is there, listing these transfers. */
  | { readonly do: "sweep"; readonly amount: Amount; readonly items: readonly OpenItem[] }
  | { readonly do: "give-coin"; readonly amount: Amount; readonly wakes: boolean }
  | { readonly do: "lend"; readonly amount: Amount }
  | { readonly do: "take-back"; readonly amount: Amount }
  /** Takes back a transfer that could not be signed for too long. */
  | { readonly do: "withdraw"; readonly outgoingId: string; readonly why: string }
  /** Tells whoever waits for final sweeps, once more. */
  | { readonly do: "tell"; readonly outgoingIds: readonly string[]; readonly wait: Wait }
  | Wait
  /** Nothing is left to do. */
  | { readonly do: "close" };

/** The address is left alone for a while, and everybody can read why. */
export interface Wait {
  readonly do: "wait";
  readonly reason: SweepReason;
  readonly detail: string;
  readonly lookMs: number;
}

export interface Look {
  readonly target: SweepAddress;
  readonly facts: SweepFacts;
  readonly terms: SweepTerms;
  readonly pace: SweepPace;
  /** True where the chain has a contract of the currency. */
  readonly isSupported: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

function wait(reason: SweepReason, detail: string, lookMs: number): Wait {
  return { do: "wait", reason, detail, lookMs };
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
 * What the books alone decide.
 *
 * @returns null when the chain has to be asked
 */
export function stepWithoutChain(look: Look): NextStep | null {
  const { facts, terms, pace, isSupported, now } = look;
  const { living, failures, failedAt } = facts;
  if (living !== null) return waitFor(look, living);
  if (facts.unexpected !== null) {
    const detail = `${facts.unexpected} succeeded without the intended transfer`;
    return takenBack(facts, wait("unexpected", detail, STUCK_LOOK_MS));
  }
  if (listed(facts).items.length === 0) return end(look);
  if (!isSupported) {
    return takenBack(facts, wait("unsupported", "the currency has no contract", STUCK_LOOK_MS));
  }
  if (!terms.enabled) {
    return takenBack(facts, wait("paused", "sweeps are switched off", STUCK_LOOK_MS));
  }
  const rest = (failedAt ?? 0) + restOf(failures, pace) - now;
  if (failures === 0 || rest <= 0) return null;
  const detail = `${facts.failure} (${failures} times)`;
  const resting = wait("failed", detail, rest);
  return failures < pace.failureLimit ? resting : takenBack(facts, resting);
}

/** Time for which an address is left alone after its latest failure. */
function restOf(failures: number, pace: SweepPace): number {
  if (failures < pace.failureLimit) return pace.retryMs;
  return Math.min(pace.restMs * 2 ** Math.min(failures - pace.failureLimit, 16), DAY_MS);
}

function waitFor(look: Look, living: NonNullable<SweepFacts["living"]>): NextStep {
  const { target, pace, now } = look;
  const detail = `${living.kind} ${living.id} is ${living.status}` +
    (living.reason === null ? "" : `: ${living.reason}`);
  if (living.status === "queued" && now - living.createdAt > pace.staleMs) {
    return { do: "withdraw", outgoingId: living.id, why: living.reason ?? "never signed" };
  }
  const reason = living.kind === "sweep"
    ? "in_flight"
    : living.kind === "reclaim"
    ? "reclaiming"
    : target.reason === "address_not_activated" && living.kind === "gas"
    ? "address_not_activated"
    : "waiting_gas";
  return wait(reason, detail, pace.lookMs);
}

/** Nothing can be listed: energy goes back, whoever waits is told, the address is forgotten. */
function end({ facts, now }: Look): NextStep {
  if (facts.lent > 0n && !facts.isShared) return { do: "take-back", amount: facts.lent };
  // a merchant books what is final within moments; only where it does not, it is worth less looks
  const isNew = facts.open.some(({ foundAt }) => now - foundAt < BOOKED_WITHIN_MS);
  const lookMs = isNew ? SOON_MS : STUCK_LOOK_MS;
  const held = wait("deposit_held", "a top-up is not booked by its merchant", lookMs);
  if (facts.unheard.length > 0) return { do: "tell", outgoingIds: facts.unheard, wait: held };
  return facts.open.length > 0 ? held : { do: "close" };
}

/** Energy is not left with an address that waits for something else. */
function takenBack({ lent, isShared }: SweepFacts, otherwise: Wait): NextStep {
  return lent > 0n && !isShared ? { do: "take-back", amount: lent } : otherwise;
}

/**
 * True where as much is there as is noted, or as a sweep may list of that. Then it does not matter who
 * has brought it: should it be newer money than what is listed, that is as much.
 */
export function isAsNoted(facts: SweepFacts, balance: Amount): boolean {
  return balance === listed(facts).sum || balance === sumOf(facts.open);
}

/**
 * What a sweep of an address would list, or why there is none.
 *
 * @param balance what it holds of the currency, in solid blocks
 * @param isRead whether the balance is of the blocks that the scan has read; looked at only where more
 *   or less is there than is noted
 */
export function whatToList(
  look: Look,
  balance: Amount,
  isRead: boolean,
): { readonly items: readonly OpenItem[] } | NextStep {
  const { facts, pace, now } = look;
  const { items, sum } = listed(facts);
  if (isAsNoted(facts, balance)) return { items };
  const detail = `${formatAmount(balance)} of ${formatAmount(sum)} in solid blocks`;
  if (!isRead) {
    return wait(
      "balance_differs",
      `${detail} of a node that is not where the scan is`,
      pace.lookMs,
    );
  }
  if (balance >= sumOf(facts.open)) return { items };
  const there = listableOf(splitAt(facts.open, balance).there, now, pace.staleMs);
  if (there.length > 0) return { items: there };
  // a node may lag behind what was noted a moment ago
  if (items.some(({ foundAt }) => now - foundAt < pace.staleMs)) {
    return wait("balance_differs", detail, pace.lookMs);
  }
  // newer money has it looked at again at once, and is swept with what is left of this
  const gone = takenBack(facts, wait("balance_differs", detail, POOR_LOOK_MS));
  if (gone.do === "take-back" || facts.unheard.length === 0) return gone;
  const held = wait("balance_differs", detail, STUCK_LOOK_MS);
  return { do: "tell", outgoingIds: facts.unheard, wait: held };
}

/** State of an address on the chain. */
export interface ChainView {
  /** What it holds of the currency, in solid blocks. */
  readonly balance: Amount;
  /** What a sweep of that would list, see {@linkcode whatToList}. */
  readonly items: readonly OpenItem[];
  readonly costs: SweepCosts;
  /** Stake that can still be lent. */
  readonly delegatable: Amount;
  /** Units of the currency per coin; null where nobody knows. */
  readonly coinRate: string | null;
}

/** What the books and the chain decide together; only where the books alone do not. */
export function stepOnChain(look: Look, view: ChainView): NextStep {
  const { facts } = look;
  const { balance, items, costs } = view;
  const lends = canLend(look, costs, view.delegatable);
  const poor = unlessItPays(look, view, lends ? costs.costByDelegation : costs.costByCoin);
  if (poor !== null) return takenBack(facts, poor);
  // what was given before is used first, also when it was meant for an earlier sweep
  if (costs.isActive && costs.coin >= costs.costAtMost) {
    return { do: "sweep", amount: balance, items };
  }
  if (facts.lent > 0n) return spentLoan(look);
  if (lends && costs.isActive && costs.coin >= costs.costDelegated) {
    return { do: "lend", amount: costs.stakeNeeded ?? ZERO };
  }
  return giveCoin(look, costs, lends);
}

/** True where energy may be lent: the stake is there, and what was lent before was not in vain. */
function canLend({ facts, terms }: Look, costs: SweepCosts, delegatable: Amount): boolean {
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
  look: Look,
  leastCost: Amount,
  coinRate: string | null,
): Wait | null {
  const { facts } = look;
  // what was begun is looked at in full
  if (facts.lent > 0n || facts.coin > 0n || facts.failures > 0) return null;
  const { items, sum } = listed(facts);
  return unlessItPays(look, { balance: sum, items, coinRate }, leastCost);
}

/** Why it does not pay to sweep now; null when it does, or has to be done anyway. */
function unlessItPays(
  look: Look,
  view: Pick<ChainView, "balance" | "items" | "coinRate">,
  coinCost: Amount,
): Wait | null {
  const { target, facts, terms, now } = look;
  const oldest = Math.min(...view.items.map(({ foundAt }) => foundAt));
  // beyond so many there may be older ones that nobody sees
  const dueIn = facts.open.length < MOST_ITEMS ? oldest + terms.topUpWaitMs - now : 0;
  if (target.isTopUp && dueIn <= 0) return null;
  const lookMs = target.isTopUp ? Math.min(dueIn, POOR_LOOK_MS) : POOR_LOOK_MS;
  if (view.coinRate === null) {
    return wait("no_rate", "nobody knows what the chain's coin is worth", STUCK_LOOK_MS);
  }
  const decimals = tokenDecimals(target.currency, target.network);
  const cost = worthOf(coinCost, view.coinRate, decimals);
  // a merchant waits for its top-up, so that one only has to be worth more than it costs
  const least = target.isTopUp ? cost : worthOf(cost, terms.factor, decimals);
  if (view.balance > least) return null;
  const detail = `${formatAmount(view.balance)} is not more than ${formatAmount(least)}`;
  return wait("below_economics", detail, lookMs);
}

/** Energy was lent and does not suffice: it was used, or it is not seen yet. */
function spentLoan({ facts, pace, now }: Look): NextStep {
  const isFresh = facts.loan !== null && !facts.loan.used && now - facts.loan.at < pace.staleMs;
  return isFresh
    ? wait("waiting_gas", "energy was lent and is not seen yet", pace.lookMs)
    : { do: "take-back", amount: facts.lent };
}

/**
 * True where coin that the books have given had long enough to be seen: what is not there by then is
 * gone, or was never this chain's. Coin that goes again and again is given ever more rarely.
 */
export function isGiftOver({ facts, pace, now }: Look): boolean {
  if (facts.gift === null) return true;
  const { at, count } = facts.gift;
  return now - at > Math.min(pace.staleMs * 2 ** Math.min(Math.max(count - 1, 0), 16), DAY_MS);
}

/** Coin for the address: what it lacks by the chain, and by the books, so that none is sent twice. */
function giveCoin(look: Look, costs: SweepCosts, lends: boolean): NextStep {
  const { facts, pace } = look;
  const target = lends ? costs.costDelegated : costs.costAtMost;
  const has = isGiftOver(look) ? costs.coin : max(costs.coin, facts.coin);
  const missing = subtract(target, has);
  if (missing > 0n) return { do: "give-coin", amount: missing, wakes: !costs.isActive };
  const detail = `${formatAmount(facts.coin)} were given and are not seen yet`;
  return wait("waiting_gas", detail, pace.lookMs);
}
