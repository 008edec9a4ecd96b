/**
 * The lanes of one network: what its wallets have promised to their numbers (nonces), followed until solid blocks have
 * used them. All of it belongs to the node that has the network's turn to sign.
 *
 * @module
 */

import type { BlockRef, Chain } from "../../chains/chain.ts";
import type { LaneAsk, LanePort } from "../../chains/lane.ts";
import type { Signer } from "../../chains/signer.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { storeLaneReasons } from "../../ledger/lanes/lane_rows.ts";
import { type PromisedNonce, readOpenNonces } from "../../ledger/lanes/open_nonces.ts";
import { takeTurn } from "../../ledger/lanes/take_turn.ts";
import {
  type InFlight,
  passTurn,
  type QueueOf,
  type SigningTurn,
} from "../../ledger/treasury/signing.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { logEvent } from "../../log/log_event.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { isAway } from "../runtime/is_away.ts";
import { decideLanes } from "./decide_lanes.ts";
import { LaneFaults, type LaneTroubles, NOT_BEGUN } from "./lane_faults.ts";
import {
  lanesOf,
  type PayerStep,
  pricesAgain,
  requestOf,
  sendable,
  stepsOf,
  unsentOf,
} from "./lane_requests.ts";
import { LaneMemory } from "./lane_memory.ts";
import type { LaneState } from "./lane_state.ts";
import { ABOVE_CAP, SUSPENDED_MS } from "./lane_turn.ts";
import { payerOf } from "./liquidity.ts";
import { PartBound } from "./part_bound.ts";
import { PayerTerms } from "./payer_terms.ts";
import { type NumberedRequest, type SignedNonces, signNonces } from "./sign_nonces.ts";

/** Dependencies of a network's lanes. */
export interface LanesDeps {
  readonly sql: Sql;
  readonly signer: Signer;
  readonly node: string;
  readonly leaseMs: number;
  /** Time for which a transaction is left alone before it is sent again. */
  readonly resendMs: number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonic: () => number;
  /** Time for which a suspended merchant's nonce waits, milliseconds; default half a minute. */
  readonly suspendedMs?: number;
  /** Time that one turn of all lanes has, milliseconds; default ten seconds. */
  readonly partMs?: number;
  /** False while the newest blocks of the network are not read; default: they are. */
  readonly isHeadRead?: () => boolean;
  /** Sends transactions in this order; after the time none is begun. */
  readonly send: (transactions: readonly InFlight[], boundMs: number) => Promise<void>;
}

/** Time that a turn of all lanes has: payouts wait for it. */
const PART_MS = 10_000;
/** Time that sending has in any case, so that it is not starved by questions. */
const LEAST_SEND_MS = 2_000;

/** The facts of one turn of all lanes. */
interface Round {
  readonly promised: readonly PromisedNonce[];
  readonly bound: PartBound;
  /** Nonces that were signed with in this turn, as `payer/nonce`. */
  readonly signed: Set<string>;
  /** Failures of what was tried apart. */
  readonly failures: unknown[];
}

/** Tries what nothing else has to wait for, and keeps what it fails with. */
async function apart(failures: unknown[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    failures.push(error);
  }
}

/** The lanes of one network. */
export class Lanes {
  readonly #chain: Chain;
  readonly #lane: LanePort;
  readonly #deps: LanesDeps;
  readonly #memory: LaneMemory;
  readonly #faults: LaneFaults;
  readonly #terms: PayerTerms;
  #rooms = new Map<string, number>();
  #closed: ReadonlyMap<string, string> = new Map();
  #replaced = 0;
  #state: LaneState | null = null;
  /** Until the first poll, too. */
  #isStopped = true;

  constructor(chain: Chain, lane: LanePort, deps: LanesDeps) {
    this.#chain = chain;
    this.#lane = lane;
    this.#deps = deps;
    this.#memory = new LaneMemory(deps.monotonic, deps.resendMs);
    this.#faults = new LaneFaults(deps.sql, chain, lane);
    this.#terms = new PayerTerms(chain, lane.bumpAfterMs, deps.monotonic);
  }

  /** Null before the first poll. */
  get state(): LaneState | null {
    return this.#state;
  }

