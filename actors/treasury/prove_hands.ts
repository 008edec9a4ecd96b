/**
 * Looks at the signatures of transactions that nodes call the hot wallet's and that the books do not know. Nothing binds a
 * node's word for a sender to its block, so that a listed one stops signing only when its own bytes prove it.
 *
 * @module
 */

import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { LanePort, SentBy } from "../../chains/lane.ts";
import {
  disownHand,
  openForeignHand,
  readUnprovenHands,
} from "../../ledger/lanes/foreign_hands.ts";
import { logEvent } from "../../log/log_event.ts";
import { type BesideScan, orInDoubt, readBelieved } from "../watcher/chain_in_doubt.ts";

/** Bound of one look at one transaction, milliseconds. */
const LOOK_MS = 5_000;
/** Transactions of one turn; each may cost the whole bound. */
const AT_ONCE = 2;
/** Pause after a first look in vain, doubled with each up to the longest, milliseconds. */
const FIRST_PAUSE_MS = 4_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** Looks in vain at one transaction, and when the next one is due. */
interface Rest {
  readonly pauseMs: number;
  readonly until: number;
}

/** The unproven transactions of one network. */
export class UnprovenHands {
  /** By their ids; forgotten with the process, then looked at at once. */
  #rests = new Map<string, Rest>();

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(readonly monotonic: () => number = () => performance.now()) {}

  /**
   * One turn. Where nothing is unproven it costs one short query.
   *
   * @throws when the database does not answer
   */
  async look(
    deps: BesideScan<
      Pick<Chain, "network" | "capabilities" | "hotWallet" | "eventAddress" | "addressOf">
    >,
  ): Promise<void> {
    const { sql, chain } = deps;
    const { network, capabilities: { life } } = chain;
    if (life.kind !== "nonce") return;
    const waiting = await readUnprovenHands(sql, network);
    const txids = new Set(waiting.map(({ txid }) => txid));
    this.#rests = new Map([...this.#rests].filter(([txid]) => txids.has(txid)));
    const due = waiting.filter(({ txid }) =>
      (this.#rests.get(txid)?.until ?? -Infinity) <= this.monotonic()
    );
    for (const { txid } of due.slice(0, AT_ONCE)) {
      const by = await this.#sentBy(deps, life.lane, txid);
      if (by === null) {
        this.#rest(txid);
      } else if (by.eventFrom === chain.eventAddress(chain.hotWallet)) {
        if (await openForeignHand(sql, network, txid)) {
          logEvent("wallet.foreign_hand", { network, txid });
        }
      } else {
        const sender = chain.addressOf(by.eventFrom);
        if (await disownHand(sql, network, txid, `signed by ${sender}`, null)) {
          logEvent("wallet.hand_denied", { network, txid, sender });
        }
      }
    }
  }

  /** Sender and nonce as its bytes prove them; null: no node that is believed shows them now. */
  async #sentBy(
    { sql, chain, stopped }: BesideScan<Pick<Chain, "network">>,
    lane: LanePort,
    txid: string,
  ): Promise<SentBy | null> {
    const believed = await readBelieved(sql, chain.network, stopped);
    if (believed.kind === "in_doubt") return null;
    const signal = AbortSignal.timeout(LOOK_MS);
    try {
      const sent = await orInDoubt(
        lane.sent(txid, signal, believed.cursor).then((by) => ({ kind: "sent" as const, by })),
      );
      return sent.kind === "sent" ? sent.by : null;
    } catch (error) {
      // it stays listed as unproven, which readiness tells
      if (!(error instanceof ChainUnavailable)) throw error;
      return null;
    }
  }

  #rest(txid: string): void {
    const earlier = this.#rests.get(txid)?.pauseMs;
    const pauseMs = earlier === undefined
      ? FIRST_PAUSE_MS
      : Math.min(LONGEST_PAUSE_MS, 2 * earlier);
    this.#rests.set(txid, { pauseMs, until: this.monotonic() + pauseMs });
  }
}
