/**
 * One actor per network for everything that leaves a wallet of ours. Each turn: bury what is
 * proven dead, send again what is signed and not final, look after the wallet, sign what is queued
 * and can be paid.
 * Bytes, id and expiry are committed before the first broadcast; sending again sends the same.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { Signer } from "../../chains/signer.ts";
import type { Amount } from "../../ledger/amount.ts";
import type { Currency, Network } from "../../ledger/pair.ts";
import { type InFlight, readInFlight } from "../../ledger/treasury/read_in_flight.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { isAway } from "../runtime/is_away.ts";
import type { Actor, ActorKind } from "../runtime/actor.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { Burials } from "./bury_dead.ts";
import { Housekeeping } from "./housekeeping.ts";
import { BATCH_LIMIT, type Signed, signQueued } from "./sign_queued.ts";
import type { TreasuryPolicy } from "./treasury_policy.ts";
import type { TreasuryStatus } from "./treasury_status.ts";

const log = getLogger(["engine", "treasury"]);

/**
 * Signed transactions that are looked after. No more are signed: what is signed and not sent only
 * expires. At 100 a second and a minute until they are final some 6,000 are in flight.
 */
const IN_FLIGHT_LIMIT = 10_000;
/** Transfers of the house signed between two batches of payouts: merchants go first. */
const HOUSE_LIMIT = 25;
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
  /** Name of this node; with one that outlives the process it goes on at once after a restart. */
  readonly node: string;
  /** How long only this node signs after a pull; the commit, not this, is the safety. */
  readonly leaseMs: number;
  /** How long a signed transaction is left alone before it is sent again. */
  readonly resendMs: number;
  /** After so many dead attempts a payout is given up and refunded. */
  readonly attemptLimit: number;
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
  /** Says that the funds are about to be looked at: what was promised before will be seen. */
  readonly onLook: (network: Network, currencies: readonly Currency[]) => void;
  /** What new withdrawals may count on; a hint, the queue waits for the rest. */
  readonly onLiquidity: (network: Network, liquidity: Liquidity) => void;
  /** Whether payouts of the network can be signed at all. */
  readonly onSignerState: (network: Network, open: boolean) => void;
  /** How a network's treasury behaves; without it nothing is low, cold, or proven twice. */
  readonly policy?: (network: Network) => TreasuryPolicy;
  /** How a network's treasury stands. */
  readonly onStatus?: (network: Network, status: TreasuryStatus) => void;
  /** Units of a currency per coin; without it costs are counted in the coin alone. */
  readonly coinRate?: (network: Network, currency: Currency) => string | null;
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
  readonly #burials: Burials;
  readonly #housekeeping: Housekeeping;

  constructor(chain: Chain, deps: TreasuryDeps) {
    const { sql, attemptLimit, resendMs, now } = deps;
    const { network } = chain;
    const policy = deps.policy?.(network) ?? null;
    this.#chain = chain;
    this.#deps = deps;
    this.#burials = new Burials({
      sql,
      network,
      attemptLimit,
      second: policy?.second ?? null,
      askAgainMs: resendMs,
      now,
    });
    this.#housekeeping = new Housekeeping(chain, policy, deps);
  }

  async receive(_message: TreasuryMessage): Promise<void> {
    const { sql, wakeMerchants } = this.#deps;
    const solid = await readCursor(sql, this.#chain.network, "solid");
    if (solid !== null) {
      const givenUp = await this.#burials.look(solid);
      if (givenUp.size > 0) wakeMerchants(givenUp);
    }
    let inFlight = await this.#resend();
    await this.#housekeeping.look(solid, this.#burials.unproven);
    for (let round = 0; round < ROUNDS && inFlight < IN_FLIGHT_LIMIT; round++) {
      const limit = Math.min(BATCH_LIMIT, IN_FLIGHT_LIMIT - inFlight);
      const payouts = await signQueued(this.#chain, this.#deps, limit, "merchants");
      await this.#send(payouts.transactions);
      const house = await this.#signHouse();
      inFlight += payouts.transactions.length + house.transactions.length;
      if (!payouts.mayBeMore && !house.mayBeMore) break;
    }
  }

  /** Signs and sends transfers of the house; what a node does not answer holds up no payout. */
  async #signHouse(): Promise<Signed> {
    try {
      const house = await signQueued(this.#chain, this.#deps, HOUSE_LIMIT, "house");
      await this.#send(house.transactions);
      return house;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      const { network } = this.#chain;
      log.warn("{network}: transfers of the house wait for a node: {error}", { network, error });
      return { transactions: [], mayBeMore: false };
    }
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
