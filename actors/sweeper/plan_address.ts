import { getLogger } from "@logtape/logtape";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { type Amount, formatAmount, min, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { Currency } from "../../ledger/money/pair.ts";
import { attachToSweep, notifySwept, readSpareSweeps } from "../../ledger/sweeps/items.ts";
import { type NewStep, withdrawStep, writeStep } from "../../ledger/sweeps/steps.ts";
import { readSweepFacts, type SweepFacts } from "../../ledger/sweeps/sweep_facts.ts";
import { closeSweepAddress, storeWaiting, type SweepAddress } from "../../ledger/sweeps/targets.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { newId } from "../runtime/ids.ts";
import {
  type AddressState,
  isAsNoted,
  isFundingOver,
  listed,
  type NextStep,
  stepByMemory,
  stepOnChain,
  stepWithoutChain,
  type Wait,
  whatToList,
} from "./next_step.ts";
import type { CoinRate, SweepPace, SweepTerms } from "./sweep_terms.ts";
import { carriedBy, sumOf } from "./what_is_there.ts";

const log = getLogger(["engine", "sweeper"]);

export interface PlanDeps {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly terms: SweepTerms;
  readonly pace: SweepPace;
  readonly coinRate: CoinRate;
  readonly costs: CostMemory;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
}

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

/** Time for which a cost is believed; then one address asks for all. */
const COST_MS = 30 * 60_000;

/** Stake that can still be delegated while a turn goes on. */
export class Stake {
  #left: Amount;

  constructor(left: Amount) {
    this.#left = left;
  }

  get left(): Amount {
    return this.#left;
  }

  /** Reserves stake for a delegation that is not on the chain yet. */
  take(amount: Amount): void {
    this.#left = subtract(this.#left, amount);
  }
}

/**
 * Reads one address and does what is next for it. Whatever it does is one commit; the next poll
 * finds out what came of it.
 *
 * @returns whether something was queued that the treasury should look at
 * @throws {ChainUnavailable} when the chain cannot be asked
 */
export async function planAddress(
  deps: PlanDeps,
  target: SweepAddress,
  stake: Stake,
): Promise<boolean> {
  const { sql, chain, terms, pace, now } = deps;
  const facts = await readSweepFacts(sql, target);
  const isSupported = chain.capabilities.currencies.includes(target.currency);
  const state: AddressState = { target, facts, terms, pace, isSupported, now: now() };
  return await planFurther(deps, state, stake);
}

async function planFurther(deps: PlanDeps, state: AddressState, stake: Stake): Promise<boolean> {
  const known = stepWithoutChain(state);
  // before the balance is looked at: newer money may stand in for what a sweep has moved already
  if (known === null && await attach(deps, state)) return false;
  const step = known ?? remember(deps, state) ?? await askChain(deps, state, stake);
  return await carryOut(deps, state, step, stake);
}

function remember({ costs, coinRate }: PlanDeps, state: AddressState): NextStep | null {
  const { currency, network } = state.target;
  const least = costs.least(currency, state.now);
  return least === null ? null : stepByMemory(state, least, coinRate(network, currency));
}

async function askChain(deps: PlanDeps, state: AddressState, stake: Stake): Promise<NextStep> {
  const { target, facts } = state;
  const { chain } = deps;
  const { balance, isRead } = await askBalance(deps, state);
  const found = whatToList(state, balance, isRead);
  if ("do" in found) return found;
  try {
    const costs = await chain.gas.sweepCosts({
      from: target.address,
      to: chain.hotWallet,
      currency: target.currency,
      amount: balance,
    });
    const cost = min(
      costs.costByCoin,
      costs.stakeNeeded === null ? costs.costByCoin : costs.costByDelegation,
    );
    deps.costs.remember(target.currency, cost, state.now);
    const coinRate = deps.coinRate(target.network, target.currency);
    const step = stepOnChain(state, {
      balance,
      ...found,
      costs,
      delegatable: stake.left,
      coinRate,
    });
    if (step.do === "fund-gas" && costs.coin < facts.coin && isFundingOver(state)) {
      log.warn("{network}: {given} coin were given to {address} by the books, {coin} are there", {
        network: target.network,
        given: formatAmount(facts.coin),
        address: target.address,
        coin: formatAmount(costs.coin),
      });
    }
    return step;
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || error.category !== "reverted") throw error;
    if (facts.delegated > 0n) return { do: "undelegate", amount: facts.delegated };
    return {
      do: "wait",
      reason: "would_fail",
      detail: error.message,
      pollMs: deps.pace.coolDownMs,
    };
  }
}

/** Balance of an address in solid blocks, and whether those are the blocks that the scan has read. */
async function askBalance(
  { sql, chain }: PlanDeps,
  { target, facts }: AddressState,
): Promise<{ readonly balance: Amount; readonly isRead: boolean }> {
  const before = await readCursor(sql, target.network, "solid");
  const balance = await chain.balanceOf(target.address, target.currency);
  if (isAsNoted(facts, balance)) return { balance, isRead: true };
  // after the balance, so that this block is not before what it shows; what the scan has noted since
  // the facts were read touches the address, and then nothing is written
  const { height } = await chain.solid();
  const after = await readCursor(sql, target.network, "solid");
  if (before === null || after === null) return { balance, isRead: true };
  // a node that is behind shows what was there once: nothing is gone for that
  return { balance, isRead: before.height <= height && height <= after.height };
}

