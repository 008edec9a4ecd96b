/**
 * Signs, commits and sends what turns of lanes have decided, each in the time of its turn.
 *
 * @module
 */

import type { BlockRef, Chain } from "../../chains/chain.ts";
import type { Signer } from "../../chains/signer.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import type { InFlight } from "../../ledger/treasury/in_flight.ts";
import type { SigningTurn } from "../../ledger/treasury/pull_queued.ts";
import { logEvent } from "../../log/log_event.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { isAway } from "../runtime/is_away.ts";
import type { LaneMemory } from "./lane_memory.ts";
import {
  type PayerStep,
  pricesAgain,
  requestOf,
  sendable,
  stepsOf,
  unsentOf,
} from "./lane_requests.ts";
import type { PartBound } from "./part_bound.ts";
import { type NumberedRequest, type SignedNonces, signNonces } from "./sign_nonces.ts";

/** Time that sending has in any case, so that it is not starved by questions. */
const LEAST_SEND_MS = 2_000;

/** The facts of one turn of some lanes. */
export interface Round {
  /** Open nonces of these lanes. */
  readonly promised: readonly PromisedNonce[];
  readonly bound: PartBound;
  /** Nonces that were signed with in this turn, as `payer/nonce`. */
  readonly signed: Set<string>;
  /** Failures of what was tried apart. */
  readonly failures: unknown[];
  /** Nonces of the hot wallet below it are believed to be in a block, and not sent again; 0: none are. */
  believedBelow: number;
}

/** Dependencies of {@linkcode LaneSigning}. */
export interface LaneSigningDeps {
  readonly sql: Sql;
  readonly signer: Signer;
  /** Sends transactions in this order; after the time none is begun. */
  readonly send: (transactions: readonly InFlight[], boundMs: number) => Promise<void>;
}

/** Tries what nothing else has to wait for, and keeps what it fails with. */
export async function apart(failures: unknown[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    failures.push(error);
  }
}

/** Signs and sends for the lanes of one network. */
export class LaneSigning {
  readonly #chain: Chain;
  readonly #deps: LaneSigningDeps;
  readonly #memory: LaneMemory;
  #replaced = 0;

  constructor(chain: Chain, deps: LaneSigningDeps, memory: LaneMemory) {
    this.#chain = chain;
    this.#deps = deps;
    this.#memory = memory;
  }

  /** Transactions that were replaced since the start. */
  get replaced(): number {
    return this.#replaced;
  }

  /**
   * Does the work of a turn, and sends again what is due whatever became of it: what was signed before waits for no signer and no
   * node that is away, and for no bug.
   *
   * @param closed payers of whose lanes nothing is sent, as they are once the work is done
   * @throws what the work failed with; then what was tried apart, a bug before what is away
   */
  async thenSend(
    round: Round,
    closed: () => ReadonlyMap<string, string>,
    work: () => Promise<void>,
  ): Promise<void> {
    const { promised, bound, signed, failures } = round;
    try {
      await work();
    } finally {
      const isDue = (txid: string) => this.#memory.isDue(txid);
      const unsent = unsentOf(promised, closed(), signed, isDue, round.believedBelow);
      await this.#deps.send(unsent, Math.max(bound.leftMs, LEAST_SEND_MS));
    }
    if (failures.length > 0) throw failures.find((error) => !isAway(error)) ?? failures[0];
  }

  /** Signs what is next, as long as the round has time: what is to be filled, then first signatures, then replacements. */
  async signAll(turn: SigningTurn, steps: readonly PayerStep[], round: Round): Promise<void> {
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
      this.#memory.refuse(payer, nonce, reason);
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
      if (!isShared && purpose === "pay") this.#memory.refuse(payer, nonce, reason);
    }
    for (const { txid, request: { payer, nonce, purpose } } of transactions) {
      this.#memory.signed(payer, nonce);
      logEvent("treasury.nonce_signed", { network, payer, nonce, purpose, txid });
    }
  }
}
