import { logEvent } from "../../log/log_event.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { type Signer, SignerUnavailable } from "../../chains/signer.ts";
import type { Amount } from "../../ledger/money/amount.ts";
import { classifyDatabaseError } from "../../ledger/database/database_errors.ts";
import type { Currency, Network, OutgoingAsset } from "../../ledger/money/pair.ts";
import { countCosts, readFeesToday } from "../../ledger/treasury/costs.ts";
import {
  type QueueHealth,
  readOldestQueued,
  readQueueHealth,
  storeHeldReason,
  wakeQueued,
} from "../../ledger/treasury/queue.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { isAway } from "../runtime/is_away.ts";
import { planCold } from "./cold_planner.ts";
import { type Funds, FundsWatch, grownSince, type LowFunds, readFunds } from "./funds.ts";
import { waitsFor } from "./prepare_batch.ts";
import type { LaneState } from "./lane_state.ts";
import { isClosed } from "./signed_rows.ts";
import { heldBy, type TokenWatch } from "./token_watch.ts";
import type { TreasuryDeps, TreasuryPolicy } from "./treasury_deps.ts";

/** Interval at which a signer that signs for a network is asked whether it still does; one that does not, at each poll. */
const SIGNER_MS = 2_000;
/** Interval at which the queue is counted, and the fees of today. */
const QUEUE_MS = 5_000;

/** Balances are believed for so many polls, and for so long at most, milliseconds. */
const BELIEVED_POLLS = 40;
const BELIEVED_MS = 60_000;

/** Work of a treasury beside its transfers: funds, alarms, the cold wallet, costs, tokens. */
export class Housekeeping {
  readonly #chain: Chain;
  readonly #policy: TreasuryPolicy | null;
  readonly #deps: TreasuryDeps;
  readonly #tokens: TokenWatch;
  readonly #funds: FundsWatch;
  readonly #low: LowFunds;
  #signerAskedAt = -Infinity;
  /** Answer of the last look; where it is no, withdrawals are refused. */
  #isSigning = true;
  /** Amounts that could be signed away at the last poll. */
  #left: Funds["left"] | null = null;
  #queue: { readonly at: number; readonly health: QueueHealth } | null = null;
  #fees: { readonly at: number; readonly today: Amount } | null = null;
  /** Last time that the held currencies were written into the queue. */
  #heldAt = -Infinity;

  /**
   * @param policy null: nothing goes to a cold wallet
   * @param kept what outlives this treasury: issuers' switches, and since when something is low
   */
  constructor(
    chain: Chain,
    policy: TreasuryPolicy | null,
    deps: TreasuryDeps,
    kept: { readonly tokens: TokenWatch; readonly low: LowFunds },
  ) {
    this.#chain = chain;
    this.#policy = policy;
    this.#deps = deps;
    this.#tokens = kept.tokens;
    this.#funds = new FundsWatch(deps.sql, chain, believedMs(deps));
    this.#low = kept.low;
  }

