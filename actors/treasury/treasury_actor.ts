/**
 * One actor per network for everything that leaves a wallet of the service. Each turn: sign what is queued
 * and can be paid, then expire what is proven dead, send again what is signed and in no block, look
 * after the wallet.
 * Bytes, id and expiry are committed before the first broadcast; sending again sends the same.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { confirmDurable } from "../../ledger/database/confirm_durable.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import type { Network, OutgoingAsset } from "../../ledger/money/pair.ts";
import { countInFlight, type InFlight, readInFlight } from "../../ledger/treasury/in_flight.ts";
import type { QueueOf } from "../../ledger/treasury/pull_queued.ts";
import { type Cursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { readLargeEnds } from "../../ledger/watcher/late_outcomes.ts";
import type { Actor, ActorKind } from "../runtime/actor.ts";
import { isAway } from "../runtime/is_away.ts";
import { broadcastAll } from "./broadcast.ts";
import { ExpiryProofs } from "./expiry_proofs.ts";
import { LowFunds } from "./funds.ts";
import { HistoryHold } from "./history_hold.ts";
import { Housekeeping, Parts } from "./housekeeping.ts";
import { InternalTime } from "./internal_time.ts";
import { Lanes } from "./lanes.ts";
import type { TimeBound } from "./part_bound.ts";
import { UnprovenHands } from "./prove_hands.ts";
import { readAgain } from "./read_again.ts";
import { ScanGate } from "./scan_gate.ts";
import { BATCH_LIMIT, type Signed, signQueued } from "./sign_queued.ts";
import { TokenWatch } from "./token_watch.ts";
import type { TreasuriesDeps, TreasuryDeps } from "./treasury_deps.ts";
import { CurrencyHolds } from "./waits.ts";

/**
 * Signed transactions that are looked after. No more are signed: what is signed and not sent only
 * expires. At 100 a second and a minute until they are final some 6,000 are in flight.
 */
const IN_FLIGHT_LIMIT = 10_000;
/** Internal transfers signed between two batches of payouts: merchants go first. */
const INTERNAL_LIMIT = 25;
/** Batches signed in one turn; then expiries and the rest are looked at again. */
const ROUNDS = 20;
/** After this long no further batch is signed in a turn. */
const SIGN_MS = 30_000;
/** After this long no further broadcast of a batch is begun. */
const SEND_MS = 10_000;
/** The same for internal transfers, which payouts wait for. */
const INTERNAL_SEND_MS = 3_000;

/** A round in which nothing was signed. */
const NOTHING: Signed = { transactions: [], mayBeMore: false };

export interface TreasuryMessage {
  /** Something may be due: a new row, a solid block, or time has passed. */
  readonly type: "poll";
}

/** The kind of actor that keeps the wallets of one network each. */
export function treasuryActors(deps: TreasuryDeps | TreasuriesDeps): ActorKind<TreasuryMessage> {
  const memories = new Map<Network, TreasuryMemory>();
  return {
    name: "treasury",
    mailboxCapacity: 4,
    idleMs: null,
    isTransient: isAway,
    activate: (id) => {
      const chain = [...deps.chains.values()].find(({ network }) => network === id);
      if (chain === undefined) throw new Error(`Cannot keep a wallet as it is unknown: ${id}`);
      const own = "pace" in deps ? { ...deps, ...deps.pace(chain.network) } : deps;
      const memory = memories.get(chain.network) ?? newMemory(chain, own);
      memories.set(chain.network, memory);
      return Promise.resolve(new TreasuryActor(chain, own, memory));
    },
  };
}

/**
 * Outlives an actor that failed: without it every reload would ask nodes for all of it again, and a shortage
 * would never last long enough to be reported while the signer is away, as each poll fails then.
 */
interface TreasuryMemory {
  readonly payouts: CurrencyHolds;
  readonly internal: CurrencyHolds;
  readonly tokens: TokenWatch;
  readonly low: LowFunds;
  readonly hold: HistoryHold;
  readonly gate: ScanGate;
  readonly unproven: UnprovenHands;
  /** Null on chains that count no nonces. */
  readonly lanes: Lanes | null;
  /** Time that nodes have for internal transfers. */
  readonly internalTime: InternalTime;
  /** Last time that each signed transaction was sent, where lanes do not know it; after a restart they are sent again. */
  sentAt: Map<string, number>;
}

function newMemory(chain: Chain, deps: TreasuryDeps): TreasuryMemory {
  const { network } = chain;
  const { sql, policy, resendMs } = deps;
  const monotonic = monotonicOf(deps);
  return {
    payouts: new CurrencyHolds(),
    internal: new CurrencyHolds(),
    tokens: new TokenWatch(chain),
    low: new LowFunds(network, policy?.(network).low ?? null, resendMs),
    hold: new HistoryHold({
      sql,
      chain,
      signer: deps.signer,
      monotonic,
      tellingMs: policy?.(network).tellingMs,
    }),
    gate: new ScanGate(network),
    unproven: new UnprovenHands(monotonic),
    lanes: newLanes(chain, deps),
    internalTime: new InternalTime(monotonic, deps.boundOf),
    sentAt: new Map(),
  };
}

