/**
 * The signer's ports. {@linkcode Signer} is the only way to a signature: the caller names an outgoing
 * row; the signer reads the committed intent itself and decides destination and amount from that, so
 * a treasury gone wrong can ask only for payments that were really decided. {@linkcode TransferBuilder}
 * is what it needs of each chain.
 *
 * @module
 */

import type { Amount } from "../ledger/money/amount.ts";
import type { Network } from "../ledger/money/pair.ts";
import type { Asset, Envelope, SignedTransaction } from "./chain.ts";

/** Reasons for which something leaves a wallet; each has destinations of its own. */
export type IntentKind =
  | "payout"
  | "settlement"
  | "sweep"
  | "gas"
  | "delegation"
  | "reclaim"
  | "cold";

/** The part of an outgoing row that the signer reads, over its own connection. */
export interface Intent {
  readonly outgoingId: string;
  readonly kind: IntentKind;
  readonly network: Network;
  /** A token, or the chain's own coin where an address is given what its sweep will burn. */
  readonly currency: Asset;
  readonly amount: Amount;
  readonly destination: string;
  /**
   * Derivation index under which the database knows the destination as the wallet's own, `null` when it does
   * not. A claim: the signer derives the address itself.
   */
  readonly destinationIndex: number | null;
  /** True if that address was handed out for the paying account, or for one not known any more. */
  readonly isDestinationClosed: boolean;
  /** Derivation index of the paying address, or `hot` for the hot wallet. */
  readonly wallet: "hot" | number;
  readonly status: string;
}

/** Source of the signer's intents. */
export interface IntentSource {
  /** The intents that exist among the given ids, in any order. */
  read(outgoingIds: readonly string[]): Promise<readonly Intent[]>;
}

/** End of an `over-limit` message that no waiting helps: the transfer alone is too large. */
export const OVER_TRANSACTION_CAP = "per transaction";
/** End of an `over-limit` message that holds for what else is signed in these 24 hours. */
export const OVER_DAY_CAP = "per day";

/** The most requests in one call of {@linkcode Signer.sign}. */
export const LARGEST_BATCH = 1_000;

/** One request for a signature. */
export interface SignRequest {
  readonly outgoingId: string;
  readonly envelope: Envelope;
}

/** Answer to one {@linkcode SignRequest}. */
export type SignAnswer =
  | { readonly outgoingId: string; readonly signed: SignedTransaction }
  | {
    readonly outgoingId: string;
    readonly refused:
      | "unknown-intent"
      | "not-queued"
      | "paused"
      | "locked"
      /** It signs for other networks only. */
      | "no-signer"
      | "wrong-network"
      | "wrong-destination"
      | "bad-envelope"
      | "over-limit";
    readonly message: string;
  };

/**
 * The signer cannot be reached now. No signature has left it, so the same may be asked for
 * again as soon as it is back.
 */
export class SignerUnavailable extends Error {
  override readonly name = "SignerUnavailable";
}

/** A signature that a signer remembers. */
export interface RememberedSignature {
  readonly outgoingId: string;
  readonly signed: SignedTransaction;
}

/** Signs committed intents. */
export interface Signer {
  /**
   * Signs a batch; answers in the order of the requests. An empty one asks whether signing is
   * possible now at all, before anything is prepared for it.
   *
   * @throws {SignerUnavailable} when it cannot be reached
   * @throws when it failed; then as well no signature has left it
   */
  sign(requests: readonly SignRequest[]): Promise<readonly SignAnswer[]>;
  /**
   * Returns what it remembers to have signed of the given rows, at most {@linkcode LARGEST_BATCH}; nothing is
   * signed by it. The database may have lost that they were. Absent where nothing is remembered.
   *
   * @throws {SignerUnavailable} when it cannot be reached
   */
  live?(outgoingIds: readonly string[]): Promise<readonly RememberedSignature[]>;
}

/** A key ready to sign, with its address. */
export interface SigningKey {
  readonly address: string;
  readonly privateKey: Uint8Array;
}

/**
 * The signer's needs of a chain: to check an envelope and an intent, and to turn both into signed
 * bytes. It is all computation; no builder speaks to a node.
 */
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
