import { getLogger } from "@logtape/logtape";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { Currency, OutgoingAsset } from "../../ledger/pair.ts";
import { countCosts } from "../../ledger/treasury/count_costs.ts";
import { readOldestQueued } from "../../ledger/treasury/read_oldest_queued.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { planCold } from "./cold_planner.ts";
import { signsFor } from "./signer_state.ts";
import type { TreasuryDeps } from "./treasury_actor.ts";
import type { TreasuryPolicy } from "./treasury_policy.ts";
import { type Funds, FundsWatch, LowFunds, readFunds } from "./watch_funds.ts";

const log = getLogger(["engine", "treasury"]);

/** How often a signer is asked whether it signs for a network. */
const SIGNER_MS = 2_000;

/** What a treasury does beside its transfers: funds, alarms, the cold wallet, costs. */
export class Housekeeping {
  readonly #chain: Chain;
  readonly #policy: TreasuryPolicy | null;
  readonly #deps: TreasuryDeps;
  readonly #funds: FundsWatch;
  readonly #low: LowFunds;
  #signerAskedAt = -Infinity;

  /** @param policy null: nothing is low, and nothing goes to a cold wallet */
  constructor(chain: Chain, policy: TreasuryPolicy | null, deps: TreasuryDeps) {
    this.#chain = chain;
    this.#policy = policy;
    this.#deps = deps;
    this.#funds = new FundsWatch(deps.sql, chain, deps.resendMs);
    this.#low = new LowFunds(chain.network, policy?.low ?? null, deps.resendMs);
  }

  /**
   * One look. What a node does not answer is left for the next one: transfers go on.
   *
   * @param solid the solid cursor
   * @param unproven expired transactions that wait for a second node
   * @throws when the database does not answer
   */
  async look(solid: Cursor | null, unproven: number): Promise<void> {
    await this.#lookAtSigner();
    await this.#countCosts();
    const { sql, now, onStatus } = this.#deps;
    const { network } = this.#chain;
    try {
      const { coin, funds } = await this.#lookAtFunds(solid);
      const low = this.#low.look({ coin, funds }, now());
      const oldestQueuedAt = await readOldestQueued(sql, network);
      onStatus?.(network, { coin, funds, low, unproven, oldestQueuedAt, lookedAt: now() });
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      log.warn("{network}: the hot wallet cannot be looked at: {error}", { network, error });
    }
  }

  async #lookAtFunds(solid: Cursor | null): Promise<Funds> {
    const { sql, onLook, onLiquidity } = this.#deps;
    const { network, capabilities } = this.#chain;
    onLook(network, capabilities.currencies);
    const cold = this.#policy?.cold ?? null;
    const seen = await this.#funds.look(solid?.height ?? null);
    const changed = cold !== null && await planCold(sql, this.#chain, cold, seen);
    const funds = changed ? await readFunds(sql, this.#chain) : seen;
    onLiquidity(
      network,
      new Map([...funds.funds].map(([currency, { free }]) => [currency, free])),
    );
    return funds;
  }

  async #lookAtSigner(): Promise<void> {
    const { signer, onSignerState } = this.#deps;
    const now = performance.now();
    if (now - this.#signerAskedAt < SIGNER_MS) return;
    this.#signerAskedAt = now;
    const open = await signsFor(signer, this.#chain.network);
    // a signer that cannot be reached is waited for, as it was before
    if (open !== null) onSignerState(this.#chain.network, open);
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
