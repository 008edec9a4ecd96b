/**
 * The lanes of one network: what its wallets have promised to their numbers (nonces), followed until solid blocks have
 * used them. All of it belongs to the node that has the network's turn to sign.
 *
 * @module
 */

import { type BlockRef, type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { LaneAsk, LanePort } from "../../chains/lane.ts";
import type { Signer } from "../../chains/signer.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { storeLaneReasons } from "../../ledger/lanes/lane_rows.ts";
import { type PromisedNonce, readOpenNonces } from "../../ledger/lanes/open_nonces.ts";
import { takeTurn } from "../../ledger/lanes/take_turn.ts";
import type { InFlight, QueueOf, SigningTurn } from "../../ledger/treasury/signing.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { logEvent } from "../../log/log_event.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { LaneFaults } from "./lane_faults.ts";
import { type PayerStep, priceAgain, requestOf, stepsOf } from "./lane_requests.ts";
import type { LaneState } from "./lane_state.ts";
import { ABOVE_CAP, type LaneStep, laneTurn, type OpenNonce, SUSPENDED_MS } from "./lane_turn.ts";
import { payerOf } from "./liquidity.ts";
import {
  type NumberedRequest,
  type NumberedTransaction,
  type SignedNonces,
  signNonces,
} from "./sign_nonces.ts";

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
  /** Sends transactions in this order. */
  readonly send: (transactions: readonly InFlight[]) => Promise<void>;
}

/** The lanes of one network. */
export class Lanes {
  readonly #chain: Chain;
  readonly #lane: LanePort;
  readonly #deps: LanesDeps;
  /** Last time that each transaction was sent; forgotten with the process, then sent again. */
  #sentAt = new Map<string, number>();
  /** Nonces whose transfers the signer refused for reasons of their own, or that would fail. */
  #refused = new Map<string, string>();
  readonly #faults: LaneFaults;
  #rooms = new Map<string, number>();
  #replaced = 0;
  #state: LaneState | null = null;
  /** Until the first poll, too. */
  #isStopped = true;

