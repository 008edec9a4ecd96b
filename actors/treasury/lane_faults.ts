import type { Sql } from "../../ledger/database/connect.ts";
import type { Chain } from "../../chains/chain.ts";
import type { LanePort } from "../../chains/lane.ts";
import { readFirstNonce, storeFirstNonce } from "../../ledger/lanes/first_nonce.ts";
import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { hasLateOutcome } from "../../ledger/watcher/late_outcomes.ts";
import { payerOf } from "./liquidity.ts";

/** A nonce of a payer that a node shows as used, and the solid block by which the scan must have met it. */
interface Ahead {
  readonly nonce: number;
  readonly height: number;
}

/** Finds out whether the nonces that the books know are those of the chain. */
export class LaneFaults {
  readonly #sql: Sql;
  readonly #chain: Chain;
  readonly #lane: LanePort;
  #ahead = new Map<string, Ahead>();

  constructor(sql: Sql, chain: Chain, lane: LanePort) {
    this.#sql = sql;
    this.#chain = chain;
    this.#lane = lane;
  }

  /**
   * The reason for which nothing may be signed with nonces; null: there is none. The hot wallet's lane is opened by
   * it, once, where solid blocks show all that the wallet has sent.
   *
   * @param lanes open nonces by their payers, the lowest first
   * @param solid the own scan's cursor; null: nothing was scanned yet
   * @throws {ChainUnavailable} when nodes do not say what is needed
   */
  async find(
    lanes: ReadonlyMap<string, readonly PromisedNonce[]>,
    solid: Cursor | null,
  ): Promise<string | null> {
    const { network } = this.#chain;
    if (await readFirstNonce(this.#sql, network) === null) {
      const fault = await this.#open(solid);
      if (fault !== null) return fault;
    }
    for (const [payer, [lowest]] of lanes) {
      if (lowest === undefined || solid === null) continue;
      const fault = await this.#foreignHand(payer, lowest, solid);
      if (fault !== null) return fault;
    }
    return null;
  }

  /** Finds out where the hot wallet's lane begins. @returns why it cannot begin yet */
  async #open(solid: Cursor | null): Promise<string | null> {
    const { hotWallet, network } = this.#chain;
    if (solid === null) return "the scan has not begun";
    const head = await this.#lane.next(hotWallet, "head");
    const first = await this.#lane.next(hotWallet, "solid", undefined, solid);
    if (head !== first) return "the hot wallet has transactions that are not final yet";
    await storeFirstNonce(this.#sql, network, first);
    return null;
  }

  /**
   * Finds a nonce that solid blocks show as used and that the scan, which has passed them, has not met: the key has
   * another hand.
   */
  async #foreignHand(payer: string, lowest: PromisedNonce, solid: Cursor): Promise<string | null> {
    const { network } = this.#chain;
    const mark = this.#ahead.get(payer);
    if (mark?.nonce === lowest.nonce) {
      if (solid.height < mark.height) return null;
      if (await hasLateOutcome(this.#sql, network, mark.height)) return null;
      const wallet = payerOf(this.#chain, payer);
      return `nonce ${lowest.nonce} of ${wallet} was used by a transaction that the scan has not met`;
    }
    this.#ahead.delete(payer);
    // nothing strange about one that may still be on its way
    if (lowest.ageMs < this.#lane.bumpAfterMs) return null;
    const next = await this.#lane.next(payerOf(this.#chain, payer), "solid");
    if (next <= lowest.nonce) return null;
    // read after it: by this block the nonce is used
    const { height } = await this.#chain.solid();
    this.#ahead.set(payer, { nonce: lowest.nonce, height });
    return null;
  }
}
