/**
 * The part of the port for chains whose senders number their transactions: a number is used once, in order,
 * so that a transaction without a place in a block is replaced by another with its number, never left behind.
 *
 * @module
 */

import type { Amount } from "../ledger/money/amount.ts";
import type { FeeEstimate } from "./fees.ts";
import type { Checkpoint, Finality } from "./place.ts";

/** The sender and the number of a transaction that is in a block, as its own bytes prove them. */
export interface SentBy {
  /** In the form in which events carry addresses. */
  readonly eventFrom: string;
  readonly nonce: number;
  /** The proof: their hash is the transaction's id, and they carry the sender's signature. */
  readonly bytes: string;
}

/** The chain's present terms for a place in its next blocks. */
export interface LaneAsk {
  /** True where blocks pass these bytes over, as they offer less than is asked now. */
  isPassedOver(bytes: string): boolean;
  /**
   * Terms of the same transaction that replace those of all its earlier bytes: above each of them by as much as
   * nodes want of a replacement, and no less than is asked now.
   *
   * @returns null where that is more than the cap
   */
  replacing(bytes: readonly string[]): FeeEstimate | null;
  /**
   * Terms of a transfer of nothing to its own sender, which takes a number out of use.
   *
   * @param bytes earlier ones with its number, which it has to replace
   * @returns null where that is more than the cap
   */
  cancelling(bytes: readonly string[]): FeeEstimate | null;
  /**
   * The same terms for a sender that has no more coin than this: nodes refuse what may cost more than it holds, so that an
   * earlier one which may does not have to be outbid.
   */
  within(coin: Amount): LaneAsk;
}

/** Reads what numbers its senders have used, and what replacing a transaction takes. */
export interface LanePort {
  /** The nonce of an address's next transaction, by the blocks of a view. */
  next(
    address: string,
    view: Finality,
    signal?: AbortSignal,
    checkpoint?: Checkpoint,
  ): Promise<number>;
  /**
   * Sender and nonce of a transaction that a node has in a block; null: none has it in one. Both are what the
   * transaction's bytes prove: a node's word for either is worth nothing.
   *
   * @throws {ChainUnavailable} where no node shows the bytes, too
   */
  sent(txid: string, signal?: AbortSignal, checkpoint?: Checkpoint): Promise<SentBy | null>;
  /** Asks for the present terms; once a turn, as what a turn decides is decided by one answer. */
  asks(signal?: AbortSignal): Promise<LaneAsk>;
  /** So many of the hot wallet may be in no block at once: nodes hold no more of one sender. */
  readonly mostUnseen: number;
  /** Time for which one that is in no block is left alone before it is replaced, milliseconds. */
  readonly bumpAfterMs: number;
}
