/**
 * The signer's needs of a chain: to check an envelope and an intent, and to turn both into
 * signed bytes. It is all computation; no builder speaks to a node.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import type { Envelope, SignedTransaction } from "../chain.ts";
import type { Intent } from "../signer.ts";
import type { SigningKey } from "../wallet/network_keys.ts";

/** Builds and signs the transfers of one network. */
export interface TransferBuilder {
  readonly network: Network;
  /** True if block time follows the wall clock; not where blocks are made on demand. */
  readonly followsClock: boolean;
  /**
   * Finds a reason for which an envelope must not be signed.
   *
   * @param now wall clock, Unix milliseconds
   * @returns `null` when it is sound
   */
  envelopeFault(envelope: Envelope, now: number): string | null;
  /**
   * Finds a reason for which an intent cannot be paid on this network (no such token, no such address, digits lost).
   *
   * @returns `null` when it can
   */
  intentFault(intent: Intent): string | null;
  /** Time of the block an envelope stands on, Unix milliseconds; the envelope must be sound. */
  blockTime(envelope: Envelope): number;
  /**
   * Builds and signs. Both faults must have been asked for before.
   *
   * @param salt two intents that are alike in everything but their id must not become one
   *   transaction, so a builder puts this into a field that moves no money
   */
  sign(intent: Intent, envelope: Envelope, key: SigningKey, salt: string): SignedTransaction;
}
