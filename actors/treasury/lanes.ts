/**
 * The lanes of one network: what its wallets have promised to their numbers (nonces), followed until solid blocks have
 * used them. All of it belongs to the node that has the network's turn to sign. The hot wallet's lane is merchants' payouts, and has its
 * turn first; those of deposit addresses, which pay for their own sweeps, have theirs when payouts have had all of it.
 *
 * @module
 */

import type { Chain } from "../../chains/chain.ts";
import type { LaneAsk, LanePort } from "../../chains/lane.ts";
import { readStoppedPart, type StoppedPart } from "../../ledger/failover/holds.ts";
import { storeLaneReasons } from "../../ledger/lanes/lane_rows.ts";
import { type PromisedNonce, readOpenNonces } from "../../ledger/lanes/open_nonces.ts";
import { takeTurn } from "../../ledger/lanes/take_turn.ts";
import { passTurn, type QueueOf, type SigningTurn } from "../../ledger/treasury/pull_queued.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { logEvent } from "../../log/log_event.ts";
import { decideLanes, type LanesView } from "./decide_lanes.ts";
import { KeptPlace } from "./kept_place.ts";
import { BOOKS_BEHIND, LaneFaults } from "./lane_faults.ts";
import { LaneMemory } from "./lane_memory.ts";
import { lanesOf } from "./lane_requests.ts";
import { apart, LaneSigning, type LaneSigningDeps, type Round } from "./lane_signing.ts";
import { LaneNotes, type LaneState } from "./lane_state.ts";
import { needsTerms, SUSPENDED_MS } from "./lane_turn.ts";
import { payerOf } from "./liquidity.ts";
import { PartBound } from "./part_bound.ts";
import { PayerTerms } from "./payer_terms.ts";
import { UsedAtHead, type UsedAtHeadDeps } from "./used_at_head.ts";

/** Dependencies of a network's lanes. */
export interface LanesDeps extends LaneSigningDeps, UsedAtHeadDeps {
  readonly node: string;
  readonly leaseMs: number;
  /** Time for which a suspended merchant's nonce waits, milliseconds; default half a minute. */
  readonly suspendedMs?: number;
  /** The longest that a turn of lanes has, milliseconds; default {@linkcode PART_MS}. */
  readonly partMs?: number;
}

/**
 * Time that a turn has, milliseconds. Payouts that are queued wait for the hot wallet's; a turn of deposit addresses comes after
 * them, and has the time of one question, so that a node that is silent is found out by it.
 */
const PART_MS = { hot: 10_000, addresses: 6_000 } as const;

/** Whose lanes have a turn. */
type Whose = keyof typeof PART_MS;

const isHot = ({ payer }: PromisedNonce) => payer === "hot";

/** The lanes of one network. */
export class Lanes {
  readonly #chain: Chain;
  readonly #lane: LanePort;
  readonly #deps: LanesDeps;
  readonly #memory: LaneMemory;
  readonly #faults: LaneFaults;
  readonly #terms: PayerTerms;
  readonly #signing: LaneSigning;
  readonly #notes: LaneNotes;
  readonly #atHead: UsedAtHead;
  readonly #kept = new KeptPlace();
  #rooms = new Map<string, number>();
  /** True where deposit addresses had open nonces at the last poll. */
  #hasAddresses = false;
  /** All of it also while the lane itself stops signing, and until the first poll. */
  #stop: StoppedPart = "all";

  constructor(chain: Chain, lane: LanePort, deps: LanesDeps) {
    this.#chain = chain;
    this.#lane = lane;
    this.#deps = deps;
    this.#memory = new LaneMemory(deps.monotonic, deps.resendMs);
    this.#faults = new LaneFaults(deps.sql, chain, lane);
    this.#terms = new PayerTerms(chain, lane.bumpAfterMs, deps.monotonic);
    this.#signing = new LaneSigning(chain, deps, this.#memory);
    this.#notes = new LaneNotes(chain.network);
    const ask = (bound: PartBound) => this.#faults.usedAtHead(bound);
    this.#atHead = new UsedAtHead(this.#memory, lane.mostUnseen, deps, ask);
  }

  /** Null before the first poll. */
  get state(): LaneState | null {
    return this.#notes.state;
  }

