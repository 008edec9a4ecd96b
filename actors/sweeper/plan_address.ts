import { logEvent } from "../../log/log_event.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { gasOf, type SweepCosts } from "../../chains/fees.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import {
  type Amount,
  amountOf,
  formatAmount,
  min,
  subtract,
  ZERO,
} from "../../ledger/money/amount.ts";
import { attachToSweep, notifySwept, readSpareSweeps } from "../../ledger/sweeps/items.ts";
import { type NewStep, withdrawStep, writeStep } from "../../ledger/sweeps/steps.ts";
import { readSweepFacts } from "../../ledger/sweeps/sweep_facts.ts";
import {
  closeSweepAddress,
  storeWaiting,
  type SweepAddress,
} from "../../ledger/sweeps/sweep_addresses.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { newId } from "../runtime/ids.ts";
import { ABOVE_CAP } from "../treasury/lane_turn.ts";
import {
  isAsNoted,
  listed,
  stepByMemory,
  stepWithoutChain,
  unlessSentPays,
  whatToList,
} from "./books_step.ts";
import { type AddressState, type Holding, type NextStep, type Wait, wait } from "./next_step.ts";
import { coinForSent, isFundingOver, ownCoinStep } from "./own_coin_step.ts";
import { sponsoredStep } from "./sponsored_step.ts";
import type { CoinRate, CostMemory, Stake, SweepPace, SweepTerms } from "./sweep_terms.ts";
import { carriedBy, sumOf } from "./what_is_there.ts";

/** Failures that are answers of the chain, and no silence of its nodes. */
const CHAINS_ANSWERS: readonly ChainUnavailable["category"][] = ["above-cap", "reverted"];
/** Interval at which an address is polled whose sweep would cost more than a transaction may. */
const CAPPED_POLL_MS = 5 * 60_000;

export interface PlanDeps {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly terms: SweepTerms;
  readonly pace: SweepPace;
  readonly coinRate: CoinRate;
  readonly costs: CostMemory;
  /** The reason for which nothing of the network can be swept now; null: there is none. */
  readonly setup: () => Promise<Wait | null>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
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
  return await new Plan(deps, state, stake).make();
}

type Transfer = Extract<NextStep, { do: "sweep" | "fund-gas" | "delegate" | "undelegate" }>;

/** The plan of one address. */
class Plan {
  readonly #place;

  constructor(
    private readonly deps: PlanDeps,
    private readonly state: AddressState,
    private readonly stake: Stake,
  ) {
    const { network, address } = state.target;
    this.#place = { network, address };
  }

  async make(): Promise<boolean> {
    const known = stepWithoutChain(this.state);
    // before the balance is read: newer money may stand in for what a sweep has moved already
    if (known === null && await this.#attach()) return false;
    return await this.#carryOut(
      known === null
        ? this.#byMemory() ?? await this.deps.setup() ?? await this.#askChain()
        : await this.#coinForSent() ?? known,
    );
  }

