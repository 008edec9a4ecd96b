/**
 * The chain's terms for the lane of each payer: a deposit address offers no more than the coin that it has, as nodes
 * refuse what may cost more. Where that is too little its sweep waits, and the sweeper gives it more.
 *
 * @module
 */

import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { LaneAsk } from "../../chains/lane.ts";
import type { Amount } from "../../ledger/money/amount.ts";
import { logEvent } from "../../log/log_event.ts";
import { Aside } from "../runtime/aside.ts";
import { payerOf } from "./liquidity.ts";

/** Addresses whose coin is asked for in one turn; those that were not asked for the longest come first. */
const MOST_ASKED = 25;

/** Remembers what coin deposit addresses have, so that thousands that wait do not use up a node's calls. */
export class PayerTerms {
  readonly #chain: Pick<Chain, "network" | "hotWallet" | "deriveAddress" | "balanceOf">;
  /** Time for which a balance is believed, milliseconds. */
  readonly #freshMs: number;
  readonly #monotonic: () => number;
  #known = new Map<string, { readonly coin: Amount; readonly at: number }>();
  /** Time at which each was asked for, also in vain: one that no node answers for keeps no other from its turn. */
  #askedAt = new Map<string, number>();
  readonly #aside = new Aside();

  constructor(
    chain: Pick<Chain, "network" | "hotWallet" | "deriveAddress" | "balanceOf">,
    freshMs: number,
    monotonic: () => number,
  ) {
    this.#chain = chain;
    this.#freshMs = freshMs;
    this.#monotonic = monotonic;
  }

  /**
   * The terms of each deposit address that is to sign something; of one whose coin is not known now, none. Nodes that answer at
   * once are waited for, late answers count in the next turn.
   *
   * @param payers those that have lanes; what is remembered of others is forgotten
   * @param wanting those of them that need terms in this turn
   */
  async of(
    ask: LaneAsk,
    payers: ReadonlySet<string>,
    wanting: readonly string[],
  ): Promise<ReadonlyMap<string, LaneAsk>> {
    const isOpen = ([payer]: readonly [string, unknown]) => payers.has(payer);
    this.#known = new Map([...this.#known].filter(isOpen));
    this.#askedAt = new Map([...this.#askedAt].filter(isOpen));
    if (wanting.some((payer) => !this.#isFresh(payer))) {
      await this.#aside.run((signal) => this.#readAll(wanting, signal));
    }
    const terms = new Map<string, LaneAsk>();
    for (const payer of wanting) {
      const known = this.#known.get(payer);
      if (known !== undefined && this.#isFresh(payer)) terms.set(payer, ask.within(known.coin));
    }
    return terms;
  }

  /** Reads the coin of those that have not been asked for the longest. */
  async #readAll(wanting: readonly string[], signal: AbortSignal): Promise<void> {
    const askedAt = (payer: string) => this.#askedAt.get(payer) ?? -Infinity;
    const due = wanting.filter((payer) => !this.#isFresh(payer))
      .sort((a, b) => askedAt(a) === askedAt(b) ? 0 : askedAt(a) - askedAt(b))
      .slice(0, MOST_ASKED);
    await Promise.all(due.map((payer) => this.#read(payer, signal)));
  }

  #isFresh(payer: string): boolean {
    const known = this.#known.get(payer);
    return known !== undefined && this.#monotonic() - known.at < this.#freshMs;
  }

  async #read(payer: string, signal: AbortSignal): Promise<void> {
    const { network } = this.#chain;
    this.#askedAt.set(payer, this.#monotonic());
    try {
      const address = payerOf(this.#chain, payer);
      const coin = await this.#chain.balanceOf(address, "native", signal);
      this.#known.set(payer, { coin, at: this.#monotonic() });
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      logEvent("treasury.payer_coin_unread", { network, payer, error });
    }
  }
}