  /** Nonces that may be promised to a payer now; zero where nothing may be signed. */
  room(payer: string): number {
    if (this.#isStopped) return 0;
    return this.#rooms.get(payer) ?? this.#mostUnseen(payer);
  }

  /** Transfers that are worth being pulled; internal ones may leave from addresses with lanes of their own. */
  roomFor(of: QueueOf): number {
    if (of === "internal") return this.#isStopped ? 0 : Infinity;
    const room = this.room("hot");
    return Math.max(0, room - this.#kept.of(room));
  }

  /** Payers whose lanes have no room now: what they would pay for is not pulled. */
  get full(): readonly string[] {
    return [...this.#rooms].filter(([, room]) => room === 0).map(([payer]) => payer);
  }

  /** Takes room for a nonce that was promised, and whose transfers it is for. */
  take(payer: string, of: QueueOf): void {
    this.#rooms.set(payer, Math.max(0, this.room(payer) - 1));
    this.#kept.take(payer, of);
  }

  /**
   * The nonce at which the lane of a deposit address begins that has had none.
   *
   * @throws {ChainUnavailable} when it cannot be read
   */
  async firstOf(payer: string, signal?: AbortSignal): Promise<number> {
    return await this.#lane.next(payerOf(this.#chain, payer), "solid", signal);
  }

  /** Keeps what the signer refused, so that its nonce is filled when something stands behind it. */
  refuse(payer: string, nonce: number, reason: string): void {
    this.#memory.refuse(payer, nonce, reason);
  }

  /** Notes that a transaction is being sent. */
  sent(txid: string): void {
    this.#memory.sent(txid);
  }

  /**
   * A turn of the hot wallet's lane, by the node that has the network's turn to sign, in a bounded time; the others only look at
   * what is open. What deposit addresses have room for is counted as well.
   *
   * @param solid the own scan's cursor, read just now; null: nothing was scanned yet
   * @throws {ChainUnavailable} when nodes do not say what is needed
   * @throws what else failed, a bug before what is away; what is due was sent all the same
   */
  async poll(solid: Cursor | null): Promise<void> {
    const promised = await this.#readOpen();
    this.#stop = "all";
    this.#hasAddresses = false;
    await this.#kept.look(this.#deps.sql, this.#chain.network, promised);
    if (promised.length === 0 && await this.#faults.isOpen()) {
      this.#stop = await this.#readStop();
      this.#rooms = new Map();
      this.#note(promised, null);
      return;
    }
    const isHeld = await this.#inTurn(async (turn) => {
      this.#hasAddresses = promised.some((nonce) => !isHot(nonce));
      const round = this.#roundOf(promised, "hot");
      await this.#signing.thenSend(round, () => this.#closed, async () => {
        const { stopped, failure } = await this.#faults.find(solid, round.bound);
        if (failure !== null) round.failures.push(failure);
        const word = await this.#atHead.look(round.promised, solid, round.bound);
        round.believedBelow = word.believedBelow;
        const areBooksBehind = await this.#faults.areBooksBehind(round.promised, word.usedBelow);
        this.#note(promised, stopped ?? (areBooksBehind ? BOOKS_BEHIND : null));
        // what stops signing altogether has reasons of its own in readiness
        if (stopped === null) this.#stop = await this.#readStop();
        const terms = await this.#readTerms("hot", round);
        const said = { terms, areBooksBehind, ...word };
        await this.#goOn(turn, lanesOf(promised), said, "hot", round);
      });
    });
    if (!isHeld) this.#note(promised, null);
  }

  /**
   * A turn of the lanes of deposit addresses, after the poll and after what it leaves room for was signed: what nodes are asked
   * here holds up no payout of the same poll, and the next one for a bounded time.
   *
   * @param solid as of {@linkcode poll}
   * @throws as {@linkcode poll}
   */
  async pollAddresses(solid: Cursor | null): Promise<void> {
    if (!this.#hasAddresses) return;
    const promised = await this.#readOpen();
    await this.#inTurn(async (turn) => {
      const round = this.#roundOf(promised, "addresses");
      await this.#signing.thenSend(round, () => this.#closed, async () => {
        await apart(round.failures, () => this.#faults.findOfAddresses(solid));
        this.#note(promised, this.state?.stopped ?? null);
        if (!this.#isStopped) this.#stop = await this.#readStop();
        const terms = await this.#readTerms("addresses", round);
        const said = { terms, believedBelow: 0 };
        await this.#goOn(turn, lanesOf(round.promised), said, "addresses", round);
      });
    });
  }

  get #isStopped(): boolean {
    return this.#stop !== "none";
  }

  async #readStop(): Promise<StoppedPart> {
    return await readStoppedPart(this.#deps.sql, this.#chain.network);
  }

  async #readOpen(): Promise<readonly PromisedNonce[]> {
    const promised = this.#memory.meet(await readOpenNonces(this.#deps.sql, this.#chain.network));
    this.#faults.meet(lanesOf(promised));
    return promised;
  }

  /** Works with the network's turn to sign. @returns false where another node has it */
  async #inTurn(work: (turn: SigningTurn) => Promise<void>): Promise<boolean> {
    const { sql, node, leaseMs } = this.#deps;
    const { network } = this.#chain;
    const turn = await takeTurn(sql, network, node, leaseMs);
    if (turn === null) return false;
    try {
      await work(turn);
    } catch (error) {
      // what this node lacks, such as a signer or a node that answers, another one may have
      await passTurn(sql, network, node)
        .catch((late: unknown) => logEvent("treasury.turn_kept", { late }));
      throw error;
    }
    return true;
  }

  #roundOf(promised: readonly PromisedNonce[], whose: Whose): Round {
    return {
      promised: promised.filter((nonce) => isHot(nonce) === (whose === "hot")),
      bound: new PartBound(Math.min(this.#deps.partMs ?? Infinity, PART_MS[whose])),
      signed: new Set(),
      failures: [],
      believedBelow: 0,
    };
  }

  /** Decides lanes, and signs what is next in those that the chain's terms are known for. */
  async #goOn(
    turn: SigningTurn,
    lanes: ReadonlyMap<string, readonly PromisedNonce[]>,
    said: Pick<LanesView, "terms" | "usedBelow" | "areBooksBehind" | "believedBelow">,
    whose: Whose,
    round: Round,
  ): Promise<void> {
    const { sql, isHeadRead = () => true, suspendedMs = SUSPENDED_MS } = this.#deps;
    const { failures } = round;
    const { steps, rooms, waits, failures: undecided } = decideLanes({
      memory: this.#memory,
      lanes,
      closed: this.#closed,
      ...said,
      bumpAfterMs: this.#lane.bumpAfterMs,
      suspendedMs,
      isHeadRead: isHeadRead(),
      cancelsOnly: this.#isStopped,
      mostUnseen: (payer) => this.#mostUnseen(payer),
    });
    this.#rooms = new Map([...(whose === "hot" ? [] : this.#rooms), ...rooms]);
    failures.push(...undecided);
    this.#notes.waiting(whose, waits);
    await apart(failures, async () => void await storeLaneReasons(sql, waits));
    if (said.terms.size > 0) await apart(failures, () => this.#signing.signAll(turn, steps, round));
  }

  /** Reads the terms of those that may sign something in a round; what cannot be read is left out. */
  async #readTerms(
    whose: Whose,
    { promised, bound, failures, believedBelow }: Round,
  ): Promise<ReadonlyMap<string, LaneAsk>> {
    const { bumpAfterMs } = this.#lane;
    const wanting = new Set(
      promised.filter((nonce) =>
        needsTerms(nonce, bumpAfterMs, believedBelow) && (nonce.isCancelAsked || !this.#isStopped)
      ).map(({ payer }) => payer),
    );
    let terms: ReadonlyMap<string, LaneAsk> = new Map();
    if (this.#stop === "all" || wanting.size === 0) return terms;
    await apart(failures, async () => {
      const ask = await this.#lane.asks(bound.signal);
      const payers = new Set(promised.map(({ payer }) => payer));
      terms = whose === "hot"
        ? new Map([["hot", ask]])
        : await this.#terms.of(ask, payers, [...wanting]);
    });
    return terms;
  }

  get #closed(): ReadonlyMap<string, string> {
    return this.#faults.closed;
  }

  #mostUnseen(payer: string): number {
    return payer === "hot" ? this.#lane.mostUnseen : 1;
  }

  #note(promised: readonly PromisedNonce[], stopped: string | null): void {
    this.#notes.note({
      promised,
      stopped,
      closed: this.#closed,
      replaced: this.#signing.replaced,
    });
  }
}