  /** Coin for a sweep that is sent and that no block takes, as it offers all that its address has; null: it gets none now. */
  async #coinForSent(): Promise<NextStep | null> {
    const { chain, coinRate, costs } = this.deps;
    const { target: { address, currency, network }, facts: { living }, now } = this.state;
    if (living?.kind !== "sweep" || living.status !== "signed" || living.reason !== ABOVE_CAP) {
      return null;
    }
    if (chain.gas === undefined || living.currency !== currency) return null;
    const rate = coinRate(network, currency);
    const least = costs.least(currency, now);
    const poor = least === null ? null : unlessSentPays(this.state, living, rate, least);
    if (poor !== null) return poor;
    const transfer = { from: address, to: chain.hotWallet, currency };
    try {
      const amount = amountOf(living.amount);
      const found = await chain.gas.sweepCosts({ ...transfer, amount });
      return coinForSent(this.state, living, rate, found);
    } catch (error) {
      // above the cap for everybody, or over by now: the next look finds out
      if (error instanceof ChainUnavailable && CHAINS_ANSWERS.includes(error.category)) return null;
      throw error;
    }
  }

  #byMemory(): NextStep | null {
    const { target: { currency, network }, now } = this.state;
    const least = this.deps.costs.least(currency, now);
    if (least === null) return null;
    return stepByMemory(this.state, least, this.deps.coinRate(network, currency));
  }

  async #askChain(): Promise<NextStep> {
    const { chain, pace, coinRate } = this.deps;
    const { target: { address, currency, network }, facts, now } = this.state;
    const { balance, isRead } = await this.#askBalance();
    const found = whatToList(this.state, balance, isRead);
    if ("do" in found) return found;
    try {
      const transfer = { from: address, to: chain.hotWallet, currency, amount: balance };
      const holding = { balance, ...found, coinRate: coinRate(network, currency) };
      if (chain.gas !== undefined) {
        return this.#ownCoinStep(holding, await chain.gas.sweepCosts(transfer));
      }
      const estimate = await chain.estimateFee([{ ...transfer, asset: currency }]);
      const cost = estimate.share ?? estimate.fee;
      this.deps.costs.remember(currency, cost, now);
      return sponsoredStep(this.state, { ...holding, cost });
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      // an answer of the chain, and no silence of its nodes: others may have coin that still suffices
      if (error.category === "above-cap") return wait("above_cap", error.message, CAPPED_POLL_MS);
      if (error.category !== "reverted") throw error;
      if (facts.delegated > 0n) return { do: "undelegate", amount: facts.delegated };
      const detail = error.message;
      return { do: "wait", reason: "would_fail", detail, pollMs: pace.coolDownMs };
    }
  }

  #ownCoinStep(holding: Holding, costs: SweepCosts): NextStep {
    const { target: { currency }, facts, now } = this.state;
    const { costByCoin, costByDelegation, stakeNeeded } = costs;
    const cost = stakeNeeded === null ? costByCoin : min(costByCoin, costByDelegation);
    this.deps.costs.remember(currency, cost, now);
    const step = ownCoinStep(this.state, { ...holding, costs, delegatable: this.stake.left });
    if (step.do === "fund-gas" && costs.coin < facts.coin && isFundingOver(this.state)) {
      const [given, coin] = [facts.coin, costs.coin].map(formatAmount);
      logEvent("sweep.coin_differs", { ...this.#place, given, coin });
    }
    return step;
  }

  /** Balance of the address in solid blocks, and whether those are the blocks that the scan has read. */
  async #askBalance(): Promise<{ readonly balance: Amount; readonly isRead: boolean }> {
    const { sql, chain } = this.deps;
    const { target: { address, currency, network }, facts } = this.state;
    const before = await readCursor(sql, network, "solid");
    const balance = await chain.balanceOf(address, currency);
    if (isAsNoted(facts, balance)) return { balance, isRead: true };
    // after the balance, so that this block is not before what it shows; what the scan has recorded
    // since the facts were read touches the address, and then nothing is written
    const { height } = await chain.solid();
    const after = await readCursor(sql, network, "solid");
    if (before === null || after === null) return { balance, isRead: true };
    // a node that is behind shows what was there once: nothing is gone for that
    return { balance, isRead: before.height <= height && height <= after.height };
  }

  async #carryOut(step: NextStep): Promise<boolean> {
    const { sql, pace, wakeMerchants } = this.deps;
    const { target } = this.state;
    switch (step.do) {
      case "sweep":
      case "fund-gas":
      case "delegate":
        return await this.#queue(step);
      case "undelegate":
        return await this.#undelegate(step.amount);
      case "give-up": {
        const { outgoingId, why } = step;
        if (await withdrawStep(sql, target, outgoingId, why)) {
          logEvent("sweep.step_withdrawn", { ...this.#place, outgoingId, why });
          return false;
        }
        const detail = "it is being signed";
        return await this.#wait({ reason: "in_flight", detail, pollMs: pace.pollMs });
      }
      case "notify": {
        const merchantIds = await notifySwept(sql, step.outgoingIds);
        if (merchantIds.length > 0) wakeMerchants(new Set(merchantIds));
        return await this.#wait(step.wait);
      }
      case "wait":
        return await this.#wait(step);
      case "close":
        this.#tellCoin();
        await closeSweepAddress(sql, target);
        return false;
      default:
        return step satisfies never;
    }
  }

  /** Says what coin stays with an address that nothing is left to do for; its next sweep uses it. */
  #tellCoin(): void {
    const { coin } = this.state.facts;
    if (coin > ZERO) logEvent("sweep.coin_left", { ...this.#place, coin: formatAmount(coin) });
  }

  /** Undelegates what the chain knows to be delegated: asking for more would fail for ever. */
  async #undelegate(byBooks: Amount): Promise<boolean> {
    const { deps, state, stake } = this;
    const { target, facts, pace, now } = state;
    const amount = min(byBooks, await gasOf(deps.chain).delegatedTo(target.address));
    if (amount > 0n) return await this.#queue({ do: "undelegate", amount });
    const stakeText = formatAmount(byBooks);
    const detail = `${stakeText} of stake are delegated by the books, none in solid blocks`;
    if (facts.delegation !== null && now - facts.delegation.at < pace.staleMs) {
      return await this.#wait({ reason: "balance_differs", detail, pollMs: pace.pollMs });
    }
    logEvent("sweep.energy_lost", { ...this.#place, detail });
    const without = { ...state, facts: { ...facts, delegated: ZERO } };
    return await new Plan(deps, without, stake).make();
  }

  async #wait({ reason, detail, pollMs }: Omit<Wait, "do">): Promise<false> {
    const { target, facts } = this.state;
    const amount = listed(facts).sum;
    await storeWaiting(this.deps.sql, target, { reason, detail, pollMs, amount });
    return false;
  }

  async #queue(step: Transfer): Promise<boolean> {
    const { sql, chain, pace } = this.deps;
    const { target } = this.state;
    // another address of this turn may have been faster
    if (step.do === "delegate" && step.amount > this.stake.left) return false;
    const row: NewStep = {
      outgoingId: newId("out"),
      ...shapeOf(step),
      amount: step.amount,
      hotWallet: chain.hotWallet,
      // where addresses need no coin of their own, the hot wallet sends what they give
      feePayer: step.do === "sweep" && chain.gas === undefined ? "hot" : "wallet",
      items: step.do === "sweep" ? step.items : [],
      beside: step.do === "fund-gas" ? this.state.facts.living?.id : undefined,
      pollMs: pace.pollMs,
    };
    // before the row is there: others that are planned meanwhile must not count on the same stake
    if (step.do === "delegate") this.stake.take(step.amount);
    crashPoint("sweeper.before-step");
    const queued = await writeStep(sql, target, row);
    crashPoint("sweeper.after-step");
    if (!queued) {
      if (step.do === "delegate") this.stake.take(subtract(ZERO, step.amount));
      return false;
    }
    const { kind, outgoingId } = row;
    const currency = kind === "sweep" ? target.currency : "of the chain's coin";
    logEvent("sweep.queued", {
      ...this.#place,
      kind,
      outgoingId,
      amount: formatAmount(row.amount),
      currency,
    });
    return true;
  }

  /** Lists transfers under final sweeps that have moved them; false where there is none. */
  async #attach(): Promise<boolean> {
    const { sql, pace, wakeMerchants } = this.deps;
    const { target, facts, now } = this.state;
    const sweeps = await readSpareSweeps(sql, target);
    const isShort = sweeps.some(({ spare, height }) => {
      const earlier = facts.open.filter((item) => item.height < height);
      return earlier.some(({ listable }) => listable) && sumOf(earlier) > spare;
    });
    const seen = isShort ? await this.#askBalance() : null;
    const balance = seen?.isRead === true ? seen.balance : null;
    for (const sweep of sweeps) {
      const { outgoingId } = sweep;
      const carried = carriedBy(sweep, facts.open, balance, now, pace.staleMs);
      if (carried.length === 0) continue;
      // the others come with the next poll, which is due at once
      const merchantIds = await attachToSweep(sql, target, outgoingId, carried);
      if (merchantIds === null) return true;
      logEvent("sweep.carried", { ...this.#place, count: carried.length, outgoingId });
      wakeMerchants(new Set(merchantIds));
      return true;
    }
    return false;
  }
}

function shapeOf(step: Transfer): Pick<NewStep, "kind" | "reason" | "detail"> {
  switch (step.do) {
    case "sweep":
      return { kind: "sweep", reason: "in_flight", detail: "a sweep is queued" };
    case "fund-gas": {
      const reason = step.wakes ? "address_not_activated" : "waiting_gas";
      return { kind: "gas", reason, detail: "coin for it is queued" };
    }
    case "delegate":
      return { kind: "delegation", reason: "waiting_gas", detail: "energy for it is queued" };
    case "undelegate":
      return { kind: "reclaim", reason: "reclaiming", detail: "its energy is taken back" };
    default:
      return step satisfies never;
  }
}