  constructor(chain: Chain, lane: LanePort, deps: LanesDeps) {
    this.#chain = chain;
    this.#lane = lane;
    this.#deps = deps;
    this.#faults = new LaneFaults(deps.sql, chain, lane);
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

  /** Takes room for a nonce that was promised. */
  take(payer: string): void {
    this.#rooms.set(payer, Math.max(0, this.room(payer) - 1));
  }

  /**
   * The nonce at which the lane of a deposit address begins that has had none.
   *
   * @throws {ChainUnavailable} when it cannot be read
   */
  async firstOf(payer: string): Promise<number> {
    return await this.#lane.next(payerOf(this.#chain, payer), "solid");
  }

  /** Keeps what the signer refused, so that its nonce is filled when something stands behind it. */
  refuse(payer: string, nonce: number, reason: string): void {
    this.#refused.set(`${payer}/${nonce}`, reason);
  }

  /** Notes that a transaction is being sent. */
  sent(txid: string): void {
    this.#sentAt.set(txid, this.#deps.monotonic());
  }

  /**
   * One turn of every lane.
   *
   * @param solid the own scan's cursor, read just now; null: nothing was scanned yet
   * @throws {ChainUnavailable} when nodes do not say what is needed; what is due was sent before
   */
  async poll(solid: Cursor | null): Promise<void> {
    const { sql } = this.#deps;
    const { network } = this.#chain;
    const promised = await readOpenNonces(sql, network);
    this.#forget(promised);
    const lanes = Map.groupBy(promised, ({ payer }) => payer);
    this.#isStopped = true;
    const stopped = await this.#faults.find(lanes, solid);
    this.#note(promised, stopped, new Map());
    // what stops signing altogether has reasons of its own in readiness
    this.#isStopped = stopped !== null || await readSigningStop(sql, network) !== null;
    this.#rooms = new Map();
    let ask: LaneAsk | null = null;
    let failure: ChainUnavailable | null = null;
    if (!this.#isStopped && promised.some((nonce) => this.#needsTerms(nonce))) {
      try {
        ask = await this.#lane.asks();
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        failure = error;
      }
    }
    const waits = new Map<string, string>();
    const steps: PayerStep[] = [];
    for (const [payer, nonces] of lanes) {
      const turn = laneTurn({
        open: nonces.map((nonce) => this.#viewOf(nonce)),
        ask,
        bumpAfterMs: this.#lane.bumpAfterMs,
        mostUnseen: this.#mostUnseen(payer),
        suspendedMs: this.#deps.suspendedMs ?? SUSPENDED_MS,
        isDue: (txid) => this.#isDue(txid),
      });
      this.#rooms.set(payer, turn.room);
      for (const step of turn.steps) steps.push({ payer, step });
      for (const nonce of nonces) {
        const reason = turn.waits.get(nonce.nonce);
        if (reason === undefined) continue;
        for (const { outgoingId } of nonce.intents) waits.set(outgoingId, reason);
      }
    }
    this.#note(promised, stopped, waits);
    await storeLaneReasons(sql, waits);
    if (steps.length === 0) return;
    const turn = await takeTurn(sql, network, this.#deps.node, this.#deps.leaseMs);
    if (turn === null) return;
    if (ask !== null) await this.#signAll(turn, steps, promised);
    for (const { step } of stepsOf(steps, "send")) await this.#sendAgain(step, promised);
    if (failure !== null) throw failure;
  }

  async #signAll(
    turn: SigningTurn,
    steps: readonly PayerStep[],
    promised: readonly PromisedNonce[],
  ): Promise<void> {
    const solid = await this.#chain.solid();
    const fills = stepsOf(steps, "fill").map(requestOf);
    const filled = await this.#sign(turn, solid, fills, promised);
    if (filled === null) return;
    const again: NumberedRequest[] = [];
    for (const { payer, step: { nonce } } of stepsOf(steps, "sign")) {
      const request = await priceAgain(this.#deps.sql, this.#chain, payer, nonce);
      if (request === "would fail") this.refuse(payer, nonce.nonce, "the transfer would fail");
      else if (request !== null) again.push(request);
    }
    const signed = await this.#sign(filled, solid, again, promised);
    if (signed === null) return;
    const replaced = stepsOf(steps, "replace").map(requestOf);
    await this.#sign(signed, solid, replaced, promised);
  }

  /** Signs, commits and sends. @returns the turn that is left; null: it is lost */
  async #sign(
    turn: SigningTurn,
    solid: BlockRef,
    requests: readonly NumberedRequest[],
    promised: readonly PromisedNonce[],
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
    const isCancel = done.transactions.some(({ request }) => request.purpose === "cancel");
    crashPoint(isCancel ? "treasury.after-cancel-commit" : "treasury.after-commit");
    this.#replaced += done.transactions.filter(({ request }) => isReplacement(request)).length;
    await this.#deps.send(done.transactions.map(sendable));
    return done.turn;
  }

  #tell({ refused, transactions }: SignedNonces): void {
    const { network } = this.#chain;
    for (const { request: { payer, nonce, purpose }, reason, isShared } of refused) {
      if (this.#refused.get(`${payer}/${nonce}`) !== reason) {
        logEvent("treasury.nonce_refused", { network, payer, nonce, purpose, reason });
      }
      if (!isShared && purpose === "pay") this.refuse(payer, nonce, reason);
    }
    for (const { txid, request: { payer, nonce, purpose } } of transactions) {
      this.#refused.delete(`${payer}/${nonce}`);
      logEvent("treasury.nonce_signed", { network, payer, nonce, purpose, txid });
    }
  }

  async #sendAgain(
    step: Extract<LaneStep, { readonly do: "send" }>,
    promised: readonly PromisedNonce[],
  ): Promise<void> {
    const owner = new Map(
      promised.flatMap(({ attempts, intents }) =>
        attempts.map(({ txid }) => [txid, intents[0]?.outgoingId ?? ""] as const)
      ),
    );
    await this.#deps.send(step.attempts.map(({ txid, bytes }) => ({
      outgoingId: owner.get(txid) ?? "",
      paymentId: null,
      txid,
      bytes,
      expiresAt: null,
    })));
  }

  #viewOf(nonce: PromisedNonce): OpenNonce {
    return { ...nonce, isRefused: this.#refused.has(`${nonce.payer}/${nonce.nonce}`) };
  }

  /** True where a turn of it may sign something. */
  #needsTerms({ attempts, isCancelAsked }: PromisedNonce): boolean {
    const [newest] = attempts;
    if (newest === undefined || isCancelAsked) return true;
    return !attempts.some(({ isSeen }) => isSeen) && newest.ageMs >= this.#lane.bumpAfterMs;
  }

  #isDue(txid: string): boolean {
    const { monotonic, resendMs } = this.#deps;
    return (this.#sentAt.get(txid) ?? -Infinity) + resendMs <= monotonic();
  }

  #mostUnseen(payer: string): number {
    return payer === "hot" ? this.#lane.mostUnseen : 1;
  }

  /** Forgets what was sent, refused or met of nonces that are over. */
  #forget(promised: readonly PromisedNonce[]): void {
    const txids = new Set(promised.flatMap(({ attempts }) => attempts.map(({ txid }) => txid)));
    this.#sentAt = new Map([...this.#sentAt].filter(([txid]) => txids.has(txid)));
    const keys = new Set(promised.map(({ payer, nonce }) => `${payer}/${nonce}`));
    this.#refused = new Map([...this.#refused].filter(([key]) => keys.has(key)));
  }

  #note(
    promised: readonly PromisedNonce[],
    stopped: string | null,
    waits: ReadonlyMap<string, string>,
  ): void {
    if (stopped !== null && this.#state?.stopped !== stopped) {
      logEvent("treasury.lane_stopped", { network: this.#chain.network, reason: stopped });
    }
    const unseen = promised.filter(({ attempts }) => !attempts.some(({ isSeen }) => isSeen));
    this.#state = {
      stopped,
      open: promised.length,
      unseen: unseen.length,
      lowestAgeMs: promised.find(({ payer }) => payer === "hot")?.ageMs ?? null,
      capped: [...waits.values()].filter((reason) => reason === ABOVE_CAP).length,
      replaced: this.#replaced,
    };
  }
}

function sendable({ txid, bytes, request }: NumberedTransaction): InFlight {
  return {
    outgoingId: request.intents[0]?.outgoingId ?? "",
    paymentId: null,
    txid,
    bytes,
    expiresAt: null,
  };
}