function newLanes(chain: Chain, deps: TreasuryDeps): Lanes | null {
  const { network, capabilities: { life } } = chain;
  if (life.kind !== "nonce") return null;
  const lanes: Lanes = new Lanes(chain, life.lane, {
    ...deps,
    monotonic: monotonicOf(deps),
    isHeadRead: () => deps.isHeadRead?.(network) ?? true,
    isHeadLeftOut: () => deps.isHeadLeftOut?.(network) ?? false,
    send: async (transactions, boundMs) => {
      const onSend = (txid: string) => lanes.sent(txid);
      await broadcastAll(chain, transactions, Math.min(boundMs, SEND_MS), onSend);
    },
  });
  return lanes;
}

function monotonicOf({ monotonic }: TreasuryDeps): () => number {
  return monotonic ?? (() => performance.now());
}

class TreasuryActor implements Actor<TreasuryMessage> {
  readonly #chain: Chain;
  readonly #deps: TreasuryDeps;
  readonly #expiryProofs: ExpiryProofs;
  readonly #housekeeping: Housekeeping;
  readonly #memory: TreasuryMemory;

  constructor(chain: Chain, deps: TreasuryDeps, memory: TreasuryMemory) {
    const { sql, attemptLimit, resendMs, now } = deps;
    const { network } = chain;
    const policy = deps.policy?.(network) ?? null;
    this.#chain = chain;
    this.#deps = deps;
    this.#memory = memory;
    this.#expiryProofs = new ExpiryProofs({
      sql,
      network,
      attemptLimit,
      second: policy?.second ?? null,
      askAgainMs: resendMs,
      now,
    });
    this.#housekeeping = new Housekeeping(chain, policy, deps, memory);
  }

  /**
   * One poll. Payouts of merchants go first; what is done besides is tried apart, in a bounded time,
   * so that none of it holds them up for longer than that.
   *
   * @throws what a part failed with, after all parts had their turn; at once when the database is away
   */
  async receive(_message: TreasuryMessage): Promise<void> {
    const { sql, wakeMerchants, scanStopped } = this.#deps;
    const { network } = this.#chain;
    const { hold, gate, unproven, lanes } = this.#memory;
    const parts = new Parts(network);
    const inFlight = await countInFlight(sql, network);
    const scanned = await this.#lookAtScan();
    // what is promised goes before what is queued: nothing is in a block before what stands in front of it
    await parts.run("lanes", async () => await lanes?.poll(scanned));
    if (!gate.isHeld) await parts.run("payouts", () => this.#signAll(inFlight));
    const solid = await readCursor(sql, network, "solid");
    await parts.run("lanes of addresses", async () => await lanes?.pollAddresses(solid));
    let unprovenEnds = 0;
    await parts.run("expired transactions", async () => {
      if (solid === null) return;
      const stopped = scanStopped?.(network) ?? null;
      const wake = (merchantId: string) => wakeMerchants(new Set([merchantId]));
      const second = this.#deps.policy?.(network).second ?? null;
      const { now } = this.#deps;
      await readAgain({ sql, chain: this.#chain, stopped, second, now, wake }, solid);
      // where ids are proven, an end of any amount may wait for that
      const above = this.#chain.provenIds === undefined ? second?.above : ZERO;
      if (above !== undefined) unprovenEnds = (await readLargeEnds(sql, network, above)).length;
      const givenUp = await this.#expiryProofs.poll(solid);
      if (givenUp.size > 0) wakeMerchants(givenUp);
    });
    await parts.run("transactions of another hand", async () => {
      await unproven.look({
        sql,
        chain: this.#chain,
        stopped: scanStopped?.(network) ?? null,
      });
    });
    await parts.run("a change of history", () => hold.poll());
    await parts.run("transactions under way", () => this.#resend());
    await parts.run(
      "wallets",
      () =>
        this.#housekeeping.poll(
          solid,
          this.#expiryProofs.withoutExpiryProof + unprovenEnds,
          lanes?.state ?? null,
          gate.isHeld,
        ),
    );
    parts.end();
  }

  /**
   * Signs and sends what is queued, a batch at a time: internal transfers when no payout waits.
   * A currency that nodes do not answer for is left alone for the rest of the poll.
   *
   * @throws {ChainUnavailable} when nodes answered for no payout that was tried
   */
  async #signAll(before: number): Promise<void> {
    let inFlight = before;
    let failure: ChainUnavailable | null = null;
    const silent = { payouts: new Set<OutgoingAsset>(), internal: new Set<OutgoingAsset>() };
    const end = performance.now() + SIGN_MS;
    for (let round = 0; round < ROUNDS && inFlight < IN_FLIGHT_LIMIT; round++) {
      const limit = Math.min(BATCH_LIMIT, IN_FLIGHT_LIMIT - inFlight);
      const known = silent.payouts.size;
      let payouts = NOTHING;
      try {
        payouts = await this.#sign(limit, "merchants", silent.payouts);
      } catch (error) {
        // nodes that answer nothing at all end the poll; of a silent currency others may be behind
        if (!(error instanceof ChainUnavailable) || silent.payouts.size === known) throw error;
        failure = error;
      }
      inFlight += payouts.transactions.length;
      const areSent = await this.#send(payouts.transactions, SEND_MS);
      const isLast = round === ROUNDS - 1 || !areSent || performance.now() > end;
      if ((payouts.mayBeMore || silent.payouts.size > known) && !isLast) continue;
      const internal = await this.#signInternal(silent.internal);
      inFlight += internal.transactions.length;
      if (isLast || !internal.mayBeMore) break;
    }
    if (failure !== null && inFlight === before) throw failure;
  }

  /**
   * Signs and sends internal transfers, in a bounded time; what a node does not answer holds up no payout for longer. Where it was
   * over, the others are left for the next poll.
   */
  async #signInternal(silent: Set<OutgoingAsset>): Promise<Signed> {
    const { internalTime } = this.#memory;
    const bound = internalTime.begin();
    if (bound === null) return NOTHING;
    const known = silent.size;
    try {
      const { transactions, mayBeMore } = await this.#sign(
        INTERNAL_LIMIT,
        "internal",
        silent,
        bound,
      );
      const isCut = bound.isOver;
      internalTime.end(isCut, transactions.length > 0);
      await this.#send(transactions, INTERNAL_SEND_MS);
      return { transactions, mayBeMore: mayBeMore && !isCut };
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      internalTime.end(bound.isOver, false);
      const { network } = this.#chain;
      logEvent("treasury.internal_waits", { network, error });
      return { transactions: [], mayBeMore: silent.size > known && !bound.isOver };
    }
  }

  /** Finds out whether the scan holds signing. @returns the solid cursor */
  async #lookAtScan(): Promise<Cursor | null> {
    const { sql, signsFrom } = this.#deps;
    const { network } = this.#chain;
    // first, as the cursor may move meanwhile
    const from = signsFrom?.(network) ?? null;
    const cursor = await readCursor(sql, network, "solid");
    if (signsFrom !== undefined) this.#memory.gate.look(from, cursor?.height ?? null);
    return cursor;
  }

  /** Signs one batch, as large as there is room for. */
  async #sign(
    limit: number,
    of: QueueOf,
    silent: Set<OutgoingAsset>,
    bound: TimeBound | null = null,
  ): Promise<Signed> {
    const { payouts, internal, tokens, lanes } = this.#memory;
    const most = lanes === null ? limit : Math.min(limit, lanes.roomFor(of));
    if (most === 0) return NOTHING;
    const holds = of === "merchants" ? payouts : internal;
    const leftAlone = { holds, held: tokens.held, silent };
    return await signQueued(this.#chain, this.#deps, most, of, leftAlone, lanes, bound);
  }

  /** Sends again what is signed, shows in no block, and was not sent for a while. */
  async #resend(): Promise<void> {
    const memory = this.#memory;
    if (memory.lanes !== null) return;
    const { sql, resendMs } = this.#deps;
    const monotonic = monotonicOf(this.#deps);
    const unseen = await readInFlight(sql, this.#chain.network, IN_FLIGHT_LIMIT);
    // what a block shows is forgotten here, so that it is sent at once if the chain takes it back
    const sentAt = new Map<string, number>();
    for (const { txid } of unseen) {
      const at = memory.sentAt.get(txid);
      if (at !== undefined) sentAt.set(txid, at);
    }
    memory.sentAt = sentAt;
    const due = unseen.filter(({ txid }) =>
      (sentAt.get(txid) ?? -Infinity) + resendMs <= monotonic()
    );
    // a signature whose commit was never acknowledged to this process may be missing on the standby
    if (due.some(({ txid }) => !sentAt.has(txid))) await confirmDurable(sql);
    await this.#send(due, SEND_MS);
  }

  /** Sends signed transactions, see {@linkcode broadcastAll}. @returns whether each of them was begun */
  async #send(transactions: readonly InFlight[], boundMs: number): Promise<boolean> {
    const { lanes } = this.#memory;
    const monotonic = monotonicOf(this.#deps);
    return await broadcastAll(this.#chain, transactions, boundMs, (txid) => {
      if (lanes === null) this.#memory.sentAt.set(txid, monotonic());
      else lanes.sent(txid);
    });
  }
}
