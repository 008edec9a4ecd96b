/**
 * One actor per network for everything that leaves a wallet of ours. Each turn: bury what is
 * proven dead, sign what is queued and can be paid, send again what is signed and not final.
 * Bytes, id and expiry are committed before the first broadcast; sending again sends the same.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Chain } from "../../chains/chain.ts";
import type { Signer } from "../../chains/signer.ts";
import { type Amount, subtract, ZERO } from "../../ledger/amount.ts";
import type { Currency, Network } from "../../ledger/pair.ts";
import { buryExpired } from "../../ledger/treasury/bury_expired.ts";
import { readCommitments } from "../../ledger/treasury/read_commitments.ts";
import { type InFlight, readInFlight } from "../../ledger/treasury/read_in_flight.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { isAway } from "../runtime/is_away.ts";
import type { Actor, ActorKind } from "../runtime/actor.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { BATCH_LIMIT, signQueued } from "./sign_queued.ts";

const log = getLogger(["engine", "treasury"]);

/**
 * Signed transactions that are looked after. No more are signed: what is signed and not sent only
 * expires. At 100 a second and a minute until they are final some 6,000 are in flight.
 */
const IN_FLIGHT_LIMIT = 10_000;
/** Batches signed in one turn; then expiries and the rest are looked at again. */
const ROUNDS = 20;
/** Broadcasts under way at once. */
const BROADCASTS = 8;
/** After this long a turn begins no further broadcast. */
const SEND_MS = 10_000;

/** What a treasury is told. */
export interface TreasuryMessage {
  /** Something may be due: a new row, a solid block, or time has passed. */
  readonly type: "look";
}

/** What the hot wallet can still promise, per currency. */
export type Liquidity = ReadonlyMap<Currency, Amount>;

/** What treasuries work with. */
export interface TreasuryDeps {
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, Chain>;
  readonly signer: Signer;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** How long a pulled transfer belongs to this node; the commit, not this, is the safety. */
  readonly leaseMs: number;
  /** How long a signed transaction is left alone before it is sent again. */
  readonly resendMs: number;
  /** After so many dead attempts a payout is given up and refunded. */
  readonly attemptLimit: number;
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
  /** What new withdrawals may count on; a hint, the queue waits for the rest. */
  readonly onLiquidity: (network: Network, liquidity: Liquidity) => void;
  /** Whether payouts of the network can be signed at all. */
  readonly onSignerState: (network: Network, open: boolean) => void;
}

/** The kind of actor that keeps the wallets of one network each. */
export function treasuryActors(deps: TreasuryDeps): ActorKind<TreasuryMessage> {
  return {
    name: "treasury",
    mailboxCapacity: 4,
    idleMs: null,
    isTransient: isAway,
    activate: (id) => {
      const chain = [...deps.chains.values()].find(({ network }) => network === id);
      if (chain === undefined) throw new Error(`Cannot keep a wallet as it is unknown: ${id}`);
      return Promise.resolve(new TreasuryActor(chain, deps));
    },
  };
}

class TreasuryActor implements Actor<TreasuryMessage> {
  readonly #chain: Chain;
  readonly #deps: TreasuryDeps;
  /** When each signed transaction was last sent; forgotten with the process, then sent again. */
  #sentAt = new Map<string, number>();

  constructor(chain: Chain, deps: TreasuryDeps) {
    this.#chain = chain;
    this.#deps = deps;
  }

  async receive(_message: TreasuryMessage): Promise<void> {
    await this.#bury();
    await this.#publishLiquidity();
    let inFlight = await this.#resend();
    for (let round = 0; round < ROUNDS && inFlight < IN_FLIGHT_LIMIT; round++) {
      const limit = Math.min(BATCH_LIMIT, IN_FLIGHT_LIMIT - inFlight);
      const { transactions, mayBeMore } = await signQueued(this.#chain, this.#deps, limit);
      await this.#send(transactions);
      inFlight += transactions.length;
      if (!mayBeMore) break;
    }
  }

  /** Proves transactions dead from our own scan, and says so. */
  async #bury(): Promise<void> {
    const { sql, attemptLimit, wakeMerchants } = this.#deps;
    const { network } = this.#chain;
    const solid = await readCursor(sql, network, "solid");
    if (solid === null) return;
    const { requeued, abandoned } = await buryExpired(sql, network, solid, attemptLimit);
    for (const outgoingId of requeued) {
      log.warn("{network}: {outgoingId} expired unseen and is queued again", {
        network,
        outgoingId,
      });
    }
    for (const { outgoingId } of abandoned) {
      log.error("{network}: {outgoingId} expired too often and is given up", {
        network,
        outgoingId,
      });
    }
    if (abandoned.length > 0) {
      wakeMerchants(new Set(abandoned.map(({ merchantId }) => merchantId)));
    }
  }

  async #publishLiquidity(): Promise<void> {
    const { sql, onLiquidity } = this.#deps;
    const { network, hotWallet, capabilities } = this.#chain;
    const commitments = await readCommitments(sql, network);
    const liquidity = new Map<Currency, Amount>();
    for (const currency of capabilities.currencies) {
      const balance = await this.#chain.balanceOf(hotWallet, currency);
      const { queued, signed } = commitments.get(currency) ?? { queued: ZERO, signed: ZERO };
      liquidity.set(currency, subtract(subtract(balance, queued), signed));
    }
    onLiquidity(network, liquidity);
  }

  /**
   * Sends again what is signed, not final, and was not sent for a while.
   *
   * @returns how many are in flight
   */
  async #resend(): Promise<number> {
    const { sql, now, resendMs } = this.#deps;
    const inFlight = await readInFlight(sql, this.#chain.network, IN_FLIGHT_LIMIT);
    const sentAt = new Map<string, number>();
    for (const { txid } of inFlight) {
      const at = this.#sentAt.get(txid);
      if (at !== undefined) sentAt.set(txid, at);
    }
    this.#sentAt = sentAt;
    await this.#send(
      inFlight.filter(({ txid }) => (sentAt.get(txid) ?? -Infinity) + resendMs <= now()),
    );
    return inFlight.length;
  }

  /** Sends signed transactions: the same bytes, any number of times. */
  async #send(transactions: readonly Omit<InFlight, "outgoingId">[]): Promise<void> {
    const { network } = this.#chain;
    const due = [...transactions];
    const end = performance.now() + SEND_MS;
    const send = async () => {
      for (let next = due.shift(); next !== undefined; next = due.shift()) {
        // nodes that do not answer hold a turn up for each of thousands; the next one goes on
        if (performance.now() > end) return;
        const { txid, bytes, expiresAt } = next;
        this.#sentAt.set(txid, this.#deps.now());
        const outcome = await this.#chain.broadcast({ txid, bytes, expiresAt });
        crashPoint("treasury.after-broadcast");
        // no answer proves death: only the solid scan decides, so all of them are just noted
        const level = outcome.category === "rejected" ? "warn" : "debug";
        log[level]("{network}: {txid} was broadcast: {category} {code}", {
          network,
          txid,
          category: outcome.category,
          code: "code" in outcome ? outcome.code : "",
        });
      }
    };
    await Promise.all(Array.from({ length: BROADCASTS }, send));
  }
}