  /**
   * One poll. What a node does not answer is left for the next one: transfers go on.
   *
   * @param solid the solid cursor
   * @param withoutExpiryProof transactions that expired or failed and wait for a second node
   * @param lane where the chain counts nonces
   * @param isHeld true where nothing is signed as the scan has yet to read blocks
   * @throws what a part failed with, after all parts had their turn
   */
  async poll(
    solid: Cursor | null,
    withoutExpiryProof: number,
    lane: LaneState | null = null,
    isHeld = false,
  ): Promise<void> {
    const parts = new Parts(this.#chain.network);
    await parts.run("the signer", () => this.#readSigner());
    await parts.run("costs", () => this.#countCosts());
    await parts.run("tokens", () => this.#readTokens());
    const isStopped = isHeld || (lane !== null && lane.stopped !== null);
    await parts.run(
      "the hot wallet",
      () => this.#readWallet(solid, withoutExpiryProof, lane, isStopped),
    );
    parts.end();
  }

  async #readWallet(
    solid: Cursor | null,
    withoutExpiryProof: number,
    lane: LaneState | null,
    isStopped: boolean,
  ): Promise<void> {
    const { sql, now, onStatus } = this.#deps;
    const { network } = this.#chain;
    try {
      const { coin, funds, left } = await this.#readFunds(solid);
      const assets = [...this.#chain.capabilities.currencies, "native" as const];
      const low = this.#low.poll({ coin, funds }, now());
      const oldestQueuedAt = await readOldestQueued(sql, network);
      onStatus?.(network, {
        coin,
        funds,
        unreadable: assets.filter((asset) => !left.has(asset)),
        low,
        feesToday: await this.#feesToday(),
        feesPerDay: this.#policy?.feesPerDay ?? null,
        withoutExpiryProof,
        lane,
        oldestQueuedAt,
        queue: await this.#queueHealth(isStopped),
        tokens: this.#tokens.troubles.map(({ currency, text }) => `${currency}: ${text}`),
        lookedAt: now(),
      });
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      logEvent("wallet.unread", { network, error });
    }
  }

  async #queueHealth(isStopped: boolean): Promise<QueueHealth> {
    const now = performance.now();
    if (this.#queue !== null && now - this.#queue.at < QUEUE_MS) return this.#queue.health;
    const health = await readQueueHealth(this.#deps.sql, this.#chain.network, isStopped);
    this.#queue = { at: now, health };
    return health;
  }

  async #feesToday(): Promise<Amount> {
    const now = performance.now();
    if (this.#fees !== null && now - this.#fees.at < QUEUE_MS) return this.#fees.today;
    const today = await readFeesToday(this.#deps.sql, this.#chain.network);
    this.#fees = { at: now, today };
    return today;
  }

  async #readFunds(solid: Cursor | null): Promise<Funds> {
    const { sql, onLook, onLiquidity } = this.#deps;
    const { network, capabilities } = this.#chain;
    onLook(network, capabilities.currencies);
    const cold = this.#policy?.cold ?? null;
    let seen: Funds;
    try {
      seen = await this.#funds.poll(solid?.height ?? null);
    } catch (error) {
      // while the balances are unknown, what was seen before counts no more: reservations that were
      // kept since would be taken from it for ever
      if (error instanceof ChainUnavailable) onLiquidity(network, new Map());
      throw error;
    }
    const changed = cold !== null && await planCold(sql, this.#chain, cold, seen);
    const funds = changed ? await readFunds(sql, this.#chain) : seen;
    onLiquidity(
      network,
      new Map([...funds.funds].map(([currency, { free }]) => [currency, free])),
    );
    // what waits for money need not wait for the end of its pause when more is there
    await wakeQueued(sql, network, grownSince(this.#left, funds).map(waitsFor));
    this.#left = funds.left;
    return funds;
  }

  async #readTokens(): Promise<void> {
    const { sql } = this.#deps;
    const { network } = this.#chain;
    await wakeQueued(sql, network, await this.#tokens.poll());
    const holding = this.#tokens.troubles.filter(({ holds }) => holds);
    const now = performance.now();
    if (holding.length === 0 || now - this.#heldAt < QUEUE_MS) return;
    this.#heldAt = now;
    const told = new Set<Currency>();
    for (const trouble of holding) {
      if (told.has(trouble.currency)) continue;
      told.add(trouble.currency);
      await storeHeldReason(sql, network, trouble.currency, heldBy(trouble));
    }
  }

  async #readSigner(): Promise<void> {
    const { signer, onSignerState } = this.#deps;
    const now = performance.now();
    // a look that began before the signer opened must not refuse withdrawals until the next one is due
    if (this.#isSigning && now - this.#signerAskedAt < SIGNER_MS) return;
    this.#signerAskedAt = now;
    const open = await signsFor(signer, this.#chain.network);
    // a signer that cannot be reached is waited for, as it was before
    if (open === null) return;
    this.#isSigning = open;
    onSignerState(this.#chain.network, open);
  }

  async #countCosts(): Promise<void> {
    const { sql, coinRate } = this.#deps;
    const { network, capabilities } = this.#chain;
    const rateOf = (currency: Currency) => coinRate?.(network, currency) ?? null;
    const rates = new Map<OutgoingAsset, string | null>(
      capabilities.currencies.map((currency) => [currency, rateOf(currency)]),
    );
    // what moves the coin itself is counted in dollars by way of the stablecoin
    rates.set("native", rateOf("USDT"));
    await countCosts(sql, network, rates);
  }
}

/** Time for which balances are believed while nothing of the service's own changes them, milliseconds. */
function believedMs({ pollMs = 1_000 }: Pick<TreasuryDeps, "pollMs">): number {
  return Math.min(BELIEVED_MS, BELIEVED_POLLS * pollMs);
}

/** An id that no transfer has. */
const NO_TRANSFER = "out_nobody";

/**
 * Finds out whether a network is signed for at all by asking for a signature of nothing: a signer
 * looks at the network and its key before it looks for the transfer.
 *
 * @returns `false` where the wallet is locked or no signer serves the network; `null` while the
 *   signer cannot be reached: then payouts wait for it
 */
async function signsFor(signer: Signer, network: Network): Promise<boolean | null> {
  try {
    const [answer] = await signer.sign([{
      outgoingIds: [NO_TRANSFER],
      purpose: "pay",
      envelope: { network, fields: {}, diesAfter: null, nonce: null, expiresAt: null },
    }]);
    return answer !== undefined && !("refused" in answer && isClosed(answer.refused));
  } catch (error) {
    if (error instanceof SignerUnavailable) return null;
    throw error;
  }
}

/** The parts of one poll: each is tried, whatever became of the others. */
export class Parts {
  readonly #network: Network;
  readonly #failures: unknown[] = [];

  constructor(network: Network) {
    this.#network = network;
  }

  /**
   * Tries a part.
   *
   * @param name for the log
   * @throws at once when the database is away, without which no part gets on
   */
  async run(name: string, part: () => Promise<void>): Promise<void> {
    try {
      await part();
    } catch (error) {
      if (classifyDatabaseError(error) === "connection" && isAway(error)) throw error;
      this.#failures.push(error);
      logEvent("treasury.part_failed", { network: this.#network, name, error });
    }
  }

  /**
   * Ends the poll.
   *
   * @throws the first failure of a part, a bug before what is only away
   */
  end(): void {
    const [first] = this.#failures;
    const bug = this.#failures.find((error) => !isAway(error));
    if (bug !== undefined) throw bug;
    if (first !== undefined) throw first;
  }
}