async function carryOut(
  deps: PlanDeps,
  state: AddressState,
  step: NextStep,
  stake: Stake,
): Promise<boolean> {
  const { sql } = deps;
  const { target, facts } = state;
  switch (step.do) {
    case "sweep":
    case "fund-gas":
    case "delegate":
      return await queue(deps, target, step, stake);
    case "undelegate":
      return await undelegate(deps, state, step.amount, stake);
    case "give-up":
      if (await withdrawStep(sql, target, step.outgoingId, step.why)) {
        log.warn("{network}: {outgoingId} is taken back, it could not be signed: {why}", {
          network: target.network,
          ...step,
        });
      } else {
        await storeWait(deps, target, facts, { ...IN_HAND, pollMs: deps.pace.pollMs });
      }
      return false;
    case "notify": {
      const told = await notifySwept(sql, step.outgoingIds);
      if (told.length > 0) deps.wakeMerchants(new Set(told));
      await storeWait(deps, target, facts, step.wait);
      return false;
    }
    case "wait":
      await storeWait(deps, target, facts, step);
      return false;
    case "close":
      await closeSweepAddress(sql, target);
      return false;
    default: {
      const never: never = step;
      return never;
    }
  }
}

/** Undelegates what the chain knows to be delegated: asking for more would fail for ever. */
async function undelegate(
  deps: PlanDeps,
  state: AddressState,
  delegated: Amount,
  stake: Stake,
): Promise<boolean> {
  const { target, facts, pace, now } = state;
  const known = min(delegated, await deps.chain.gas.delegatedTo(target.address));
  if (known > 0n) return await queue(deps, target, { do: "undelegate", amount: known }, stake);
  const detail = `${
    formatAmount(delegated)
  } of stake are delegated by the books, none in solid blocks`;
  if (facts.delegation !== null && now - facts.delegation.at < pace.staleMs) {
    const { pollMs } = pace;
    await storeWait(deps, target, facts, { do: "wait", reason: "balance_differs", detail, pollMs });
    return false;
  }
  log.warn("{network}: {address} is taken to have no delegated energy: {detail}", {
    network: target.network,
    address: target.address,
    detail,
  });
  return await planFurther(deps, { ...state, facts: { ...facts, delegated: ZERO } }, stake);
}

/** Reason shown for a transfer that is being signed just now. */
const IN_HAND = { do: "wait", reason: "in_flight", detail: "it is being signed" } as const;

async function storeWait(
  { sql }: PlanDeps,
  target: SweepAddress,
  facts: SweepFacts,
  { reason, detail, pollMs }: Wait,
): Promise<void> {
  const amount = listed(facts).sum;
  await storeWaiting(sql, target, { reason, detail, pollMs, amount });
}

type Transfer = Extract<NextStep, { do: "sweep" | "fund-gas" | "delegate" | "undelegate" }>;

async function queue(
  { sql, chain, pace }: PlanDeps,
  target: SweepAddress,
  step: Transfer,
  stake: Stake,
): Promise<boolean> {
  // another address of this turn may have been faster
  if (step.do === "delegate" && step.amount > stake.left) return false;
  const row: NewStep = {
    outgoingId: newId("out"),
    ...shapeOf(step),
    amount: step.amount,
    hotWallet: chain.hotWallet,
    items: step.do === "sweep" ? step.items : [],
    pollMs: pace.pollMs,
  };
  // before the row is there: others that are planned meanwhile must not count on the same stake
  if (step.do === "delegate") stake.take(step.amount);
  crashPoint("sweeper.before-step");
  const queued = await writeStep(sql, target, row);
  crashPoint("sweeper.after-step");
  if (!queued) {
    if (step.do === "delegate") stake.take(subtract(ZERO, step.amount));
    return false;
  }
  log.info("{network}: {kind} {outgoingId} of {amount} {currency} for {address}", {
    network: target.network,
    kind: row.kind,
    outgoingId: row.outgoingId,
    amount: formatAmount(row.amount),
    currency: row.kind === "sweep" ? target.currency : "of the chain's coin",
    address: target.address,
  });
  return true;
}

function shapeOf(step: Transfer): Pick<NewStep, "kind" | "reason" | "detail"> {
  switch (step.do) {
    case "sweep":
      return { kind: "sweep", reason: "in_flight", detail: "a sweep is queued" };
    case "fund-gas":
      return {
        kind: "gas",
        reason: step.wakes ? "address_not_activated" : "waiting_gas",
        detail: "coin for it is queued",
      };
    case "delegate":
      return { kind: "delegation", reason: "waiting_gas", detail: "energy for it is queued" };
    case "undelegate":
      return { kind: "reclaim", reason: "reclaiming", detail: "its energy is taken back" };
    default: {
      const never: never = step;
      return never;
    }
  }
}

/** Lists transfers under final sweeps that have moved them; false where there is none. */
async function attach(deps: PlanDeps, state: AddressState): Promise<boolean> {
  const { sql, pace, wakeMerchants } = deps;
  const { target, facts, now } = state;
  const sweeps = await readSpareSweeps(sql, target);
  const isShort = sweeps.some(({ spare, height }) => {
    const earlier = facts.open.filter((item) => item.height < height);
    return earlier.some(({ listable }) => listable) && sumOf(earlier) > spare;
  });
  const seen = isShort ? await askBalance(deps, state) : null;
  const balance = seen === null || !seen.isRead ? null : seen.balance;
  for (const sweep of sweeps) {
    const { outgoingId } = sweep;
    const carried = carriedBy(sweep, facts.open, balance, now, pace.staleMs);
    if (carried.length === 0) continue;
    // the others are looked at again, which is due at once
    const told = await attachToSweep(sql, target, outgoingId, carried);
    if (told === null) return true;
    log.info("{network}: {count} transfers to {address} were carried by {outgoingId} already", {
      network: target.network,
      count: carried.length,
      address: target.address,
      outgoingId,
    });
    wakeMerchants(new Set(told));
    return true;
  }
  return false;
}