  /** Nonces that may be promised to a payer now; zero where nothing may be signed. */
  room(payer: string): number {
    if (this.#isStopped) return 0;
    return this.#rooms.get(payer) ?? this.#mostUnseen(payer);
  }

  /** Transfers that are worth being pulled; internal ones may leave from addresses with lanes of their own. */
  roomFor(of: QueueOf): number {
    return of === "merchants" ? this.room("hot") : this.#isStopped ? 0 : Infinity;
  }

  /** Payers whose lanes have no room now: what they would pay for is not pulled. */
  get full(): readonly string[] {
    return [...this.#rooms].filter(([, room]) => room === 0).map(([payer]) => payer);
  }

  /** Takes room for a nonce that was promised. */
  take(payer: string): void {
    this.#rooms.set(payer, Math.max(0, this.room(payer) - 1));
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
   * One turn of every lane, by the node that has the network's turn to sign, in a bounded time; the others only look at
   * what is open.
   *
   * @param solid the own scan's cursor, read just now; null: nothing was scanned yet
   * @throws {ChainUnavailable} when nodes do not say what is needed
   * @throws what else failed, a bug before what is away; what is due was sent all the same
   */
  async poll(solid: Cursor | null): Promise<void> {
    const { sql, node, leaseMs } = this.#deps;
    const { network } = this.#chain;
    const promised = this.#memory.meet(await readOpenNonces(sql, network));
    this.#isStopped = true;
    if (promised.length === 0 && await this.#faults.isOpen()) {
      this.#isStopped = await readSigningStop(sql, network) !== null;
      this.#rooms = new Map();
      this.#note(promised, { stopped: null, closed: new Map() }, new Map());
      return;
    }
    const turn = await takeTurn(sql, network, node, leaseMs);
    if (turn === null) return this.#note(promised, { stopped: null, closed: new Map() }, new Map());
    try {
      await this.#follow(turn, promised, solid);
    } catch (error) {
      // what this node lacks, such as a signer or a node that answers, another one may have
      await passTurn(sql, network, node)
        .catch((late: unknown) => logEvent("treasury.turn_kept", { late }));
      throw error;
    }
  }

  async #follow(
    turn: SigningTurn,
    promised: readonly PromisedNonce[],
    solid: Cursor | null,
  ): Promise<void> {
    const bound = new PartBound(this.#deps.partMs ?? PART_MS);
    const round: Round = { promised, bound, signed: new Set(), failures: [] };
    try {
      await this.#goOn(turn, solid, round);
    } finally {
      // what was signed before waits for no signer and no node that is away, and for no bug
      const isDue = (txid: string) => this.#memory.isDue(txid);
      const unsent = unsentOf(promised, this.#closed, round.signed, isDue);
      await this.#deps.send(unsent, Math.max(bound.leftMs, LEAST_SEND_MS));
    }
    const { failures } = round;
    if (failures.length > 0) throw failures.find((error) => !isAway(error)) ?? failures[0];
  }

  /** Decides and signs what is next in each lane. */
  async #goOn(turn: SigningTurn, solid: Cursor | null, round: Round): Promise<void> {
    const { sql } = this.#deps;
    const { network } = this.#chain;
    const { promised, bound, failures } = round;
    const lanes = lanesOf(promised);
    const troubles = await this.#faults.find(lanes, solid, bound);
    if (troubles.failure !== null) failures.push(troubles.failure);
    this.#note(promised, troubles, new Map());
    // what stops signing altogether has reasons of its own in readiness
    this.#isStopped = troubles.stopped !== null || await readSigningStop(sql, network) !== null;
    const terms = await this.#readTerms(lanes, round);
    const { isHeadRead = () => true, suspendedMs = SUSPENDED_MS } = this.#deps;
    const { steps, rooms, waits, failures: undecided } = decideLanes({
      memory: this.#memory,
      lanes,
      closed: troubles.closed,
      terms,
      bumpAfterMs: this.#lane.bumpAfterMs,
      suspendedMs,
      isHeadRead: isHeadRead(),
      mostUnseen: (payer) => this.#mostUnseen(payer),
    });
    this.#rooms = new Map(rooms);
    failures.push(...undecided);
    this.#note(promised, troubles, waits);
    await apart(failures, async () => void await storeLaneReasons(sql, waits));
    if (terms.size > 0) await apart(failures, () => this.#signAll(turn, steps, round));
  }

  /** Reads the terms of all that may sign something; what cannot be read is left out. */
  async #readTerms(
    lanes: ReadonlyMap<string, readonly PromisedNonce[]>,
    { promised, bound, failures }: Round,
  ): Promise<ReadonlyMap<string, LaneAsk>> {
    const terms = new Map<string, LaneAsk>();
    const wanting = promised.filter((nonce) => this.#needsTerms(nonce)).map(({ payer }) => payer);
    if (this.#isStopped || wanting.length === 0) return terms;
    await apart(failures, async () => {
      const ask = await this.#lane.asks(bound.signal);
      terms.set("hot", ask);
      const payers = new Set(lanes.keys());
      const own = await this.#terms.of(ask, payers, [...new Set(wanting)], bound.signal);
      for (const [payer, one] of own) terms.set(payer, one);
    });
    return terms;
  }

  async #signAll(
    turn: SigningTurn,
    steps: readonly PayerStep[],
    round: Round,
  ): Promise<void> {
    const { bound } = round;
    const fills = stepsOf(steps, "fill");
    const firsts = stepsOf(steps, "sign");
    const replaced = stepsOf(steps, "replace");
    if (fills.length + firsts.length + replaced.length === 0) return;
    const solid = await this.#chain.solid(bound.signal);
    const filled = await this.#sign(turn, solid, fills.map(requestOf), round);
    if (filled === null || bound.isOver) return;
    const again = await pricesAgain(this.#deps.sql, this.#chain, firsts, bound.signal);
    for (const { payer, nonce, reason, error } of again.refused) {
      if (error !== null && !this.#memory.hasRefused(payer, nonce, reason)) {
        logEvent("treasury.nonce_unpriced", { network: this.#chain.network, payer, nonce, error });
      }
      this.refuse(payer, nonce, reason);
    }
    const signed = await this.#sign(filled, solid, again.requests, round);
    if (signed === null || bound.isOver) return;
    await this.#sign(signed, solid, replaced.map(requestOf), round);
  }

  /** Signs, commits and sends. @returns the turn that is left; null: it is lost */
  async #sign(
    turn: SigningTurn,
    solid: BlockRef,
    requests: readonly NumberedRequest[],
    { promised, bound, signed }: Round,
  ): Promise<SigningTurn | null> {
    if (requests.length === 0) return turn;
    const living = new Map(
      promised.map(({ payer, nonce, attempts }) => [`${payer}/${nonce}`, attempts.length]),
    );
    const isReplacement = ({ payer, nonce }: NumberedRequest) =>
      (living.get(`${payer}/${nonce}`) ?? 0) > 0;
    const point = requests.some(isReplacement)
      ? "treasury.after-replacement-sign"
      : "treasury.after-sign";
    const done = await signNonces(this.#chain, this.#deps, turn, solid, requests, point);
    this.#tell(done);
    for (const { request } of done.transactions) signed.add(`${request.payer}/${request.nonce}`);
    const isCancel = done.transactions.some(({ request }) => request.purpose === "cancel");
    crashPoint(isCancel ? "treasury.after-cancel-commit" : "treasury.after-commit");
    this.#replaced += done.transactions.filter(({ request }) => isReplacement(request)).length;
    await this.#deps.send(done.transactions.map(sendable), Math.max(bound.leftMs, LEAST_SEND_MS));
    return done.turn;
  }

  #tell({ refused, transactions }: SignedNonces): void {
    const { network } = this.#chain;
    for (const { request: { payer, nonce, purpose }, reason, isShared } of refused) {
      if (!this.#memory.hasRefused(payer, nonce, reason)) {
        logEvent("treasury.nonce_refused", { network, payer, nonce, purpose, reason });
      }
      if (!isShared && purpose === "pay") this.refuse(payer, nonce, reason);
    }
    for (const { txid, request: { payer, nonce, purpose } } of transactions) {
      this.#memory.signed(payer, nonce);
      logEvent("treasury.nonce_signed", { network, payer, nonce, purpose, txid });
    }
  }

  /** True where a turn of it may sign something. */
  #needsTerms({ attempts, isCancelAsked }: PromisedNonce): boolean {
    const [newest] = attempts;
    if (newest === undefined || isCancelAsked) return true;
    return !attempts.some(({ isSeen }) => isSeen) && newest.ageMs >= this.#lane.bumpAfterMs;
  }

  #mostUnseen(payer: string): number {
    return payer === "hot" ? this.#lane.mostUnseen : 1;
  }

  #note(
    promised: readonly PromisedNonce[],
    { stopped, closed }: Pick<LaneTroubles, "stopped" | "closed">,
    waits: ReadonlyMap<string, string>,
  ): void {
    const { network } = this.#chain;
    if (stopped !== null && stopped !== NOT_BEGUN && this.#state?.stopped !== stopped) {
      logEvent("treasury.lane_stopped", { network, reason: stopped });
    }
    for (const [payer, reason] of closed) {
      if (this.#closed.get(payer) === reason) continue;
      logEvent("treasury.lane_closed", { network, wallet: payer, reason });
    }
    this.#closed = closed;
    const unseen = promised.filter(({ attempts }) => !attempts.some(({ isSeen }) => isSeen));
    this.#state = {
      stopped,
      closed: closed.size,
      open: promised.length,
      unseen: unseen.length,
      lowestAgeMs: promised.find(({ payer }) => payer === "hot")?.ageMs ?? null,
      capped: [...waits.values()].filter((reason) => reason === ABOVE_CAP).length,
      replaced: this.#replaced,
    };
  }
}
